"""Schedule primitives on buffers: copies of them, their scopes and layouts."""
