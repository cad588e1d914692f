"""Robustness of programs on real networks: programs of ranks as litmus programs, and cycles in what a network allows.

`to_litmus` makes a litmus program of a program of the calculus, `counterparts` lists what cannot be said there;
`robustness` decides, and `network_verdict` makes a verdict of it.
"""
