"""Elementwise nests as one: equal to the naive lowering bit for bit, with temporaries that take no memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import RunError
from relax_core.ir.node import postorder
from relax_core.ir.tir import BufferStore, PrimFunc
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.lower import lower
from tests.jit.programs import parsed
from tests.jit.transforms.nests import ENGINES, WIDTHS, Array, applied, compare, filled

ENGINE = ENGINES[512]
SHAPES = ((3, 5), (1, 33), (17, 1), (16, 64), (2, 3, 7))
# What a nest computes of the one before it, `{t}`, and of the inputs, `{a}` and `{b}`.
STEPS = (
    "{t} * T.float32(0.5)",
    "T.exp({t})",
    "{t} * {t} + {t}",
    "{t} + {a}",
    "{b} - {t}",
    "T.max({t}, T.float32(0))",
    "T.if_then_else({t} > {a}, {t}, {b})",
    "T.erf({t}) / {a}",
)
NARROW = st.sampled_from(("float16", "float32", "float64", "int8", "int32", "bool", "bfloat16"))


def chain(shape: tuple[int, ...], steps: list[str], dtypes: list[str], *, has_blocks: bool = True) -> PrimFunc:
    """Make nests of which each computes a step of the one before it; `dtypes` are those of the temporaries."""
    dims, names = ", ".join(map(str, shape)), [f"i{axis}" for axis in range(len(shape))]
    at = ", ".join(names)
    lines = [
        f"def main(A: T.Buffer(({dims},), 'float32'), B: T.Buffer(({dims},), 'float32'),"
        f" Out: T.Buffer(({dims},), 'float32')):",
        *(f"    T{number} = T.alloc_buffer(({dims},), '{dtype}')" for number, dtype in enumerate(dtypes)),
    ]
    before, of = "A", "float32"
    for number, (step, dtype) in enumerate(zip(steps, [*dtypes, "float32"], strict=True)):
        target = "Out" if number == len(dtypes) else f"T{number}"
        taken = f"{before}[{at}]" if of == "float32" else f"T.Cast('float32', {before}[{at}])"
        value = step.format(t=taken, a=f"A[{at}]", b=f"B[{at}]")
        value = value if dtype == "float32" else f"T.Cast('{dtype}', {value})"
        loops = [f"{name}_{number}" for name in names] if has_blocks else names
        lines.append(f"    for {', '.join(loops)} in T.grid({dims}):")
        if has_blocks:
            lines.append(f"        with T.sblock('s{number}'):")
            lines.append(f"            {at} = T.axis.remap('{'S' * len(shape)}', [{', '.join(loops)}])")
        lines.append(f"            {target}[{at}] = {value}")
        before, of = target, dtype
    return parsed("\n".join(lines) + "\n")


def arrays_of(shape: tuple[int, ...], seed: int) -> list[Array]:
    random = np.random.default_rng(seed)
    return [filled(random, shape, "float32") for _ in range(3)]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(SHAPES),
    st.lists(st.tuples(st.sampled_from(STEPS), NARROW | st.just("float32")), min_size=2, max_size=5),
    st.booleans(),
    st.sampled_from(WIDTHS),
    st.integers(0, 99),
)
def test_values_are_those_of_the_naive_lowering(
    shape: tuple[int, ...], steps: list[tuple[str, str]], has_blocks: bool, width: int, seed: int
) -> None:
    function = chain(shape, [step for step, _ in steps], [dtype for _, dtype in steps[1:]], has_blocks=has_blocks)
    compare(function, arrays_of(shape, seed), ENGINES[width])


@pytest.mark.parametrize("count", [2, 3, 10])
def test_a_chain_is_one_nest_without_memory(count: int) -> None:
    steps = [STEPS[number % len(STEPS)] for number in range(count)]
    function = chain((16, 64), steps, ["float32"] * (count - 1))
    assert compare(function, arrays_of((16, 64), 0), ENGINE).count("fuse") == count - 1
    assert workspace(function) == 0


def workspace(function: PrimFunc) -> int:
    """Return how many buffers the caller allocates."""
    return len(lower(function, {}, lambda _: None, options=ENGINE.options, are_distinct=True).workspace)


def test_a_long_chain_is_cut() -> None:
    function = chain((1, 33), [STEPS[3]] * 90, ["float32"] * 89)
    names = compare(function, arrays_of((1, 33), 0), ENGINE)
    assert 80 < names.count("fuse") < 89
    assert applied(function, ENGINE)["fuse"].startswith("applied: ")


def test_instructions_lead_back_to_the_statements_of_the_text() -> None:
    function = chain((16, 64), [STEPS[0], STEPS[1], STEPS[3]], ["float32"] * 2)
    stores = {item for item in postorder(function) if isinstance(item, BufferStore)}
    lowered = lower(function, {}, lambda _: None, options=ENGINE.options, are_distinct=True, has_origins=True)
    assert stores <= {place.node for place in lowered.places}
    assert {place.node for place in lowered.places} <= {*postorder(function)}


HEAD = "def main(A: T.Buffer((32, 32), 'float32'), Out: T.Buffer((32, 32), 'float32')):\n"
TEMPORARY = "    Temp = T.alloc_buffer((32, 32), 'float32')\n"
DOUBLE = "    for i, j in T.grid(32, 32):\n        Temp[i, j] = A[i, j] * T.float32(2)\n"
LAST = "    for i, j in T.grid(32, 32):\n        Out[i, j] = Temp[i, j] + T.float32(1)\n"
KEPT = {
    "another order": (
        DOUBLE + "    for i, j in T.grid(32, 32):\n        Out[i, j] = Temp[j, i]\n",
        "refused: `Temp` is read in another order than it is computed",
    ),
    "other elements of as many": (
        "    for i, j in T.grid(31, 32):\n        Temp[i + 1, j] = A[i, j]\n"
        + "    for i, j in T.grid(31, 32):\n        Out[i, j] = T.if_then_else(i > 0, Temp[i, j], T.float32(0))\n",
        "refused: `Temp` is read at other places than it is computed",
    ),
    "a reduction": (
        DOUBLE
        + "    for i, j in T.grid(32, 32):\n        with T.sblock('s'):\n"
        + "            a, b = T.axis.remap('SR', [i, j])\n"
        + "            with T.init():\n                Out[a, 0] = T.float32(0)\n"
        + "            Out[a, 0] = Out[a, 0] + Temp[a, b]\n",
        "refused: `Temp` is read by a reduction",
    ),
    "an operand that is written meanwhile": (
        DOUBLE + "    for i, j in T.grid(32, 32):\n        A[i, j] = T.float32(1)\n" + LAST,
        "refused: `A` is written meanwhile",
    ),
    "fewer rounds": (
        DOUBLE + "    for i, j in T.grid(16, 32):\n        Out[i, j] = Temp[i, j]\n",
        "refused: `Temp` is computed in 1024 rounds, and read in 512",
    ),
    "operands that lie apart": (
        "    for i, j in T.grid(32, 32):\n        Temp[i, j] = A[j, i]\n" + LAST,
        "refused: the elements of `A` do not lie side by side",
    ),
    "two readers": (DOUBLE + LAST + LAST.replace("Out", "A"), ""),
    "a reader that is the first": (LAST + DOUBLE + LAST, ""),
    "a reader in other statements": (
        "    if A[0, 0] > T.float32(-9):\n"
        + "".join(f"    {line}\n" for line in (DOUBLE + LAST).splitlines())
        + LAST.replace("Out", "A"),
        "",
    ),
    "a second store": (DOUBLE + DOUBLE + LAST, ""),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_apart(name: str) -> None:
    body, reason = KEPT[name]
    function = parsed(HEAD + TEMPORARY + body)
    random = np.random.default_rng(0)
    assert "fuse" not in compare(function, [filled(random, (32, 32), "float32") for _ in range(2)], ENGINE)
    assert applied(function, ENGINE).get("fuse", "") == reason
    assert workspace(function) == 1


def test_a_nest_that_may_stop_writes_what_it_did_before() -> None:
    function = parsed(
        "def main(A: T.Buffer((32, 32), 'int32'), Out: T.Buffer((32, 32), 'int32')):\n"
        "    Temp = T.alloc_buffer((32, 32), 'int32')\n"
        "    for i, j in T.grid(32, 32):\n        Temp[i, j] = T.int32(6) // A[i, j]\n"
        "    for i, j in T.grid(32, 32):\n        Out[i, j] = Temp[i, j] + 1\n"
    )
    dividend, out = np.ones((32, 32), "int32"), np.zeros((32, 32), "int32")
    dividend[31, 31] = 0
    with pytest.raises(RunError) as caught:
        ENGINE.kernel(function, "main")(dividend, out)
    assert caught.value.diagnostics[0].code == "JT011"
    assert not out.any()
    assert applied(function, ENGINE)["fuse"] == "refused: one of the nests may stop the kernel"


def test_what_is_told_of_fused_nests_is_told_of_the_statements_of_the_text() -> None:
    function = chain((16, 64), [STEPS[0], STEPS[1]], ["float32"])
    engine = Engine(fuel=10)
    with pytest.raises(RunError) as caught:
        engine.kernel(function, "main")(*arrays_of((16, 64), 0))
    found = caught.value.diagnostics[0]
    assert found.code == "JT015"
    assert found.span is not None
    assert found.span.text.startswith("for i0_1, i1_1 in T.grid(16, 64)")
