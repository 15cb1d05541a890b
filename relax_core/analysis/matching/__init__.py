"""Which part of a module became which part of the next one, judged by what both are: names, structure and position."""
