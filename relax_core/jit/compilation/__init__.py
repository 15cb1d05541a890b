"""LLVM IR to linked machine code: optimised, kept on disk and in memory, made ahead by other processes."""
