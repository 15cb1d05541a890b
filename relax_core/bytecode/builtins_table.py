"""The calling conventions between compiled code and the machine: what the compiler calls, and with which arguments.

A packed entry of the function table is one of

- a builtin of `BUILTINS` below (`vm.builtin.*`, `relax.run.*`);
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

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Builtin:
    """A builtin: its parameters in order (`%vm` is the machine itself, a last `*name` repeats) and what it does."""

    params: tuple[str, ...]
    does: str


BUILTINS: Mapping[str, Builtin] = MappingProxyType(
    {
        "vm.builtin.alloc_shape_heap": Builtin(("%vm", "size"), "A heap of `size` int64 slots, not yet set."),
        "vm.builtin.check_tensor_info": Builtin(
            ("value", "ndim", "dtype", "err"),
            "Stops unless `value` is a tensor of `ndim` dimensions (-1: any) and `dtype` (`%void`: any).",
        ),
        "vm.builtin.check_shape_info": Builtin(
            ("value", "ndim", "err"), "Stops unless `value` is a shape of rank `ndim` (-1: any)."
        ),
        "vm.builtin.check_prim_value_info": Builtin(
            ("value", "dtype", "err"), "Stops unless `value` is a scalar of `dtype`."
        ),
        "vm.builtin.check_tuple_info": Builtin(
            ("value", "size", "err"), "Stops unless `value` is a tuple of `size` fields."
        ),
        "vm.builtin.check_func_info": Builtin(("value", "err"), "Stops unless `value` is a closure."),
        "vm.builtin.match_shape": Builtin(
            ("value", "heap", "ndim", "*code, operand", "err"),
            "Checks or stores each dimension of the tensor or shape `value`: `ndim` pairs (code, operand).",
        ),
        "vm.builtin.match_prim_value": Builtin(
            ("value", "heap", "code", "operand", "err"), "The same for one scalar."
        ),
        "vm.builtin.make_shape": Builtin(
            ("heap", "ndim", "*code, operand"), "A shape of `ndim` dimensions from pairs (code, operand)."
        ),
        "vm.builtin.make_prim_value": Builtin(
            ("heap", "code", "operand", "dtype"),
            "A scalar: an integer without `dtype`, a bool from 0 or 1, a float from the bits of its float64.",
        ),
        "vm.builtin.alloc_storage": Builtin(
            ("%vm", "shape", "device_index", "dtype", "scope"),
            "Storage of the product of `shape` elements of `dtype`, uninitialised.",
        ),
        "vm.builtin.alloc_tensor": Builtin(
            ("storage", "offset", "shape", "dtype"), "A tensor in `storage` from byte `offset`, uninitialised."
        ),
        "vm.builtin.null_value": Builtin((), "The null object: ends the life of the destination's value."),
        "vm.builtin.copy": Builtin(("value",), "The value itself, in another register."),
        "vm.builtin.read_if_cond": Builtin(("condition",), "0 or 1, from a rank-0 tensor or a scalar."),
        "vm.builtin.make_tuple": Builtin(("*field",), "A tuple."),
        "vm.builtin.tuple_getitem": Builtin(("tuple", "index"), "The field `index` from 0."),
        "vm.builtin.make_closure": Builtin(
            ("function", "*capture"), "A closure that appends its captures to the arguments of a call."
        ),
        "vm.builtin.invoke_closure": Builtin(
            ("%vm", "closure", "*argument"), "Calls a closure, or any function value; makes a frame."
        ),
        "vm.builtin.box_prim": Builtin(("value", "dtype"), "A tensor of rank 0 that holds a host scalar."),
        "vm.builtin.unbox_scalar": Builtin(("tensor",), "The host scalar that a tensor of rank 0 holds."),
        "vm.builtin.reshape": Builtin(("tensor", "shape"), "A view of the same elements under `shape`."),
        "vm.builtin.shape_of": Builtin(("tensor",), "The shape of a tensor."),
        "vm.builtin.tensor_to_shape": Builtin(("tensor",), "A shape from a rank-1 int64 tensor."),
        "vm.builtin.to_device": Builtin(("tensor", "device_type", "device_index", "scope"), "A copy on a device."),
        "vm.builtin.call_tir_dyn": Builtin(
            ("kernel", "*argument", "tir_vars"), "Calls a prim func with the dimensions of a shape as last arguments."
        ),
        "vm.builtin.make_adt": Builtin(
            ("constructor", "tag", "*field"), "A value of a data type; `tag` is the number of its constructor from 0."
        ),
        "vm.builtin.get_tag": Builtin(("value",), "The number of the constructor that made a value of a data type."),
        "vm.builtin.is_tag": Builtin(("tag", "number"), "Whether a tag is that number: the test of a clause."),
        "vm.builtin.adt_field": Builtin(("value", "index"), "The field `index` from 0 of a value of a data type."),
        "vm.builtin.match_failed": Builtin(("value",), "Stops: no clause of a match takes the value."),
        "vm.builtin.ref_create": Builtin(("value",), "A reference that holds a value."),
        "vm.builtin.ref_read": Builtin(("reference",), "What a reference holds."),
        "vm.builtin.ref_write": Builtin(("reference", "value"), "Lets a reference hold another value."),
        "relax.run.print": Builtin(
            ("format", "*value"), "Prints the values; `{}` in a format that is not empty stands for the next one."
        ),
        "relax.run.assert_op": Builtin(
            ("condition", "format", "*value"), "Stops with the message unless `condition` holds."
        ),
    }
)  # fmt: skip
