"""One compilation serves all sizes but the first, until a size is used so much that code of its own is worth it."""

from pathlib import Path

import numpy as np
import pytest

from relax_core.jit import heat
from relax_core.jit.compilation.cache import ObjectCache
from relax_core.jit.compilation.compile_process import Connection, Work
from relax_core.jit.compilation.compiler import Compiler
from relax_core.jit.compilation.pool import Pool
from relax_core.jit.compilation.target import Target
from relax_core.jit.engine import Engine
from relax_core.jit.heat import COMPILE_SECONDS, FIRST_CALLS, Heat
from relax_core.jit.kernel import SPECIALISED_VARIANTS, Kernel
from relax_core.jit.options import KernelOptions
from tests.jit.programs import row_sum
from tests.processes import wait_until


class OtherProcess:
    """Compiles what it is sent, in this process, and counts it."""

    def __init__(self) -> None:
        self.sent_count = 0

    def compile(self, work: Work) -> bytes | None:
        self.sent_count += 1
        return work.compile(Target())

    def close(self) -> None: ...


def called(kernel: Kernel, columns: int) -> bool:
    """Call it with so many columns; tell whether the code was for these alone."""
    bound, variant = kernel.bind((np.ones((2, columns), "float32"), out := np.zeros(2, "float32")))
    kernel.run(bound, variant, None)
    assert out.tolist() == [columns, columns]
    return not variant.is_for_any_sizes


def made(other: Connection | None = None, cache: ObjectCache | None = None) -> tuple[Engine, Kernel]:
    pool = None if other is None else Pool(lambda: other, 1, Target())
    engine = Engine(compiler=Compiler(Target(), cache, pool))
    return engine, engine.kernel(row_sum(), "row_sum")


def test_behind_the_second_size_nothing_is_compiled() -> None:
    engine, kernel = made()
    assert [called(kernel, columns) for columns in (3, 4, 3, 5, 6, 7, 3)] == [True, False, True, *[False] * 3, True]
    assert engine.program_count == 2


def test_where_the_order_of_sums_is_free_eight_sizes_have_code_of_their_own() -> None:
    kernel = Engine(options=KernelOptions(mode="fast")).kernel(row_sum(), "row_sum")
    assert [called(kernel, columns) for columns in range(1, 11)] == [*[True] * 8, False, False]


def test_what_is_called_long_enough_is_compiled_by_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    other = OtherProcess()
    _, kernel = made(other)
    assert [called(kernel, columns) for columns in (3, 4, 4, 5)] == [True, False, False, False]
    assert other.sent_count == 0
    monkeypatch.setattr(heat, "COMPILE_SECONDS", 0.0)
    called(kernel, 4)
    assert wait_until(lambda: called(kernel, 4))
    assert other.sent_count == 1


def test_without_another_process_it_is_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    _, kernel = made()
    monkeypatch.setattr(heat, "COMPILE_SECONDS", 0.0)
    assert [called(kernel, columns) for columns in (3, 4, 4, 5, 5)] == [True, False, True, False, True]


def test_code_that_an_earlier_run_left_is_taken_at_once(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path, is_writable=True)
    for columns in (3, 4):
        assert called(made(cache=cache)[1], columns)
    assert [called(made(cache=cache)[1], columns) for columns in (3, 4)] == [True, True]
    _, kernel = made(cache=cache)
    assert [called(kernel, columns) for columns in (3, 4, 5)] == [True, True, False]
    # Of some sizes that are not there, no further ones are looked for.
    _, kernel = made(cache=cache)
    assert not any([called(kernel, columns) for columns in (9, *range(10, 10 + SPECIALISED_VARIANTS), 3)][1:])


def test_machine_code_makes_the_calls_until_code_of_their_own_is_worth_it(
    slow_calls: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, kernel = made()
    call = kernel.caller()
    arrays = {columns: (np.ones((2, columns), "float32"), np.zeros(2, "float32")) for columns in (3, 4)}
    for columns in (3, 4):
        call(*arrays[columns])
    assert len(slow_calls) == 2
    for _ in range(FIRST_CALLS):
        call(*arrays[4])
    assert len(slow_calls) == 2
    call(*arrays[4])
    assert len(slow_calls) == 3
    # The call that was timed says how many follow.
    monkeypatch.setattr(heat, "COMPILE_SECONDS", 0.0)
    for _ in range(kernel.heat.calls_left((4,)) + 100_000):
        call(*arrays[4])
        if len(slow_calls) > 3:
            break
    bound, variant = kernel.bind(arrays[4])
    assert not variant.is_for_any_sizes
    assert bound.sizes == variant.wanted.sizes


def test_time_is_added_up_by_sizes() -> None:
    found = Heat()
    assert not found.knows((1,))
    assert found.calls_left((1,)) == FIRST_CALLS
    found.ran((1,), COMPILE_SECONDS / 100)
    assert found.knows((1,))
    assert found.calls_left((1,)) == pytest.approx(99, abs=1)
    found.ran_unseen((1,), 50)
    assert not found.is_hot((1,))
    assert found.calls_left((1,)) == pytest.approx(49, abs=1)
    found.ran((2,), COMPILE_SECONDS)
    found.ran_unseen((1,), 50)
    assert found.is_hot((1,))
    assert found.is_hot((2,))
    assert found.calls_left((1,)) == FIRST_CALLS
