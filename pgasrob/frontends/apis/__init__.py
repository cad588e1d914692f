"""What the calls of each communication API promise, one module per API (see `interface`)."""
