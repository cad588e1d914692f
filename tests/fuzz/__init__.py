"""Damaged inputs of every kind: no command may break on one (`python -m tests.fuzz --help`)."""
