"""Functions from outside of the program: packed ones, PyTorch's, operators that were not lowered."""
