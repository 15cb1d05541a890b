"""Which expressions of a Relay function get a line of their own, and in which block.

Expressions are a graph: one that is a part of several others stands once, as `%0 = ...;`, in the innermost block
that holds all of its uses, before the statement that has the first one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Op, Tuple, TupleGetItem, Var
from relax_core.ir.node import Node
from relax_core.ir.relay import Constructor, Let, Match, RefCreate, RefRead, RefWrite

How: TypeAlias = Literal["operand", "value", "tail"]
Event: TypeAlias = "tuple[Literal['visit', 'done', 'let'], Expr]"


@dataclass(slots=True, eq=False)
class Block:
    """A block of the text: the statements in it, in order. A `Let` is the line that binds its variable."""

    outer: "Block | None"
    depth: int
    statements: list[Expr] = field(default_factory=list[Expr])


@dataclass(slots=True, eq=False)
class Schedule:
    """The blocks of a function. `block_of` is keyed by the node whose body, branch or clause the block is."""

    block_of: dict[tuple[Node, str], Block] = field(default_factory=dict[tuple[Node, str], Block])
    bound: set[Expr] = field(default_factory=set[Expr])
    used: set[Var] = field(default_factory=set[Var])


def is_leaf(expr: Expr) -> bool:
    """Tell whether an expression is one word, which is written wherever it is used."""
    match expr:
        case Var() | GlobalVar() | Op() | Constant() | Constructor():
            return True
        case Tuple():
            return not expr.fields
        case Call(op=Constructor(field_types=())):
            return not expr.args and not expr.attrs
        case _:
            return False


def schedule(function: Function) -> Schedule:
    """Place every expression below `function`. Linear, but for the depth of nested blocks."""
    events = list(_events(function.body))
    made = Schedule()
    root = Block(None, 0)
    made.block_of[function, "body"] = root
    placing = _Placing(made)
    placing.edge(function.body, root, "tail")
    for what, expr in reversed(events):
        if what == "done":
            placing.place(expr)
    for what, expr in events:
        match expr:
            case Var():
                made.used.add(expr)
            case Let() if what == "let":
                made.block_of[expr, "body"].statements.append(expr)
            case _ if what == "done" and placing.is_bound(expr):
                made.bound.add(expr)
                placing.block[expr].statements.append(expr)
            case _:
                pass
    return made


def parts(expr: Expr) -> tuple[tuple[Expr, How, str], ...]:
    """List the direct parts of an expression: how they are used, and the block they start, if any."""
    match expr:
        case Call():
            return tuple((item, "operand", "") for item in (expr.op, *expr.args))
        case Tuple():
            return tuple((item, "operand", "") for item in expr.fields)
        case TupleGetItem():
            return ((expr.tuple_value, "operand", ""),)
        case If():
            branches = ((expr.true_branch, "true_branch"), (expr.false_branch, "false_branch"))
            return ((expr.condition, "operand", ""), *((item, "tail", name) for item, name in branches))
        case Function():
            return ((expr.body, "tail", "body"),)
        case Match():
            clauses = ((clause.body, str(index)) for index, clause in enumerate(expr.clauses))
            return ((expr.value, "operand", ""), *((item, "tail", name) for item, name in clauses))
        case RefCreate():
            return ((expr.value, "operand", ""),)
        case RefRead():
            return ((expr.ref, "operand", ""),)
        case RefWrite():
            return ((expr.ref, "operand", ""), (expr.value, "operand", ""))
        case Let():
            return ((expr.value, "value", ""), (expr.body, "tail", ""))
        case _:
            return ()


def _events(root: Expr) -> Iterator[Event]:
    """Yield expressions when all their parts are done, and a let when its value is; variables as they are met."""
    seen: set[Expr] = set()
    stack: list[Event] = [("visit", root)]
    while stack:
        what, expr = stack.pop()
        if what != "visit":
            yield what, expr
            continue
        if isinstance(expr, Var):
            yield "visit", expr
        if expr in seen or is_leaf(expr):
            continue
        seen.add(expr)
        stack.append(("done", expr))
        if isinstance(expr, Let):
            stack.append(("visit", expr.body))
            stack.append(("let", expr))
            stack.append(("visit", expr.value))
        else:
            stack.extend(("visit", item) for item, _, _ in reversed(parts(expr)))


class _Placing:
    """Finds the block of each expression, those that have it as a part first."""

    def __init__(self, made: Schedule) -> None:
        self.made = made
        self.block: dict[Expr, Block] = {}
        self.how: dict[Expr, How] = {}
        self.count: dict[Expr, int] = {}

    def is_bound(self, expr: Expr) -> bool:
        """Tell whether an expression has a line `%0 = ...;`."""
        return self.how[expr] == "operand" or self.count[expr] > 1

    def edge(self, expr: Expr, block: Block, how: How) -> None:
        """Note a use of `expr` in `block`."""
        if is_leaf(expr):
            return
        before = self.block.get(expr)
        self.block[expr] = block if before is None else _common(before, block)
        self.how[expr] = how
        self.count[expr] = self.count.get(expr, 0) + 1

    def place(self, expr: Expr) -> None:
        """Note the uses that `expr` itself makes; all uses of it are known."""
        block = self.block[expr]
        if isinstance(expr, Let):
            if self.how[expr] != "tail" or self.is_bound(expr):
                block = Block(block, block.depth + 1)
            self.made.block_of[expr, "body"] = block
        for item, how, name in parts(expr):
            inner = block
            if name:
                inner = Block(block, block.depth + 1)
                self.made.block_of[expr, name] = inner
            self.edge(item, inner, how)


def _common(a: Block, b: Block) -> Block:
    """Return the innermost block that holds both."""
    while a is not b:
        if a.depth >= b.depth:
            assert a.outer is not None
            a = a.outer
        else:
            assert b.outer is not None
            b = b.outer
    return a
