"""What only Relay has: lets, algebraic data types, match, references. The other expressions are those of `expr.py`.

Relay is a dialect on shared nodes: `Var`, `GlobalVar`, `Constant`, `Tuple`, `TupleGetItem`, `Call`, `If`,
`Function` and `Op` mean the same. A Relay call keeps the operator's attributes, as the text gives them, in
`Call.attrs`; `Op.name` is Relay's name ("nn.conv2d"). Graph variables (`%0 = ...;`) are shared nodes.
"""

from typing import ClassVar

from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.expr import (
    Expr,
    Type,
    TypeVar,
    Var,
)
from relax_core.ir.node import Node, node


@node
class Let(Expr):
    """`let var = value; body`. If `value` is a `Function`, `var` may occur in it.

    `attrs` hold what the text says in braces behind the variable: `virtual_device`.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("var", "value", "body")
    var: Var
    value: Expr
    body: Expr
    attrs: Attrs = NO_ATTRS


@node
class Constructor(Expr):
    """A constructor of the data type `type_name`; one object per constructor in a module."""

    name: str
    type_name: str
    field_types: tuple[Type, ...] = ()


@node
class TypeData(Node):
    """An algebraic data type; an extern one has no constructors."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("constructors",)
    name: str
    type_params: tuple[TypeVar, ...] = ()
    constructors: tuple[Constructor, ...] = ()
    is_extern: bool = False


@node
class Pattern(Node):
    """The base of the patterns of `match`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ()


@node
class PatternWildcard(Pattern):
    """`_`: matches anything."""


@node
class PatternVar(Pattern):
    """`%x`: matches anything and binds it."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("var",)
    var: Var


@node
class PatternConstructor(Pattern):
    """`Cons(p, q)`: matches a value of that constructor whose fields match."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("constructor", "patterns")
    constructor: Constructor
    patterns: tuple[Pattern, ...] = ()


@node
class PatternTuple(Pattern):
    """`(p, q)`: matches a tuple whose fields match."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("patterns",)
    patterns: tuple[Pattern, ...]


@node
class Clause(Node):
    """`pattern => body`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("pattern", "body")
    pattern: Pattern
    body: Expr


@node
class Match(Expr):
    """`match (value) { clauses }`; the first clause that matches is taken.

    `is_complete` is a promise that one always does (`match`); `match?` makes none.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("value", "clauses")
    value: Expr
    clauses: tuple[Clause, ...]
    is_complete: bool = True


@node
class RefCreate(Expr):
    """`ref(value)`: a new mutable reference."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("value",)
    value: Expr


@node
class RefRead(Expr):
    """`ref_read(ref)`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("ref",)
    ref: Expr


@node
class RefWrite(Expr):
    """`ref_write(ref, value)`: gives the void value."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("ref", "value")
    ref: Expr
    value: Expr


def result_of(expr: Expr) -> Expr:
    """Return the expression behind all lets, whose value `expr` has."""
    while isinstance(expr, Let):
        expr = expr.body
    return expr
