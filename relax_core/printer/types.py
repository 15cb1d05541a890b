"""Print types in the three spellings."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from relax_core.ir.node import Node
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.ir.types import (
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
from relax_core.printer.literals import quoted
from relax_core.printer.printed import Part, Piece, joined, plain_text
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording


@dataclass(frozen=True, slots=True)
class TypePrinter:
    """Prints types; `is_signature` tells that the symbolic dimensions are defined there."""

    spelling: Wording
    name: Callable[[Node], str]
    is_signature: bool = False

    @property
    def scalars(self) -> ScalarPrinter:
        """The printer of scalar expressions in Relax, where a bare integer is int64."""
        return ScalarPrinter(self.name, "int64")

    def show(self, type_: Type) -> Iterator[Part]:
        """Show a type."""
        prefix = self.spelling.prefix
        match type_:
            case TensorType():
                yield self._tensor(type_)
            case ShapeType(values=tuple() as values):
                yield from (f"{prefix}Shape([", self.dims(values), "])")
            case ShapeType(ndim=ndim):
                yield f"{prefix}Shape" if ndim is None else f"{prefix}Shape(ndim={ndim})"
            case PrimType(value=PrimExpr() as value):
                yield from ("R.Prim(value=", self.dim(value), ")")
            case PrimType(dtype=dtype):
                is_plain = self.spelling.name == "2026" and dtype not in ("string", "handle", "void")
                yield f"T.{dtype}" if is_plain else f'R.Prim("{dtype}")'
            case TupleType(fields=()):
                yield f"{prefix}Tuple" if prefix else "Tuple()"
            case TupleType(fields=fields):
                yield from (f"{prefix}Tuple(", joined(self.show(item) for item in fields), ")")
            case FuncType():
                yield self._callable(type_)
            case ObjectType():
                yield self.spelling.object
            case AdtType(name=name):
                yield f"{prefix}{name}"
            case TypeVar(name=name):
                yield name
            case RefType(value=value):
                yield from (f"{prefix}Ref(", self.show(value), ")")

    def dims(self, values: tuple[PrimExpr, ...]) -> Iterator[Part]:
        """Show dimensions, separated by commas."""
        yield joined(self.dim(item) for item in values)

    def dim(self, value: PrimExpr) -> Part:
        """Show one dimension."""
        if type(value) is IntImm and value.dtype == "int64":
            return Piece(value, (str(value.value),))
        if type(value) is PrimVar and not self.is_signature:
            return Piece(value, (self.name(value),))
        if self.is_signature and is_quoted(self.spelling, value):
            return Piece(value, (quoted(plain_text((self.scalars.show(value),))),))
        return self.scalars.show(value)

    def tuple_of_dims(self, values: tuple[PrimExpr, ...]) -> Iterator[Part]:
        """Show `(n, 4)`, with the comma that a single dimension needs."""
        yield from ("(", self.dims(values), ",)" if len(values) == 1 else ")")

    def _tensor(self, type_: TensorType) -> Iterator[Part]:
        is_2022 = self.spelling.name == "2022"
        found: list[Part] = [self.spelling.prefix, "Tensor" if type_.sharding is None else "DTensor"]
        words: list[str] = []
        match type_.shape:
            case tuple() as dims:
                found.append("((")
                for dim in dims:
                    found += (self.dim(dim), ", ")
                if len(dims) > 1:
                    found.pop()
                elif dims:
                    found[-1] = ","
                found.append(")")
            case None if is_2022 and (type_.dtype is not None or type_.ndim is not None):
                found.append("(None")
            case None:
                pass
            case var:
                found += ("(", Piece(var, (self.name(var),)))
        if type_.dtype is not None:
            words.append(f'"{type_.dtype}"' if is_2022 else f'dtype="{type_.dtype}"')
        if type_.ndim is not None and not isinstance(type_.shape, tuple):
            words.append(f"ndim={type_.ndim}")
        if type_.vdevice is not None:
            words.append(f"vdevice={quoted(type_.vdevice)}")
        for key, text in zip(("device_mesh", "placement"), type_.sharding or (), strict=False):
            words += [f"{key}={text if text.startswith('R.') else quoted(text)}"] if text else []
        if len(found) > 2:
            found.append("".join(f", {word}" for word in words) + ")")
        elif words:
            found.append(f"({', '.join(words)})")
        return iter(found)

    def _callable(self, type_: FuncType) -> Iterator[Part]:
        yield f"{self.spelling.prefix}Callable"
        if type_.params is None:
            if not isinstance(type_.ret, ObjectType) or not type_.is_pure:
                yield from ("(ret=", self.show(type_.ret), f", purity={type_.is_pure})")
            return
        params = joined(self.show(item) for item in type_.params)
        yield from (
            "((",
            params,
            ",), " if len(type_.params) == 1 else "), ",
            self.show(type_.ret),
            f", {type_.is_pure})",
        )


def is_quoted(spelling: Wording, value: PrimExpr) -> bool:
    """Tell whether a dimension in a signature stands in quotes: if symbolic in 2023, if compound in 2026."""
    match spelling.name:
        case "2022":
            return False
        case "2023" | "2025":
            return not isinstance(value, IntImm)
        case "2026":
            return not isinstance(value, IntImm | PrimVar)
