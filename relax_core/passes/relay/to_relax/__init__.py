"""RelayToRelax: one function after another, in A-normal form."""
