"""Schedule primitives on blocks: where they stand and which of them are one."""
