"""Bytecode, and the calling conventions between it and the machine: what it calls, and with which arguments.

A packed entry of the function table is one of

- a builtin (`vm.builtin.*`, `relax.run.*`): one function of
  `relax_core/vm/builtin/builtins.py`, which says what it takes;
- an operator that was not lowered, by its full name ("relax.add"): its arguments are those of `Call.args` in the
  order of the operator's schema, and the machine evaluates it with `OpSpec.evaluate`;
- any other name: the registry of packed functions, looked up when the call is made.

How arguments are encoded:

- tensor, tuple, closure: a register, or a constant of the pool (tensor literals);
- a static shape: a `ShapeConstant` of the pool; a symbolic one: a register that `make_shape` wrote;
- a scalar: integers and truth values an immediate (`True` is 1), floats a constant of the pool, or a register;
- a string: a `str` of the pool; a dtype: a `DTypeConstant` of the pool;
- a Relax function or prim func of the module as a value: `f[name]`, a closure with no captures;
- an absent optional (`Null()`) and the heap of a function without symbolic dimensions: `%void`.

A prim func is called with its inputs, then its outputs (destination-passing style), then its scalar parameters
(`tir_vars`), and returns nothing: its destination is `%void`. `shape_func*` takes the shape heap.
A destination `%void` drops the result, also of a Relax function that returns the void value.
Codes of `match_shape`: 0 equal to the immediate, 1 store to the heap, 2 no check, 3 equal to the heap's slot.
Codes of `make_shape` and `make_prim_value`: 0 the immediate, 1 the heap's slot.
`err` is a string of the pool: "ErrorContext(fn=main, loc=param[0], param=x, annotation=...)"; the instruction's
node leads to the place in the text.
"""
