"""What a debugger asks of one time of a recorded run."""
