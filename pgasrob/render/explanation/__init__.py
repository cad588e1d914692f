"""What `pgasrob explain` says: the sentences, and the two ways to show them."""
