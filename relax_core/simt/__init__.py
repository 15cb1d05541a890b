"""A simulated GPU for lowered TIR: the threads of a launch run in lockstep, as arrays of NumPy.

What a launch does to memory is watched: races, barriers that not all threads reach, memory that nothing wrote, accesses
out of range. `kernels.simulate` is the way in.
"""
