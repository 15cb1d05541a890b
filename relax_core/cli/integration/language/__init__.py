"""The language server: what an editor asks of a text, answered by the engine."""
