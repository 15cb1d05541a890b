"""Every compilation ends: what would take too long is given up or refused, and a cancellation is seen in between."""

from collections.abc import Callable

import numpy as np
import pytest

from relax_core.diagnostics import CompileError, RunError
from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import Engine
from relax_core.jit.lowering.lower import Lowered, lower
from relax_core.jit.options import KernelOptions
from tests.jit.programs import parsed


def _products(depth: int, factors: int, lets: int) -> PrimFunc:
    """Nest loops around variables that are products of sums of all loop variables, each with the one before."""
    names = [f"i{at}" for at in range(depth)]
    factor = f"({' + '.join(names)})"
    lines = [f"{'    ' * (at + 1)}for {name} in T.serial(T.int64(2)):" for at, name in enumerate(names)]
    inside = "    " * (depth + 1)
    for at in range(lets):
        before = f" + v{at - 1}" if at else ""
        lines.append(f"{inside}v{at}: T.int64 = {' * '.join([factor] * factors)}{before}")
    lines.append(f"{inside}o[v{lets - 1} % 64] = A[v{lets - 1} % 32] + T.float32(1)")
    head = "def f(A: T.Buffer((64,), 'float32'), o: T.Buffer((64,), 'float32')):"
    return parsed("\n".join((head, *lines, "")))


def _statements(count: int) -> PrimFunc:
    lines = [f"        o[i] = A[i] * o[i] + T.float32({at})" for at in range(count)]
    head = "def f(A: T.Buffer((64,), 'float32'), o: T.Buffer((64,), 'float32')):\n    for i in range(64):"
    return parsed("\n".join((head, *lines, "")))


def _choices(rank: int) -> PrimFunc:
    names = [f"i{at}" for at in range(rank)]
    value = " + ".join(f"T.if_then_else({name} < 2, T.float32({at}), T.float32(2))" for at, name in enumerate(names))
    shape = ", ".join(["4"] * rank)
    return parsed(
        f"def f(o: T.Buffer(({shape}), 'float32')):\n    for {', '.join(names)} in T.grid({shape}):\n"
        f"        o[{', '.join(names)}] = {value}\n"
    )


def _lowered(function: PrimFunc, is_cancelled: Callable[[], bool] = lambda: False) -> Lowered:
    return lower(function, {}, lambda _: None, are_distinct=True, is_cancelled=is_cancelled)


class _Count:
    """Counts how often it is asked, and says yes from some time on."""

    def __init__(self, until: int) -> None:
        self.asked = 0
        self.until = until

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked > self.until


def test_products_that_would_have_millions_of_terms() -> None:
    lowered = _lowered(_products(8, 20, 40))
    assert Target().compile(lowered.text, lowered.pipeline)


@pytest.mark.parametrize("rank", [2, 8])
def test_pieces_that_multiply_are_given_up_before_they_are_made(rank: int) -> None:
    reasons = [item.reason for item in _lowered(_choices(rank)).remarks if item.transform == "split"]
    assert reasons[0] == (
        "9 pieces, in each of which the choice is made" if rank == 2 else "there are more than 24 pieces"
    )


def test_a_long_kernel_is_compiled_quickly_to_the_same_values() -> None:
    function = _statements(1500)
    lowered = _lowered(function)
    assert lowered.pipeline == "large"
    a = np.linspace(0, 0.9, 64, dtype="float32")
    found, expected = np.ones(64, "float32"), np.ones(64, "float32")
    Engine().kernel(function, "f")(a, found)
    for at in range(1500):
        expected = a * expected + np.float32(at)
    assert np.array_equal(found, expected)


def test_loops_that_are_nested_around_too_much_are_refused() -> None:
    with pytest.raises(CompileError) as caught:
        _lowered(_products(30, 10, 100))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "JT016"
    assert "nested too deeply around too much code" in diagnostic.message


def test_a_cancellation_ends_the_lowering_at_the_next_statement() -> None:
    function = _statements(300)
    whole = _Count(1 << 40)
    _lowered(function, whole)
    assert whole.asked > 300
    for until in (0, 1, 17, 200):
        count = _Count(until)
        with pytest.raises(RunError) as caught:
            _lowered(function, count)
        assert count.asked == until + 1
        assert [item.code for item in caught.value.diagnostics] == ["JT014"]


def test_a_cancelled_engine_compiles_nothing() -> None:
    is_cancelled = _Count(3)
    kernel = Engine(is_cancelled=is_cancelled, options=KernelOptions(threads=1)).kernel(_statements(300), "f")
    out = np.zeros(64, "float32")
    with pytest.raises(RunError) as caught:
        kernel(out.copy(), out)
    assert [item.code for item in caught.value.diagnostics] == ["JT014"]
    assert not out.any()


def test_a_cancellation_from_another_thread_ends_the_lowering() -> None:
    # The engine is asked at every statement whether it is to go on; here that question itself cancels it.
    engine: Engine | None = None
    count = _Count(1 << 40)

    def asked() -> bool:
        if count() or (count.asked == 50 and engine is not None):
            assert engine is not None
            engine.cancel()
        return False

    engine = Engine(is_cancelled=asked)
    out = np.zeros(64, "float32")
    with pytest.raises(RunError) as caught:
        engine.kernel(_statements(300), "f")(out.copy(), out)
    assert [item.code for item in caught.value.diagnostics] == ["JT014"]
    # The next call is not cancelled.
    engine.kernel(_statements(3), "f")(out.copy(), out)
    assert out.any()


def test_calls_that_double_are_refused() -> None:
    # Each function calls the next one twice, and every call is written out: 2**20 bodies.
    text = "@I.ir_module\nclass Module:\n"
    for at in range(20):
        call = f"        Module.f{at + 1}(A.data)\n" * 2 if at < 19 else "        A[0] = A[0] + T.float32(1)\n"
        text += f"    @T.prim_func\n    def f{at}(a: T.handle):\n        A = T.match_buffer(a, (4,), 'float32')\n{call}"
    module = parse_text(text, "calls.py").modules[0]
    functions = {var.name: function for var, function in module.prim_funcs}
    with pytest.raises(CompileError) as caught:
        lower(functions["f0"], {}, lambda _: None, functions, are_distinct=True)
    assert [item.code for item in caught.value.diagnostics] == ["JT016"]
