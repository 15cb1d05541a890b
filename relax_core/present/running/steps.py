"""The debugger's commands for every time of a window at once.

The answers are those of `relax_core.vm.debugger`, which a test compares, in linear and not quadratic time.
"""

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

from relax_core.present.running.run_models import Jumps
from relax_core.vm.debugger import By
from relax_core.vm.recording.trace import Trace

Ints = npt.NDArray[np.int64]


def jumps(trace: Trace, first: int, last: int, by: By) -> Jumps:
    """Return the jump table of the times `first` to `last`, both included."""
    stops = np.arange(len(trace)) if by == "instruction" else np.flatnonzero(trace.lines.starts_binding[trace.pcs])
    times = range(first, last + 1)
    depths = [_depth(trace, at) for at in times]
    end = len(trace)
    into = [int(found) for found in np.append(stops, end)[np.searchsorted(stops, np.arange(first, last + 1), "right")]]
    back_places = np.searchsorted(stops, np.arange(first, last + 1), "left") - 1
    back = [int(stops[place]) if place >= 0 else 0 for place in back_places]
    ahead = _nearest(trace, stops, list(reversed(times)), list(reversed(depths)), is_forward=True)
    behind = _nearest(trace, stops, list(times), depths, is_forward=False)
    over = [found if found is not None else end for found in reversed(ahead[0])]
    out = [found if found is not None else end for found in reversed(ahead[1])]
    back_over = [found if found is not None else 0 for found in behind[0]]
    return Jumps(
        tuple(_or_none(at, target) for at, target in zip(times, into, strict=True)),
        tuple(-1 if at >= end else target for at, target in zip(times, over, strict=True)),
        tuple(-1 if at >= end else target for at, target in zip(times, out, strict=True)),
        tuple(_or_none(at, target) for at, target in zip(times, back, strict=True)),
        tuple(_or_none(at, target) for at, target in zip(times, back_over, strict=True)),
    )


def _or_none(at: int, target: int) -> int:
    return -1 if at == target else target


def _depth(trace: Trace, at: int) -> int:
    frame = trace.frame_at(at)
    return int(trace.frame_depths[frame]) if frame is not None else 0


def _nearest(
    trace: Trace, stops: Ints, times: list[int], depths: list[int], *, is_forward: bool
) -> tuple[list[int | None], list[int | None]]:
    """For each time find the nearest stop on one side at most as deep, and the nearest one less deep.

    `times` are ordered towards that side. Passed stops are kept as a staircase (a monotonic stack): a farther stop only
    matters if it is less deep than every nearer one.
    """
    depth_of_stop = trace.depths[stops]
    edge = int(np.searchsorted(stops, times[0], "right" if is_forward else "left"))
    outer = (stops[edge:], depth_of_stop[edge:]) if is_forward else (stops[:edge][::-1], depth_of_stop[:edge][::-1])
    stair_depths, stair_stops = _staircase(*outer)
    is_stop = frozenset(int(at) for at in stops[np.isin(stops, times)])
    at_most: list[int | None] = []
    below: list[int | None] = []
    for at, depth in zip(times, depths, strict=True):
        for answers, place in (
            (at_most, bisect_right(stair_depths, depth) - 1),
            (below, bisect_right(stair_depths, depth - 1) - 1),
        ):
            answers.append(stair_stops[place] if place >= 0 else None)
        if at in is_stop:
            while stair_depths and stair_depths[-1] >= depth:
                stair_depths.pop()
                stair_stops.pop()
            stair_depths.append(depth)
            stair_stops.append(at)
    return at_most, below


def _staircase(stops: Ints, depths: Ints) -> tuple[list[int], list[int]]:
    """Return those of `stops`, nearest first, that are less deep than every nearer one; farthest first."""
    if not len(stops):
        return [], []
    lowest = np.minimum.accumulate(depths)
    is_new = np.ones(len(stops), np.bool_)
    is_new[1:] = lowest[1:] < lowest[:-1]
    return [int(x) for x in depths[is_new][::-1]], [int(x) for x in stops[is_new][::-1]]
