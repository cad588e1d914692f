"""The text of `pgasrob explain`: its chapters, for the terminal and as a page."""
