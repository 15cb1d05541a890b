"""What the user looks at: the records of state, their rules, and the address that says the same."""
