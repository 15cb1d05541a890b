"""Types as Relay's text writes them."""

from relax_core.ir.expr import Dims, FuncType, PrimType, ShapeType, TensorType, Type, Var
from relax_core.ir.notation.show import show_prim
from relax_core.ir.notation.types import TypeNotation, tuple_text
from relax_core.ir.prim import AnyDim, PrimExpr

MAX_LENGTH = 400


def show_dim(dim: PrimExpr) -> str:
    """Return a size as text, `?` if it is unknown."""
    return "?" if isinstance(dim, AnyDim) else show_prim(dim)


def show_dims(dims: Dims) -> str:
    """Return sizes as a tuple."""
    return tuple_text(list(map(show_dim, dims)))


def show_type(type_: Type) -> str:
    """Return a type as messages write it; a very long one is cut."""
    text = _MESSAGE.show(type_)
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}..."


class _RelayMessage(TypeNotation):
    __slots__ = ()

    def tensor(self, type_: TensorType) -> str:
        shape, dtype = type_.shape, type_.dtype
        if shape == () and dtype is not None:
            return dtype
        dims = show_dims(shape) if isinstance(shape, tuple) else shape.name if isinstance(shape, Var) else "?"
        return f"Tensor[{dims}, {dtype or '?'}]"

    def shape(self, type_: ShapeType) -> str:
        return "Shape"

    def prim(self, type_: PrimType) -> str:
        return type_.dtype

    def function(self, type_: FuncType, params: list[str] | None, ret: str) -> str:
        variables = ", ".join(item.name for item in type_.type_params)
        head = f"fn[{variables}]" if variables else "fn"
        return f"{head}({'...' if params is None else ', '.join(params)}) -> {ret}"


_MESSAGE = _RelayMessage()
