"""Where values are, and how long: devices, allocation, lifetimes."""
