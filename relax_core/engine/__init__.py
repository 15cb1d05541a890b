"""All that the explorer can do, as typed messages to a worker process with limits, and the Python API over it."""
