"""Litmus tests made by the models: programs whose outcome hangs on one rule, programs that distinguish two models."""
