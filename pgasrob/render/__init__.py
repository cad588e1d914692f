"""Verdicts as text, JSON and pictures: one module per output. A renderer never searches."""
