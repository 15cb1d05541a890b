"""The functions of the packed library, over NumPy with the meaning that PyTorch gives them."""
