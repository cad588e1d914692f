"""Robustness of programs on real networks: programs of ranks as litmus programs, and cycles in what a network allows.

`to_litmus` translates a program of the calculus to a litmus program, `counterparts` lists what has no translation;
`robustness` decides, and `network_verdict` makes the verdict.
"""
