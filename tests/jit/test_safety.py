"""No kernel touches a byte outside its arrays, whatever its indices are; and every failure is told exactly."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import RunError
from relax_core.ir.integer.bounds import Bounds
from relax_core.ir.integer.interval import Interval
from relax_core.ir.prim import Binary, BinaryKind, IntImm, PrimExpr, PrimVar, Select, binary
from relax_core.ir.tir import Buffer, BufferLoad, BufferStore, For, IfThenElse, PrimFunc, SeqStmt, Stmt, seq
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.known.ranges import access_report
from tests.jit.programs import compared, gather, index, integer, parsed, prim_func, tir_matmul
from tests.jit.reference import OutOfRange, Reference, wrapped

GUARD_BYTES = 256
GUARD = 0xA5

Program = tuple[PrimFunc, tuple[int, int], int]


class Guarded:
    """An array with guard bytes on both sides."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.memory = np.full(values.nbytes + 2 * GUARD_BYTES, GUARD, np.uint8)
        inside = self.memory[GUARD_BYTES : GUARD_BYTES + values.nbytes]
        self.array = inside.view(values.dtype).reshape(values.shape)
        self.array[...] = values

    def is_untouched(self) -> bool:
        """Tell whether the guard bytes are as they were."""
        size = self.array.nbytes
        around = (self.memory[:GUARD_BYTES], self.memory[GUARD_BYTES + size :])
        return all(bool((side == GUARD).all()) for side in around)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Draw a nest of loops with affine, divided and guarded indices, some of them out of range; and its sizes."""
    dtype = draw(st.sampled_from(["int32", "int64"]))
    n, m = PrimVar("n", dtype), PrimVar("m", dtype)
    a, b = Buffer("A", (n, m), "int32"), Buffer("B", (m,), "int32")
    variables: list[PrimVar] = []

    def indices(depth: int) -> st.SearchStrategy[PrimExpr]:
        leaves = st.one_of(
            st.sampled_from([n, m, *variables, *variables]), st.integers(-2, 5).map(lambda value: IntImm(value, dtype))
        )
        if depth == 0:
            return leaves
        inner = indices(depth - 1)
        joined = st.builds(binary, st.sampled_from(["+", "-", "*", "min", "max"]), inner, inner)
        divisors = st.one_of(st.integers(1, 4).map(lambda value: IntImm(value, dtype)), st.sampled_from([n, m]))
        divided = st.builds(binary, st.sampled_from(["//", "%"]), inner, divisors)
        return st.one_of(leaves, inner, joined, divided)

    def conditions() -> st.SearchStrategy[PrimExpr]:
        return st.builds(binary, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), indices(1), indices(1))

    def values() -> st.SearchStrategy[PrimExpr]:
        load = st.one_of(
            st.tuples(indices(2), indices(2)).map(lambda at: BufferLoad(a, at)),
            st.tuples(indices(2)).map(lambda at: BufferLoad(b, at)),
        )
        chosen = st.builds(Select, conditions(), load, load, st.just("int32"), st.booleans())
        return st.one_of(load, chosen, st.builds(Binary, st.just("+"), load, load, st.just("int32")))

    def statement(depth: int) -> Stmt:
        match draw(st.sampled_from(["for", "for", "if", "store"] if depth else ["store"])):
            case "for":
                start, extent = draw(indices(1)), draw(indices(1))
                var = PrimVar(f"i{len(variables)}", dtype)
                variables.append(var)
                body = statement(depth - 1)
                variables.pop()
                return For(var, start, binary("%", extent, IntImm(7, dtype)), body)
            case "if":
                condition = draw(conditions())
                other = statement(depth - 1) if draw(st.booleans()) else None
                return IfThenElse(condition, statement(depth - 1), other)
            case _:
                store = BufferStore(a, (draw(indices(2)), draw(indices(2))), draw(values()))
                return seq([store, statement(depth - 1)]) if depth and draw(st.booleans()) else store

    sizes = draw(st.tuples(st.integers(0, 5), st.integers(0, 5)))
    return prim_func([a, b], statement(3)), sizes, draw(st.integers(0, 2**31))


ENGINE = Engine()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(programs(), st.booleans())
def test_programs_behave_as_the_reference_does(program: Program, is_generic: bool) -> None:
    function, (n, m), seed = program
    engine = ENGINE
    random = np.random.default_rng(seed)
    inputs = {"A": random.integers(-9, 9, (n, m), "int32"), "B": random.integers(-9, 9, (m,), "int32")}
    expected = {name: array.copy() for name, array in inputs.items()}
    guarded = {name: Guarded(array) for name, array in inputs.items()}
    wrong: OutOfRange | ZeroDivisionError | None = None
    try:
        Reference(function, expected)
    except (OutOfRange, ZeroDivisionError) as error:
        wrong = error
    kernel = engine.kernel(function, "program")
    if is_generic:
        kernel.specialised_variants = 0
    try:
        kernel(guarded["A"].array, guarded["B"].array)
        found = None
    except RunError as error:
        found = error.diagnostics[0]
    assert all(item.is_untouched() for item in guarded.values())
    assert (found is None) == (wrong is None), found
    if isinstance(wrong, ZeroDivisionError):
        assert found is not None
        assert found.code == "JT011"
    elif wrong is not None:
        assert found is not None
        assert found.code == "JT010"
        assert f" {wrong.index}, but {wrong.access.buffer.name} has " in found.message
    for name, array in expected.items():
        assert np.array_equal(guarded[name].array, array)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_the_reported_matmul_gives_the_product_with_the_transpose_for_square_operands(n: int) -> None:
    x, y = np.random.default_rng(0).random((3, n), "float32"), np.random.default_rng(1).random((n, n), "float32")
    z = np.zeros((3, n), "float32")
    ENGINE.kernel(tir_matmul(), "tir_matmul")(x, y, z)
    np.testing.assert_allclose(z, x @ y.T, rtol=1e-6)


@pytest.mark.parametrize(
    ("n", "k", "message", "hint"),
    [
        (
            5,
            3,
            "Out of range. `C[i, j]`: j = 3, but C has 3 columns"
            " (store at i0 = 0, j0 = 3, k0 = 0, i = 0, j = 3, k = 0)",
            "n <= k",
        ),
        (
            3,
            5,
            "Out of range. `A[i, k]`: k = 3, but A has 3 columns (load at i0 = 0, j0 = 0, k0 = 3, i = 0, j = 0, k = 3)",
            "k <= n",
        ),
    ],
    ids=["n > k", "n < k"],
)
def test_the_reported_matmul_is_out_of_range_otherwise(n: int, k: int, message: str, hint: str) -> None:
    operands = [Guarded(np.ones(shape, "float32")) for shape in ((2, n), (n, k), (2, k))]
    with pytest.raises(RunError) as caught:
        ENGINE.kernel(tir_matmul(), "tir_matmul")(*(item.array for item in operands))
    found = caught.value.diagnostics[0]
    assert (found.code, found.message, found.hint) == ("JT010", message, f"It is in range only if `{hint}`.")
    assert all(item.is_untouched() for item in operands)


@pytest.mark.parametrize("bad", [-1, 4, -(2**31), 2**31 - 1])
def test_a_gathered_index_is_checked(bad: int) -> None:
    table, out = Guarded(np.arange(4, dtype="float32")), Guarded(np.zeros(3, "float32"))
    with pytest.raises(RunError) as caught:
        ENGINE.kernel(gather(), "gather")(table.array, np.array([0, 3, bad], "int32"), out.array)
    found = caught.value.diagnostics[0]
    shown = f"Index[i] = {bad}, but Table has 4 elements (load at i = 2)"
    assert found.message == f"Out of range. `Table[Index[i]]`: {shown}"
    assert found.hint == "It is in range only if `0 <= Index[i] < m`."
    assert out.array.tolist() == [0.0, 3.0, 0.0]
    assert table.is_untouched()
    assert out.is_untouched()


def test_an_unsigned_index_is_not_taken_for_a_negative_one() -> None:
    out = np.zeros(1, "float32")
    with pytest.raises(RunError, match=r"Index\[i\] = 255, but Table has 4 elements"):
        ENGINE.kernel(gather("uint8"), "gather")(np.zeros(4, "float32"), np.array([255], "uint8"), out)


@pytest.mark.parametrize(
    ("value", "code"),
    [("A[7] * 0", "JT010"), ("A[A[7] % 1]", "JT010"), ("A[7] - A[7]", "JT010"), ("(3 // A[0]) * 0", "JT011")],
)
def test_what_takes_no_part_in_a_value_is_checked_all_the_same(value: str, code: str) -> None:
    text = f"def main(A: T.Buffer((4,), 'int32'), B: T.Buffer((1,), 'int32')):\n    B[0] = {value}\n"
    with pytest.raises(RunError, match=code):
        ENGINE.kernel(parsed(text), "main")(np.zeros(4, "int32"), np.zeros(1, "int32"))


def test_a_product_of_many_terms_is_not_multiplied_out() -> None:
    variables = [f"i{axis}" for axis in range(8)]
    # Multiplied out, 8 factors of 8 terms have thousands of terms of 8 factors, which took minutes.
    product = " * ".join([f"({' + '.join(variables)})"] * 8)
    text = (
        "def main(A: T.Buffer((2,), 'int64')):\n"
        f"    for {', '.join(variables)} in T.grid({', '.join(['T.int64(2)'] * 8)}):\n"
        f"        A[T.min({product}, T.int64(1))] = i0\n"
    )
    array = np.full(2, 5)
    ENGINE.kernel(parsed(text), "main")(array)
    assert array.tolist() == [0, 1]


def test_repeated_squares_are_not_multiplied_out() -> None:
    squares = "".join(f"        x{step + 1}: T.int64 = x{step} * x{step}\n" for step in range(40))
    text = (
        "def main(A: T.Buffer((2,), 'int64')):\n    for i in T.serial(T.int64(4)):\n"
        f"        x0: T.int64 = i % T.int64(2)\n{squares}        A[x40] = i\n"
    )
    array = np.zeros(2, "int64")
    ENGINE.kernel(parsed(text), "main")(array)
    assert array.tolist() == [2, 3]


def test_an_index_that_wraps_around_is_caught() -> None:
    n = PrimVar("n", "int32")
    buffer, i = Buffer("A", (n,)), PrimVar("i", "int32")
    far = binary("*", binary("+", i, IntImm(2**30, "int32")), IntImm(4, "int32"))
    function = prim_func([buffer], For(i, IntImm(0, "int32"), n, BufferStore(buffer, (far,), BufferLoad(buffer, (i,)))))
    array = Guarded(np.arange(8, dtype="float32"))
    with pytest.raises(RunError, match=r"= 8, but A has 8 elements \(store at i = 2\)"):
        ENGINE.kernel(function, "wraps")(array.array)
    assert array.is_untouched()


def report(body: Stmt, *buffers: Buffer) -> list[tuple[str, bool, str]]:
    facts = access_report(prim_func(buffers, body))
    return [(fact.buffer.name, fact.proven, fact.condition) for fact in facts]


def test_the_report_of_the_reported_matmul() -> None:
    facts = access_report(tir_matmul())
    assert [(fact.buffer.name, fact.proven, fact.condition) for fact in facts] == [
        ("C", False, "n <= k"),
        ("C", False, "n <= k"),
        ("C", False, "n <= k"),
        ("A", False, "k <= n"),
        ("B", True, ""),
    ]
    assert all(fact.proven for fact in access_report(tir_matmul(is_corrected=True)))


def test_a_flattened_index_is_proven() -> None:
    n, m, i, j = (index(name) for name in ("n", "m", "i", "j"))
    a, b = Buffer("A", (n, m)), Buffer("B", (binary("*", n, m),))
    flat = binary("+", binary("*", i, m), j)
    body = For(i, integer(0), n, For(j, integer(0), m, BufferStore(b, (flat,), BufferLoad(a, (i, j)))))
    assert report(body, a, b) == [("B", True, ""), ("A", True, "")]


def test_split_and_fused_indices_are_proven() -> None:
    a, i = Buffer("A", (integer(3), integer(4))), index("i")
    rows, columns = binary("//", i, integer(4)), binary("%", i, integer(4))
    assert report(For(i, integer(0), integer(12), BufferStore(a, (rows, columns), integer(0))), a) == [("A", True, "")]


def test_a_reshape_is_proven() -> None:
    n, m, i = index("n"), index("m"), index("i")
    a, b = Buffer("A", (n, m)), Buffer("B", (binary("*", m, n),))
    rows, columns = binary("%", binary("//", i, m), n), binary("%", i, m)
    body = For(i, integer(0), binary("*", n, m), BufferStore(b, (i,), BufferLoad(a, (rows, columns))))
    assert report(body, a, b) == [("B", True, ""), ("A", True, "")]


def test_guards_count() -> None:
    n, i = index("n"), index("i")
    a, b = Buffer("A", (n,)), Buffer("B", (n,))
    before = BufferLoad(a, (binary("-", i, integer(1)),))
    guarded = Select(compared(">=", i, integer(1)), before, BufferLoad(a, (i,)), "float32")
    inside = IfThenElse(compared("<", i, n), BufferStore(b, (i,), guarded))
    assert report(For(i, integer(0), integer(100), inside), a, b) == [("B", True, ""), ("A", True, ""), ("A", True, "")]


def test_a_condition_may_have_constants() -> None:
    n, k, i = index("n"), index("k"), index("i")
    a, b = Buffer("A", (n,)), Buffer("B", (k,))
    body = For(i, integer(0), n, BufferStore(a, (i,), BufferLoad(b, (binary("+", i, integer(2)),))))
    assert report(body, a, b) == [("A", True, ""), ("B", False, "n + 2 <= k")]


INDEX_OPERATIONS: list[BinaryKind] = ["+", "-", "*", "//", "%", "min", "max", "truncdiv", "truncmod", "&", ">>"]


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_intervals_hold_every_value(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(["int8", "int32", "uint8"]))
    limits = (-128, 127) if dtype == "int8" else (0, 200) if dtype == "uint8" else (-(2**31), 2**31 - 1)
    x, y = PrimVar("x", dtype), PrimVar("y", dtype)
    ranges = {var: sorted(data.draw(st.tuples(st.integers(*limits), st.integers(*limits)))) for var in (x, y)}
    leaves = st.one_of(st.sampled_from([x, y]), st.integers(*limits).map(lambda value: IntImm(value, dtype)))
    pick = st.sampled_from(INDEX_OPERATIONS)

    def joined(inner: st.SearchStrategy[PrimExpr]) -> st.SearchStrategy[PrimExpr]:
        return st.builds(Binary, pick, inner, inner, st.just(dtype))

    expr = data.draw(st.recursive(leaves, joined))
    bounds = Bounds({})
    for var, (low, high) in ranges.items():
        bounds.bind_scalar(var)
        bounds.assume(compared(">=", var, IntImm(low, dtype)))
        bounds.assume(compared("<=", var, IntImm(high, dtype)))
    interval = bounds.interval(expr)
    reference = Reference(PrimFunc((), (), SeqStmt(())), {})
    for _ in range(8):
        reference.values = {var: data.draw(st.integers(*limit)) for var, limit in ranges.items()}
        try:
            value = reference.eval(expr)
        except (ZeroDivisionError, ValueError):
            continue
        assert value == wrapped(value, dtype)
        assert value in Interval(*interval)
        goal = bounds.poly(expr)
        assert value >= 0 or not bounds.is_nonnegative(goal)
