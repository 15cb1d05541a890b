"""Text to IR: TVMScript through Python's `ast`, Relay through a parser of its own; nothing is executed."""
