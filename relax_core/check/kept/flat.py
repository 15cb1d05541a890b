"""Bindings without an expression inside another, and what their checks read: most of a program in A-normal form.

What is found of a binding is kept while it lives. Passes leave most bindings as the nodes that they were, so that a
check of what a pass made looks at those again only to compare what they read.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from relax_core.ir.absent import NO_DATA, NO_VALUE
from relax_core.ir.expr import (
    Binding,
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    FuncType,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.substitute import free_symbols

TIR_CALLS = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_dps_packed")
"""Operators whose inputs are one argument, a tuple."""
_LEAVES = (Var, GlobalVar, ShapeExpr, PrimValue, Constant, DataTypeImm, Null)
_APART = (NO_VALUE, NO_DATA, "relax.call_tir_inplace", "relax.call_inplace_packed")
"""Operators whose checks depend on more than the types of what they are given."""


@dataclass(frozen=True, slots=True)
class FlatBinding:
    """What a binding without inner expressions reads.

    `parts` are its value and what is in it, but for variables and operators. Its annotation brings the symbols
    `declared` into scope.
    """

    reads: tuple[Var, ...]
    globals: tuple[GlobalVar, ...]
    parts: tuple[Expr, ...]
    declared: tuple[PrimVar, ...]


class _FlatBindings:
    """Remembers what is found in each binding while it lives."""

    def __init__(self) -> None:
        self._found: WeakKeyDictionary[Binding, FlatBinding | None] = WeakKeyDictionary()

    def of(self, binding: Binding) -> FlatBinding | None:
        try:
            return self._found[binding]
        except KeyError:
            found = self._found[binding] = _flat(binding)
            return found


_FLAT_BINDINGS = _FlatBindings()


def flat_binding(binding: Binding) -> FlatBinding | None:
    """Return what `binding` reads; `None` if its checks depend on more than that, or it has inner expressions."""
    return _FLAT_BINDINGS.of(binding)


def _flat(binding: Binding) -> FlatBinding | None:
    annotation = binding.var.annotation
    if not isinstance(binding, VarBinding) or names_variables(annotation):
        return None
    parts = _parts(binding.value)
    if parts is None:
        return None
    return FlatBinding(
        tuple([item for item in parts if isinstance(item, Var)]),
        tuple([item for item in parts if isinstance(item, GlobalVar)]),
        tuple([item for item in parts if not isinstance(item, Var | Op)]),
        () if annotation is None else free_symbols(annotation),
    )


def _parts(value: Expr) -> list[Expr] | None:
    """Return the expressions in `value`, which is the first; `None` if one of them has parts of its own."""
    match value:
        case Call(op=op, args=args):
            if not _is_plain(value):
                return None
            return _with_leaves([value, op], args)
        case Tuple():
            return _with_leaves([], (value,))
        case TupleGetItem(tuple_value=Var() as var):
            return [value, var]
        case _:
            return _with_leaves([], (value,))


def _with_leaves(found: list[Expr], items: tuple[Expr, ...]) -> list[Expr] | None:
    for item in items:
        if isinstance(item, Tuple):
            found.append(item)
            if not all(isinstance(field, _LEAVES) for field in item.fields):
                return None
            found += item.fields
        elif isinstance(item, _LEAVES) or _is_unannotated(item):
            found.append(item)
        else:
            return None
    return found


def _is_plain(call: Call) -> bool:
    """Tell whether the checks of a call depend on nothing but the types of its arguments and its prim func."""
    if any(map(names_variables, call.type_args)):
        return False
    match call.op:
        case Op(name=name):
            is_known = name.startswith("relax.") and name not in _APART
            return is_known and (name not in TIR_CALLS or (len(call.args) > 1 and isinstance(call.args[1], Tuple)))
        case GlobalVar():
            return True
        case callee:
            return _is_unannotated(callee)


def _is_unannotated(item: Expr) -> bool:
    return isinstance(item, ExternFunc) and item.annotation is None


def names_variables(type_: Type | None) -> bool:
    """Tell whether a type may name a variable of Relax, as the shape of a tensor does."""
    match type_:
        case TensorType(shape=Var()) | FuncType():
            return True
        case TupleType(fields=fields):
            return any(map(names_variables, fields))
        case _:
            return False
