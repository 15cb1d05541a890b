"""Print Relax expressions."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from relax_core.frontend.tvmscript.literals import BY_NAME
from relax_core.ir.attrs import attr
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
from relax_core.printer.printed import Part, Piece, Ready, joined, separated, write_inside
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording
from relax_core.printer.types import TypePrinter

_DPS = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_dps_packed")
_OUT_TYPED = (
    "relax.call_tir_with_grad",
    "relax.call_py_func",
    "relax.dist.call_tir",
    "relax.dist.call_tir_local_view",
)
_WRAPPED = ("relax.memory.", "relax.vm.", "relax.builtin.")
_BY_NAME = ("prim", "dtype", "axes")
_ANYTHING = Param("", "prim")
_LETTERS = (("relax.", "R."), ("tir.", "T."), ("ir.", "I."))


@dataclass(frozen=True, slots=True)
class ExprPrinter:
    """Prints the expressions of one function. `hoisted` are parts that a statement before has given a name."""

    spelling: Wording
    names: FunctionNames
    hoisted: dict[Node, str] = field(default_factory=dict[Node, str])
    shown_types: dict[int, Ready] = field(default_factory=dict[int, Ready])

    @property
    def types(self) -> TypePrinter:
        """The printer of types in the body of the function."""
        return TypePrinter(self.spelling, self.names.__getitem__)

    def type(self, type_: Type) -> Ready:
        """Show a type; one that occurs again, the same object, is written once."""
        found = self.shown_types.get(id(type_))
        if found is None:
            printed = write_inside(self.types.show(type_))
            found = self.shown_types[id(type_)] = Ready(printed.text, printed.ranges)
        return found

    @property
    def scalars(self) -> ScalarPrinter:
        """The printer of scalar expressions."""
        return self.types.scalars

    def show(self, expr: Expr) -> Piece:
        """Show an expression."""
        if expr in self.hoisted:
            return Piece(expr, (self.hoisted[expr],))
        if isinstance(expr, Var):
            return Piece(expr, (self.names[expr],))
        return Piece(expr, self._call(expr) if isinstance(expr, Call) else self._parts(expr))

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
                yield operator_text(name)
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
            case Op(name="tir.index_map") if (text := _text(call)) is not None:
                yield from (Piece(call.op, ("T.index_map",)), f"({text})")
            case Op(name=name):
                spec = find(name)
                yield Piece(call.op, (operator_text(name),))
                parts = self._by_schema(call, spec) if spec is not None else None
                yield from ("(", separated(self._as_written(call) if parts is None else parts), ")")
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

    def _as_written(self, call: Call) -> Iterator[Part]:
        """Show the arguments of an operator without a schema; its last ones may be given by name."""
        by_name = attr(call.attrs, BY_NAME, ())
        names = by_name if isinstance(by_name, tuple) else ()
        first = len(call.args) - len(names)
        yield from (self._bare(item) for item in call.args[:first])
        for name, value in zip(names, call.args[first:], strict=True):
            yield self._keyword(str(name), self.show(value))
        yield from (f"{key}={attribute(value)}" for key, value in call.attrs if key != BY_NAME)
        if call.type_args and isinstance(call.op, Op) and call.op.name in _OUT_TYPED:
            yield from self._out_types(call.type_args)
        else:
            yield from self._type_args(call)

    def _bare(self, value: Expr) -> Part:
        """Show a host scalar, or a tuple of such, without the words around it."""
        match value:
            case _ if value in self.hoisted:
                return self.show(value)
            case PrimValue(value=IntImm(dtype="int64" | "bool") | StringImm()) | Null():
                return self._argument(_ANYTHING, value)
            case Tuple(fields=fields) if fields and all(isinstance(item, PrimValue | Tuple) for item in fields):
                return Piece(
                    value, ("(", joined(self._bare(item) for item in fields), ",)" if len(fields) == 1 else ")")
                )
            case _:
                return self.show(value)

    def _type_args(self, call: Call) -> Iterator[Part]:
        if call.type_args:
            yield self._keyword(self.spelling.type_args, self._types(call.type_args))

    def _types(self, types: tuple[Type, ...]) -> Iterator[Part]:
        yield from ("(", joined(self.type(item) for item in types), ",)" if len(types) == 1 else ")")

    def _keyword(self, name: str, value: Part) -> Iterator[Part]:
        yield from (f"{name}=", value)

    def _by_schema(self, call: Call, spec: OpSpec) -> Iterator[Part] | None:
        """Show arguments as the operator's schema places them; `None` if they do not fit it."""
        if len(call.args) == _tensor_count(spec) and not call.type_args and not call.attrs:
            return map(self.show, call.args)
        pairs = _paired(call, spec)
        if pairs is None:
            return None
        return self._arguments(call, spec, pairs)

    def _arguments(self, call: Call, spec: OpSpec, pairs: list[tuple[Param, Expr]]) -> Iterator[Part]:
        by_name: list[Part] = []
        # Before 2026 these operators took expressions, never bare numbers, words and dtypes.
        is_wrapped = self.spelling.name == "2023" and spec.name.startswith(_WRAPPED)
        last = max((i for i, (param, _) in enumerate(pairs) if not _is_by_name(param)), default=-1)
        for index, (param, value) in enumerate(pairs):
            if index > last and isinstance(value, Null) and param.default is None:
                continue
            if param.is_keyword or (index > last and _is_by_name(param)):
                by_name.append(self._keyword(param.name, self._argument(param, value, is_wrapped=is_wrapped)))
            else:
                yield self._argument(param, value, is_wrapped=is_wrapped)
        if spec.name in _DPS:
            yield from self._out_types(call.type_args)
        yield from by_name
        if spec.name not in _DPS:
            yield from self._type_args(call)
        yield from (f"{key}={attribute(value)}" for key, value in call.attrs)

    def _argument(self, param: Param, value: Expr, *, is_wrapped: bool = False) -> Part:
        if value in self.hoisted or is_wrapped:
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
            case "index_map", PrimValue(value=StringImm(value=text)):
                return Piece(value, (f"T.index_map({text})",))
            case "prim" | "ints", PrimValue(value=scalar):
                return Piece(value, self._prim(param, scalar))
            case "expr", PrimValue() | Tuple() if not param.is_variadic:
                return self._bare(value)
            case "axes" | "ints", Tuple(fields=fields) if all(_is_int64(item) for item in fields):
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
        shown = joined(self.type(item) for item in types)
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


@lru_cache(maxsize=1024)
def operator_text(name: str) -> str:
    """Return "R.nn.relu" for "relax.nn.relu"."""
    found = ((module, letter) for module, letter in _LETTERS if name.startswith(module))
    module, letter = next(found, ("", "R."))
    return letter + name.removeprefix(module)


def _text(call: Call) -> str | None:
    match call.args:
        case (PrimValue(value=StringImm(value=text)),):
            return text
        case _:
            return None


def _bracketed(inner: Part) -> Iterator[Part]:
    yield from ("[", inner, "]")


def _is_by_name(param: Param) -> bool:
    return param.is_keyword or param.kind in _BY_NAME


def _is_int64(value: Expr) -> bool:
    return isinstance(value, PrimValue) and dtype_of(value.value) == "int64"


@lru_cache(maxsize=1024)
def _tensor_count(spec: OpSpec) -> int:
    """The number of parameters if all are tensors, by position; else -1."""
    are_tensors = all(item.kind == "tensor" and not item.is_variadic and not item.is_keyword for item in spec.params)
    return len(spec.params) if are_tensors else -1


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
