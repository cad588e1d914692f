"""The C sources of the recording shim, which is linked into the user's program."""
