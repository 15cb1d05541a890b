"""Values that a text writes out: constants, arrays, attributes, metadata."""
