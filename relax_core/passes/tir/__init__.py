"""Passes on prim funcs; Relax and Relay functions stay as they are. TVM 0.27 has them in `tirx` and `s_tir`."""
