"""The definitional interpreter of Relay."""
