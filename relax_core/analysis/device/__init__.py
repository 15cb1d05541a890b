"""Where the values of a program are: devices, constraints on them, a plan."""
