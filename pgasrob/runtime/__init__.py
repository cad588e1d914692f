"""Real executions: programs are built with a shim between them and their communication library, and run."""
