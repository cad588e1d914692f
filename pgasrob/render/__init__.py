"""Makes text, JSON, pictures and pages of verdicts: one module for each output. Nothing here searches."""
