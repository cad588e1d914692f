"""Data races: two accesses to one cell that can be next at once, over all executions of a program.

A race is not yet a mistake: a program can be robust all the same. `pgasrob.robustness` decides that; this folder
decides whether there are races. Engines here search, and neither draw nor print.
"""
