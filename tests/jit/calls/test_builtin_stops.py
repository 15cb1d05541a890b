"""A kernel that is run by its builtin and stops: out of range, cancelled, out of fuel; and several at once."""

import threading

import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.jit.calls.builtin import RECORD_COUNT
from relax_core.jit.engine import Engine
from tests.jit.programs import parsed, tir_matmul

ALL_FREE = (1 << RECORD_COUNT) - 1

COUNTING = """def f(A: T.Buffer((4,), "float32"), Index: T.Buffer((2,), "int32")):
    A[0] = A[0] + T.float32(1)
    A[Index[0]] = T.float32(5)
"""


def test_a_kernel_that_stops_is_told_of_and_not_run_again(slow_calls: list[object]) -> None:
    call = Engine().kernel(parsed(COUNTING), "f").caller()
    call(np.zeros(4, "float32"), np.zeros(2, "int32"))
    array = np.zeros(4, "float32")
    with pytest.raises(RunError) as caught:
        call(array, np.full(2, 9, "int32"))
    assert caught.value.diagnostics[0].message.startswith("Out of range. `A[Index[0]]`: Index[0] = 9")
    assert array.tolist() == [1, 0, 0, 0]
    assert len(slow_calls) == 1


ENDLESS = """def f(A: T.Buffer((1,), "int64")):
    while A[0] >= T.int64(0):
        A[0] = A[0] + T.int64(1)
"""


def test_a_long_kernel_is_cancelled_from_another_thread(slow_calls: list[object]) -> None:
    engine = Engine()
    call = engine.kernel(parsed(ENDLESS), "f").caller()
    call(np.full(1, -1))
    counter = np.zeros(1, "int64")

    def cancel() -> None:
        while counter[0] < 1000:
            pass
        engine.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(RunError, match="JT014"):
        call(counter)
    thread.join()
    assert len(slow_calls) == 1
    assert engine.builtins is not None
    assert engine.builtins.records.free == ALL_FREE
    assert call(np.full(1, -1)) is None


def test_a_long_kernel_asks_before_it_starts() -> None:
    cancelled: list[bool] = []
    engine = Engine(is_cancelled=lambda: bool(cancelled))
    call = engine.kernel(parsed(ENDLESS), "f").caller()
    call(np.full(1, -1))
    call(np.full(1, -1))
    cancelled.append(True)
    with pytest.raises(RunError, match="JT014"):
        call(np.zeros(1, "int64"))


def test_a_question_that_fails_is_passed_on() -> None:
    answers = [False]
    engine = Engine(is_cancelled=lambda: next(iter(answers)))
    call = engine.kernel(parsed(ENDLESS), "f").caller()
    call(np.full(1, -1))
    answers.clear()
    with pytest.raises(StopIteration):
        call(np.full(1, -1))


def test_fuel_limits_a_builtin() -> None:
    call = Engine(fuel=100_000).kernel(parsed(ENDLESS), "f").caller()
    call(np.full(1, -1))
    for _ in range(2):
        with pytest.raises(RunError, match="JT015"):
            call(np.zeros(1, "int64"))


def test_threads_run_long_kernels_side_by_side() -> None:
    engine = Engine()
    call = engine.kernel(tir_matmul(is_corrected=True), "matmul").caller()
    x = np.random.default_rng(0).random((96, 96), "float32")
    expected = np.zeros_like(x)
    call(x, x, expected)
    wrong: list[int] = []

    def run(number: int) -> None:
        for _ in range(20):
            out = np.zeros_like(x)
            call(x, x, out)
            if not (out == expected).all():
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert engine.builtins is not None
    assert engine.builtins.records.free == ALL_FREE
