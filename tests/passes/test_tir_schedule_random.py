"""Random schedules of random chains of blocks: each step is refused, or keeps what the function computes."""

from random import Random

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from tests.passes.random_schedules import COLUMNS, ROWS, chain, walk


def _values(module: IRModule) -> np.ndarray:
    numbers = np.random.default_rng(0).integers(-3, 4, (ROWS, COLUMNS)).astype("float32")
    return np.asarray(rc.VirtualMachine(rc.build(module), on_output=lambda _: None)["main"](numbers))


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_schedule_computes_what_the_program_does(seed: int) -> None:
    # One number for all choices: each is as likely as the next one, where draws of their own would favour the first.
    random = Random(seed)
    text = chain(random)
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    expected = _values(start)
    taken: list[str] = []
    for step, module in walk(random, start, 14):
        taken.append(step)
        assert [str(item) for item in rc.check(module) if item.severity == "error"] == [], taken
        assert first_difference(rc.parse(rc.script(module)), module) is None, taken
        np.testing.assert_array_equal(_values(module), expected, f"{text}\n{', '.join(taken)}\n{rc.script(module)}")
