"""Print Relax expressions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from relax_core.frontend.tvmscript.literal.literals import BY_NAME
from relax_core.ir import absent
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
    PrimType,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    Type,
    Var,
)
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import FloatImm, IntImm, PrimExpr, PrimVar, StringImm, dtype_of
from relax_core.ops import find
from relax_core.ops.spec import OMITTED, OpSpec, Param
from relax_core.printer.emitter import Emitter
from relax_core.printer.literals import attribute, constant, number, quoted
from relax_core.printer.naming import FunctionNames, legal
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
_LISTED = ("relax.assert_op",)
_WRAPPED = ("relax.memory.", "relax.vm.", "relax.builtin.")
_BY_NAME = ("prim", "dtype", "axes")
_LETTERS = (("relax.", "R."), ("tir.", "T."), ("ir.", "I."))


class ArgumentLayout(NamedTuple):
    """An argument: its position in `Call.args`, its parameter, and the word before it, "axis=" or none.

    With `is_left_out` nothing is written for `Null`.
    """

    position: int
    param: Param
    word: str
    is_left_out: bool


@dataclass(frozen=True, slots=True)
class CallLayout:
    """How calls of one operator with one number of arguments are written.

    `by_position` is `None` if the schema does not fit that number. The result types stand after the arguments given
    by position, under a name of their own, if `out_types` says so: "given" if the call has any. `are_wrapped` tells
    that before 2026 the operator took expressions, never bare numbers, words and dtypes; `are_listed` that values of
    any number stand in one list behind the first argument.
    """

    callee: str
    by_position: tuple[ArgumentLayout, ...] | None = None
    by_name: tuple[ArgumentLayout, ...] = ()
    out_types: Literal["always", "given", "never"] = "never"
    are_tensors: bool = False
    are_wrapped: bool = False
    are_listed: bool = False


@lru_cache(maxsize=1024)
def call_layout(name: str, arg_count: int) -> CallLayout:
    """Return how a call of the operator `name` is written."""
    spec = find(name)
    called = name if spec is None else spec.name
    out_types = "always" if called in _DPS and spec is not None else "given" if called in _OUT_TYPED else "never"
    params = None if spec is None else _params_of(spec, arg_count)
    if params is None:
        return CallLayout(operator_text(name), out_types=out_types)
    last = max((index for index, param in enumerate(params) if not _is_by_name(param)), default=-1)
    by_position: list[ArgumentLayout] = []
    by_name: list[ArgumentLayout] = []
    for index, param in enumerate(params):
        is_named = param.is_keyword or (index > last and _is_by_name(param))
        place = ArgumentLayout(
            index, param, f"{param.name}=" if is_named else "", index > last and param.default is None
        )
        (by_name if is_named else by_position).append(place)
    are_tensors = all(item.kind == "tensor" and not item.is_variadic and not item.is_keyword for item in params)
    are_wrapped = called.startswith(_WRAPPED)
    are_listed = called in _LISTED
    places = (tuple(by_position), tuple(by_name))
    return CallLayout(operator_text(name), *places, out_types, are_tensors, are_wrapped, are_listed)


@lru_cache(maxsize=1024)
def operator_text(name: str) -> str:
    """Return "R.nn.relu" for "relax.nn.relu"."""
    found = ((module, letter) for module, letter in _LETTERS if name.startswith(module))
    module, letter = next(found, ("", "R."))
    return letter + name.removeprefix(module)


def _params_of(spec: OpSpec, arg_count: int) -> Sequence[Param] | None:
    """Return the parameter of each argument; `None` if the schema does not fit their number."""
    if arg_count == len(spec.params):
        return spec.params
    found: list[Param] = []
    for param in spec.params:
        if param.is_variadic:
            found += [param] * (arg_count - len(found))
        elif len(found) < arg_count:
            found.append(param)
        elif param.default is not OMITTED:
            return None
    return found if len(found) == arg_count else None


def _is_by_name(param: Param) -> bool:
    return param.is_keyword or param.kind in _BY_NAME


_ANYTHING = Param("", "prim")
_FLAT = frozenset((Constant, ShapeExpr, PrimValue, GlobalVar, DataTypeImm, ExternFunc, Null, Op))
"""What has no expression of Relax inside, so that it cannot nest."""


@dataclass(slots=True, eq=False)
class ExprPrinter:
    """Prints the expressions of one function. `hoisted` are parts that a statement before has given a name."""

    spelling: Wording
    names: FunctionNames
    types: TypePrinter
    emitter: Emitter
    hoisted: dict[Node, str] = field(default_factory=dict[Node, str])
    shown_types: dict[Type, str] = field(default_factory=dict[Type, str])

    @property
    def scalars(self) -> ScalarPrinter:
        """The printer of scalar expressions."""
        return self.types.scalars

    def type(self, type_: Type) -> str:
        """Show a type; one that occurs again, the same object, is written once."""
        found = self.shown_types.get(type_)
        if found is None:
            found = self.shown_types[type_] = self.types.show(type_)
        return found

    def show(self, expr: Expr) -> str:
        """Show an expression."""
        if isinstance(expr, Var):
            return self.emitter.mark(expr, self.names[expr])
        if self.hoisted and expr in self.hoisted:
            return self.emitter.mark(expr, self.hoisted[expr])
        if type(expr) in _FLAT:
            return self.emitter.mark(expr, self._text(expr))
        if isinstance(expr, Call):
            return self.emitter.mark(expr, self.emitter.nested(self._call, expr))
        return self.emitter.mark(expr, self.emitter.nested(self._text, expr))

    def call(self, call: Call) -> str:
        """Show a call that stands in a binding, not inside another expression."""
        return self.emitter.mark(call, self._call(call))

    def shown(self, items: Iterable[Expr]) -> str:
        """Show expressions with commas between them."""
        return ", ".join([self.show(item) for item in items])

    def _text(self, expr: Expr) -> str:
        match expr:
            case Constant(data=data):
                return f"R.const({constant(data)})"
            case ShapeExpr(values=values):
                return self._shape(values)
            case Tuple(fields=fields):
                return _in_brackets(self.shown(fields), len(fields)) if fields else "R.tuple()"
            case GlobalVar(name=name):
                return legal(name) if self.spelling.name == "2022" else f"cls.{legal(name)}"
            case TupleGetItem(tuple_value=value, index=index):
                return f"{self.show(value)}[{index}]"
            case PrimValue(value=StringImm(value=text)):
                return f"R.str({quoted(text)})"
            case PrimValue(value=value):
                return f"R.prim_value({self.scalars.show(value)})"
            case DataTypeImm(value=dtype):
                return f"R.dtype({quoted(dtype)})"
            case ExternFunc(name=name, annotation=annotation):
                # A bare `R.Callable` is a function of Python, which TVM takes for a type in annotations only.
                type_ = "" if annotation is None else self.type(annotation)
                return f"R.ExternFunc({quoted(name)}{type_ and f', {type_}'}{'()' * type_.endswith('Callable')})"
            case Null():
                return "R.null_value()"
            case Op(name=name):
                return operator_text(name)
            case If(condition=condition, true_branch=a, false_branch=b):
                return f"({self.show(a)} if {self.show(condition)} else {self.show(b)})"
            case SeqExpr(body=body):
                return self.show(body)
            case _:
                raise AssertionError(type(expr).__name__)

    def _shape(self, values: tuple[PrimExpr, ...]) -> str:
        """2022 writes a bare tuple, which is a shape because a symbolic dimension occurs in it."""
        if self.spelling.name == "2022" and _is_symbolic(values):
            return self.types.tuple_of_dims(values)
        return f"R.shape([{self.types.dims(values)}])"

    def _call(self, call: Call) -> str:
        match call.op:
            case Op(name=absent.NO_DATA) if (reference := absent.reference_of(call)) is not None:
                return reference
            case Op(name=name):
                layout = call_layout(name, len(call.args))
                return f"{self.emitter.mark(call.op, layout.callee)}({', '.join(self._arguments(call, layout))})"
            case ExternFunc(name=name, annotation=None):
                parts = [self.emitter.mark(call.op, quoted(name)), *self._plain(call), *_attributes(call)]
                return f"R.call_packed({', '.join(parts)})"
            case callee:
                return f"{self.show(callee)}({', '.join(self._plain(call))})"

    def _plain(self, call: Call) -> list[str]:
        return [*[self.show(item) for item in call.args], *self._type_args(call)]

    def _as_written(self, call: Call, layout: CallLayout) -> list[str]:
        """Show arguments that no schema places; the last ones may be given by name."""
        if layout.callee == "T.index_map" and (text := _words(call)) is not None:
            return [text]
        by_name = attr(call.attrs, BY_NAME, ())
        names = by_name if isinstance(by_name, tuple) else ()
        first = len(call.args) - len(names)
        found = [self._bare(item) for item in call.args[:first]]
        found += [f"{name}={self.show(value)}" for name, value in zip(names, call.args[first:], strict=True)]
        found += _attributes(call)
        if call.type_args and layout.out_types == "given":
            return found + self._out_types(call.type_args, is_of_2022=False)
        return found + self._type_args(call)

    def _bare(self, value: Expr) -> str:
        """Show a host scalar, or a tuple of such, without the words around it."""
        match value:
            case _ if value in self.hoisted:
                return self.show(value)
            case PrimValue(value=IntImm(dtype="int64" | "bool") | StringImm()) | Null():
                return self._argument(_ANYTHING, value)
            case Tuple(fields=fields) if fields and all(isinstance(item, PrimValue | Tuple) for item in fields):
                shown = ", ".join([self.emitter.nested(self._bare, item) for item in fields])
                return self.emitter.mark(value, _in_brackets(shown, len(fields)))
            case _:
                return self.show(value)

    def _type_args(self, call: Call) -> list[str]:
        types = call.type_args
        if not types:
            return []
        shown = ", ".join([self.types.part(item) if isinstance(item, PrimType) else self.type(item) for item in types])
        return [f"{self.spelling.type_args}={_in_brackets(shown, len(types))}"]

    def _arguments(self, call: Call, layout: CallLayout) -> list[str]:
        """Show arguments as the operator's schema places them."""
        args, types = call.args, call.type_args
        if layout.are_tensors and not types and not call.attrs:
            return [self.show(item) for item in args]
        if layout.by_position is None:
            return self._as_written(call, layout)
        is_wrapped = layout.are_wrapped and self.spelling.name == "2023"
        found: list[str] = []
        for index, param, _, is_left_out in layout.by_position:
            value = args[index]
            if not (is_left_out and isinstance(value, Null)):
                found.append(self.show(value) if is_wrapped else self._argument(param, value))
        if layout.are_listed and len(found) > 2:
            found[1:] = [f"[{', '.join(found[1:])}]"]
        if layout.out_types == "always" or (types and layout.out_types == "given"):
            found += self._out_types(types, is_of_2022=layout.out_types == "always")
            types = ()
        for index, param, word, is_left_out in layout.by_name:
            value = args[index]
            if not (is_left_out and isinstance(value, Null)):
                found.append(word + (self.show(value) if is_wrapped else self._argument(param, value)))
        if types:
            found += self._type_args(call)
        return found + _attributes(call) if call.attrs else found

    def _argument(self, param: Param, value: Expr) -> str:
        kind = param.kind
        is_shown = isinstance(value, Var) or (kind == "tensor" and not isinstance(value, Null))
        if is_shown or (self.hoisted and value in self.hoisted):
            return self.show(value)
        mark = self.emitter.mark
        match value:
            case PrimValue(value=scalar) if kind in ("prim", "ints"):
                return mark(value, self._prim(param, scalar))
            case Tuple(fields=fields) if kind in ("axes", "ints") and all(map(_is_int64, fields)):
                return mark(value, f"[{', '.join(map(self._axis, fields))}]")
            case Null() if not param.is_variadic:
                return mark(value, "None")
            case DataTypeImm(value=dtype) if kind == "dtype":
                return mark(value, quoted(dtype))
            case ExternFunc(name=name) if kind == "func":
                return mark(value, quoted(name))
            case PrimValue(value=StringImm(value=text)) if kind == "index_map":
                return mark(value, f"T.index_map({text})")
            case PrimValue() | Tuple() if kind == "expr" and not param.is_variadic:
                return self._bare(value)
            case _:
                return self.show(value)

    def _axis(self, value: Expr) -> str:
        assert isinstance(value, PrimValue)
        return self.emitter.mark(value, self.types.scalars.show(value.value))

    def _prim(self, param: Param, value: PrimExpr) -> str:
        """Show a host scalar: a bare literal if the schema gives it its dtype."""
        default = param.dtype or ("float32" if isinstance(value, FloatImm) else "int64")
        match value:
            case IntImm(dtype="bool") if param.dtype in (None, "bool"):
                return str(bool(value.value))
            case IntImm(dtype=dtype) if dtype == default:
                return str(value.value)
            case FloatImm(dtype=dtype) if dtype == default and number(value.value) == repr(value.value):
                return repr(value.value)
            case IntImm():
                return self.scalars.show(value, typed=True)
            case _:
                return self.scalars.show(value)

    def _out_types(self, types: tuple[Type, ...], *, is_of_2022: bool) -> list[str]:
        """Show declared results: in 2022 as shapes and dtypes if they are all known tensors, else as types.

        So are those of an operator that 2022 had not, where `is_of_2022` is false.
        """
        if is_of_2022 and not self.spelling.out_types and (tensors := _known_tensors(types)):
            return self._out_shapes(tensors)
        shown = ", ".join([self.type(item) for item in types])
        return [f"{self.spelling.out_types or 'out_sinfo'}={shown if len(types) == 1 else f'[{shown}]'}"]

    def _out_shapes(self, types: list[TensorType]) -> list[str]:
        shapes = [self._out_shape(item) for item in types]
        dtypes = [quoted(item.dtype or "") for item in types]
        if len(types) == 1:
            return [shapes[0], f"dtype={dtypes[0]}"]
        return [f"[{', '.join(shapes)}]", f"dtype=[{', '.join(dtypes)}]"]

    def _out_shape(self, type_: TensorType) -> str:
        if isinstance(type_.shape, tuple):
            return self.types.tuple_of_dims(type_.shape)
        assert type_.shape is not None
        return self.show(type_.shape)


def expr_printer(spelling: Wording, names: FunctionNames, emitter: Emitter) -> ExprPrinter:
    """Make the printer of the expressions of one function."""
    scalars = ScalarPrinter(names.__getitem__, "int64", emitter=emitter)
    return ExprPrinter(spelling, names, TypePrinter(spelling, scalars), emitter)


def _known_tensors(types: tuple[Type, ...]) -> list[TensorType]:
    """Return the types if they are tensors of known shapes and dtypes, else none."""
    tensors = [item for item in types if isinstance(item, TensorType)]
    are_known = all(
        item.shape is not None and item.dtype and not item.vdevice and not item.sharding for item in tensors
    )
    return tensors if are_known and len(tensors) == len(types) else []


def _words(call: Call) -> str | None:
    match call.args:
        case (PrimValue(value=StringImm(value=text)),):
            return text
        case _:
            return None


def _attributes(call: Call) -> list[str]:
    return [f"{key}={attribute(value)}" for key, value in call.attrs if key != BY_NAME]


def _in_brackets(shown: str, count: int) -> str:
    """Put items in brackets, with the comma that a single one needs."""
    return f"({shown},)" if count == 1 else f"({shown})"


def _is_symbolic(values: tuple[PrimExpr, ...]) -> bool:
    return any(isinstance(node, PrimVar) for value in values for node in preorder(value))


def _is_int64(value: Expr) -> bool:
    return isinstance(value, PrimValue) and dtype_of(value.value) == "int64"
