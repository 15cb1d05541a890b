"""`break`, `continue`, `return` and steps: checked against plain Python, and against apache-tvm."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.diagnostics import CompileError, RunError
from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine

HEAD = "@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((8,), 'int32'), n: T.int32){}:\n"
FUEL = 2_000_000

# Each body is both TIR and Python; in Python `T.int32` is no more than a word.
PROGRAMS: dict[str, str] = {
    "break out of a loop": "for i in range(8):\n    if i > n:\n        break\n    A[i] = i + 1",
    "continue": "for i in range(8):\n    if i % 2 == 1:\n        continue\n    A[i] = i + n",
    "a constant step": "for i in range(0, 8, 3):\n    A[i] = i + n",
    "a step and a start": "for i in range(1, min(n, 8), 3):\n    A[i] = i + n",
    "break leaves the inner loop only": (
        "for i in range(8):\n    for j in range(n):\n        if j > i:\n            break\n        A[i] = A[i] + j"
    ),
    "break out of a long loop": (
        "for i in range(8):\n    for k in range(1000000):\n        if k > n:\n            break\n"
        "        A[i] = A[i] + k"
    ),
    "break out of while": "while True:\n    A[0] = A[0] + 1\n    if A[0] > n:\n        break",
    "continue in while": (
        "while A[0] < 8:\n    A[0] = A[0] + 1\n    if A[0] == n:\n        continue\n    A[A[0] - 1] = A[0]"
    ),
    "continue in the inner loop": (
        "for i in range(8):\n    for j in range(n):\n        if j == i:\n            continue\n"
        "        A[i] = A[i] + j\n    A[i] = A[i] * 2"
    ),
    "return out of a loop": "for i in range(8):\n    A[i] = i\n    if i == n:\n        return i * 7\nreturn -1",
    "return of both branches": "if n > 2:\n    return n\nelse:\n    return 0 - n",
    "what stands behind a jump": "for i in range(8):\n    A[i] = 5\n    break\n    A[i] = 6\nA[1] = 7",
    "a step in a jump": (
        "for i in range(0, 8, 2):\n    if i == n:\n        continue\n    if i == 6:\n        break\n    A[i] = 1"
    ),
}


def kernel(body: str, result: str = "int32", fuel: int = FUEL) -> Callable[..., Any]:
    returns = f" -> T.{result}" if "return" in body else ""
    lines = "".join(f"    {line}\n" for line in body.replace("min(", "T.min(").split("\n"))
    parsed = parse_text(HEAD.format(returns) + lines, "jumps.py")
    assert [item.render() for item in parsed.diagnostics if item.severity == "error"] == []
    ((var, function),) = parsed.modules[0].prim_funcs
    assert isinstance(function, PrimFunc)
    return Engine(fuel=fuel).kernel(function, var.name)


def in_python(body: str, array: Any, n: int) -> Any:
    """Run the body as Python."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    names: dict[str, Any] = {}
    exec(f"def f(A, n):\n{lines}", {"min": min, "range": range}, names)
    return names["f"](array, n)


@pytest.mark.parametrize("n", [-3, 0, 1, 3, 5, 100])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_what_python_does(name: str, n: int) -> None:
    array, expected = np.zeros(8, "int32"), np.zeros(8, "int32")
    result = kernel(PROGRAMS[name])(array, n)
    assert result == in_python(PROGRAMS[name], expected, n)
    np.testing.assert_array_equal(array, expected)


@pytest.mark.tvm
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_what_tvm_does(name: str) -> None:
    from tests.apache_tvm import from_source, tvm

    body = PROGRAMS[name]
    lines = "".join(f"    {line}\n" for line in body.replace("min(", "T.min(").split("\n"))
    text = "# from tvm.script import tirx as T\n" + HEAD.format(" -> T.int32" if "return" in body else "") + lines
    compiled = tvm.compile(from_source(text), target="llvm")["f"]
    for n in (0, 3, 100):
        array, theirs = np.zeros(8, "int32"), tvm.runtime.tensor(np.zeros(8, "int32"))
        assert kernel(body)(array, n) == compiled(theirs, n)
        np.testing.assert_array_equal(array, theirs.numpy())


@pytest.mark.parametrize(
    ("dtype", "text", "expected"),
    [
        ("float32", "T.float32(1.5)", 1.5),
        ("float16", "T.float16(-0.25)", -0.25),
        ("float64", "T.float64(1e300)", 1e300),
        ("bool", "n > 2", True),
        ("int64", "T.int64(-5000000000)", -5_000_000_000),
        ("uint8", "T.uint8(200)", 200),
        ("uint64", "T.uint64(18446744073709551615)", (1 << 64) - 1),
        ("int8", "T.int8(-7)", -7),
    ],
)
def test_a_value_of_every_kind_is_returned(dtype: str, text: str, expected: Any) -> None:
    result = kernel(f"return {text}", dtype)(np.zeros(8, "int32"), 5)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("for i in range(0, 8, n):\n    A[i] = 1", "JT013"),
        ("while True:\n    if n < 0:\n        continue\n    break", "JT015"),
        ("for i in range(999999):\n    if n < 9:\n        continue\n    for j in range(8):\n        A[j] = 1", "JT015"),
        ("for i in range(8):\n    if i < 20:\n        continue\nA[n + 20] = 1", "JT010"),
        ("T.evaluate(T.assume(n > 4))", "JT013"),
    ],
    ids=["a step that is not positive", "an endless continue", "too much work", "an access behind it", "an assumption"],
)  # fmt: skip
def test_checks_and_fuel_stay(body: str, code: str) -> None:
    with pytest.raises(RunError) as caught:
        kernel(body)(np.zeros(8, "int32"), -1)
    assert [item.code for item in caught.value.diagnostics] == [code]


@pytest.mark.parametrize(
    ("body", "named"),
    [("break", "`break`"), ("continue", "`continue`"), ("for i in range(8, 0, -2):\n    A[i - 1] = 1", "step -2")],
)
def test_what_has_no_meaning_is_named(body: str, named: str) -> None:
    with pytest.raises(CompileError) as caught:
        kernel(body)(np.zeros(8, "int32"), 0)
    assert named in caught.value.diagnostics[0].message


def loops(depth: int) -> st.SearchStrategy[list[str]]:
    """Make statements: stores, jumps under conditions, and loops with steps around more of them."""
    name = f"i{depth}"

    def stored(k: int, v: int) -> list[str]:
        return [f"A[({name} + {k}) % 8] = A[{k}] + {v}"]

    def left(k: int, word: str) -> list[str]:
        return [f"if ({name} + A[{k}]) % 3 == n % 3:", f"    {word}"]

    store = st.builds(stored, st.integers(0, 7), st.integers(1, 9))
    words = st.sampled_from(["break", "continue", "return 3", "return n + A[1]"])
    jump = st.builds(left, st.integers(0, 7), words)
    inner = [store, jump, *([loop(depth + 1)] if depth < 3 else [])]
    return st.lists(st.one_of(*inner), min_size=1, max_size=4).map(
        lambda items: [line for item in items for line in item]
    )


def loop(depth: int) -> st.SearchStrategy[list[str]]:
    def make(limits: tuple[str, str, int], body: list[str]) -> list[str]:
        start, stop, step = limits
        return [f"for i{depth} in range({start}, {stop}, {step}):", *(f"    {line}" for line in body)]

    limits = st.tuples(st.sampled_from(["0", "1", "n"]), st.sampled_from(["6", "n", "n * 2"]), st.integers(1, 4))
    return st.builds(make, limits, loops(depth))


@settings(max_examples=40, deadline=None)
@given(lines=loop(0), n=st.integers(-2, 7))
def test_any_nest_of_loops_does_what_python_does(lines: list[str], n: int) -> None:
    body = "\n".join([*lines, "return 1000"])
    array, expected = np.zeros(8, "int32"), np.zeros(8, "int32")
    assert kernel(body)(array, n) == in_python(body, expected, n)
    np.testing.assert_array_equal(array, expected)
