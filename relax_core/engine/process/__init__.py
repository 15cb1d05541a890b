"""Workers: their processes, what confines them, and their clients."""
