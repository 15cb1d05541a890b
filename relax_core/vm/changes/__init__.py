"""What the host does to a stopped program before it runs on: set a value, skip a call, replace a function."""
