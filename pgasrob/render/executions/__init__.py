"""Execution graphs of litmus tests: what is drawn of them, where it stands, as SVG and DOT, and in files."""
