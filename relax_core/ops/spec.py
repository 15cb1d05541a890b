"""What an operator is: its parameters, and how to type, evaluate and legalize a call of it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from relax_core.ir.expr import Call, DataTypeImm, Expr, Null, PrimValue, ShapeExpr, TensorType, Tuple, Type, constant
from relax_core.ir.prim import PrimExpr, StringImm, const
from relax_core.ir.tir import PrimFunc
from relax_core.ops.show import show_type

ParamKind = Literal["tensor", "tuple", "shape", "prim", "dtype", "axes", "ints", "index_map", "expr", "func"]
PatternKind = Literal["elementwise", "broadcast", "injective", "reduce", "out_fusable", "tuple", "opaque"]
Realization = Literal["kernel", "evaluation", "lowering", "shown"]


class Absence(Enum):
    """What it means that a parameter has no default value."""

    REQUIRED = "required"
    OMITTED = "omitted"


REQUIRED: Final = Absence.REQUIRED
OMITTED: Final = Absence.OMITTED

Default: TypeAlias = "Absence | bool | int | float | str | tuple[int, ...] | tuple[float, ...] | None"
Value: TypeAlias = Any
"""An `np.ndarray` for a tensor, a tuple of ints for a shape, a Python scalar or `str`, `None`, or a tuple of values."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of an operator.

    `kind` tells what may stand there: a tensor; a tuple of tensors; a shape; a host scalar of `dtype` (any if
    `None`); a dtype; a list of ints ("axes": a `Tuple` of `PrimValue`, one int stands for a list of one; "ints": the
    same, but one int stays a `PrimValue`, for it means something else); a mapping of indices, as the text of a
    `lambda`; any expression; a function. An optional parameter has a `default`, `None` being the leaf `Null`; with
    `OMITTED` the argument is left out of `Call.args`. A variadic parameter takes all further arguments and is the
    last. `is_keyword` parameters are given by name only.
    """

    name: str
    kind: ParamKind
    dtype: str | None = None
    default: Default = REQUIRED
    is_variadic: bool = False
    is_keyword: bool = False

    @property
    def is_required(self) -> bool:
        """Tell whether a call must give the argument."""
        return self.default is REQUIRED and not self.is_variadic


NOT_COMPUTED: Final = (ValueError, TypeError, IndexError, ArithmeticError)
"""What the meaning of an operator in NumPy raises on arguments that have no result."""


class OpValueError(ArithmeticError):
    """The meaning of an operator stops on these values as its prim func does: with the same code, and a hint."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


@dataclass(frozen=True, slots=True)
class ArgumentAt:
    """An argument that a message names by its place, counted from 0."""

    index: int


MessagePart: TypeAlias = "str | Type | ArgumentAt"


class Around(str):
    """A hint that says what to write around an operand, such as `R.permute_dims`; it reads as any hint."""

    __slots__ = ("operand", "operator", "rest")
    operand: Type
    operator: str
    rest: str

    def __new__(cls, words: str, operand: Type, operator: str, rest: str = "") -> "Around":
        """Say in `words` to write `operator(...)` around what has the type `operand`, with `rest` behind it."""
        self = super().__new__(cls, words)
        self.operand, self.operator, self.rest = operand, operator, rest
        return self


class OpTypeError(Exception):
    """A call of an operator has no type: a code of block TY, the message, and a hint.

    Types and arguments are parts of the message by themselves, so that Relay can say it in its words. `result` is the
    type that TVM gives all the same, where the mistake shows when the program runs.
    """

    def __init__(
        self, code: str, message: str | tuple[MessagePart, ...], hint: str = "", result: Type | None = None
    ) -> None:
        self.code = code
        self.parts: tuple[MessagePart, ...] = (message,) if isinstance(message, str) else message
        self.message = self.written(show_type, lambda index: f"argument {index + 1}")
        self.hint = hint
        self.result = result
        super().__init__(self.message)

    def written(self, show: Callable[[Type], str], name_of: Callable[[int], str]) -> str:
        """Return the message with types as `show` writes them, and arguments as `name_of` does."""
        return "".join(
            part if isinstance(part, str) else name_of(part.index) if isinstance(part, ArgumentAt) else show(part)
            for part in self.parts
        )


def listed(types: Iterable[Type], separator: str = ", ") -> Iterator[MessagePart]:
    """Yield types for a message, with `separator` between them."""
    for number, type_ in enumerate(types):
        yield from (separator, type_) if number else (type_,)


@dataclass(frozen=True, slots=True)
class Legalized:
    """What an operator call becomes: `call_tir(prim_func, args, out, tir_vars)`.

    `name` is the wish for the prim func's name. `args` are the tensors, in the order of its parameters. `out` has
    one type for a single result. `tir_vars` are scalars that the shapes of the buffers do not give.
    """

    name: str
    prim_func: PrimFunc
    args: tuple[Expr, ...]
    out: tuple[TensorType, ...]
    tir_vars: tuple[PrimExpr, ...] = ()


Infer: TypeAlias = Callable[[Call, tuple[Type, ...]], Type]
Evaluate: TypeAlias = Callable[[tuple[Value, ...]], Value]
Legalize: TypeAlias = Callable[[Call, tuple[Type, ...], Type], Legalized | None]


@dataclass(frozen=True, slots=True)
class OpSpec:
    """An operator.

    `infer(call, arg_types)` returns the type of a call or raises `OpTypeError`. `evaluate(args)` computes it on
    values, `None` if only the machine can. `legalize(call, arg_types, out_type)` gives the prim func, or `None` for
    a call whose types are not known well enough. `aliases` are other full names that programs use.

    `realized_by` tells how a call runs: by the prim func that `legalize` makes ("kernel"); by the machine, which
    calls `evaluate` ("evaluation"); by a pass, an instruction or a builtin ("lowering"); or not at all, for it is
    read, typed, printed and shown only ("shown"). `reason` says why it is not a kernel. `example` is a line as in
    the table of `ops/example.py`; an operator on plain matrices needs none.
    """

    name: str
    params: tuple[Param, ...]
    infer: Infer
    summary: str
    evaluate: Evaluate | None = None
    legalize: Legalize | None = None
    pattern_kind: PatternKind = "opaque"
    is_pure: bool = True
    see: str = ""
    aliases: tuple[str, ...] = ()
    takes_type_args: bool = False
    realized_by: Realization = "kernel"
    reason: str = ""
    example: str = ""

    @property
    def is_complete(self) -> bool:
        """Tell whether a call runs, and has all that its way of running needs."""
        match self.realized_by:
            case "kernel":
                return self.legalize is not None and self.evaluate is not None
            case "evaluation":
                return self.evaluate is not None
            case "lowering":
                return True
            case "shown":
                return False

    @property
    def short_name(self) -> str:
        """The name without "relax."."""
        return self.name.removeprefix("relax.")


def realized(how: Realization, reason: str, *specs: OpSpec) -> tuple[OpSpec, ...]:
    """Return `specs`, all of which run in the way `how`, for one `reason`."""
    return tuple(replace(spec, realized_by=how, reason=reason) for spec in specs)


def literal_of(value: Value) -> Expr | None:
    """Return the expression of a value: a constant, or a tuple of literals; `None` for what has no literal."""
    match value:
        case Expr():
            return value
        case np.ndarray() | np.generic():
            return constant(np.asarray(cast("npt.NDArray[Any]", value)))
        case tuple() | list():
            fields = tuple(map(literal_of, cast("tuple[Value, ...]", value)))
            known = tuple(item for item in fields if item is not None)
            return Tuple(known) if len(known) == len(fields) else None
        case _:
            return None


def default_expr(param: Param) -> Expr | None:
    """Return the expression that stands for an argument that is not given; `None` if nothing does."""
    match param.default:
        case Absence():
            return None
        case None:
            return Null()
        case tuple(values) if param.kind == "shape":
            return ShapeExpr(tuple(const(int(value)) for value in values))
        case tuple(values):
            return Tuple(tuple(PrimValue(const(value)) for value in values))
        case str(text) if param.kind == "dtype":
            return DataTypeImm(text)
        case str(text):
            return PrimValue(StringImm(text))
        case value:
            return PrimValue(const(value, param.dtype))
