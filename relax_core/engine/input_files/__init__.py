"""Files of other kinds than NumPy's as inputs: tensors of other frameworks, pictures and texts."""
