"""Types as TVMScript spells them in each of its versions."""

from dataclasses import dataclass

from relax_core.ir.expr import FuncType, ObjectType, PrimType, ShapeType, TensorType, Type
from relax_core.ir.notation.types import TypeNotation, tuple_text
from relax_core.ir.prim import IntImm, PrimExpr, PrimVar
from relax_core.printer.literals import quoted
from relax_core.printer.scalars import ScalarPrinter
from relax_core.printer.spelling import Wording


@dataclass(slots=True, eq=False)
class TypePrinter(TypeNotation):
    """Prints types; `is_signature` tells that the symbolic dimensions are defined there.

    In the `scalars` of Relax a bare integer is int64.
    """

    spelling: Wording
    scalars: ScalarPrinter
    is_signature: bool = False

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

    def tensor(self, type_: TensorType) -> str:
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

    def shape(self, type_: ShapeType) -> str:
        name = f"{self.spelling.prefix}Shape"
        if type_.values is not None:
            return f"{name}([{self.dims(type_.values)}])"
        return name if type_.ndim is None else f"{name}(ndim={type_.ndim})"

    def prim(self, type_: PrimType) -> str:
        if type_.value is not None and self.spelling.merged != "all":
            return f"R.Prim(value={self.dim(type_.value)})"
        is_plain = self.spelling.name == "2026" and type_.dtype not in ("string", "handle", "void")
        return f"T.{type_.dtype}" if is_plain else f'R.Prim("{type_.dtype}")'

    def fields(self, fields: list[str]) -> str:
        prefix = self.spelling.prefix
        return f"{prefix}Tuple({', '.join(fields)})" if fields or not prefix else f"{prefix}Tuple"

    def function(self, type_: FuncType, params: list[str] | None, ret: str) -> str:
        name = f"{self.spelling.prefix}Callable"
        if params is not None:
            return f"{name}({tuple_text(params)}, {ret}, {type_.is_pure})"
        words = [] if isinstance(type_.ret, ObjectType) else [f"ret={ret}"]
        words += ["purity=True"] if type_.is_pure else []
        return f"{name}({', '.join(words)})" if words else name

    def object(self) -> str:
        return self.spelling.object

    def adt(self, name: str, args: list[str]) -> str:
        return f"{self.spelling.prefix}{name}"

    def ref(self, value: str) -> str:
        return f"{self.spelling.prefix}Ref({value})"


def is_quoted(spelling: Wording, value: PrimExpr) -> bool:
    """Tell whether a dimension in a signature stands in quotes: if symbolic in 2023, if compound in 2026."""
    match spelling.name:
        case "2022":
            return False
        case "2023" | "2025":
            return not isinstance(value, IntImm)
        case "2026":
            return not isinstance(value, IntImm | PrimVar)
