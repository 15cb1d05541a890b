"""Small prim funcs for the tests of the kernel compiler, made without the parser."""

from collections.abc import Callable, Sequence

from relax_core.frontend.parse import parse_text
from relax_core.ir.prim import Binary, BinaryKind, FloatImm, IntImm, Intrinsic, PrimExpr, PrimVar, binary, const
from relax_core.ir.tir import (
    Block,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferStore,
    For,
    IterKind,
    IterVar,
    PrimFunc,
    Stmt,
)
from tests.callables import Compute

Make = Compute[PrimExpr, PrimExpr]


def prim_func(buffers: Sequence[Buffer], body: Stmt, scalars: Sequence[PrimVar] = ()) -> PrimFunc:
    """Make a function of `buffers`, then `scalars`."""
    params = tuple(BufferParam(PrimVar(f"{buffer.name}_handle", "handle"), buffer) for buffer in buffers)
    return PrimFunc((*(param.handle for param in params), *scalars), params, body)


def index(name: str) -> PrimVar:
    return PrimVar(name, "int64")


def integer(value: int, dtype: str = "int64") -> IntImm:
    return IntImm(value, dtype)


def zero_of(dtype: str) -> PrimExpr:
    return FloatImm(0.0, dtype) if dtype.startswith("float") else IntImm(0, dtype)


def sizes_of(buffer: Buffer) -> tuple[int, ...]:
    """Return the dimensions of a buffer, each of which is a number."""
    sizes = tuple(dim.value for dim in buffer.shape if isinstance(dim, IntImm))
    assert len(sizes) == len(buffer.shape)
    return sizes


def for_each(variables: Sequence[PrimVar], extents: Sequence[PrimExpr], body: Stmt) -> Stmt:
    """Nest loops from 0, the first outermost."""
    for var, extent in zip(reversed(variables), reversed(extents), strict=True):
        body = For(var, IntImm(0, var.dtype), extent, body)
    return body


def elementwise(compute: Make, rank: int, dtypes: Sequence[str], result: str) -> PrimFunc:
    """Make `Out[i...] = compute(In0[i...], ...)` over symbolic dimensions."""
    dims = tuple(index(f"n{axis}") for axis in range(rank))
    inputs = [Buffer(f"In{position}", dims, dtype) for position, dtype in enumerate(dtypes)]
    out = Buffer("Out", dims, result)
    at = tuple(index(f"i{axis}") for axis in range(rank))
    value = compute(*(BufferLoad(buffer, at) for buffer in inputs))
    return prim_func([*inputs, out], for_each(at, dims, BufferStore(out, at, value)))


def intrinsic(name: str, dtype: str) -> Make:
    """Return what calls an intrinsic on any number of elements."""

    def call(*args: PrimExpr) -> PrimExpr:
        return Intrinsic(name, args, dtype)

    return call


def block_nest(spec: Sequence[tuple[str, PrimExpr, IterKind]], body: Callable[..., tuple[Stmt, Stmt | None]]) -> Stmt:
    """Nest loops around a block whose variables are bound to them; `body` gives its body and its init."""
    loops = tuple(PrimVar(f"{name}0", "int32") for name, _, _ in spec)
    inner = tuple(PrimVar(name, "int32") for name, _, _ in spec)
    extents = tuple(extent for _, extent, _ in spec)
    statement, init = body(*inner)
    iters = tuple(
        IterVar(v, e, loop, kind) for v, e, loop, (_, _, kind) in zip(inner, extents, loops, spec, strict=True)
    )
    return for_each(loops, extents, Block("", iters, statement, init))


def tir_matmul(*, is_corrected: bool = False, dtype: str = "float32") -> PrimFunc:
    """Make the matrix product with int32 dimensions; as it was reported, its indices fit only for n == k."""
    m, n, k = (PrimVar(name, "int32") for name in "mnk")
    a, b, c = Buffer("A", (m, n), dtype), Buffer("B", (n, k), dtype), Buffer("C", (m, k), dtype)

    def body(i: PrimVar, j: PrimVar, r: PrimVar) -> tuple[Stmt, Stmt]:
        right = BufferLoad(b, (r, j) if is_corrected else (j, r))
        product = binary("*", BufferLoad(a, (i, r)), right)
        total = binary("+", BufferLoad(c, (i, j)), product)
        return BufferStore(c, (i, j), total), BufferStore(c, (i, j), zero_of(dtype))

    columns, depth = (k, n) if is_corrected else (n, k)
    return prim_func(
        [a, b, c], block_nest([("i", m, "spatial"), ("j", columns, "spatial"), ("k", depth, "reduce")], body)
    )


def row_sum(dtype: str = "float32") -> PrimFunc:
    """Make `B[i] = sum over j of A[i, j]`, in order."""
    n, m = index("n"), index("m")
    a, b = Buffer("A", (n, m), dtype), Buffer("B", (n,), dtype)

    def body(i: PrimVar, j: PrimVar) -> tuple[Stmt, Stmt]:
        total = binary("+", BufferLoad(b, (i,)), BufferLoad(a, (i, j)))
        return BufferStore(b, (i,), total), BufferStore(b, (i,), zero_of(dtype))

    return prim_func([a, b], block_nest([("i", n, "spatial"), ("j", m, "reduce")], body))


def gather(index_dtype: str = "int32") -> PrimFunc:
    """Make `Out[i] = Table[Index[i]]`."""
    n, m = index("n"), index("m")
    table, indices, out = Buffer("Table", (m,)), Buffer("Index", (n,), index_dtype), Buffer("Out", (n,))
    i = index("i")
    store = BufferStore(out, (i,), BufferLoad(table, (BufferLoad(indices, (i,)),)))
    return prim_func([table, indices, out], for_each((i,), (n,), store))


def plus(a: PrimExpr, b: PrimExpr | int) -> PrimExpr:
    return binary("+", a, const(b) if isinstance(b, int) else b)


def compared(op: BinaryKind, a: PrimExpr, b: PrimExpr) -> Binary:
    made = binary(op, a, b)
    assert isinstance(made, Binary)
    return made


def parsed(text: str) -> PrimFunc:
    """Read one prim func from `def ...`."""
    ((_, function),) = parse_text(f"@T.prim_func\n{text}", "test").modules[0].prim_funcs
    return function


def added(dtype: str = "float32", rank: int = 1) -> PrimFunc:
    """Make `Out[i...] = In0[i...] + In1[i...]`."""
    return elementwise(lambda x, y: binary("+", x, y), rank, (dtype, dtype), dtype)
