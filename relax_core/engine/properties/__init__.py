"""Properties of a program, by which an exercise is checked: a small language of measures, and who evaluates each."""
