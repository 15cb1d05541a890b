"""Expressions of operators that are written as formulas and bound one operator at a time."""

from collections.abc import Mapping
from operator import is_

from relax_core.check.typing_context import constant_type
from relax_core.ir.expr import (
    OBJECT,
    Call,
    Constant,
    DataTypeImm,
    Dims,
    Expr,
    Null,
    Op,
    PrimType,
    PrimValue,
    ShapeExpr,
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
    constant,
)
from relax_core.ir.node import Node
from relax_core.ir.prim import dtype_of
from relax_core.ir.rewriting.builder import Emitter, Names
from relax_core.ops import OPS
from relax_core.passes.relax.operators.calls import op_call


class Expressions:
    """A dataflow block that is being written.

    An expression that is used several times is bound once. `type_of` has the types of what was there before.
    """

    def __init__(self, names: Names, type_of: Mapping[Node, Type]) -> None:
        self.emitter = Emitter(names, is_dataflow=True)
        self._type_of = type_of
        self._types: dict[Node, Type] = {}
        self._bound: dict[Expr, Var] = {}

    def type(self, expr: Node) -> Type:
        """Return the type of an expression, which follows from those of its parts."""
        found = self._types.get(expr) or self._type_of.get(expr)
        if found is None:
            found = self._types[expr] = self._inferred(expr)
        return found

    def _inferred(self, expr: Node) -> Type:
        match expr:
            case Var(annotation=annotation) if annotation is not None:
                return annotation
            case Call(op=Op(name=name), args=args):
                return OPS[name].infer(expr, tuple(map(self.type, args)))
            case Tuple(fields=fields):
                return TupleType(tuple(map(self.type, fields)))
            case TupleGetItem(tuple_value=value, index=index):
                whole = self.type(value)
                assert isinstance(whole, TupleType), "what a field is taken from is a tuple"
                return whole.fields[index]
            case Constant(data=data):
                return constant_type(data.shape, str(data.dtype))
            case PrimValue(value=value):
                return PrimType(dtype_of(value), value)
            case ShapeExpr(values=values):
                return ShapeType(values)
            case DataTypeImm() | Null():
                return OBJECT
            case _:
                raise AssertionError(f"{type(expr).__name__} is no part of a formula")

    def tensor(self, expr: Expr) -> TensorType:
        """Return the type of a tensor."""
        found = self.type(expr)
        assert isinstance(found, TensorType), "the operator takes tensors there"
        return found

    def dims(self, expr: Expr) -> Dims:
        """Return the dimensions of a tensor.

        Raises:
            ValueError: they are not known one by one.
        """
        dims = self.tensor(expr).dims
        if dims is None:
            raise ValueError("the shape of a tensor is not known")
        return dims

    def shape(self, expr: Expr) -> ShapeExpr:
        """Return the shape of a tensor as an argument."""
        return ShapeExpr(self.dims(expr))

    def number(self, value: float, like: Expr) -> Constant:
        """Return a scalar of the dtype of a tensor."""
        return constant(value, self.tensor(like).dtype)

    def normal(self, expr: Expr) -> Expr:
        """Return an expression whose arguments are leaves; what they compute is bound."""
        match expr:
            case Call(args=args):
                news = tuple(map(self.argument, args))
                return expr if all(map(is_, news, args)) else self._typed(Call(expr.op, news, expr.attrs), expr)
            case Tuple(fields=fields):
                news = tuple(map(self.argument, fields))
                return expr if all(map(is_, news, fields)) else Tuple(news)
            case TupleGetItem(tuple_value=value, index=index):
                new = self.argument(value)
                return expr if new is value else self._typed(TupleGetItem(new, index), expr)
            case _:
                return expr

    def _typed(self, new: Expr, old: Expr) -> Expr:
        self._types[new] = self.type(old)
        return new

    def argument(self, expr: Expr) -> Expr:
        """Return a leaf, or a tuple of such, with the value of an expression."""
        match expr:
            case Call() | TupleGetItem():
                found = self._bound.get(expr)
                if found is None:
                    found = self._bound[expr] = self.bind(expr)
                return found
            case Tuple():
                return self.normal(expr)
            case _:
                return expr

    def bind(self, expr: Expr, hint: str | None = None) -> Var:
        """Bind an expression to a fresh variable."""
        value = self.normal(expr)
        type_ = self.type(value)
        var = self.emitter.emit(value, hint, annotation=type_)
        self._types[var] = type_
        return var


def op(name: str, *args: Expr) -> Call:
    """Return a call of an operator; arguments that are left out have their defaults."""
    return op_call(name, *args)
