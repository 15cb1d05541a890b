"""Fresh names, emitting bindings, and A-normal form."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from relax_core.ir.expr import (
    LEAVES,
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    MatchCast,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Type,
    Var,
    VarBinding,
    is_leaf,
)
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import nodes_in
from relax_core.ir.rewriting.rewrite import RewriteLog

BIND: Final = "bind a nested value"
"""The rule by which A-normal form gives a value its variable."""


class Names:
    """A supply of names that are not taken yet."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        """Return `hint` if it is free, else `hint` with the first free number; the name is then taken."""
        name = hint
        number = self._next.get(hint, 0)
        while name in self._taken:
            number += 1
            name = f"{hint}{number}"
        self._next[hint] = number
        self._taken.add(name)
        return name

    def take(self, name: str) -> None:
        """Mark `name` as taken."""
        self._taken.add(name)


def names_in(function: Function) -> Names:
    """Return a supply in which the names of all variables of `function` are taken."""
    return Names(item.name for item in nodes_in(function) if isinstance(item, Var))


class Emitter:
    """Collects bindings of one block, naming the values that are emitted."""

    def __init__(self, names: Names, *, is_dataflow: bool = False) -> None:
        self.names = names
        self.is_dataflow = is_dataflow
        self.bindings: list[Binding] = []

    def emit(self, value: Expr, hint: str | None = None, annotation: Type | None = None) -> Var:
        """Bind `value` to a fresh variable, `lv` in a dataflow block and `gv` elsewhere, and return it."""
        kind = DataflowVar if self.is_dataflow else Var
        var = kind(self.names.fresh(hint or ("lv" if self.is_dataflow else "gv")), annotation, span=value.span)
        self.bindings.append(VarBinding(var, value, span=value.span))
        return var

    def bind(self, var: Var, value: Expr) -> None:
        """Bind `value` to a variable that exists."""
        self.bindings.append(VarBinding(var, value, span=value.span))

    def block(self) -> BindingBlock:
        """Return the block of what was collected."""
        return (DataflowBlock if self.is_dataflow else BindingBlock)(tuple(self.bindings))


def normalize(module: IRModule, log: RewriteLog) -> IRModule:
    """Return `module` in A-normal form.

    Arguments, conditions and results are leaves (variables, constants, literals, or tuples of leaves where an
    operator takes an inline tuple); function bodies and branches are `SeqExpr`; sequences are flat.
    """
    definitions: list[Definition] = []
    for definition in module.definitions:
        function = definition.function
        if isinstance(function, Function):
            new = _Normalizer(names_in(function), log).function(function)
            if new is not function:
                log.derive(new, (function,))
                definition = replace(definition, function=new)
        definitions.append(definition)
    is_same = all(a is b for a, b in zip(definitions, module.definitions, strict=True))
    if is_same:
        return module
    result = replace(module, definitions=tuple(definitions))
    log.rebuilt(module, result)
    return result


class _Normalizer:
    """A-normal form of one function. Recursion follows the nesting of the text, never its length."""

    def __init__(self, names: Names, log: RewriteLog) -> None:
        self.names = names
        self.log = log

    def function(self, function: Function) -> Function:
        body = self.sequence(function.body)
        if body is function.body:
            return function
        new = replace(function, body=body)
        self.log.rebuilt(function, new)
        return new

    def sequence(self, expr: Expr) -> SeqExpr:
        """Return `expr` as a flat sequence whose body is a leaf or a tuple of leaves."""
        if not isinstance(expr, SeqExpr):
            expr_as_sequence = SeqExpr((), expr, span=expr.span)
            self.log.derive(expr_as_sequence, (expr,))
            return self.sequence(expr_as_sequence)
        blocks: list[BindingBlock] = []
        for block in expr.blocks:
            self.append(blocks, self.block(block))
        tail = Emitter(self.names)
        body = (self.value if isinstance(expr.body, Tuple) else self.leaf)(expr.body, tail)
        if tail.bindings:
            made = tail.block()
            self.log.derive(made, (expr,))
            self.append(blocks, (made,))
        if body is expr.body and len(blocks) == len(expr.blocks) and all(map(is_same, blocks, expr.blocks)):
            return expr
        new = replace(expr, blocks=tuple(blocks), body=body)
        self.log.rebuilt(expr, new)
        return new

    def append(self, blocks: list[BindingBlock], added: tuple[BindingBlock, ...]) -> None:
        """Append blocks, joining neighbours of one kind and dropping empty ones."""
        for block in added:
            if not block.bindings:
                continue
            if blocks and type(blocks[-1]) is BindingBlock and type(block) is BindingBlock:
                joined = BindingBlock((*blocks[-1].bindings, *block.bindings), span=blocks[-1].span)
                self.log.derive(joined, (blocks[-1], block))
                blocks[-1] = joined
            else:
                blocks.append(block)

    def block(self, block: BindingBlock) -> tuple[BindingBlock, ...]:
        emitter = Emitter(self.names, is_dataflow=isinstance(block, DataflowBlock))
        for binding in block.bindings:
            self.binding(binding, emitter)
        if len(emitter.bindings) == len(block.bindings) and all(map(is_same, emitter.bindings, block.bindings)):
            return (block,)
        new = replace(block, bindings=tuple(emitter.bindings))
        self.log.rebuilt(block, new)
        return (new,)

    def binding(self, binding: Binding, emitter: Emitter) -> None:
        match binding:
            case VarBinding(value=value):
                new_value = self.value(value, emitter)
            case MatchCast(value=value):
                new_value = self.leaf(value, emitter)
            case _:
                raise AssertionError(type(binding).__name__)
        if new_value is value:
            emitter.bindings.append(binding)
            return
        new = replace(binding, value=new_value)
        self.log.rebuilt(binding, new)
        emitter.bindings.append(new)

    def leaf(self, expr: Expr, emitter: Emitter) -> Expr:
        """Return `expr` if it is a leaf, else bind it and return the variable."""
        if is_leaf(expr):
            return expr
        value = self.value(expr, emitter)
        if isinstance(value, LEAVES):
            return value
        var = emitter.emit(value)
        self.log.replace(expr, var, BIND)
        self.log.derive(emitter.bindings[-1], (expr,))
        return var

    def value(self, expr: Expr, emitter: Emitter) -> Expr:
        """Return `expr` as the value of a binding: its operands are leaves."""
        match expr:
            case Call(op=op, args=args):
                new_op = op if isinstance(op, LEAVES) else self.leaf(op, emitter)
                new_args = self.operands(args, emitter)
                new: Expr = expr if new_op is op and new_args is args else replace(expr, op=new_op, args=new_args)
            case Tuple(fields=fields):
                new_fields = self.operands(fields, emitter)
                new = expr if new_fields is fields else replace(expr, fields=new_fields)
            case TupleGetItem(tuple_value=Tuple(fields=fields), index=index) if index < len(fields):
                new = self.operands(fields, emitter)[index]
            case TupleGetItem(tuple_value=inner):
                leaf = self.leaf(inner, emitter)
                new = expr if leaf is inner else replace(expr, tuple_value=leaf)
            case If(condition=condition, true_branch=yes, false_branch=no):
                parts = (self.leaf(condition, emitter), self.sequence(yes), self.sequence(no))
                is_unchanged = all(map(is_same, parts, (condition, yes, no)))
                new = (
                    expr
                    if is_unchanged
                    else replace(expr, condition=parts[0], true_branch=parts[1], false_branch=parts[2])
                )
            case Function():
                new = self.function(expr)
            case SeqExpr():
                flat = self.sequence(expr)
                for block in flat.blocks:
                    emitter.bindings.extend(block.bindings)
                new = flat.body
            case _:
                return expr
        self.log.rebuilt(expr, new)
        return new

    def operands(self, items: tuple[Expr, ...], emitter: Emitter) -> tuple[Expr, ...]:
        """Make operands leaves; an inline tuple stays inline with leaves as its fields."""
        new = tuple(
            self.value(item, emitter) if isinstance(item, Tuple) else self.leaf(item, emitter) for item in items
        )
        return items if all(map(is_same, new, items)) else new


def is_same(a: object, b: object) -> bool:
    """Tell whether `a` and `b` are one object."""
    return a is b
