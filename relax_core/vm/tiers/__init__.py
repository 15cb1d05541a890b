"""The two tiers of generated Python: one function per VM function, for plain runs and for runs that are recorded."""
