"""Builds programs with a shim between them and their communication library, and runs them."""
