"""What patterns ask of an expression: its value, dataflow inputs, attributes and type."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from relax_core.analysis.regions import is_annotation
from relax_core.ir.attrs import AttrValue
from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    Function,
    GlobalVar,
    Null,
    Op,
    PrimValue,
    ShapeExpr,
    Tuple,
    Type,
    Var,
)
from relax_core.ir.node import Node, children
from relax_core.ir.prim import FloatImm, IntImm, StringImm
from relax_core.ops import find
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.kinds import KIND_NUMBERS, pattern_kind

NOTHING: Mapping[Node, Type] = MappingProxyType({})
_SCALAR_ARGUMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "relax.arange": ("start", "end", "step"),
        "relax.clip": ("min", "max"),
        "relax.eye": ("n", "m", "k"),
        "relax.eye_like": ("k",),
        "relax.hamming_window": ("window_size", "periodic", "alpha", "beta"),
        "relax.memory.view": ("dtype", "relative_byte_offset"),
        "relax.one_hot": ("on_value", "off_value"),
        "relax.slice_scatter": ("start", "end", "step"),
        "relax.tril": ("k",),
        "relax.triu": ("k",),
        "relax.unique": ("sorted", "return_index", "return_inverse", "return_counts", "axis"),
    }
)
"""The host values that are arguments in TVM as well, by operator; those of others are attributes there."""
NO_VALUES: Mapping[Var, Expr] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class MatchContext:
    """The program around an expression, as far as matching depends on it.

    `types` are the types of its nodes. `value_of` maps variables to their values: patterns look through bindings in
    Relax, and stop at a let in Relay. With `is_annotated` they look through `compiler_begin` and `compiler_end`.
    """

    types: Mapping[Node, Type] = field(default_factory=lambda: NOTHING)
    value_of: Mapping[Var, Expr] = field(default_factory=lambda: NO_VALUES)
    is_annotated: bool = False

    @property
    def looks_through(self) -> bool:
        """Tell whether an expression may stand for another one."""
        return bool(self.value_of) or self.is_annotated

    def value(self, expr: Expr) -> Expr:
        """Return the value behind variables and annotations."""
        while True:
            if isinstance(expr, Var) and expr in self.value_of:
                expr = self.value_of[expr]
            elif self.is_annotated and is_annotation(expr):
                expr = expr.args[0]
            else:
                return expr


def operator_name(expr: Node) -> str | None:
    """Return the name of an operator without "relax.", `None` if `expr` is none."""
    return expr.name.removeprefix("relax.") if isinstance(expr, Op) else None


def is_same(a: Node, b: Node) -> bool:
    """Tell whether two occurrences are the same expression; operators and globals are compared by name."""
    match a, b:
        case (Op(), Op()) | (GlobalVar(), GlobalVar()):
            return a.name == b.name
        case _:
            return a is b


def dataflow_inputs(expr: Node) -> tuple[Expr, ...]:
    """Return the values that `expr` depends on; a callee counts unless it is a name or a function literal."""
    match expr:
        case Call(op=Op() | GlobalVar() | Function(), args=args):
            return args
        case Var() | Constant() | GlobalVar() | Op() | Function():
            return ()
        case _:
            return tuple(child for child in children(expr) if isinstance(child, Expr))


def is_source(expr: Node) -> bool:
    """Tell whether `expr` depends on nothing: a variable, a literal, a name."""
    return isinstance(expr, Var | Constant | GlobalVar | Op | PrimValue | ShapeExpr | DataTypeImm | Null)


def value_arguments(call: Call) -> tuple[Expr, ...]:
    """Return the arguments of a call that are values; only in Relax some are not."""
    is_relax = type(call.op) is Op and call.op.name.startswith("relax.")
    return split_attributes(call)[0] if is_relax else call.args


def written_arguments(call: Call) -> tuple[Expr, ...]:
    """Return the arguments of a call of Relax that are arguments in TVM, whose patterns count them: shapes, too."""
    name = call.op.name if isinstance(call.op, Op) else ""
    scalars, spec = _SCALAR_ARGUMENTS.get(name, ()), find(name)
    places = () if spec is None else [place for place, item in enumerate(spec.params) if item.name in scalars]
    return tuple(
        arg
        for place, arg in enumerate(call.args)
        if isinstance(arg, ShapeExpr) or literal(arg) is None or (place in places and not isinstance(arg, Null))
    )


def split_attributes(call: Call) -> tuple[tuple[Expr, ...], Mapping[str, AttrValue]]:
    """Split a call into value arguments and attributes, with the operator's defaults.

    Relax keeps attributes as host values among the arguments, Relay beside them.
    """
    name = operator_name(call.op)
    given = dict(call.attrs)
    relay = None if name is None else RELAY_OPS.get(name)
    relax = find(call.op.name) if isinstance(call.op, Op) and call.op.name.startswith("relax.") else None
    if relax is not None:
        literals = tuple(map(literal, call.args))
        named = zip(relax.params, literals, strict=False)
        attributes = {param.name: item[0] for param, item in named if item is not None}
        values = tuple(arg for arg, item in zip(call.args, literals, strict=True) if item is None)
        return values, {**attributes, **given}
    if relay is not None:
        return call.args, relay.with_defaults(given)
    return call.args, given


def attributes_of(expr: Node) -> Mapping[str, AttrValue]:
    """Return the attributes of a call, a function or an operator; those of an operator are TVM's `TOpPattern`."""
    match expr:
        case Op():
            return {"TOpPattern": _kind_number(expr)}
        case Call():
            return split_attributes(expr)[1]
        case Function(attrs=attrs):
            return dict(attrs)
        case _:
            return {}


def _kind_number(op: Op) -> int:
    relax = find(op.name)
    return KIND_NUMBERS[pattern_kind(op.name) if relax is None else relax.pattern_kind]


def literal(arg: Expr) -> tuple[AttrValue] | None:
    """Return the value of an argument that is an attribute, in a tuple of one; `None` if it is computed."""
    match arg:
        case PrimValue(value=IntImm(value=number, dtype="bool")):
            return (bool(number),)
        case PrimValue(value=IntImm(value=value) | FloatImm(value=value) | StringImm(value=value)):
            return (value,)
        case DataTypeImm(value=value):
            return (value,)
        case Null():
            return (None,)
        case ShapeExpr(values=values):
            sizes = tuple(item.value for item in values if isinstance(item, IntImm))
            return (sizes,) if len(sizes) == len(values) else None
        case Tuple(fields=fields) if fields:
            items = tuple(item for field in fields if (item := literal(field)) is not None)
            return (tuple(item[0] for item in items),) if len(items) == len(fields) else None
        case _:
            return None


def is_exactly(found: AttrValue, expected: AttrValue) -> bool:
    """Compare attribute values: numbers by value, lists element by element."""
    match found, expected:
        case tuple(), tuple():
            return len(found) == len(expected) and all(map(is_exactly, found, expected))
        case ((int() | float()), (int() | float())):
            return isinstance(found, bool) == isinstance(expected, bool) and found == expected
        case _:
            return type(found) is type(expected) and found == expected


def is_scalar(expr: Expr, value: float) -> bool:
    """Tell whether `expr` is a tensor literal of rank 0 with this value; NaN is none."""
    if not isinstance(expr, Constant) or expr.data.ndim != 0:
        return False
    found = expr.data.item()
    return isinstance(found, bool) == isinstance(value, bool) and found == value
