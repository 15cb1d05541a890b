"""One view of a program alone, for the frames of other pages: a graph, what a pass did, or a run step by step."""
