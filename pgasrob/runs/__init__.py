"""The runs of a program: single ones simulated, or all of them counted by how they end."""
