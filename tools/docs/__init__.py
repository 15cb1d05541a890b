"""The documentation site: `python -m tools.docs` makes it of `docs/` and of the tables of the program."""
