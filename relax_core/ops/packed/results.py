"""The types of the results of packed functions, from what is known of their arguments."""

from collections.abc import Iterable, Sequence

from relax_core.ir.expr import Dims, PrimType, TensorType, TupleType, Type
from relax_core.ir.integer.prove import constant_value, prove_equal
from relax_core.ir.prim import BinaryKind, IntImm, PrimExpr, binary, const
from relax_core.ops.packed.spec import UNKNOWN, Fact, Facts, Infer, Item

_INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def tensor(facts: Facts, name: str = "self") -> TensorType:
    """Return the type of a tensor argument, or of any tensor if it is not known."""
    found = facts.get(name)
    return found if isinstance(found, TensorType) else TensorType()


def tensors(facts: Facts) -> tuple[TensorType, ...] | None:
    """Return the types of the list of tensors."""
    found = facts.get("tensors")
    if not isinstance(found, tuple):
        return None
    return tuple(item if isinstance(item, TensorType) else TensorType() for item in found)


def axes(facts: Facts, name: str, rank: int) -> frozenset[int] | None:
    """Return the axes that an argument names, counted from 0, all of them for none; `None` if they are not known."""
    found = facts.get(name, UNKNOWN)
    match found:
        case None | ():
            return frozenset(range(rank))
        case int():
            return frozenset((found % max(rank, 1),))
        case tuple() if all(isinstance(item, int) for item in found):
            return frozenset(item % max(rank, 1) for item in found if isinstance(item, int))
        case _:
            return None


def dims_of(items: Fact) -> Dims | None:
    """Return dimensions that an argument names; `None` if one is not known."""
    if not isinstance(items, tuple):
        return None
    dims = [_dim(item) for item in items]
    known = tuple(item for item in dims if item is not None)
    return known if len(known) == len(dims) else None


def _dim(item: Item) -> PrimExpr | None:
    return item if isinstance(item, PrimExpr) else const(item) if isinstance(item, int) else None


def dtype_or(facts: Facts, otherwise: str | None) -> str | None:
    """Return the dtype that the argument `dtype` names, `otherwise` if it is absent."""
    match facts.get("dtype"):
        case str(name):
            return name
        case None:
            return otherwise
        case _:
            return None


def widened(dtype: str | None) -> str | None:
    """Return the dtype of a sum: int64 for integers and truth values."""
    return "int64" if dtype in _INTEGERS else dtype


def like(name: str = "self") -> Infer:
    """Return the rule of a function that keeps shape and dtype of an argument, or casts to the argument `dtype`."""

    def infer(facts: Facts) -> Type:
        found = tensor(facts, name)
        return TensorType(found.shape, dtype_or(facts, found.dtype), found.ndim)

    return infer


def broadcast(*names: str) -> Infer:
    """Return the rule of a function whose tensors are broadcast; different dtypes give one that the run tells."""

    def infer(facts: Facts) -> Type:
        given = tuple(tensor(facts, name) for name in names)
        dtypes = {item.dtype for item in given if item.dtype != "bool"} or {"bool"}
        dtype = dtypes.pop() if len(dtypes) == 1 else None
        ranks = [item.ndim for item in given]
        known = [rank for rank in ranks if rank is not None]
        dims = _broadcast([item.dims for item in given])
        return TensorType(dims, dtype, max(known) if len(known) == len(ranks) else None)

    return infer


def _broadcast(shapes: Sequence[Dims | None]) -> Dims | None:
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    rank = max(map(len, known))
    padded = [(*(IntImm(1),) * (rank - len(shape)), *shape) for shape in known]
    merged = [_merged(column) for column in zip(*padded, strict=True)]
    return tuple(item for item in merged if item is not None) if None not in merged else None


def _merged(column: Sequence[PrimExpr]) -> PrimExpr | None:
    """Return the dimension that several give; `None` if they differ, or may."""
    wide = [item for item in column if constant_value(item) != 1]
    if not wide:
        return column[0]
    return wide[0] if all(prove_equal(wide[0], item) for item in wide) else None


def reduced(dtype: str | None = None, *, widens: bool = False) -> Infer:
    """Return the rule of a reduction over `dim`, with `keepdim`; `dtype` is that of the result if it is fixed."""

    def infer(facts: Facts) -> Type:
        given = tensor(facts)
        own = dtype or (widened(given.dtype) if widens else given.dtype)
        return _without(given, facts, dtype_or(facts, own))

    return infer


def _without(given: TensorType, facts: Facts, dtype: str | None) -> TensorType:
    rank, keeps = given.ndim, facts.get("keepdim")
    if keeps is True and rank is not None and (given.dims is None or axes(facts, "dim", rank) is None):
        return TensorType(None, dtype, rank)
    gone = axes(facts, "dim", rank) if rank is not None else None
    named = facts.get("dim")
    if rank is not None and gone is None and keeps is False and isinstance(named, tuple):
        # The axes are not known, but they differ.
        return TensorType(None, dtype, max(rank - len(named), 0))
    if rank is None or gone is None or not isinstance(keeps, bool):
        return TensorType(None, dtype)
    if given.dims is None:
        return TensorType(None, dtype, rank - len(gone))
    kept = tuple(const(1) if axis in gone else dim for axis, dim in enumerate(given.dims) if keeps or axis not in gone)
    return TensorType(kept, dtype)


def shaped(name: str, dtype: str | None = None) -> Infer:
    """Return the rule of a function that makes a tensor of the size that an argument names."""

    def infer(facts: Facts) -> Type:
        items = facts.get(name, UNKNOWN)
        rank = len(items) if isinstance(items, tuple) else None
        return TensorType(dims_of(items), dtype_or(facts, dtype), rank)

    return infer


def running_type(facts: Facts) -> Type:
    """Return the type of `cumsum`: the shape stays, integers become int64."""
    given = tensor(facts)
    return TensorType(given.shape, dtype_or(facts, widened(given.dtype)), given.ndim)


def fill_type(facts: Facts) -> Type | None:
    """Return the type of `full`: int64 or float32 by the value, as in PyTorch.

    The machine holds a truth value as an integer, so that of one the dtype is not known here.
    """
    match facts.get("fill_value"):
        case int(value) if not isinstance(value, bool):
            dtype = "int64"
        case float():
            dtype = "float32"
        case _:
            dtype = None
    return shaped("size", dtype)(facts)


def range_type(facts: Facts) -> Type:
    """Return the type of `arange`: one dimension, int64 if all numbers are ints."""
    given = [facts.get(name, UNKNOWN) for name in ("start", "end", "step")]
    kinds = {type(item) for item in given}
    dtype = "int64" if kinds == {int} else "float32" if kinds <= {int, float} else None
    dims: Dims | None = None
    match given:
        case [int(start), int(end), int(step)] if step:
            dims = (const(max(0, -(-(end - start) // step))),)
        case _:
            pass
    return TensorType(dims, dtype_or(facts, dtype), 1)


def cat_type(facts: Facts) -> Type | None:
    """Return the type of `cat`: the sizes along `dim` are added up."""
    given, axis = tensors(facts), facts.get("dim")
    if not given:
        return None
    dtype = given[0].dtype if len({item.dtype for item in given}) == 1 else None
    rank, shapes = given[0].ndim, [item.dims for item in given]
    known = [shape for shape in shapes if shape is not None and len(shape) == rank]
    if rank is None or not isinstance(axis, int) or not -rank <= axis < rank or len(known) < len(shapes):
        return TensorType(None, dtype, rank)
    axis %= rank
    total = known[0][axis]
    for shape in known[1:]:
        total = binary("+", total, shape[axis])
    size = constant_value(total)
    return TensorType((*known[0][:axis], total if size is None else const(size), *known[0][axis + 1 :]), dtype)


def stack_type(facts: Facts) -> Type | None:
    """Return the type of `stack`: a new axis whose size is the number of tensors."""
    given, axis = tensors(facts), facts.get("dim")
    if not given:
        return None
    first = given[0]
    dtype = first.dtype if len({item.dtype for item in given}) == 1 else None
    rank = None if first.ndim is None else first.ndim + 1
    if first.dims is None or rank is None or not isinstance(axis, int) or not -rank <= axis < rank:
        return TensorType(None, dtype, rank)
    axis %= rank
    return TensorType((*first.dims[:axis], const(len(given)), *first.dims[axis:]), dtype)


def topk_type(facts: Facts) -> Type:
    """Return the types of `topk`: values and their int64 positions, `k` of them along `dim`."""
    given, dim, k = tensor(facts), facts.get("dim"), _dim_of(facts, "k")
    dims: Dims | None = None
    if given.dims and isinstance(dim, int) and k is not None and -len(given.dims) <= dim < len(given.dims):
        axis = dim % len(given.dims)
        dims = (*given.dims[:axis], k, *given.dims[axis + 1 :])
    return TupleType((TensorType(dims, given.dtype, given.ndim), TensorType(dims, "int64", given.ndim)))


def _dim_of(facts: Facts, name: str) -> PrimExpr | None:
    value = facts.get(name, UNKNOWN)
    return None if isinstance(value, tuple) else _dim(value)


def unique_type(facts: Facts) -> Type | None:
    """Return the type of `unique`: the values alone, or a tuple with the int64 tensors that are asked for."""
    given = tensor(facts)
    asked = [facts.get(name) for name in ("return_inverse", "return_counts")]
    values = TensorType(None, given.dtype, 1)
    match asked:
        case [bool(inverse), bool(counts)]:
            extra = ((TensorType(given.shape, "int64", given.ndim),) if inverse else ()) + (
                (TensorType(None, "int64", 1),) if counts else ()
            )
            return TupleType((values, *extra)) if extra else values
        case _:
            return None


def select_type(facts: Facts) -> Type:
    """Return the type of `index_select`: the size along `dim` is that of the index."""
    given, index, dim = tensor(facts), tensor(facts, "index"), facts.get("dim")
    dims: Dims | None = None
    if given.dims and isinstance(dim, int) and index.dims and -len(given.dims) <= dim < len(given.dims):
        axis = dim % len(given.dims)
        dims = (*given.dims[:axis], index.dims[0], *given.dims[axis + 1 :])
    return TensorType(dims, given.dtype, given.ndim)


def pad_type(facts: Facts) -> Type:
    """Return the type of `constant_pad_nd`: pairs of sizes are added, the last axis first."""
    given, pads = tensor(facts), facts.get("pad")
    dims: Dims | None = None
    if given.dims is not None and isinstance(pads, tuple) and len(pads) % 2 == 0 and len(pads) <= 2 * len(given.dims):
        added = [_sum(pads[k : k + 2]) for k in range(0, len(pads), 2)]
        added = [*[const(0)] * (len(given.dims) - len(added)), *reversed(added)]
        dims = _known(
            None if more is None else _folded("+", dim, more) for dim, more in zip(given.dims, added, strict=True)
        )
    return TensorType(dims, given.dtype, given.ndim)


def _sum(items: Sequence[Item]) -> PrimExpr | None:
    dims = [_dim(item) for item in items]
    return None if None in dims else _folded("+", *(item for item in dims if item is not None))


def _known(dims: Iterable[PrimExpr | None]) -> Dims | None:
    found = tuple(dims)
    known = tuple(item for item in found if item is not None)
    return known if len(known) == len(found) else None


def _folded(op: BinaryKind, a: PrimExpr, b: PrimExpr) -> PrimExpr:
    made = binary(op, a, b)
    size = constant_value(made)
    return made if size is None else const(size)


def upsample_type(facts: Facts) -> Type:
    """Return the type of `upsample_nearest2d`: the last two sizes are those that are asked for."""
    given, size = tensor(facts), dims_of(facts.get("output_size", UNKNOWN))
    dims = (*given.dims[:2], *size) if given.ndim == 4 and given.dims is not None and size is not None else None
    return TensorType(dims, given.dtype, given.ndim)


def convolution_type(facts: Facts) -> Type:
    """Return the type of a 2-D convolution, NCHW with OIHW, without dilation."""
    given, weight = tensor(facts), tensor(facts, "weight")
    dims: Dims | None = None
    if given.ndim == weight.ndim == 4 and given.dims is not None and weight.dims is not None:
        columns = [facts.get(name) for name in ("kernel_size", "stride", "padding")]
        sizes = [item if isinstance(item, tuple) and len(item) == 2 else (UNKNOWN, UNKNOWN) for item in columns]
        image = (_moved(given.dims[2 + axis], [item[axis] for item in sizes]) for axis in range(2))
        dims = _known((given.dims[0], weight.dims[0], *image))
    return TensorType(dims, given.dtype, 4)


def _moved(size: PrimExpr, window: Sequence[Item]) -> PrimExpr | None:
    match window:
        case [int(kernel), int(stride), int(padding)] if stride > 0:
            return _folded("+", _folded("//", _folded("+", size, const(2 * padding - kernel)), const(stride)), const(1))
        case _:
            return None


def scalar_type(facts: Facts) -> Type | None:
    """Return the type of the host scalar that a tensor becomes: int64 for integers, float32 for small floats."""
    dtype = tensor(facts).dtype
    if dtype is None or dtype in ("bool", "float32", "float64"):
        return None if dtype is None else PrimType(dtype)
    return PrimType("int64" if dtype in _INTEGERS else "float32")
