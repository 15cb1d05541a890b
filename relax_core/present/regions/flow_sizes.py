"""The sizes of values that cross the border of a region."""

from math import prod

from relax_core.ir.expr import PrimType, TensorType, TupleType, Type
from relax_core.ir.prim import IntImm, bytes_of
from relax_core.present.regions.region_models import Flow


def size_bytes(type_: Type | None) -> int | None:
    """Return the size of a value in bytes, `None` if it is unknown before the run or has none."""
    match type_:
        case TensorType(dims=tuple() as dims, dtype=str(dtype)):
            sizes = tuple(dim.value for dim in dims if isinstance(dim, IntImm))
            return bytes_of(dtype, prod(sizes)) if len(sizes) == len(dims) else None
        case TupleType(fields=fields):
            sizes = tuple(map(size_bytes, fields))
            known = tuple(item for item in sizes if item is not None)
            return sum(known) if len(known) == len(sizes) else None
        case PrimType(dtype=str(dtype)):
            return bytes_of(dtype, 1)
        case _:
            return None


def known_bytes(flows: tuple[Flow, ...]) -> int:
    """Return the sum of the sizes that are known."""
    return sum(item.size_bytes or 0 for item in flows)
