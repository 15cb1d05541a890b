"""The language of conditions: its syntax, and what it means for values of a run."""
