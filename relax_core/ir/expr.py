"""Relax expressions, bindings and functions, and the types of their values (2023's StructInfo; both are read).

A variable has a type, and the shape of a type may be a variable. Types are plain values. Dimensions are scalar
expressions, which compare by identity, so two types are compared with `relax_core.ir.equality.same_type`, never with
`==`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from relax_core.ir.attrs import NO_ATTRS, Attrs
from relax_core.ir.node import Node, node
from relax_core.ir.prim import PrimExpr
from relax_core.ir.slots import set_by_slots

Dims: TypeAlias = tuple[PrimExpr, ...]


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class TensorType:
    """An n-dimensional array.

    `shape` is a tuple of dimensions, a Relax variable of shape type, or `None` if unknown; `ndim` is `None`
    if the rank is unknown, and agrees with `shape`; `dtype` is `None` if unknown. `vdevice` is "kind:index:scope".
    `sharding` is the device mesh and the placement of a distributed tensor: `("mesh[0]", "S[0], R")`.
    """

    shape: "Dims | Var | None" = None
    dtype: str | None = None
    ndim: int | None = None
    vdevice: str | None = None
    sharding: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.shape, tuple):
            assert self.ndim in (None, len(self.shape)), "ndim disagrees with shape"
            object.__setattr__(self, "ndim", len(self.shape))

    @property
    def dims(self) -> Dims | None:
        """The dimensions if they are known one by one, else `None`."""
        return self.shape if isinstance(self.shape, tuple) else None


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class ShapeType:
    """A shape as a value. `values` are its dimensions if known; `ndim` is `None` if the rank is unknown."""

    values: Dims | None = None
    ndim: int | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            object.__setattr__(self, "ndim", len(self.values))


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class PrimType:
    """A scalar on the host. `value` is the expression that it is known to equal, if any.

    `dtype` is "int64", "float32", "bool", "string", ... Not a subtype of `ObjectType`.
    """

    dtype: str
    value: PrimExpr | None = None


@set_by_slots
@dataclass(frozen=True, slots=True, eq=False)
class TupleType:
    """A tuple; with no fields it is the type of a call that returns nothing."""

    fields: tuple["Type", ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FuncType:
    """A callable. `params` is `None` if they are unknown (`R.Callable`); `is_pure` is a promise.

    `type_params` are the type variables over which it is polymorphic (Relay).
    """

    params: tuple["Type", ...] | None
    ret: "Type"
    is_pure: bool = True
    type_params: "tuple[TypeVar, ...]" = ()


@dataclass(frozen=True, slots=True, eq=False)
class ObjectType:
    """Any run-time object: the top of all types but `PrimType`."""


@dataclass(frozen=True, slots=True, eq=False)
class AdtType:
    """An algebraic data type applied to arguments (Relay)."""

    name: str
    args: tuple["Type", ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TypeVar:
    """A type variable of a polymorphic function (Relay). Compared by identity."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class RefType:
    """A mutable reference (Relay)."""

    value: "Type"


Type: TypeAlias = TensorType | ShapeType | PrimType | TupleType | FuncType | ObjectType | AdtType | TypeVar | RefType

VOID = TupleType(())
OBJECT = ObjectType()


@node
class Expr(Node):
    """The base of Relax expressions."""

    CHILDREN: ClassVar[tuple[str, ...]] = ()


@node
class Var(Expr):
    """A variable; every occurrence is the same object as its definition.

    `annotation` is the type that the program's text declares, `None` if it declares none. What the variable's
    type is, is a fact of the side table that `check.infer` makes.
    """

    name: str
    annotation: Type | None = None


@node
class DataflowVar(Var):
    """A variable that is visible only inside its dataflow block."""


@node
class GlobalVar(Expr):
    """The name of a function of the module; one object per name in a module."""

    name: str


@node
class ExternFunc(Expr):
    """A packed function of the run time, found by name when it is called; `annotation` is its declared type."""

    name: str
    annotation: Type | None = None


@node
class Op(Expr):
    """An operator by its full name, such as "relax.add"."""

    name: str


@node
class Constant(Expr):
    """A tensor literal. `data` is never written."""

    data: npt.NDArray[Any]


@node
class PrimValue(Expr):
    """A scalar on the host: an integer, float, bool or string expression."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("value",)
    value: PrimExpr


@node
class DataTypeImm(Expr):
    """A dtype as a value."""

    value: str


@node
class Null(Expr):
    """The absent value of an optional parameter; `R.null_value()`."""


@node
class ShapeExpr(Expr):
    """A shape as a value."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("values",)
    values: tuple[PrimExpr, ...]


@node
class Tuple(Expr):
    """A tuple; with no fields it is the void value."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("fields",)
    fields: tuple[Expr, ...] = ()


@node
class TupleGetItem(Expr):
    """The field `index` (from 0) of a tuple."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("tuple_value",)
    tuple_value: Expr
    index: int


@node
class Call(Expr):
    """A call of an operator, a global, a packed function, or a callable value.

    An operator's parameters are all in `args`, in the order of its schema. `type_args` are the result types that
    the caller declares (`out_ty=` of `call_tir`, `ty_args=` of `call_packed`); `attrs` holds free annotations.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("op", "args")
    op: Expr
    args: tuple[Expr, ...] = ()
    attrs: Attrs = NO_ATTRS
    type_args: tuple[Type, ...] = ()


@node
class If(Expr):
    """A conditional; each branch is an expression, after normalisation a `SeqExpr`."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("condition", "true_branch", "false_branch")
    condition: Expr
    true_branch: Expr
    false_branch: Expr


@node
class Binding(Node):
    """The base of bindings: `var` stands for `value`, or for what is made of it."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("var", "value")
    var: Var
    value: Expr


@node
class VarBinding(Binding):
    """`var = value`. If `value` is a `Function`, `var` may occur in it, as may later functions of its block."""


@node
class MatchCast(Binding):
    """`var = match_cast(value, type)`: checks at run time, and binds the free symbolic dimensions of `type`."""

    type: Type


@node
class BindingBlock(Node):
    """Bindings in the order of their evaluation."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("bindings",)
    bindings: tuple[Binding, ...]


@node
class DataflowBlock(BindingBlock):
    """Bindings without side effects; those of plain `Var`s are its outputs."""


@node
class SeqExpr(Expr):
    """Blocks of bindings, then a value."""

    CHILDREN: ClassVar[tuple[str, ...]] = ("blocks", "body")
    blocks: tuple[BindingBlock, ...]
    body: Expr


@node
class Function(Expr):
    """A function. `ret_type` is `None` if the text declares none.

    `is_private` functions are not entry points. `type_params` are those of a polymorphic
    Relay function. A local function is the value of a `VarBinding`.
    """

    CHILDREN: ClassVar[tuple[str, ...]] = ("params", "body")
    params: tuple[Var, ...]
    body: Expr
    ret_type: Type | None = None
    attrs: Attrs = NO_ATTRS
    is_pure: bool = True
    is_private: bool = False
    type_params: tuple[TypeVar, ...] = ()


LEAVES = (Var, GlobalVar, ExternFunc, Op, Constant, PrimValue, DataTypeImm, ShapeExpr, Null)


def is_leaf(expr: Expr) -> bool:
    """Tell whether an expression is an operand as it stands; a device such as `R.device(1, 0)` is, for it is data."""
    return isinstance(expr, LEAVES) or (
        isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == "relax.device"
    )


def constant(value: int | float | npt.NDArray[Any], dtype: str | None = None) -> Constant:
    """Make a tensor literal; a Python int is int32 and a float is float32 unless `dtype` says otherwise."""
    if dtype is None and not isinstance(value, np.ndarray):
        dtype = "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
    data = np.array(value, dtype=dtype)
    data.flags.writeable = False
    return Constant(data)


def op_name(call: Call) -> str | None:
    """Return the operator's full name if `call` calls an operator."""
    return call.op.name if isinstance(call.op, Op) else None


def is_op_call(expr: Node, name: str) -> TypeGuard[Call]:
    """Tell whether `expr` is a call of the operator `name`."""
    return isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == name


def tuple_leaves(expr: Expr) -> Iterator[Expr]:
    """Yield the fields of a tuple in order, those of tuples among them too; what is no tuple is its only leaf."""
    stack = [expr]
    while stack:
        item = stack.pop()
        if isinstance(item, Tuple):
            stack.extend(reversed(item.fields))
        else:
            yield item
