"""Print types in the three spellings."""

from dataclasses import dataclass

from relax_core.ir.expr import (
    AdtType,
    FuncType,
    ObjectType,
    PrimType,
    RefType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    TypeVar,
)
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.printer.literals import quoted
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording


@dataclass(slots=True, eq=False)
class TypePrinter:
    """Prints types; `is_signature` tells that the symbolic dimensions are defined there.

    In the `scalars` of Relax a bare integer is int64.
    """

    spelling: Wording
    scalars: ScalarPrinter
    is_signature: bool = False

    def show(self, type_: Type) -> str:
        """Show a type."""
        prefix = self.spelling.prefix
        match type_:
            case TensorType():
                return self._tensor(type_)
            case ShapeType(values=tuple() as values):
                return f"{prefix}Shape([{self.dims(values)}])"
            case ShapeType(ndim=ndim):
                return f"{prefix}Shape" if ndim is None else f"{prefix}Shape(ndim={ndim})"
            case PrimType(value=PrimExpr() as value):
                return f"R.Prim(value={self.dim(value)})"
            case PrimType(dtype=dtype):
                is_plain = self.spelling.name == "2026" and dtype not in ("string", "handle", "void")
                return f"T.{dtype}" if is_plain else f'R.Prim("{dtype}")'
            case TupleType(fields=()):
                return f"{prefix}Tuple" if prefix else "Tuple()"
            case TupleType(fields=fields):
                return f"{prefix}Tuple({', '.join([self.part(item) for item in fields])})"
            case FuncType():
                return self._callable(type_)
            case ObjectType():
                return self.spelling.object
            case AdtType(name=name):
                return f"{prefix}{name}"
            case TypeVar(name=name):
                return name
            case RefType(value=value):
                return f"{prefix}Ref({self.part(value)})"

    def part(self, type_: Type) -> str:
        """Show a part of a type; TVM does not read its own `T.int64` there."""
        match type_:
            case PrimType(value=None, dtype=dtype):
                return f'R.Prim("{dtype}")'
            case _:
                return self.scalars.emitter.nested(self.show, type_)

    def dims(self, values: tuple[PrimExpr, ...]) -> str:
        """Show dimensions, separated by commas."""
        return ", ".join([self.dim(item) for item in values]) if self.is_signature else self.scalars.shown(values)

    def dim(self, value: PrimExpr) -> str:
        """Show one dimension."""
        if self.is_signature and not isinstance(value, IntImm) and is_quoted(self.spelling, value):
            return self.scalars.quoted(value)
        return self.scalars.show(value)

    def tuple_of_dims(self, values: tuple[PrimExpr, ...]) -> str:
        """Show `(n, 4)`, with the comma that a single dimension needs."""
        shown = self.dims(values)
        return f"({shown},)" if len(values) == 1 else f"({shown})"

    def _tensor(self, type_: TensorType) -> str:
        is_2022 = self.spelling.name == "2022"
        shape, dtype = type_.shape, type_.dtype
        if type(shape) is tuple and dtype is not None and type_.vdevice is None and type_.sharding is None:
            # Most tensors are such.
            word = "" if is_2022 else "dtype="
            return f'{self.spelling.prefix}Tensor({self.tuple_of_dims(shape)}, {word}"{dtype}")'
        words: list[str] = []
        match type_.shape:
            case tuple() as dims:
                words.append(self.tuple_of_dims(dims))
            case None if is_2022 and (type_.dtype is not None or type_.ndim is not None):
                words.append("None")
            case None:
                pass
            case var:
                words.append(self.scalars.variable(var))
        if type_.dtype is not None:
            words.append(f'"{type_.dtype}"' if is_2022 else f'dtype="{type_.dtype}"')
        if type_.ndim is not None and type(type_.shape) is not tuple:
            words.append(f"ndim={type_.ndim}")
        if type_.vdevice is not None:
            words.append(f"vdevice={quoted(type_.vdevice)}")
        name = f"{self.spelling.prefix}Tensor"
        if type_.sharding is not None:
            name = f"{self.spelling.prefix}DTensor"
            for key, text in zip(("device_mesh", "placement"), type_.sharding, strict=False):
                words += [f"{key}={text if text.startswith('R.') else quoted(text)}"] if text else []
        return f"{name}({', '.join(words)})" if words else name

    def _callable(self, type_: FuncType) -> str:
        name = f"{self.spelling.prefix}Callable"
        if type_.params is None:
            words = [] if isinstance(type_.ret, ObjectType) else [f"ret={self.part(type_.ret)}"]
            words += ["purity=True"] if type_.is_pure else []
            return f"{name}({', '.join(words)})" if words else name
        params = ", ".join([self.part(item) for item in type_.params])
        comma = "," if len(type_.params) == 1 else ""
        return f"{name}(({params}{comma}), {self.part(type_.ret)}, {type_.is_pure})"


def is_quoted(spelling: Wording, value: PrimExpr) -> bool:
    """Tell whether a dimension in a signature stands in quotes: if symbolic in 2023, if compound in 2026."""
    match spelling.name:
        case "2022":
            return False
        case "2023" | "2025":
            return not isinstance(value, IntImm)
        case "2026":
            return not isinstance(value, IntImm | PrimVar)
