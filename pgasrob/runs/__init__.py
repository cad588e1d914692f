"""The runs of a program one by one: simulated, or all of them counted by what they end with."""
