"""Every kernel looks at its fuel after a bounded amount of work, whatever transformation wrote its loops."""

from dataclasses import dataclass

import numpy as np
import pytest

from relax_core.jit.kernel import CANCELLED_FUEL
from relax_core.jit.lowering.loops import CHUNK
from relax_core.jit.options import KernelOptions, Mode
from relax_core.jit.transforms.registry import TRANSFORMS
from tests.jit.looks import run_counted
from tests.jit.programs import parsed

FUEL = 3_000_000
# Basic blocks between two looks, and units that one look pays for: a few milliseconds.
MOST_BLOCKS, MOST_PAID = 1 << 20, 1 << 23
LONG = 1 << 26
STOPPED = 1


@dataclass(frozen=True)
class Case:
    """A prim func that would run for hours, and the transformations that are to take part in it."""

    text: str
    transforms: frozenset[str]
    mode: Mode = "exact"
    threads: int = 1
    sizes: tuple[int, ...] = ()


def _reduction(spatial: str, reduce: str, store: str, value: str, shapes: tuple[str, str], op: str = "+") -> str:
    names = [f"i{at}" for at in range(len(spatial.split()) + len(reduce.split()))]
    kinds = "S" * len(spatial.split()) + "R" * len(reduce.split())
    total = f"T.max({store}, {value})" if op == "max" else f"{store} + {value}"
    return f"""def f(A: T.Buffer({shapes[0]}, "float32"), o: T.Buffer({shapes[1]}, "float32")):
    for {", ".join(names)} in T.grid({", ".join((*spatial.split(), *reduce.split()))}):
        with T.block("b"):
            {", ".join(name.replace("i", "v") for name in names)} = T.axis.remap("{kinds}", [{", ".join(names)}])
            with T.init():
                {store} = T.float32(0)
            {store} = {total}
"""


def _product(order: str, extents: str) -> str:
    return f"""def f(A: T.Buffer((4, 64)), B: T.Buffer((64, 4)), o: T.Buffer((64, 64))):
    for {order} in T.grid({extents}):
        with T.block("b"):
            vi, vj, vk, vr = T.axis.remap("SSRR", [i, j, k, r])
            with T.init():
                o[vi, vj] = T.float32(0)
            o[vi, vj] = o[vi, vj] + A[vk, vj] * B[vi, vk]
"""


def _padded(inner: int, outer: int) -> str:
    return f"""def f(A: T.Buffer((64, 64)), W: T.Buffer((3, 3)), o: T.Buffer((64, 64))):
    for z, i, j, k, r, y in T.grid({outer}, 64, 64, 3, 3, {inner}):
        with T.block("b"):
            vz, vi, vj, vk, vr, vy = T.axis.remap("RSSRRR", [z, i, j, k, r, y])
            with T.init():
                o[vi, vj] = T.float32(0)
            o[vi, vj] = o[vi, vj] + T.if_then_else(vi + vk >= 1 and vi + vk < 65 and vj + vr >= 1 and vj + vr < 65,
                A[vi + vk - 1, vj + vr - 1], T.float32(0)) * W[vk, vr]
"""


def _deep(depth: int, extent: int) -> str:
    lines = [f"{'    ' * (at + 1)}for i{at} in range({extent}):\n" for at in range(depth)]
    store = "o[0] = o[0] + T.int64(1)"
    return f"def f(o: T.Buffer((4,), 'int64')):\n{''.join(lines)}{'    ' * (depth + 1)}{store}\n"


def _each(body: str, *, data: str = "") -> str:
    params = f'A: T.Buffer((64, 64), "float32"){data}, o: T.Buffer((4096,), "float32")'
    return f"def f({params}):\n" + "".join(f"    {line}\n" for line in body.splitlines())


ANY_SIZES = """def f(a: T.handle, b: T.handle, c: T.handle, d: T.handle):
    n = T.int64()
    m = T.int64()
    k = T.int64()
    A = T.match_buffer(a, (n, 4))
    B = T.match_buffer(b, (4, m))
    C = T.match_buffer(c, (n, m))
    D = T.match_buffer(d, (k,))
    for i, j, r in T.grid(n, m, k):
        with T.block("b"):
            vi, vj, vr = T.axis.remap("SSR", [i, j, r])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, 3] * B[2, vj]
"""
ANY_NEST = """def f(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    k = T.int64()
    A = T.match_buffer(a, (n,))
    B = T.match_buffer(b, (m,))
    C = T.match_buffer(c, (k,))
    for i, j, r in T.grid(n, m + 1, k):
        C[0] = A[0] * T.float32(2)
"""


def _any_rows(value: str) -> str:
    return f"""def f(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (n, 4))
    B = T.match_buffer(b, (n, m))
    C = T.match_buffer(c, (n,))
    for i, j in T.grid(n, m):
        with T.block("b"):
            vi, vj = T.axis.remap("SR", [i, j])
            C[vi] = C[vi] + {value}
"""


def _any_columns(value: str) -> str:
    return f"""def f(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    A = T.match_buffer(a, (1, n))
    B = T.match_buffer(b, (m,))
    C = T.match_buffer(c, (n,))
    for i, j in T.grid(n, m):
        with T.block("b"):
            vi, vj = T.axis.remap("SR", [i, j])
            C[vi] = C[vi] + T.if_then_else(vi < vj, {value}, T.float32(1))
"""


ANY_PIECES = """def f(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    m = T.int64()
    k = T.int64()
    A = T.match_buffer(a, (n,))
    B = T.match_buffer(b, (m,))
    C = T.match_buffer(c, (k,))
    for i, j in T.grid(n + k, m + 2):
        C[0] = T.if_then_else(i < n and j < m, A[0] + C[0], T.float32(3) * C[0])
"""
MATRIX = ("(64, 64)", "(64,)")
PLACES = ', I: T.Buffer((64, 64), "int32")'
CASES = {
    "one loop": Case(_deep(1, 1 << 40), frozenset(("accumulate",))),
    "three loops of 2**31 - 1": Case(_deep(3, (1 << 31) - 1), frozenset(("accumulate",))),
    "21 loops of 8": Case(_deep(21, 8), frozenset(("accumulate",))),
    "60 loops of 8": Case(_deep(60, 8), frozenset(("accumulate",))),
    "loops that become one": Case(_deep(5, 4096), frozenset(("collapse",))),
    "a tile with a long sum inside": Case(_product("i, j, k, r", f"64, 64, 4, {LONG}"), frozenset(("columns",))),
    "a tile with a long sum outside": Case(_product("i, j, r, k", f"64, 64, {LONG}, 4"), frozenset(("tile",))),
    "a tile with a short sum inside": Case(_product("i, j, k, r", "64, 64, 4, 4096"), frozenset(("tile",))),
    "tiles of many threads": Case(
        _product("i, j, r, k", f"64, 64, {LONG}, 4"), frozenset(("tile", "parallel")), threads=2
    ),
    "tiles of any sizes": Case(ANY_SIZES, frozenset(("tile_any",)), sizes=(64, 64, LONG)),
    "rows and vectors of any sizes": Case(ANY_SIZES, frozenset(("tile_any",)), sizes=(3, 5, LONG)),
    "short loops of any sizes": Case(ANY_NEST, frozenset(), sizes=(LONG, 7, 8)),
    "short loops of any sizes in a long one": Case(ANY_NEST, frozenset(), sizes=(8, LONG, 8)),
    "a long loop of any sizes inside": Case(ANY_NEST, frozenset(), sizes=(8, 7, LONG)),
    "rows of any number": Case(_any_rows("B[vi, vj]"), frozenset(("rows_any",)), sizes=(LONG, 32)),
    "rows of any length": Case(_any_rows("A[vi, 0] * A[vi, 1]"), frozenset(("rows_any",)), sizes=(9, LONG)),
    "columns of any length": Case(_any_columns("A[vj * 0, vi]"), frozenset(("columns_any",)), sizes=(33, LONG)),
    "columns of any number": Case(_any_columns("A[vj * 0, vi]"), frozenset(("columns_any",)), sizes=(LONG, 9)),
    "windows of any number": Case(
        _any_columns("A[vj * 0, vi]").replace("(n, m)", "(n, 3)"), frozenset(("columns_any",)), sizes=(LONG, 9)
    ),
    "pieces of any sizes": Case(ANY_PIECES, frozenset(("split_any",)), sizes=(8, LONG, 8)),
    "a padded operand with a long sum": Case(_padded(LONG, 1), frozenset(("accumulate",))),
    "a padded operand": Case(_padded(1, LONG), frozenset(("tile",))),
    "rows": Case(_reduction("64", f"{LONG} 64", "o[v0]", "A[v0, v2]", MATRIX), frozenset(("rows",))),
    "long rows": Case(_reduction("64", f"64 {LONG}", "o[v0]", "A[v0, v1]", MATRIX), frozenset(("rows",))),
    "rows that are computed": Case(
        _reduction("64", f"{LONG} 64", "o[v0]", "T.exp(A[v0, v2])", MATRIX), frozenset(("rows",))
    ),
    "columns": Case(_reduction("64", f"{LONG} 64", "o[v0]", "A[v2, v0]", MATRIX), frozenset(("columns",))),
    "long columns": Case(_reduction("64", f"64 {LONG}", "o[v0]", "A[v1, v0]", MATRIX), frozenset(("columns",))),
    "lanes": Case(
        _reduction("2", f"{LONG} 1024", "o[v0]", "A[v0, v2]", ("(2, 1024)", "(2,)"), "max"), frozenset(("lanes",))
    ),
    "lanes of sums": Case(
        _reduction("2", f"{LONG} 1024", "o[v0]", "A[v0, v2]", ("(2, 1024)", "(2,)")), frozenset(("lanes",)), "fast"
    ),
    "long lanes": Case(
        _reduction("2", f"1024 {LONG}", "o[v0]", "A[v0, v1]", ("(2, 1024)", "(2,)"), "max"), frozenset(("lanes",))
    ),
    "copies": Case(
        _each(f"for z in range({LONG}):\n    for i, j in T.grid(64, 64):\n        o[i * 64 + j] = A[i, j]"),
        frozenset(("collapse",)),
    ),
    "runs": Case(
        _each("while o[0] == T.float32(0):\n    for i, j in T.grid(64, 64):\n        o[i * 64 + j] = A[i, j]"),
        frozenset(("copy",)),
    ),
    "a transposition": Case(
        _each("while o[0] == T.float32(0):\n    for i, j in T.grid(64, 64):\n        o[i * 64 + j] = A[j, i]"),
        frozenset(("transpose",)),
    ),
    "pieces": Case(
        _each(
            f"for i, j in T.grid(64, {LONG}):\n"
            f"    o[i] = T.if_then_else(i < 7, A[i, 0], T.Cast('float32', j)) * T.float32(3)"
        ),
        frozenset(()),
    ),
    "a choice in a loop that is left": Case(
        _each(
            "while o[4095] == T.float32(0):\n    for i in range(4000):\n"
            "        o[i] = T.if_then_else(i < 7, A[i // 64, 0], T.float32(2))"
        ),
        frozenset(("split",)),
    ),
    "a gather": Case(
        _each(f"for z in range({LONG}):\n    for j in range(64):\n        o[j] = A[1, I[3, j]]", data=PLACES),
        frozenset(("gather",)),
    ),
    "a scatter": Case(
        _each(
            f"for z in range({LONG}):\n    for j in range(64):\n        o[I[1, j]] = o[I[1, j]] + A[1, I[3, j]]",
            data=PLACES,
        ),
        frozenset(("guard",)),
    ),
    "rows of a gather": Case(
        _each(
            f"for z in range({LONG}):\n    for i in range(64):\n        for j in range(64):\n"
            f"            o[i] = o[i] + A[1, I[i, j]]",
            data=PLACES,
        ),
        frozenset(("guard",)),
    ),
    "one place for all": Case(
        _each(f"for j in range(4096):\n    for i in range({LONG}):\n        o[j] = A[I[3, 3], 4]", data=PLACES),
        frozenset(("hoist",)),
    ),
    "a loop around nothing": Case(
        _each(f"for z in T.serial(T.int64({1 << 40})):\n    for j in range(0):\n        o[j] = T.float32(1)"),
        frozenset(()),
    ),
    "a loop around a loop that ends at once": Case(
        _each(f"for z in T.serial(T.int64({1 << 40})):\n    while o[0] > T.float32(0):\n        o[0] = T.float32(1)"),
        frozenset(()),
    ),
    "two nests that are one": Case(
        f"""def f(A: T.Buffer((64, 64), "float32"), o: T.Buffer((64, 64), "float32")):
    B = T.alloc_buffer(({LONG}, 64, 64))
    for z, i, j in T.grid({LONG}, 64, 64):
        B[z, i, j] = A[i, j] + T.float32(1)
    for z, i, j in T.grid({LONG}, 64, 64):
        o[i, j] = B[z, i, j] * T.float32(2)
""",
        frozenset(("fuse",)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_looks_after_bounded_work(name: str) -> None:
    case = CASES[name]
    function = parsed(case.text)
    options = KernelOptions(mode=case.mode, threads=case.threads)
    arrays = [np.zeros(1 << 24, np.uint8) for _ in function.params]
    during = run_counted(function, arrays, FUEL, options, case.sizes)
    assert case.transforms <= during.transforms
    assert during.code == STOPPED
    assert during.looks > 0
    assert 0 < during.paid <= MOST_PAID
    assert during.blocks <= MOST_BLOCKS
    # No payment brings fuel back, and the last one is the only one that was not covered.
    assert -MOST_PAID <= during.fuel < 0
    before = run_counted(function, arrays, CANCELLED_FUEL, options, case.sizes)
    assert (before.code, before.looks) == (STOPPED, 1)
    assert before.blocks <= MOST_BLOCKS
    assert before.fuel < CANCELLED_FUEL // 2


def test_every_transformation_is_met() -> None:
    met = frozenset[str]().union(*(case.transforms for case in CASES.values()))
    assert met >= {item.name for item in TRANSFORMS} - {"parallel"}
    assert "parallel" in met


@pytest.mark.parametrize("sizes", [(1000, 7, 8), (2, 499, 64), (1, 1, 60_000), (0, 7, 8)])
def test_short_loops_of_any_sizes_are_paid_for_together(sizes: tuple[int, int, int]) -> None:
    arrays = [np.zeros(1 << 20, np.uint8) for _ in range(3)]
    during = run_counted(parsed(ANY_NEST), arrays, 1 << 40, KernelOptions(), sizes)
    work = sizes[0] * (sizes[1] + 1) * sizes[2]
    assert during.code == 0
    assert during.looks <= 1 + 2 * work // CHUNK
    assert work <= (1 << 40) - during.fuel <= 2 * work + CHUNK
