"""Parts of the C library: numbers, text, and what comes from outside. `library` has the rest, and puts all together."""
