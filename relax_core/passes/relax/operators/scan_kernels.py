"""Kernels of running sums and products: lines of the tensor side by side, each of them in order."""

from collections.abc import Sequence
from functools import reduce

from relax_core.ir.expr import Call, TensorType, Type
from relax_core.ir.prim import BinaryKind, Cast, IntImm, PrimExpr, PrimVar, binary, const
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferStore, For, seq
from relax_core.ops.attributes import flag_at, optional_int_at
from relax_core.ops.kernels.scalar import lit
from relax_core.ops.spec import Legalize, Legalized
from relax_core.passes.relax.operators.sort_kernels import kernel, own_dims, results_of


def scanned(name: str, op: BinaryKind, first: int) -> Legalize:
    """Return the legalization of a scan by `op`, which begins with `first` if it is exclusive.

    An axis of unknown size may be empty, and has no such kernel: TVM's writes outside its memory then.
    """

    def legalize(call: Call, arg_types: tuple[Type, ...], out: Type) -> Legalized | None:
        data, results, axis = arg_types[0], results_of(out), optional_int_at(call, arg_types, 1)
        dims = data.dims if isinstance(data, TensorType) else None
        own = None if dims is None else own_dims(dims)
        if len(results) != 1 or dims is None or own is None or not isinstance(data, TensorType) or not data.dtype:
            return None
        shape = tuple(map(own.__getitem__, dims))
        place = None if axis is None else axis % len(shape)
        length = _product(shape) if place is None else shape[place]
        if not isinstance(length, IntImm) or length.value < 1 or not shape:
            return None
        given = Buffer("data", shape, data.dtype, elem_offset=PrimVar("elem_offset", "int64"))
        made = Buffer("out_buf", (length,) if place is None else shape, results[0].dtype or data.dtype)
        scan = _Scan(given, made, place, length)
        begin = lit(first, made.dtype) if flag_at(call, arg_types, 3) else None
        return kernel(name, (given, made), Block(f"{name}_generic", (), scan.loops(op, begin), reads=(), writes=()),
                      call, results)  # fmt: skip

    return legalize


class _Scan:
    """The loops of a scan along the axis `place`, or over all elements in their order."""

    def __init__(self, given: Buffer, made: Buffer, place: int | None, length: IntImm) -> None:
        self.given = given
        self.made = made
        self.length = length
        behind = () if place is None else given.shape[place + 1 :]
        before = () if place is None else given.shape[:place]
        self.inner = _product(behind)
        self.count = _product((*before, *behind))
        self.is_last = not behind
        self.line = PrimVar("v", "int64")

    def loops(self, op: BinaryKind, begin: PrimExpr | None) -> For:
        """Return the loop over the lines, in it the first element and the loop over the rest, from `begin` if given."""
        step = PrimVar("v_1", "int64")
        at = binary("+", step, const(1))
        back = binary("-", at, const(1))
        start = BufferStore(self.made, self.written(None), self.read(None) if begin is None else begin)
        known = BufferLoad(self.made, self.written(back))
        value = binary(op, known, self.read(at if begin is None else back))
        rest = For(step, const(0), const(self.length.value - 1), BufferStore(self.made, self.written(at), value))
        return For(self.line, const(0), self.count, seq((start, rest)), "parallel")

    def position(self, at: PrimExpr | None) -> PrimExpr:
        """Return the number of the element at `at` of the line among all; `None` is the first."""
        if self.is_last:
            start = binary("*", self.line, self.length)
            return start if at is None else binary("+", start, at)
        outer = binary("*", binary("*", binary("//", self.line, self.inner), self.length), self.inner)
        start = binary("+", outer, binary("%", self.line, self.inner))
        return start if at is None else binary("+", start, binary("*", at, self.inner))

    def read(self, at: PrimExpr | None) -> PrimExpr:
        found = BufferLoad(self.given, _indices(self.position(at), self.given.shape))
        return found if self.given.dtype == self.made.dtype else Cast(found, self.made.dtype)

    def written(self, at: PrimExpr | None) -> tuple[PrimExpr, ...]:
        return _indices(self.position(at), self.made.shape)


def _indices(position: PrimExpr, shape: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
    """Return the indices of the element that is at `position` in the order of memory."""
    found: list[PrimExpr] = []
    for dim in reversed(shape[1:]):
        found.append(binary("%", position, dim))
        position = binary("//", position, dim)
    return (position, *reversed(found))


def _product(dims: Sequence[PrimExpr]) -> PrimExpr:
    numbers = [dim.value for dim in dims if isinstance(dim, IntImm)]
    if len(numbers) == len(dims):
        return const(reduce(int.__mul__, numbers, 1))
    return reduce(lambda a, b: binary("*", a, b), dims)


CUMSUM = scanned("cumsum", "+", 0)
CUMPROD = scanned("cumprod", "*", 1)
