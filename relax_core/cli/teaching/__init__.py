"""Commands for those who teach."""
