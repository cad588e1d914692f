"""The live explorer: a server on this machine with a page on which a run of a program is chosen step by step.

The server keeps nothing between two requests: a run is the list of its choices, and each request has the whole of it.
"""
