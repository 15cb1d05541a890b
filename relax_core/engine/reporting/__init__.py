"""Reports of a program: what is asked of the other answers, and in which order it is told."""
