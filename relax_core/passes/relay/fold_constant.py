"""FoldConstant: what only constants decide is computed.

See: tvm/src/relay/transforms/fold_constant.cc, v0.19
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from relax_core.analysis.regions import open_postorder
from relax_core.analysis.relay_effects import effects_of
from relax_core.ir.attrs import Attrs, attr
from relax_core.ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    If,
    Op,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    constant,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.ops.relay.evaluate import evaluate_call, is_literal
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.folding import folded
from relax_core.passes.relay.operator_calls import known_sizes
from relax_core.passes.relay.rebuild import INLINE_LET, change_functions, let_vars, rebuild
from relax_core.passes.remarks import value_name

_KEPT = ("annotation", "memory", "random", "vm", "on_device", "device_copy", "debug", "nn.dropout")
"""Operators, or families of them, that do more than compute a value, or compute another one each time."""
_PLACE = "on_device"
_SHAPES = ("shape_of", "vm.shape_of", "ndarray_size")
MAX_BYTES: Final = 1 << 26
"""A larger result is left to the run."""


@dataclass(frozen=True, slots=True)
class FoldConstantOptions:
    """With `fold_qnn` quantized operators are computed as well."""

    fold_qnn: bool = False


def run(module: IRModule, options: FoldConstantOptions, ctx: PassContext) -> IRModule:
    """Replace calls of operators on constants by their values, and what follows from them.

    A call without arguments, such as `zeros`, stays: its value is larger than it. So do functions that stand for one
    operator.
    """
    types, effects = ctx.types(module), effects_of(module)
    words = "is a constant, which stands where it is used"
    ctx.remark_replacements(INLINE_LET, lambda item: f"%{value_name(item.before)} {words}")

    def change(function: Function) -> Function:
        return _RelayFolding(options, types, ctx, effects.effectful(open_postorder(function))).function(function)

    return change_functions(module, change, ctx)


@dataclass(slots=True)
class _RelayFolding:
    options: FoldConstantOptions
    types: Mapping[Node, Type]
    ctx: PassContext
    effectful: frozenset[Node]
    value_of: dict[Node, Node] = field(default_factory=dict[Node, Node])

    def function(self, function: Function) -> Function:
        vars_of: dict[Node, list[Var]] = {}
        for var, let in let_vars(function).items():
            vars_of.setdefault(let.value, []).append(var)

        def change(old: Node, rebuilt: Node) -> Node:
            after = self.folded(old, rebuilt)
            if after is not None and after is not rebuilt:
                rebuilt = self.ctx.log.apply(rebuilt, after, "fold constants")
            if isinstance(rebuilt, Constant) or _placed(rebuilt):
                self.value_of.update(dict.fromkeys(_names_of(old, vars_of), old))
            return rebuilt

        return rebuild(function, change, self.ctx, self.value_of)

    def folded(self, old: Node, expr: Node) -> Expr | None:
        match expr:
            case Call(op=Op(name=name)) if name in _SHAPES:
                return self.shape(name, old)
            case Call(op=Op(name=name), args=(Call(attrs=inner) as placed,), attrs=attrs) if name == _PLACE:
                if not _placed(placed) or dict(inner) != dict(attrs):
                    return None
                self.ctx.remark(old, "applied", "the constant is on this device already: one annotation says so")
                return placed
            case Call(op=Op(name=name), args=args) if args and all(map(is_literal, args)):
                return self.call(name, old, expr)
            case Call(op=Op(name=name), args=args) if len(places := set(map(_placed, args))) == 1 and all(places):
                bare = tuple(arg.args[0] for arg in args if isinstance(arg, Call))
                folded = self.call(name, old, replace(expr, args=bare))
                return folded and replace(expr, op=Op(_PLACE), args=(folded,), attrs=places.pop())
            case TupleGetItem(tuple_value=Tuple(fields=fields), index=index) if not self.has_effect(old):
                self.ctx.remark(old, "applied", f"field {index} of the tuple stands in its place", (fields[index],))
                return fields[index]
            case If(condition=Constant(data=data), true_branch=yes, false_branch=no):
                self.ctx.remark(old, "applied", f"the condition is {bool(data)}: the other branch goes")
                return yes if bool(data) else no
            case _:
                return None

    def has_effect(self, old: Node) -> bool:
        """Tell whether `old`, a field of a tuple, is not all that computing the tuple does."""
        if old in self.effectful:
            self.ctx.remark(old, "missed", "the tuple stays: a field of it has an effect")
            return True
        return False

    def call(self, name: str, old: Node, expr: Call) -> Expr | None:
        assert isinstance(old, Call), "a call stays a call"
        refused = self.refused(name, self.types.get(old))
        return folded(self.ctx, old, expr.args, refused, lambda: evaluate_call(name, dict(expr.attrs), expr.args))

    def refused(self, name: str, type_: Type | None) -> str:
        if name in _KEPT or name.partition(".")[0] in _KEPT:
            return "it does more than compute a value"
        if name.startswith("qnn.") and not self.options.fold_qnn:
            return "it is quantized; fold_qnn=True folds it"
        size_bytes = 0 if type_ is None else _size_bytes(type_)
        return f"the result has {size_bytes:,} bytes" if size_bytes > MAX_BYTES else ""

    def shape(self, name: str, old: Node) -> Expr | None:
        """Return the shape or the number of elements of an argument whose sizes are numbers."""
        assert isinstance(old, Call), "a call stays a call"
        sizes = known_sizes(self.types.get(old.args[0]))
        if sizes is None:
            self.ctx.remark(old, "missed", f"`{name}` is not folded: a size is known only when the program runs")
            return None
        found = self.types.get(old)
        dtype = found.dtype if isinstance(found, TensorType) and found.dtype else "int32"
        self.ctx.remark(old, "applied", f"`{name}` is computed: all sizes are numbers", (old.args[0],))
        return constant(np.array(math.prod(sizes) if name == "ndarray_size" else sizes, dtype))


def _placed(expr: Node) -> Attrs:
    """Return the attributes of an annotation that puts a constant on a device for good; none for other expressions."""
    match expr:
        case Call(op=Op(name=name), args=(Constant(),), attrs=attrs) if name == _PLACE:
            return attrs if attr(attrs, "constrain_result") or attr(attrs, "is_fixed") else ()
        case _:
            return ()


def _names_of(value: Node, vars_of: Mapping[Node, list[Var]]) -> list[Var]:
    """Return the variables that lets bind to a value, and those that are bound to these."""
    found = list(vars_of.get(value, ()))
    for var in found:
        found.extend(vars_of.get(var, ()))
    return found


def _size_bytes(type_: Type) -> int:
    match type_:
        case TensorType(dtype=str(dtype)):
            return math.prod(known_sizes(type_) or (0,)) * np.dtype(dtype).itemsize
        case TupleType(fields=fields):
            return sum(map(_size_bytes, fields))
        case _:
            return 0


PASS = Pass(
    "FoldConstant",
    "Computes operators whose arguments are constants; a condition that is constant leaves one branch.",
    run,
    options=FoldConstantOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/fold_constant.cc",
)
