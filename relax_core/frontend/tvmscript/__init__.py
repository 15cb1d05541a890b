"""TVMScript: read with `ast.parse` and walked; never executed, imported or looked up."""
