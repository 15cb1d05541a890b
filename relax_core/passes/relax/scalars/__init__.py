"""Host scalars and tensors of rank 0, one made of the other."""
