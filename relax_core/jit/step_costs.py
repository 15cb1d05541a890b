"""What each transformation of a kernel is worth: the kernel timed with all, and without each one that took part."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from relax_core.jit.engine import Engine
from relax_core.jit.transforms.registry import SUMMARIES, without
from relax_core.jit.ways import Timed, Way, look, time_in_turns


@dataclass(frozen=True, slots=True)
class StepCost:
    """What a kernel takes without one transformation, a median; `difference` is the greatest one between its results.

    The difference is that of float64; `has_same_bits` where all bits are those of the kernel with all transformations.
    """

    name: str
    seconds: float
    difference: float
    has_same_bits: bool


@dataclass(frozen=True, slots=True)
class StepCosts:
    """What a kernel takes with all transformations that are on, in seconds, and without each that took part."""

    seconds: float
    rounds: int
    steps: tuple[StepCost, ...]


def step_costs(
    engine: Engine,
    timed: Timed,
    args: Sequence[object],
    off: Sequence[str] = (),
    *,
    is_cancelled: Callable[[], bool] = lambda: False,
    said: Callable[[str, int, int], None] | None = None,
) -> StepCosts:
    """Time a kernel on `args`, which stay as they are: with all but `off`, and without each one that took part besides.

    All ways are timed in turns in one run, so that what else the machine does befalls them alike. `said` is told of
    what is compiled next, and how many of how many are done.

    Raises:
        CompileError: it cannot be compiled, or `off` names no transformation.
        RunError: it stopped on these arguments, or was cancelled.
    """

    def way(off: Iterable[str]) -> Way:
        return Way(engine.variation(replace(engine.options, without=without(off))), timed, args)

    whole = way(off)
    applied = {item.transform for item in whole.kernel.remarks() if item.kind == "applied"}
    ways: dict[str, Way] = {}
    for name in (item for item in SUMMARIES if item in applied):
        look(is_cancelled)
        if said is not None:
            said(f"{timed.name} without {name}", len(ways) + 1, len(applied) + 1)
        ways[name] = way((*off, name))
    time_in_turns((whole, *ways.values()), is_cancelled)
    costs = tuple(StepCost(name, median(way.seconds), *way.against(whole)) for name, way in ways.items())
    return StepCosts(median(whole.seconds), len(whole.seconds), costs)
