"""Types of Relay as Relax has them: polymorphism erased, data and references are objects."""

from relax_core.ir.expr import OBJECT, FuncType, ObjectType, TensorType, TupleType, Type
from relax_core.ir.prim import AnyDim, PrimVar
from relax_core.ir.rewriting.builder import Names

CALLABLE = FuncType(None, OBJECT, is_pure=False)


def erased(type_: Type) -> Type:
    """Return the type of Relax that values of `type_` have; a tensor with an unknown size has a rank only.

    A function is a callable: what it takes and gives may be more precise than a polymorphic caller knows.
    """
    match type_:
        case TensorType(shape=tuple() as dims) if any(isinstance(item, AnyDim) for item in dims):
            return TensorType(None, type_.dtype, len(dims))
        case TensorType():
            return type_
        case TupleType(fields=fields):
            return TupleType(tuple(map(erased, fields)))
        case FuncType():
            return CALLABLE
        case _:
            return OBJECT


def opened(type_: Type, names: Names) -> Type:
    """Return the erased type with a fresh symbol for each unknown size of a tensor."""
    match type_:
        case TensorType(shape=tuple() as dims) if any(isinstance(item, AnyDim) for item in dims):
            sizes = tuple(PrimVar(names.fresh("n")) if isinstance(item, AnyDim) else item for item in dims)
            return TensorType(sizes, type_.dtype)
        case _:
            return erased(type_)


def has_unknown_size(type_: Type) -> bool:
    """Tell whether `type_` is that of a tensor with a `?` among its sizes."""
    return isinstance(type_, TensorType) and any(isinstance(item, AnyDim) for item in type_.dims or ())


def needs_cast(known: Type, wanted: Type) -> bool:
    """Tell whether a value of which only `known` is known must be checked to be a `wanted` when the program runs."""
    match known, wanted:
        case _, ObjectType():
            return False
        case ObjectType(), _:
            return True
        case TupleType(fields=a), TupleType(fields=b) if len(a) == len(b):
            return any(map(needs_cast, a, b))
        case TensorType(), TensorType():
            is_vaguer = known.dims is None and wanted.dims is not None
            return is_vaguer or (known.dtype is None and wanted.dtype is not None)
        case _:
            return False
