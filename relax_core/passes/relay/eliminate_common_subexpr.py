"""EliminateCommonSubexpr: the same operator on the same values is computed once.

Hash-consing over a graph: operands are visited first, so equal ones are one node already, and a node is computed in
the innermost scope that holds all its uses, whichever of them is visited first. Relax's pass of this name follows the
order of bindings instead, with variables as operands, and keeps values apart that a call may write in between.

Why the bits stay: an operator is a deterministic function of its operands and attributes, unless it is one of
`IMPURE_OPS`; scalars are compared by their bytes. Two expressions are shared only if the
scope of one encloses that of the other, so that nothing is computed on a path on which it was not.

See: tvm/src/relay/transforms/eliminate_common_subexpr.cc, v0.19
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from relax_core.analysis.relay_effects import IMPURE_OPS
from relax_core.analysis.relay_scopes import Scope, Scopes, common, scopes_of
from relax_core.ir.expr import Call, Constant, Expr, Function, Op, Tuple, TupleGetItem
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relay.rebuild import change_functions, rebuild


@dataclass(frozen=True, slots=True)
class RelayCSEOptions:
    """`fskip` are names of operators whose calls stay as they are."""

    fskip: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.fskip, str):
            raise ValueError("fskip is a list of names")


def run(module: IRModule, options: RelayCSEOptions, ctx: PassContext) -> IRModule:
    """Replace calls of operators and fields of tuples by an equal expression that is computed anyway.

    Of two equal expressions in the branches of an `if` neither is computed anyway: they stay.
    """

    def change(function: Function) -> Function:
        sharing = _RelaySharing(scopes_of(function), frozenset(options.fskip), ctx)
        return rebuild(function, sharing.change, ctx)

    return change_functions(module, change, ctx)


@dataclass(slots=True)
class _Known:
    """An expression that equal ones are replaced by, as it is in the result, and the scope of its uses so far."""

    old: Node
    expr: Node
    scope: Scope


@dataclass(slots=True)
class _RelaySharing:
    scopes: Scopes
    fskip: frozenset[str]
    ctx: PassContext
    known: dict[Hashable, list[_Known]] = field(default_factory=dict[Hashable, list[_Known]])

    def change(self, old: Node, rebuilt: Node) -> Node:
        key = self.key(rebuilt)
        if key is None:
            return rebuilt
        here = self.scopes.scope_of[old]
        candidates = self.known.setdefault(key, [])
        for entry in candidates:
            meeting = common(entry.scope, here)
            if meeting is entry.scope or meeting is here:
                entry.scope = meeting
                self.ctx.remark(old, "applied", f"{_words(rebuilt)} is computed already", (entry.old,))
                self.ctx.log.replace(rebuilt, entry.expr, "share an equal expression", known=(entry.expr,))
                self.ctx.log.share((entry.expr,), rebuilt)
                return entry.expr
        if candidates:
            message = f"{_words(rebuilt)} stays: the equal one is in another branch or function"
            self.ctx.remark(old, "missed", message, (candidates[0].old,))
        candidates.append(_Known(old, rebuilt, here))
        return rebuilt

    def key(self, expr: Node) -> Hashable | None:
        """Return what equal expressions have in common, `None` for an expression that is not looked at."""
        match expr:
            case Call(op=Op(name=name), args=args, attrs=attrs):
                is_kept = name in self.fskip or name in IMPURE_OPS or name.partition(".")[0] in ("memory", "vm")
                shown = sorted(f"{key}={value!r}" for key, value in attrs)
                return None if is_kept else (name, *shown, *map(_operand, args))
            case TupleGetItem(tuple_value=value, index=index):
                return (".", index, _operand(value))
            case _:
                return None


def _operand(expr: Expr) -> Hashable:
    """Return what decides that two operands are equal: scalars by value, tuples by their fields, others by identity."""
    match expr:
        case Constant(data=data) if not data.ndim:
            return (str(data.dtype), data.tobytes())
        case Tuple(fields=fields) if not any(isinstance(item, Tuple) for item in fields):
            return tuple(map(_operand, fields))
        case _:
            return expr


def _words(expr: Node) -> str:
    return f"`{expr.op.name}`" if isinstance(expr, Call) and isinstance(expr.op, Op) else "the field"


PASS = Pass(
    "EliminateCommonSubexpr",
    "Computes the same operator on the same values once.",
    run,
    options=RelayCSEOptions,
    dialect="relay",
    see="tvm/src/relay/transforms/eliminate_common_subexpr.cc",
)
