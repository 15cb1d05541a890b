"""Normal forms: A-normal, basic blocks, graph."""
