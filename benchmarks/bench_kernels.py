"""Kernels: compiled prim funcs beside NumPy, what checks and fuel cost, and what one call costs."""

import numpy as np

from benchmarks.table import Table
from benchmarks.timing import Case, measure
from relax_core.ir.prim import FloatImm, IntImm, Intrinsic, PrimExpr, PrimVar, binary
from relax_core.ir.tir import Block, Buffer, BufferLoad, BufferParam, BufferStore, For, IterVar, PrimFunc, Stmt
from relax_core.jit.engine import Engine

SIZE = 1 << 16
SIDE = 128
CHECKED, UNCHECKED = f"gather {SIZE}, index checked", f"gather {SIZE}, index clamped, so no check"


def run() -> Table:
    """Measure per call; every row is one kernel or what NumPy needs for the same values."""
    engine = Engine()
    random = np.random.default_rng(0)
    x, y = (random.random(SIZE, "float32") for _ in range(2))
    a, b = (random.random((SIDE, SIDE), "float32") for _ in range(2))
    out, product = np.empty_like(x), np.empty_like(a)
    few, fresh = np.ones(4, "float32"), np.ones(4, "float32")
    order = np.arange(SIZE, dtype="int64")
    random.shuffle(order)
    add, exp = engine.kernel(_add(), "add"), engine.kernel(_exp(), "exp")
    matmul = engine.kernel(_matmul(), "matmul")
    checked, proven = (
        engine.kernel(_gather(is_clamped=False), "gather"),
        engine.kernel(_gather(is_clamped=True), "clamped"),
    )
    cases: dict[str, Case] = {
        f"add {SIZE}, numpy": lambda: np.add(x, y, out=out),
        f"add {SIZE}, kernel": lambda: add(x, y, out),
        f"exp {SIZE}, numpy": lambda: np.exp(x, out=out),
        f"exp {SIZE}, kernel": lambda: exp(x, out),
        f"matmul {SIDE}, numpy": lambda: np.matmul(a, b, out=product),
        f"matmul {SIDE}, kernel in the order of the text": lambda: matmul(a, b, product),
        f"gather {SIZE}, numpy": lambda: np.take(x, order, out=out, mode="clip"),
        UNCHECKED: lambda: proven(x, order, out),
        CHECKED: lambda: checked(x, order, out),
        "add 4, numpy": lambda: np.add(few, few, out=fresh),
        "add 4, kernel: what a call costs": lambda: add(few, few, fresh),
        "compile add for one more shape": _compiling(engine),
    }
    rows = measure(cases)
    median = {row.name: row.median_seconds for row in rows}
    pairs = {
        "checked over unchecked gather": (CHECKED, UNCHECKED),
        "kernel over numpy, add": (f"add {SIZE}, kernel", f"add {SIZE}, numpy"),
        "kernel over numpy, exp": (f"exp {SIZE}, kernel", f"exp {SIZE}, numpy"),
    }
    note = "; ".join(f"{name} {median[above] / median[below]:.2f}" for name, (above, below) in pairs.items())
    return Table("Kernels", rows, note)


def _compiling(engine: Engine) -> Case:
    lengths = iter(range(1, 1 << 30))

    def compile_next() -> None:
        length = next(lengths)
        array = np.ones(length, "float32")
        # A kernel of its own has specialised no shape yet, so it compiles code for this one.
        engine.kernel(_add(), f"add{length}")(array, array, np.empty_like(array))

    return compile_next


def _prim_func(buffers: tuple[Buffer, ...], body: Stmt) -> PrimFunc:
    params = tuple(BufferParam(PrimVar(buffer.name, "handle"), buffer) for buffer in buffers)
    return PrimFunc(tuple(param.handle for param in params), params, body)


def _loop(var: PrimVar, extent: PrimExpr, body: Stmt) -> Stmt:
    return For(var, IntImm(0), extent, body)


def _add() -> PrimFunc:
    n, i = PrimVar("n"), PrimVar("i")
    a, b, c = (Buffer(name, (n,)) for name in "ABC")
    total = binary("+", BufferLoad(a, (i,)), BufferLoad(b, (i,)))
    return _prim_func((a, b, c), _loop(i, n, BufferStore(c, (i,), total)))


def _exp() -> PrimFunc:
    n, i = PrimVar("n"), PrimVar("i")
    a, b = Buffer("A", (n,)), Buffer("B", (n,))
    return _prim_func((a, b), _loop(i, n, BufferStore(b, (i,), Intrinsic("exp", (BufferLoad(a, (i,)),), "float32"))))


def _gather(*, is_clamped: bool) -> PrimFunc:
    n, m, i = PrimVar("n"), PrimVar("m"), PrimVar("i")
    table, order, out = Buffer("Table", (m,)), Buffer("Order", (n,), "int64"), Buffer("Out", (n,))
    at: PrimExpr = BufferLoad(order, (i,))
    if is_clamped:
        at = binary("max", binary("min", at, binary("-", m, IntImm(1))), IntImm(0))
    return _prim_func((table, order, out), _loop(i, n, BufferStore(out, (i,), BufferLoad(table, (at,)))))


def _matmul() -> PrimFunc:
    m, n, k = (PrimVar(name) for name in "mnk")
    a, b, c = Buffer("A", (m, n)), Buffer("B", (n, k)), Buffer("C", (m, k))
    loops, (i, j, r) = tuple(PrimVar(f"{name}0") for name in "ijr"), tuple(PrimVar(name) for name in "ijr")
    product = binary("*", BufferLoad(a, (i, r)), BufferLoad(b, (r, j)))
    update = BufferStore(c, (i, j), binary("+", BufferLoad(c, (i, j)), product))
    iters = (
        IterVar(i, m, loops[0], "spatial"),
        IterVar(j, k, loops[1], "spatial"),
        IterVar(r, n, loops[2], "reduce"),
    )
    block = Block("C", iters, update, BufferStore(c, (i, j), FloatImm(0.0)))
    return _prim_func((a, b, c), _loop(loops[0], m, _loop(loops[1], k, _loop(loops[2], n, block))))
