"""Give every value a name: operands become variables, and the order of evaluation becomes the order of lets."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from relax_core.analysis.relay_scopes import ATOMS, Scope, Scopes, scopes_of
from relax_core.ir.attrs import has_attr
from relax_core.ir.expr import Call, Expr, Function, If, Tuple, TupleGetItem
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, postorder
from relax_core.ir.relay import Clause, Let, Match, RefCreate, RefRead, RefWrite
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.let_list import GIVE_NAME, LetList
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.rewriting.trampoline import Steps
from relax_core.ir.rewriting.trampoline import run as run_steps
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.remarks import UnnumberedRemark, bound_values, value_name

N = TypeVar("N", bound=Node)

OPAQUE = ("Primitive", "Composite")
"""Attributes of functions that passes treat as one operator: their bodies stay as they are."""


def run(module: IRModule, options: NoOptions, ctx: PassContext) -> IRModule:
    """Return `module` with every function in A-normal form."""
    result = to_a_normal_form(module, ctx.log)
    ctx.remark_on_reading(partial(_explained, module, result, ctx.log))
    return result


def _explained(module: IRModule, result: IRModule, log: RewriteLog) -> Iterator[UnnumberedRemark]:
    """Say which values got a name, and which functions were not looked into."""
    for definition, bound in bound_values(module, result, log.replacements, GIVE_NAME):
        for value, var in bound:
            yield UnnumberedRemark(value, "applied", f"{value_name(value)} is bound to %{value_name(var)}")
        if not bound:
            message = f"the lets of @{definition.var.name} stand in the order in which they are evaluated"
            yield UnnumberedRemark(definition.function, "applied", message)
    for node in postorder(module):
        if isinstance(node, Function) and is_opaque(node):
            yield UnnumberedRemark(node, "missed", "the body stays: the function stands for one operator")


def normalized_first(module: IRModule, ctx: PassContext) -> IRModule:
    """Return `module` in A-normal form for a pass that needs it, with a remark if it was not."""
    result = to_a_normal_form(module, ctx.log)
    for old, new in zip(module.definitions, result.definitions, strict=True):
        if new is not old:
            message = f"@{old.var.name} was not in A-normal form; it was normalized first"
            ctx.remark(old.function, "applied", message)
    return result


def to_a_normal_form(module: IRModule, log: RewriteLog, *, into_opaque: bool = False) -> IRModule:
    """Return `module` in A-normal form: a node that is shared gets one let, in the scope that holds all its uses.

    Functions that stand for one operator stay as they are, unless `into_opaque`.
    """
    definitions: list[Definition] = []
    for item in module.definitions:
        if isinstance(item.function, Function):
            made = normalized(item.function, scopes_of(item.function), log, into_opaque=into_opaque)
            if made is not item.function:
                item = replace(item, function=made)
                log.derive(item, (item.function,))
        definitions.append(item)
    if all(new is old for new, old in zip(definitions, module.definitions, strict=True)):
        return module
    result = replace(module, definitions=tuple(definitions))
    log.rebuilt(module, result)
    return result


def normalized(
    function: Function,
    scopes: Scopes,
    log: RewriteLog,
    *,
    into_opaque: bool = False,
    named: frozenset[Node] | None = None,
) -> Function:
    """Return a function in A-normal form; with `named`, only these values get names that they have not."""
    return _Normalizer(scopes, names_in(function), log, into_opaque, named).definition(function)


def is_opaque(function: Function) -> bool:
    """Tell whether a function stands for one operator."""
    return any(has_attr(function.attrs, name) for name in OPAQUE)


@dataclass(slots=True)
class _Normalizer:
    scopes: Scopes
    names: Names
    log: RewriteLog
    into_opaque: bool
    named: frozenset[Node] | None
    lists: dict[Scope, LetList] = field(default_factory=dict[Scope, LetList])
    atom_of: dict[Node, Expr] = field(default_factory=dict[Node, Expr])

    def definition(self, function: Function) -> Function:
        self.lists[self.scopes.root] = LetList(self.names, self.log)
        return run_steps(self.function(function))

    def function(self, function: Function) -> Steps[Function]:
        if is_opaque(function) and not self.into_opaque:
            return function
        body = yield self.block(function.body, self.scopes.inner[function][0])
        return self.rebuilt(function, body=body)

    def block(self, expr: Expr, scope: Scope) -> Steps[Expr]:
        """Return `expr`, the body of `scope`, with the lets of the scope around it."""
        lets = self.lists[scope] = LetList(self.names, self.log)
        result = yield self.atom(expr)
        return lets.wrap(result)

    def atom(self, expr: Expr) -> Steps[Expr]:
        """Return the atom that stands for `expr`, its let in the list of its scope; or itself, if it gets no name."""
        while isinstance(expr, Let):
            yield self.let(expr)
            expr = expr.body
        if isinstance(expr, ATOMS):
            return expr
        if expr not in self.atom_of:
            value: Expr = yield self.value(expr)
            is_named = self.named is None or expr in self.named
            self.atom_of[expr] = self.lists[self.scopes.scope_of[expr]].push(value, expr) if is_named else value
        return self.atom_of[expr]

    def let(self, let: Let) -> Steps[None]:
        value = let.value
        if let in self.atom_of:
            return
        self.atom_of[let] = let.var
        lets = self.lists[self.scopes.scope_of[let]]
        is_own = value not in self.scopes.shared or isinstance(value, Function)
        if is_own and not isinstance(value, (*ATOMS, Let)):
            made: Expr = yield self.value(value)
        else:
            made = yield self.atom(value)
        lets.bind(let.var, made, let)

    def value(self, expr: Expr) -> Steps[Expr]:
        """Return `expr` with atoms as its operands."""
        match expr:
            case Function():
                return (yield self.function(expr))
            case Call(op=op, args=args):
                callee = yield self.atom(op)
                return self.rebuilt(expr, op=callee, args=(yield self.atoms(args)))
            case Tuple(fields=fields):
                return self.rebuilt(expr, fields=(yield self.atoms(fields)))
            case TupleGetItem(tuple_value=inner):
                return self.rebuilt(expr, tuple_value=(yield self.atom(inner)))
            case If(condition=condition, true_branch=yes, false_branch=no):
                test = yield self.atom(condition)
                first, second = self.scopes.inner[expr]
                yes = yield self.block(yes, first)
                no = yield self.block(no, second)
                return self.rebuilt(expr, condition=test, true_branch=yes, false_branch=no)
            case Match():
                return (yield self.match(expr))
            case RefCreate(value=inner):
                return self.rebuilt(expr, value=(yield self.atom(inner)))
            case RefRead(ref=ref):
                return self.rebuilt(expr, ref=(yield self.atom(ref)))
            case RefWrite(ref=ref, value=inner):
                target = yield self.atom(ref)
                return self.rebuilt(expr, ref=target, value=(yield self.atom(inner)))
            case _:
                raise AssertionError(f"{type(expr).__name__} is no expression of Relay")

    def atoms(self, exprs: tuple[Expr, ...]) -> Steps[tuple[Expr, ...]]:
        found: list[Expr] = []
        for item in exprs:
            found.append((yield self.atom(item)))
        return tuple(found)

    def match(self, expr: Match) -> Steps[Expr]:
        value = yield self.atom(expr.value)
        clauses: list[Clause] = []
        for clause, scope in zip(expr.clauses, self.scopes.inner[expr], strict=True):
            body = yield self.block(clause.body, scope)
            clauses.append(self.rebuilt(clause, body=body))
        return self.rebuilt(expr, value=value, clauses=tuple(clauses))

    def rebuilt(self, old: N, **fields: Any) -> N:
        """Return `old` with other fields, the same object if none is another."""
        if all(_same(getattr(old, name), value) for name, value in fields.items()):
            return old
        new = replace(old, **fields)
        self.log.rebuilt(old, new)
        return new


def _same(old: Any, new: Any) -> bool:
    """Tell whether a field holds the same node, or the same nodes: nodes compare by identity."""
    return old == new


PASS = Pass(
    "ToANormalForm",
    "Gives every value a name by a let; a shared node is computed once, in the scope that holds all its uses.",
    run,
    see="tvm/src/relay/transforms/to_a_normal_form.cc",
    dialect="relay",
    reads_data=False,
)
