"""What finds a fault in a run: stops, values of bindings, comparisons of runs, the pass that changed a result, time."""
