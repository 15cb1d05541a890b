"""What the calls of a Relax program call, and whose memory their results are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from relax_core.ir.expr import Call, Expr, ExternFunc, GlobalVar, Op, PrimValue, ShapeExpr, Tuple, TupleType, Type
from relax_core.ir.integer.prove import constant_value

KERNEL_CALLS: Final = (
    "relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad", "relax.vm.call_tir_dyn",
    "vm.builtin.call_tir_dyn",
)  # fmt: skip
"""Operators and builtins that call the prim func that is their first argument."""
CLOSURE_CALLS: Final = ("relax.invoke_closure", "relax.invoke_pure_closure", "vm.builtin.invoke_closure")
STORAGES: Final[Mapping[str, int]] = MappingProxyType(
    {"relax.memory.alloc_storage": -1, "relax.vm.alloc_storage": 2, "vm.builtin.alloc_storage": 2}
)
"""Calls that allocate a storage of their first argument, and which one is the dtype that it counts; -1: bytes."""
_IN_PLACE: Final = "relax.call_tir_inplace"

_VIEWS: Final = frozenset(
    ("relax.reshape", "relax.memory.view", "relax.memory.ensure_zero_copy", "relax.memory.alloc_tensor",
     "relax.vm.alloc_tensor", "vm.builtin.reshape", "vm.builtin.alloc_tensor", "vm.builtin.copy")
)  # fmt: skip
_BOOKKEEPING: Final = frozenset(
    ("alloc_shape_heap", "alloc_storage", "alloc_tensor", "match_shape", "match_prim_value", "make_shape",
     "make_prim_value", "check_tensor_info", "check_shape_info", "check_prim_value_info", "check_func_info",
     "check_tuple_info", "null_value", "copy", "shape_of", "tensor_to_shape", "reshape", "read_if_cond",
     "tuple_getitem", "tuple_reset_item", "make_tuple", "make_closure", "box_prim", "unbox_scalar", "make_adt",
     "adt_field", "get_tag", "is_tag", "match_failed", "ref_create", "ref_read", "ref_write")
)  # fmt: skip
_PREFIX: Final = "vm.builtin."


def callee_of(call: Call) -> tuple[Expr, tuple[Expr, ...]]:
    """Return what `call` calls, and with what; a packed function where an operator calls one for the program."""
    match call:
        case Call(op=Op(name="relax.call_pure_packed"), args=(ExternFunc() as callee, *args)):
            return callee, tuple(args)
        case Call(
            op=Op(name="relax.call_builtin_with_ctx" | "relax.call_dps_packed"),
            args=(ExternFunc() as callee, given, *_),
        ):
            return callee, given.fields if isinstance(given, Tuple) else (given,)
        case _:
            return call.op, call.args


def places_in(call: Call) -> tuple[int, ...] | None:
    """Return into which argument a call of a kernel writes each result, -1: none; `None` if each has own memory."""
    match call:
        case Call(op=Op(name=name), args=(_, _, indices, *_)) if name == _IN_PLACE:
            fields = indices.fields if isinstance(indices, Tuple) else (indices,)
            values = (constant_value(item.value) if isinstance(item, PrimValue) else None for item in fields)
            return tuple(-1 if value is None else value for value in values)
        case _:
            return None


def own_results(call: Call, type_: Type | None) -> tuple[Type | None, ...]:
    """Return the types of the results of a call that are not written into an argument; `type_` is that of all."""
    places = places_in(call)
    results = type_.fields if isinstance(type_, TupleType) else (type_,)
    if places is None:
        return results
    return tuple(item for item, place in zip(results, places, strict=False) if place < 0)


def given_to_kernel(call: Call) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Return what the call of a kernel gives in front of its own results, and the shapes of scalars behind them."""
    _, args = callee_of(call)
    if not isinstance(call.op, GlobalVar):
        args = args[1:2] + args[3:] if places_in(call) is not None else args[1:]
    scalars = tuple(arg for arg in args if isinstance(arg, ShapeExpr))
    return tuple(arg for arg in args if not isinstance(arg, ShapeExpr)), scalars


def name_of(callee: Expr) -> str:
    """Return the name of an operator or a packed function, "" of another callee."""
    return callee.name if isinstance(callee, Op | ExternFunc) else ""


def is_bookkeeping(name: str) -> bool:
    """Tell whether a builtin of the machine only handles memory, shapes, tuples or references, or checks values."""
    return name.startswith("relax.run.") or (name.startswith(_PREFIX) and name.removeprefix(_PREFIX) in _BOOKKEEPING)


def is_view(name: str) -> bool:
    """Tell whether the result of an operator or builtin is memory of its first argument."""
    return name in _VIEWS
