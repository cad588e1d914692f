"""Graphs with states and labelled edges: automata, and what else the stages of the decision procedure are."""
