"""The calls of a recorded run of TVM beside what the machine and the table of operators compute for them."""
