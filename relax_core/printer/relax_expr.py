"""Print Relax expressions."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from relax_core.ir.expr import (
    Call,
    Constant,
    DataTypeImm,
    Expr,
    ExternFunc,
    GlobalVar,
    If,
    Null,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, PrimVar, StringImm, dtype_of
from relax_core.ir.types import TensorType, Type
from relax_core.ops import find
from relax_core.ops.spec import OMITTED, OpSpec, Param
from relax_core.printer.literals import attribute, constant, number, quoted
from relax_core.printer.naming import FunctionNames, legal
from relax_core.printer.printed import Part, Piece, joined
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording
from relax_core.printer.types import TypePrinter

_DPS = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_dps_packed")
_BY_NAME = ("prim", "dtype", "axes")


@dataclass(frozen=True, slots=True)
class ExprPrinter:
    """Prints the expressions of one function. `hoisted` are parts that a statement before has given a name."""

    spelling: Wording
    names: FunctionNames
    hoisted: dict[Node, str] = field(default_factory=dict[Node, str])

    @property
    def types(self) -> TypePrinter:
        """The printer of types in the body of the function."""
        return TypePrinter(self.spelling, self.names.__getitem__)

    @property
    def scalars(self) -> ScalarPrinter:
        """The printer of scalar expressions."""
        return self.types.scalars

    def show(self, expr: Expr) -> Piece:
        """Show an expression."""
        return Piece(expr, (self.hoisted[expr],) if expr in self.hoisted else self._parts(expr))

    def _parts(self, expr: Expr) -> Iterator[Part]:
        match expr:
            case Var():
                yield self.names[expr]
            case GlobalVar(name=name):
                yield legal(name) if self.spelling.name == "2022" else f"cls.{legal(name)}"
            case Call():
                yield self._call(expr)
            case Constant(data=data):
                yield f"R.const({constant(data)})"
            case Tuple(fields=fields):
                yield self._tuple(fields)
            case TupleGetItem(tuple_value=value, index=index):
                yield from (self._atom(value), f"[{index}]")
            case ShapeExpr(values=values):
                yield self._shape(values)
            case PrimValue(value=StringImm(value=text)):
                yield f"R.str({quoted(text)})"
            case PrimValue(value=value):
                yield from ("R.prim_value(", self.scalars.show(value), ")")
            case DataTypeImm(value=dtype):
                yield f"R.dtype({quoted(dtype)})"
            case ExternFunc(name=name):
                yield f"R.ExternFunc({quoted(name)})"
            case Null():
                yield "R.null_value()"
            case Op(name=name):
                yield f"R.{name.removeprefix('relax.')}"
            case If(condition=condition, true_branch=a, false_branch=b):
                yield from ("(", self.show(a), " if ", self.show(condition), " else ", self.show(b), ")")
            case SeqExpr(body=body):
                yield self.show(body)
            case _:
                raise AssertionError(type(expr).__name__)

    def _atom(self, expr: Expr) -> Part:
        """Show what a subscript or a call is applied to."""
        return self.show(expr)

    def _tuple(self, fields: tuple[Expr, ...]) -> Iterator[Part]:
        if not fields:
            yield "R.tuple()"
            return
        yield from ("(", joined(self.show(item) for item in fields), ",)" if len(fields) == 1 else ")")

    def _shape(self, values: tuple[PrimExpr, ...]) -> Iterator[Part]:
        """2022 writes a bare tuple, which is a shape because a symbolic dimension occurs in it."""
        is_symbolic = any(isinstance(node, PrimVar) for value in values for node in preorder(value))
        if self.spelling.name == "2022" and is_symbolic:
            yield self.types.tuple_of_dims(values)
        else:
            yield from ("R.shape([", self.types.dims(values), "])")

    def _call(self, call: Call) -> Iterator[Part]:
        match call.op:
            case Op(name=name):
                spec = find(name)
                yield Piece(call.op, (f"R.{name.removeprefix('relax.')}",))
                parts = self._by_schema(call, spec) if spec is not None else None
                yield from ("(", joined(self._plain(call) if parts is None else parts), ")")
            case ExternFunc(name=name):
                yield from ("R.call_packed(", Piece(call.op, (quoted(name),)))
                for item in (*self._plain(call), *(f"{key}={attribute(value)}" for key, value in call.attrs)):
                    yield from (", ", item)
                yield ")"
            case callee:
                yield from (self._atom(callee), "(", joined(self._plain(call)), ")")

    def _plain(self, call: Call) -> Iterator[Part]:
        yield from (self.show(item) for item in call.args)
        yield from self._type_args(call)

    def _type_args(self, call: Call) -> Iterator[Part]:
        if call.type_args:
            yield self._keyword(self.spelling.type_args, self._types(call.type_args))

    def _types(self, types: tuple[Type, ...]) -> Iterator[Part]:
        yield from ("(", joined(self.types.show(item) for item in types), ",)" if len(types) == 1 else ")")

    def _keyword(self, name: str, value: Part) -> Iterator[Part]:
        yield from (f"{name}=", value)

    def _by_schema(self, call: Call, spec: OpSpec) -> Iterator[Part] | None:
        """Show arguments as the operator's schema places them; `None` if they do not fit it."""
        pairs = _paired(call, spec)
        if pairs is None:
            return None
        return self._arguments(call, spec, pairs)

    def _arguments(self, call: Call, spec: OpSpec, pairs: list[tuple[Param, Expr]]) -> Iterator[Part]:
        by_name: list[Part] = []
        last = max((i for i, (param, _) in enumerate(pairs) if not _is_by_name(param)), default=-1)
        for index, (param, value) in enumerate(pairs):
            if index > last and isinstance(value, Null) and param.default is None:
                continue
            if param.is_keyword or (index > last and _is_by_name(param)):
                by_name.append(self._keyword(param.name, self._argument(param, value)))
            else:
                yield self._argument(param, value)
        if spec.name in _DPS:
            yield from self._out_types(call.type_args)
        yield from by_name
        if spec.name not in _DPS:
            yield from self._type_args(call)
        yield from (f"{key}={attribute(value)}" for key, value in call.attrs)

    def _argument(self, param: Param, value: Expr) -> Part:
        if value in self.hoisted:
            return self.show(value)
        match param.kind, value:
            case "tensor", _:
                return self.show(value)
            case _, Null():
                return Piece(value, ("None",))
            case "dtype", DataTypeImm(value=dtype):
                return Piece(value, (quoted(dtype),))
            case "func", ExternFunc(name=name):
                return Piece(value, (quoted(name),))
            case "prim", PrimValue(value=scalar):
                return Piece(value, self._prim(param, scalar))
            case "axes", Tuple(fields=fields) if all(_is_int64(item) for item in fields):
                return Piece(value, ("[", joined(self._axis(item) for item in fields), "]"))
            case _:
                return self.show(value)

    def _axis(self, value: Expr) -> Piece:
        assert isinstance(value, PrimValue)
        return Piece(value, (self.scalars.show(value.value),))

    def _prim(self, param: Param, value: PrimExpr) -> Iterator[Part]:
        """Show a host scalar: a bare literal if the schema gives it its dtype."""
        default = param.dtype or ("float32" if isinstance(value, FloatImm) else "int64")
        match value:
            case IntImm(dtype="bool") if param.dtype in (None, "bool"):
                yield str(bool(value.value))
            case IntImm(dtype=dtype) if dtype == default:
                yield str(value.value)
            case FloatImm(dtype=dtype) if dtype == default and number(value.value) == repr(value.value):
                yield repr(value.value)
            case IntImm():
                yield self.scalars.show(value, typed=True)
            case _:
                yield self.scalars.show(value)

    def _out_types(self, types: tuple[Type, ...]) -> Iterator[Part]:
        """Show declared results: as shapes and dtypes in 2022 if they are all known tensors, else as types."""
        tensors = [item for item in types if isinstance(item, TensorType)]
        are_known = all(item.shape is not None and item.dtype and not item.vdevice for item in tensors)
        if not self.spelling.out_types and tensors and len(tensors) == len(types) and are_known:
            yield from self._out_shapes(tensors)
            return
        keyword = self.spelling.out_types or "out_sinfo"
        shown = joined(self.types.show(item) for item in types)
        yield self._keyword(keyword, shown if len(types) == 1 else _bracketed(shown))

    def _out_shapes(self, types: list[TensorType]) -> Iterator[Part]:
        shapes = [self._out_shape(item) for item in types]
        dtypes = [quoted(item.dtype or "") for item in types]
        if len(types) == 1:
            yield from (shapes[0], f"dtype={dtypes[0]}")
        else:
            yield _bracketed(joined(shapes))
            yield f"dtype=[{', '.join(dtypes)}]"

    def _out_shape(self, type_: TensorType) -> Part:
        if isinstance(type_.shape, tuple):
            return self.types.tuple_of_dims(type_.shape)
        assert type_.shape is not None
        return self.show(type_.shape)


def _bracketed(inner: Part) -> Iterator[Part]:
    yield from ("[", inner, "]")


def _is_by_name(param: Param) -> bool:
    return param.is_keyword or param.kind in _BY_NAME


def _is_int64(value: Expr) -> bool:
    return isinstance(value, PrimValue) and dtype_of(value.value) == "int64"


def _paired(call: Call, spec: OpSpec) -> list[tuple[Param, Expr]] | None:
    """Pair the parameters of the schema with the arguments; `None` if their number does not fit."""
    rest = list(call.args)
    pairs: list[tuple[Param, Expr]] = []
    for param in spec.params:
        if param.is_variadic:
            pairs.extend((param, value) for value in rest)
            rest = []
        elif rest:
            pairs.append((param, rest.pop(0)))
        elif param.default is not OMITTED:
            return None
    return None if rest else pairs
