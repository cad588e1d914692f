"""Generates litmus tests from the models: programs whose outcomes depend on one rule, or differ between two models."""
