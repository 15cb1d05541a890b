"""What passes over long Relay programs cost: calls and lines are counted, not seconds, and grow as n log n at most."""

from collections.abc import Callable
from math import log2

import pytest

import relax_core as rc
from benchmarks.bench_devices import text_of
from relax_core.analysis.relay_effects import effects_of
from relax_core.passes.pipeline import run_pipeline
from tests.counting import lines_of, work_of
from tests.passes.relay.running import parsed

SMALL, LARGE = 20, 160
LOWERED = "PlanDevices, ManifestAlloc, ManifestLifetimes"


def conversion(count: int, before: str) -> int:
    """Return what RelayToRelax costs on a program of lets behind the passes `before`."""
    module = run_pipeline(parsed(text_of(count)), before)[-1].after
    return work_of(lambda: rc.run_pipeline(module, "RelayToRelax"))


def planning(count: int, _before: str) -> int:
    """Return what PlanDevices costs on a program of lets."""
    module = parsed(text_of(count))
    return work_of(lambda: rc.run_pipeline(module, "PlanDevices"))


@pytest.mark.parametrize(
    ("measured", "before"),
    [(conversion, "PlanDevices"), (conversion, LOWERED), (planning, "")],
    ids=["converting planned", "converting lowered", "planning"],
)
def test_the_work_grows_no_faster_than_n_log_n(measured: Callable[[int, str], int], before: str) -> None:
    small, large = measured(SMALL, before), measured(LARGE, before)
    assert large / small <= LARGE * log2(LARGE) / (SMALL * log2(SMALL))


def test_effects_of_local_functions_are_found_in_linear_work() -> None:
    def effects(count: int) -> int:
        lets = "\n".join(f"  let %f{k} = fn (%a: int32) {{ negative(%a) }};" for k in range(count))
        module = parsed(f"def @main(%x: int32) {{\n{lets}\n  %f0(%x)\n}}")
        return lines_of(lambda: effects_of(module))

    assert effects(400) / effects(100) <= 5
