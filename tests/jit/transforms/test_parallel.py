"""Nests in chunks: the same values and the same errors as in one thread, whatever the shape."""

from collections.abc import Iterator
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import RunError
from relax_core.ir.prim import FloatImm, Intrinsic, PrimVar, binary, const
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, PrimFunc
from relax_core.jit.calls import threads
from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import Engine
from relax_core.jit.kernel_views import kernel_views
from relax_core.jit.lowering.lower import lower
from relax_core.jit.options import KernelOptions, Mode
from relax_core.jit.transforms.loops import parallel
from tests.jit.low_level import prim_funcs
from tests.jit.programs import elementwise, for_each, prim_func
from tests.jit.transforms.nests import Accumulation, Input, compare, permuted

pytestmark = pytest.mark.skipif(threads.thread_count(2) < 2, reason="see threads.ll")
SIZES = st.sampled_from((1, 2, 3, 5, 8, 13, 17, 31, 64, 67, 130))
THREADS = {count: Engine(options=KernelOptions(threads=count)) for count in (1, 2, 3)}


@pytest.fixture(scope="module", autouse=True)
def chunks_of_small_nests() -> Iterator[None]:
    """Cut nests that are too short for it, so that few values meet all cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "LEAST_NANOSECONDS", 0)
        patch.setattr(parallel, "CHUNK_NANOSECONDS", 1)
        yield


MATMUL = Accumulation(
    ("spatial", "spatial", "reduce"),
    (Input((0, 2)), Input((2, 1))),
    lambda a, b: binary("*", a, b),
    lambda out, value: binary("+", out, value),
    FloatImm(0.0),
)
NESTS = {
    "matrix product": MATMUL,
    "without start": Accumulation(MATMUL.kinds, MATMUL.inputs, MATMUL.value, MATMUL.combine, None),
    "product with rows": Accumulation(
        MATMUL.kinds, (Input((0, 2)), Input((1, 2))), MATMUL.value, MATMUL.combine, FloatImm(0.0)
    ),
    "row sums": Accumulation(("spatial", "reduce"), (Input((0, 1)),), lambda x: x, MATMUL.combine, FloatImm(0.0)),
    "column maxima": Accumulation(
        ("reduce", "spatial"),
        (Input((0, 1)),),
        lambda x: x,
        lambda out, value: binary("max", out, value),
        FloatImm(-3e38),
    ),
    "integers": Accumulation(
        ("spatial", "reduce"), (Input((0, 1), "int32"),), lambda x: x, MATMUL.combine, const(0, "int32"), "int32"
    ),
}


@pytest.mark.parametrize("name", NESTS)
@settings(max_examples=12, deadline=None)
@given(extents=st.tuples(SIZES, SIZES, SIZES), count=st.sampled_from((2, 3)), seed=st.integers(0, 99))
def test_sums_are_those_of_one_thread(name: str, extents: tuple[int, ...], count: int, seed: int) -> None:
    nest = NESTS[name]
    sizes = extents[: len(nest.kinds)]
    applied = compare(nest.function(sizes), nest.arrays(sizes, seed), THREADS[count])
    longest = max(size for size, kind in zip(sizes, nest.kinds, strict=True) if kind == "spatial")
    assert ("parallel" in applied) == (longest >= count)


@settings(max_examples=30, deadline=None)
@given(st.tuples(SIZES, SIZES, SIZES), st.permutations(range(3)), st.sampled_from((2, 3)))
def test_copies_are_those_of_one_thread(shape: tuple[int, ...], order: list[int], count: int) -> None:
    function = permuted(shape, order, (1, 1, 1))
    sizes = [shape[axis] for axis in sorted(range(3), key=order.__getitem__)]
    source = np.random.default_rng(0).standard_normal([shape[axis] for axis in map(int, np.argsort(order))], "float32")
    assert sorted(sizes) == sorted(source.shape)
    applied = compare(function, [source, np.zeros(shape, "float32")], THREADS[count])
    assert ("parallel" in applied) == (max(shape) >= count)


@pytest.mark.parametrize("mode", ["bitwise", "exact", "fast"])
def test_modes(mode: Mode) -> None:
    function = elementwise(lambda x: Intrinsic("exp", (x,), "float32"), 2, ("float32",), "float32")
    x = np.random.default_rng(1).standard_normal((67, 31)).astype("float32")
    outs = [np.zeros_like(x) for _ in range(2)]
    for count, out in zip((1, 2), outs, strict=True):
        kernel = Engine(options=KernelOptions(mode=mode, threads=count)).kernel(function, "exp")
        kernel(x, out)
        assert any(item.transform == "parallel" for item in kernel.remarks()) == (count == 2)
    assert np.array_equal(outs[0].view("int32"), outs[1].view("int32"))


SOFTMAX = """
@T.prim_func
def softmax(A: T.Buffer((37, 70), "float32"), B: T.Buffer((37, 70), "float32")):
    M = T.alloc_buffer((37,))
    E = T.alloc_buffer((37, 70))
    S = T.alloc_buffer((37,))
    for i, k in T.grid(37, 70):
        with T.block("m"):
            v, r = T.axis.remap("SR", [i, k])
            with T.init():
                M[v] = T.float32(-3.4028234663852886e+38)
            M[v] = T.max(M[v], A[v, r])
    for i, k in T.grid(37, 70):
        with T.block("e"):
            v, r = T.axis.remap("SS", [i, k])
            E[v, r] = T.exp(A[v, r] - M[v])
    for i, k in T.grid(37, 70):
        with T.block("s"):
            v, r = T.axis.remap("SR", [i, k])
            with T.init():
                S[v] = T.float32(0)
            S[v] = S[v] + E[v, r]
    for i, k in T.grid(37, 70):
        with T.block("n"):
            v, r = T.axis.remap("SS", [i, k])
            B[v, r] = E[v, r] / S[v]
"""


def softmax() -> PrimFunc:
    return prim_funcs(f"@I.ir_module\nclass Module:{SOFTMAX.replace(chr(10), chr(10) + '    ')}")["softmax"]


def test_nests_one_after_the_other_share_what_is_on_the_stack() -> None:
    x = np.random.default_rng(2).standard_normal((37, 70)).astype("float32")
    assert compare(softmax(), [x, np.zeros_like(x)], THREADS[2]).count("parallel") == 4


def shifted(value: int) -> PrimFunc:
    i = PrimVar("i", "int64")
    a = Buffer("A", (const(100, "int64"),), "float32")
    load = BufferLoad(a, (binary("+", i, const(value, "int64")),))
    return prim_func([a], for_each((i,), (const(50, "int64"),), BufferStore(a, (i,), binary("+", load, FloatImm(1.0)))))


def gather() -> PrimFunc:
    i = PrimVar("i", "int64")
    table, order, out = (Buffer(name, (const(64, "int64"),), dtype) for name, dtype in _TABLES)
    load = BufferLoad(table, (BufferLoad(order, (i,)),))
    return prim_func([table, order, out], for_each((i,), (const(64, "int64"),), BufferStore(out, (i,), load)))


def summed() -> PrimFunc:
    i = PrimVar("i", "int64")
    a, out = Buffer("A", (const(64, "int64"),), "float32"), Buffer("Out", (const(1, "int64"),), "float32")
    at = (const(0, "int64"),)
    total = binary("+", BufferLoad(out, at), BufferLoad(a, (i,)))
    return prim_func([a, out], for_each((i,), (const(64, "int64"),), BufferStore(out, at, total)))


_TABLES = (("Table", "float32"), ("Order", "int64"), ("Out", "float32"))


def divided() -> PrimFunc:
    return elementwise(lambda a, b: binary("//", a, b), 1, ("int32", "int32"), "int32")


@pytest.mark.parametrize(
    ("function", "shapes", "reason"),
    [
        (shifted(1), ((100, "float32"),), "`A` is read where another value may be written"),
        (
            gather(),
            ((64, "float32"), (64, "int64"), (64, "float32")),
            "an index of `Table` is no sum of loop variables",
        ),
        (summed(), ((64, "float32"), (1, "float32")), "different values of `i` may write the same element"),
        (divided(), ((64, "int32"),) * 3, "a chunk of it may stop for more than being cancelled"),
    ],
    ids=["reads what others write", "index is loaded", "one element for all", "may divide by zero"],
)
def test_refused(function: PrimFunc, shapes: tuple[tuple[int, str], ...], reason: str) -> None:
    arrays = [np.ones(size, dtype) for size, dtype in shapes]
    kernel = THREADS[2].kernel(function, "f")
    kernel(*(array.copy() for array in arrays))
    assert "parallel" not in compare(function, arrays, THREADS[2])
    assert {item.reason for item in kernel.remarks() if item.transform == "parallel"} == {reason}


def test_in_place_is_not_refused() -> None:
    assert "parallel" in compare(shifted(0), [np.arange(100, dtype="float32")], THREADS[2])


def test_a_check_stops_the_kernel_as_in_one_thread() -> None:
    arrays = [np.ones(64, "int32"), np.ones(64, "int32"), np.zeros(64, "int32")]
    arrays[1][40] = 0
    messages: list[str] = []
    for count in (1, 2):
        with pytest.raises(RunError) as error:
            THREADS[count].kernel(divided(), "f")(*arrays)
        messages.append(error.value.diagnostics[0].message)
    assert messages[0] == messages[1]


def test_fuel_ends_all_chunks() -> None:
    codes: list[str] = []
    for count in (1, 2):
        engine = Engine(fuel=1000, options=KernelOptions(threads=count))
        with pytest.raises(RunError) as error:
            engine.kernel(MATMUL.function((64, 64, 64)), "f")(*MATMUL.arrays((64, 64, 64), 0))
        codes.append(error.value.diagnostics[0].code)
    assert codes[0] == codes[1]


def test_chunks_end_when_they_are_cancelled() -> None:
    size = 900
    engine = Engine(options=KernelOptions(threads=2))
    kernel = engine.kernel(MATMUL.function((size, size, size)), "f")
    arrays = MATMUL.arrays((size, size, size), 0)
    found: list[str] = []

    def run() -> None:
        try:
            while True:
                kernel(*arrays)
        except RunError as error:
            found.append(error.diagnostics[0].code)

    caller = Thread(target=run)
    kernel.bind(arrays)
    caller.start()
    while caller.is_alive():
        engine.cancel()
    caller.join()
    assert found == ["JT014"]


def test_lines_of_parts_have_places() -> None:
    views = kernel_views(Target(), softmax(), {}, lambda _: None, options=KernelOptions(threads=2, vector_bits=256))
    for lines in (views.lowered, views.optimised):
        part = next(number for number, line in enumerate(lines) if "define" in line.text and "@part0(" in line.text)
        body = next(number for number, line in enumerate(lines) if "define" in line.text and "@body(" in line.text)
        assert sum(line.place is not None for line in lines[part : max(body, part + 100)]) > 10


def test_one_thread_has_no_parts() -> None:
    for count in (0, 1):
        lowered = lower(softmax(), {}, lambda _: None, options=KernelOptions(threads=count), are_distinct=True)
        assert not lowered.has_chunks
