"""The tables of operators and packed functions shown."""
