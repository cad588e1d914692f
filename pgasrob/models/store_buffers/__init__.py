"""Programs of the calculus on processors with store buffers (x86): the machine, and robustness on it."""
