"""Stepping through the threads of a launch, one warp at a time, on the simulated GPU."""
