"""The debug adapter: editors step through recorded runs by the Debug Adapter Protocol."""
