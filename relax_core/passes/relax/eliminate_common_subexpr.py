"""EliminateCommonSubexpr: the same value is computed once.

Value numbering over dominators: bindings have an order, so a scoped table of available values decides, and the first
binding of a value is kept. Relay's pass of this name works on graphs, which have no order; see there.

Why the bits stay: a value is a deterministic function of its operands, which are compared as variables, and of
literals, which are compared by their bytes. A value that may be written is not available behind what may write it.

See: tvm/src/relax/transform/eliminate_common_subexpr.cc
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import is_
from typing import Final, TypeVar, cast

from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    SeqExpr,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.substitute import free_symbols, free_vars, types_in
from relax_core.ops.show import show_type
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.effects import has_effect, killed_vars
from relax_core.passes.remarks import UnnumberedRemark

N = TypeVar("N", bound=Node)

_HARMLESS: Final = ("relax.print", "relax.assert_op")
_WRITING: Final = ("relax.call_tir_inplace", "relax.call_inplace_packed")
_ALLOCATING: Final = ("alloc_tensor", "alloc_storage")


@dataclass(frozen=True, slots=True)
class CSEOptions:
    """With `call_only` tuples, their fields and literals stay as they are."""

    call_only: bool = False


def run(module: IRModule, options: CSEOptions, ctx: PassContext) -> IRModule:
    """Let a binding whose value is computed already be another name of it; CanonicalizeBindings drops such names.

    What may be written, by a packed function or in place, is not shared across the call that may write it.
    """
    result = shared(module, options, ctx)
    ctx.remark_on_reading(partial(_repeated, result, options, ctx))
    return result


def shared(module: IRModule, options: CSEOptions, ctx: PassContext) -> IRModule:
    """Do the same for another pass."""
    type_of = ctx.types(module)
    return change_functions(module, ctx, lambda _, function: share_values(function, options, type_of, ctx))


def _repeated(module: IRModule, options: CSEOptions, ctx: PassContext) -> Iterator[UnnumberedRemark]:
    """Say of values that are equal to an earlier one why they are computed again."""
    for _, function in module.relax_functions:
        keys = _Sharing(options, {}, ctx, frozenset())
        first_of: dict[Hashable, Binding] = {}
        for item in preorder(function):
            key = keys.key(item) if isinstance(item, Binding) else None
            if key is None or not isinstance(item, Binding):
                continue
            first = first_of.setdefault(key, item)
            if first is not item:
                why = "what is written in between may change it, or the first is in a scope of its own"
                words = f"{item.var.name} is computed again, as {first.var.name} is: {why}"
                yield UnnumberedRemark(item, "missed", words, (first,))


def share_values(function: Function, options: CSEOptions, type_of: Mapping[Node, Type], ctx: PassContext) -> Function:
    """Return a function in which a binding whose value is computed already is another name of it."""
    return _Sharing(options, type_of, ctx, killed_vars(function)).function(function)


@dataclass(slots=True)
class _Sharing:
    """`known` is the variable of each value so far, `same` what a variable is another name of, `bound` its binding.

    Recursion follows the nesting of conditionals and local functions in the text, never its length.
    """

    options: CSEOptions
    type_of: Mapping[Node, Type]
    ctx: PassContext
    killed: frozenset[Var]
    known: dict[Hashable, Var] = field(default_factory=dict[Hashable, Var])
    same: dict[Var, Var] = field(default_factory=dict[Var, Var])
    bound: dict[Var, Binding] = field(default_factory=dict[Var, Binding])

    def function(self, function: Function) -> Function:
        assert isinstance(function.body, SeqExpr), "normal form"
        body = self.sequence(function.body)
        return function if body is function.body else self.rebuilt(function, replace(function, body=body))

    def sequence(self, expr: SeqExpr) -> SeqExpr:
        blocks = tuple(map(self.block, expr.blocks))
        body = self.renamed(expr.body)
        if body is expr.body and all(map(is_, blocks, expr.blocks)):
            return expr
        return self.rebuilt(expr, replace(expr, blocks=blocks, body=body))

    def branch(self, expr: Expr) -> Expr:
        """Change a branch: it sees what stands before it, and nothing behind it sees what it computes."""
        assert isinstance(expr, SeqExpr), "normal form"
        outer, count = self.known, len(self.known)
        changed = self.sequence(expr)
        self.added(outer, count)
        return changed

    def added(self, outer: dict[Hashable, Var], count: int) -> list[tuple[Hashable, Var]]:
        """Take out of `known` what came behind its first `count` values, all if it was begun anew, and return it."""
        count = count if self.known is outer else 0
        return [self.known.popitem() for _ in range(len(self.known) - count)]

    def block(self, block: BindingBlock) -> BindingBlock:
        outer, count = self.known, len(self.known)
        bindings = tuple(map(self.binding, block.bindings))
        if isinstance(block, DataflowBlock):
            self.leave(bindings, self.added(outer, count))
        if all(map(is_, bindings, block.bindings)):
            return block
        return self.rebuilt(block, replace(block, bindings=bindings))

    def leave(self, bindings: tuple[Binding, ...], added: list[tuple[Hashable, Var]]) -> None:
        """Keep of what a dataflow block added the values that can be seen behind it, by the names of its outputs."""
        outputs = {self.same.pop(item.var, item.var): item.var for item in reversed(bindings) if _is_output(item)}
        self.known.update((key, outputs[var]) for key, var in reversed(added) if var in outputs)

    def binding(self, binding: Binding) -> Binding:
        value = self.renamed(binding.value)
        match value:
            case If(true_branch=yes, false_branch=no):
                branches = (self.branch(yes), self.branch(no))
                if branches != (yes, no):
                    value = self.rebuilt(value, replace(value, true_branch=branches[0], false_branch=branches[1]))
            case Function():
                value = _Sharing(self.options, self.type_of, self.ctx, self.killed).function(value)
            case _:
                pass
        own = binding if value is binding.value else self.rebuilt(binding, replace(binding, value=value))
        if self.writes(value):
            self.known = {}
            return own
        key = self.key(own)
        if key is None or binding.var in self.killed:
            return own
        kept = self.known.setdefault(key, binding.var)
        if kept is binding.var:
            self.bound[kept] = own
            return own
        self.same[binding.var] = kept
        self.ctx.remark(binding, "applied", f"{binding.var.name} is {kept.name}, which is computed already", (kept,))
        made = VarBinding(binding.var, kept, span=binding.span)
        self.ctx.log.replace(own, made, "share an equal value", known=(kept, binding.var))
        first = self.bound.get(kept)
        self.ctx.log.share((kept,) if first is None else (kept, first, first.value), binding)
        return made

    def writes(self, value: Expr) -> bool:
        """Tell whether a value may write what was computed before."""
        match value:
            case Call(op=Op(name=name)) if name in _HARMLESS:
                return False
            case Call(op=Op(name=name)) if name in _WRITING:
                return True
            case _:
                return has_effect(value, self.type_of)

    def key(self, binding: Binding) -> Hashable | None:
        """Return what equal values have in common, `None` for a value that is not looked at."""
        if self.options.call_only and not isinstance(binding.value, Call):
            return None
        match binding:
            case MatchCast(value=value, type=type_):
                return (_key(value), _type_key(type_))
            case VarBinding(value=Function() as function):
                return _function_key(function)
            case VarBinding(value=If() | SeqExpr() | Var()):
                return None
            case VarBinding(value=Call(op=Op(name=name))) if name.endswith(_ALLOCATING) or name in _HARMLESS:
                return None
            case _:
                return (_key(binding.value), self.declared(binding.var))

    def declared(self, var: Var) -> Hashable:
        """Return what a variable says of its value: one that says less is no other name of one that says more."""
        known = var.annotation or self.type_of.get(var)
        return None if known is None else _type_key(known)

    def renamed(self, expr: Expr) -> Expr:
        """Return a value, or a part of one outside its branches, with the names that are kept."""
        if isinstance(expr, If):
            condition = self.renamed(expr.condition)
            is_same = condition is expr.condition
            return expr if is_same else self.rebuilt(expr, replace(expr, condition=condition))
        if isinstance(expr, Function):
            return expr
        names = {var: self.same[var] for var in free_vars(expr) if var in self.same}
        return self.ctx.substitute(expr, dict(names)) if names else expr

    def rebuilt(self, old: N, new: N) -> N:
        self.ctx.log.rebuilt(old, new)
        return new


def _is_output(binding: Binding) -> bool:
    return not isinstance(binding.var, DataflowVar)


def _key(value: Expr) -> Hashable:
    return tuple(_words(value))


def _function_key(function: Function) -> Hashable:
    """Return what local functions have in common that differ in the names of their variables at most."""
    free = {*free_vars(function), *free_symbols(function)}
    number_of: dict[Hashable, int] = {}

    def numbered(word: Hashable) -> Hashable:
        if isinstance(word, tuple):
            return tuple(map(numbered, cast("tuple[Hashable, ...]", word)))
        is_own = isinstance(word, Var | PrimVar) and word not in free
        return (type(word), number_of.setdefault(word, len(number_of))) if is_own else word

    return tuple(map(numbered, _words(function)))


def _words(value: Node) -> Iterator[Hashable]:
    """Yield what a value is made of, in order: names as themselves, literals by what they hold.

    What has no parts stands at each of its places: `f(x, y, x)` is not `f(x, y, y)`. Any other node that occurs again
    is told by its number, so that the words are as many as the nodes and the places are.
    """
    number_of: dict[Node, int] = {}
    stack: list[Node] = [value]
    while stack:
        node = stack.pop()
        parts = children(node)
        if parts and node in number_of:
            yield (_Again, number_of[node])
            continue
        number_of.setdefault(node, len(number_of))
        match node:
            case Constant(data=data):
                yield (str(data.dtype), data.shape, data.tobytes())
            case Var() | PrimVar():
                yield node
            case GlobalVar(name=name):
                yield (GlobalVar, name)
            case _:
                own = (getattr(node, item.name) for item in fields(node) if item.name != "span")
                yield (type(node), *map(_field_key, own))
                yield from map(_type_key, types_in(node))
        stack += parts[::-1]


class _Again:
    """Marks the number of a node that occurred before."""


def _field_key(value: object) -> Hashable:
    """Return what a field says by itself: how many nodes it holds, or its value."""
    match value:
        case Node():
            return 1
        case tuple():
            return tuple(map(_field_key, cast("tuple[object, ...]", value)))
        case str() | int() | bool() | None:
            return (type(value), value)
        case _:
            return repr(value)


def _type_key(type_: Type) -> Hashable:
    return (show_type(type_), *free_symbols(type_))


PASS = Pass(
    "EliminateCommonSubexpr",
    "Computes the same value once.",
    run,
    options=CSEOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/eliminate_common_subexpr.cc",
)
