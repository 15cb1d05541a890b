"""Types as a reader of a message knows them from the source."""

from relax_core.ir.expr import FuncType, ObjectType, PrimType, ShapeType, TensorType, Type, Var
from relax_core.ir.notation.show import show_prim
from relax_core.ir.notation.types import TypeNotation, tuple_text
from relax_core.ir.prim import PrimExpr


def show_dims(dims: tuple[PrimExpr, ...]) -> str:
    """Return dimensions as a tuple."""
    return tuple_text(list(map(show_prim, dims)))


def show_type(type_: Type) -> str:
    """Return a type as TVMScript spells it."""
    return _MESSAGE.show(type_)


def show_checked_type(type_: Type) -> str:
    """Return a type as TVM 0.27 spells it in what a check at run time says: a callable with its purity."""
    return _CHECK.show(type_)


class _RelaxMessage(TypeNotation):
    __slots__ = ()

    def tensor(self, type_: TensorType) -> str:
        shape, dtype, ndim = type_.shape, type_.dtype, type_.ndim
        parts = [show_dims(shape)] if isinstance(shape, tuple) else [shape.name] if isinstance(shape, Var) else []
        parts += [f'dtype="{dtype}"'] if dtype is not None else []
        parts += [f"ndim={ndim}"] if shape is None and ndim is not None else []
        return f"R.Tensor({', '.join(parts)})" if parts else "R.Tensor"

    def shape(self, type_: ShapeType) -> str:
        if type_.values is not None:
            return f"R.Shape([{', '.join(map(show_prim, type_.values))}])"
        return "R.Shape" if type_.ndim is None else f"R.Shape(ndim={type_.ndim})"

    def prim(self, type_: PrimType) -> str:
        return f'R.Prim("{type_.dtype}")' if type_.value is None else f"R.Prim({show_prim(type_.value)})"

    def fields(self, fields: list[str]) -> str:
        return f"R.Tuple({', '.join(fields)})" if fields else "R.Tuple"

    def function(self, type_: FuncType, params: list[str] | None, ret: str) -> str:
        if params is None:
            return "R.Callable" if isinstance(type_.ret, ObjectType) else f"R.Callable(ret={ret})"
        return f"R.Callable({tuple_text(params)}, {ret})"

    def object(self) -> str:
        return "R.Object"


class _RelaxCheck(_RelaxMessage):
    __slots__ = ()

    def shape(self, type_: ShapeType) -> str:
        return "R.Shape(ndim=-1)" if type_.ndim is None else super().shape(type_)

    def prim(self, type_: PrimType) -> str:
        return f"T.{type_.dtype}" if type_.value is None else super().prim(type_)

    def function(self, type_: FuncType, params: list[str] | None, ret: str) -> str:
        text = super().function(type_, params, ret)
        if params is None and not type_.is_pure:
            return text
        if params is None:
            return f"{text[:-1]}, purity=True)" if text.endswith(")") else f"{text}(purity=True)"
        return f"{text[:-1]}, {type_.is_pure})"

    def object(self) -> str:
        return "R.Any"


_MESSAGE = _RelaxMessage()
_CHECK = _RelaxCheck()
