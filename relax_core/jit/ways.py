"""Ways to compile one kernel, timed in turns on equal arguments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.ir.tir import PrimFunc
from relax_core.jit.kernel import Host, Kernel
from relax_core.jit.turns import Array, Turns, apart, time_all


@dataclass(frozen=True, slots=True)
class Timed:
    """A kernel to time: its prim func, the log that leads to the user's text, and those that it may call."""

    function: PrimFunc
    name: str
    log: RewriteLog | None
    functions: Mapping[str, PrimFunc]


class Way:
    """One way to compile a kernel, with arrays of its own."""

    def __init__(self, host: Host, timed: Timed, args: Sequence[object]) -> None:
        """Compile it as `host` does, and run it once on `args`, which stay as they are."""
        self.kernel = Kernel(host, timed.function, timed.name, timed.log, timed.functions)
        own = [cast("Array", arg).copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        call = self.kernel.caller()
        call(*own)
        self.results = tuple(cast("Array", arg).copy() for arg in own if isinstance(arg, np.ndarray))

        def restore() -> None:
            for array, given in zip(own, args, strict=True):
                if isinstance(array, np.ndarray):
                    np.copyto(cast("Array", array), cast("Array", given))

        self.turns = Turns(lambda: call(*own), restore)

    @property
    def seconds(self) -> Sequence[float]:
        """What it took in each round."""
        return self.turns.seconds

    def against(self, other: "Way") -> tuple[float, bool]:
        """Return how far its results are at most from those of another way, and whether all bits are the same."""
        return apart(other.results, self.results)


def time_in_turns(ways: Sequence[Way], is_cancelled: Callable[[], bool]) -> None:
    """Time all ways in turns, so that what else the machine does befalls them alike.

    Raises:
        RunError: JT014, it was cancelled.
    """
    time_all([way.turns for way in ways], lambda: look(is_cancelled))


def look(is_cancelled: Callable[[], bool]) -> None:
    """Stop if it was cancelled.

    Raises:
        RunError: JT014.
    """
    if is_cancelled():
        raise RunError((Diagnostic("JT014", "cancelled while the kernel was timed"),))
