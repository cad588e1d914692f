"""Multiheaded automata (the paper, section 5.1): a library of its own that knows nothing of PGAS."""
