"""Types as a reader of a message knows them from the source."""

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
    Var,
)
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr


def show_dims(dims: tuple[PrimExpr, ...]) -> str:
    """Return dimensions as a tuple."""
    return f"({', '.join(show_prim(dim) for dim in dims)}{',' if len(dims) == 1 else ''})"


def show_type(type_: Type) -> str:
    """Return a type as TVMScript spells it."""
    match type_:
        case TensorType(shape=shape, dtype=dtype, ndim=ndim):
            parts = [show_dims(shape)] if isinstance(shape, tuple) else [shape.name] if isinstance(shape, Var) else []
            parts += [f'dtype="{dtype}"'] if dtype is not None else []
            parts += [f"ndim={ndim}"] if shape is None and ndim is not None else []
            return f"R.Tensor({', '.join(parts)})" if parts else "R.Tensor"
        case ShapeType(values=values, ndim=ndim):
            inner = show_dims(values) if values is not None else f"ndim={ndim}" if ndim is not None else ""
            return f"R.Shape({inner})" if inner else "R.Shape"
        case PrimType(dtype=dtype, value=value):
            return f'R.Prim("{dtype}")' if value is None else f"R.Prim({show_prim(value)})"
        case TupleType(fields=fields):
            return f"R.Tuple({', '.join(show_type(item) for item in fields)})" if fields else "R.Tuple"
        case FuncType(params=None, ret=ret):
            return "R.Callable" if isinstance(ret, ObjectType) else f"R.Callable(ret={show_type(ret)})"
        case FuncType(params=params, ret=ret):
            return f"R.Callable(({', '.join(show_type(item) for item in params or ())}), {show_type(ret)})"
        case ObjectType():
            return "R.Object"
        case AdtType(name=name, args=args):
            return f"{name}[{', '.join(show_type(item) for item in args)}]" if args else name
        case TypeVar(name=name):
            return name
        case RefType(value=value):
            return f"ref({show_type(value)})"
