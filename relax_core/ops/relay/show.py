"""Types as Relay's text writes them."""

from relax_core.ir.expr import (
    AdtType,
    Dims,
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
from relax_core.ir.prim import AnyDim, PrimExpr

MAX_LENGTH = 400


def show_dim(dim: PrimExpr) -> str:
    """Return a size as text, `?` if it is unknown."""
    return "?" if isinstance(dim, AnyDim) else show_prim(dim)


def show_dims(dims: Dims) -> str:
    """Return sizes as a tuple."""
    return f"({', '.join(map(show_dim, dims))}{',' if len(dims) == 1 else ''})"


def show_type(type_: Type) -> str:
    """Return a type as Relay's text writes it; a very long one is cut."""
    text = _show(type_)
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}..."


def _show(type_: Type) -> str:
    match type_:
        case TensorType(shape=(), dtype=str() as dtype):
            return dtype
        case TensorType(shape=shape, dtype=dtype):
            dims = show_dims(shape) if isinstance(shape, tuple) else shape.name if isinstance(shape, Var) else "?"
            return f"Tensor[{dims}, {dtype or '?'}]"
        case TupleType(fields=fields):
            return f"({_list(fields)}{',' if len(fields) == 1 else ''})"
        case FuncType(params=params, ret=ret, type_params=type_params):
            head = f"fn[{', '.join(item.name for item in type_params)}]" if type_params else "fn"
            return f"{head}({'...' if params is None else _list(params)}) -> {_show(ret)}"
        case AdtType(name=name, args=args):
            return f"{name}[{_list(args)}]" if args else name
        case TypeVar(name=name):
            return name
        case RefType(value=value):
            return f"ref({_show(value)})"
        case ObjectType():
            return "_"
        case PrimType(dtype=dtype):
            return dtype
        case ShapeType():
            return "Shape"


def _list(types: tuple[Type, ...]) -> str:
    return ", ".join(map(_show, types))
