"""Runs of a million steps: what it takes to record them, and what a page asks of the worker about them."""

import gc
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from tracemalloc import get_traced_memory, start, stop
from types import MappingProxyType
from typing import Any, Final

from benchmarks.bench_vm import ADD_ONE, HEAD, calls_of_add_one
from benchmarks.bench_vm_scalars import FIB
from benchmarks.table import Row, Table
from relax_core.bytecode.build import build
from relax_core.bytecode.executable import Executable
from relax_core.engine.debug.requests import StopPlace
from relax_core.engine.protocol import Failure, Open, Program, Request, RunOf, StopOf
from relax_core.engine.session import Session
from relax_core.frontend.parse import parse_text
from relax_core.vm.limits import Limits
from relax_core.vm.machine import Machine

LIMITS: Final = Limits(seconds=60.0, memory_bytes=1 << 30, retained_bytes=256 << 20)
ROUNDS: Final = 3
RECORDED_ROUNDS: Final = 9
SEEKS: Final = 20
KERNELS_A_CALL: Final = 100
MOST_TIMES, MOST_BYTES = 3.0, 64.0
"""What is asked for: of the plain time, and of memory for a step."""
MOST_SECONDS: Final[Mapping[str, float]] = MappingProxyType(
    {"first window": 1.0, "seek": 0.1, "continue backwards": 0.2, "who wrote a register": 0.2}
)

_ROUNDS: Final = (
    ADD_ONE
    + """
    @R.function
    def rounds(n: T.int64, x0: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
"""
    + calls_of_add_one(KERNELS_A_CALL)
    + f"""        last = R.prim_value(n < 2)
        if last:
            r = x{KERNELS_A_CALL}
        else:
            r = cls.rounds(R.prim_value(n - 1), x{KERNELS_A_CALL})
        return r

    @R.function
    def main() -> R.Tensor((4,), "float32"):
        cls = Module
        zero = R.zeros(R.shape([4]), "float32")
        r = cls.rounds(R.prim_value(COUNT), zero)
        return r
"""
)
_FIB: Final = FIB.replace("def main", "def fib").replace("cls.main", "cls.fib") + (
    """
    @R.function
    def main() -> T.int64:
        cls = Module
        r = cls.fib(R.prim_value(COUNT))
        return r
"""
)
PROGRAMS: Final[Mapping[str, tuple[str, StopPlace]]] = MappingProxyType(
    {
        "scalars": (_FIB.replace("COUNT", "23"), StopPlace(function="fib", register=4)),
        "kernels": (_ROUNDS.replace("COUNT", "2500"), StopPlace(function="rounds", register=12)),
    }
)


def run() -> Table:
    """Measure both programs; the note has the ratios and bounds."""
    rows: list[Row] = []
    notes: list[str] = []
    for name, (text, place) in PROGRAMS.items():
        found, more = _recorded(name, HEAD + text)
        rows += found
        notes += more
        found, more = _asked(name, HEAD + text, place)
        rows += found
        notes += more
    return Table("Runs of a million steps", tuple(rows), "\n".join(notes))


def _recorded(name: str, text: str) -> tuple[list[Row], list[str]]:
    executable = build(parse_text(text, "bench.py").modules[0])
    plain, recording = Machine(executable, limits=LIMITS, record=False), Machine(executable, limits=LIMITS)
    seconds: dict[str, list[float]] = {"plain": [], "recorded": [], "read": []}
    count = 0
    for _ in range(RECORDED_ROUNDS + 1):
        seconds["plain"].append(_timed(plain.run, "main")[1])
        trace, taken = _timed(recording.run, "main")
        seconds["recorded"].append(taken)
        count, taken = _timed(len, trace)
        seconds["read"].append(taken)
    first, second = (median(seconds[way][1:]) for way in ("plain", "recorded"))
    notes = [f"{name}: {count:,} steps; recorded {second / first:.1f} times the plain time, asked for {MOST_TIMES:g}"]
    for when, has_read in (("recorded", False), ("read", True)):
        notes.append(
            f"{name}: {_bytes(executable, has_read=has_read) / count:.0f} bytes a step when {when}, "
            f"asked for {MOST_BYTES:g}"
        )
    return [Row(f"{name}: {way}", tuple(times[1:])) for way, times in seconds.items()], notes


def _bytes(executable: Executable, *, has_read: bool) -> int:
    """Return the memory that a recorded run holds, its generated code included."""
    machine = Machine(executable, limits=LIMITS)
    gc.collect()
    start()
    before, _ = get_traced_memory()
    trace = machine.run("main")
    if has_read:
        len(trace)
    gc.collect()
    after, _ = get_traced_memory()
    stop()
    return after - before if trace else 0


def _asked(name: str, text: str, place: StopPlace) -> tuple[list[Row], list[str]]:
    """Ask what a page asks, each in a session that has what was asked before."""
    program = Program(name="run.py", text=text)
    seconds: dict[str, list[float]] = {key: [] for key in MOST_SECONDS}
    for _ in range(ROUNDS):
        session = Session(LIMITS)
        # A worker has read the text, and has its libraries, before somebody opens the page of the run.
        _reply(session, Open(program))
        first, taken = _timed(_reply, session, RunOf(program))
        seconds["first window"].append(taken)
        total = first.total
        for number in range(SEEKS):
            event = total * (number * 7 % SEEKS) // SEEKS
            seconds["seek"].append(_timed(_reply, session, RunOf(program, event))[1])
            entry = (StopPlace(function=place.function),)
            back = StopOf(program, event, entry, is_back=True)
            seconds["continue backwards"].append(_timed(_reply, session, back)[1])
            wrote = StopOf(program, event, (place,), is_back=True)
            seconds["who wrote a register"].append(_timed(_reply, session, wrote)[1])
    notes = [
        f"{name}: {key} {median(times):.3f} s, at most {max(times):.3f} s, asked for {MOST_SECONDS[key]:g} s"
        for key, times in seconds.items()
    ]
    return [Row(f"{name}: {key}", tuple(times)) for key, times in seconds.items()], notes


def _reply(session: Session, message: Request[Any]) -> Any:
    reply = session.request(message)
    if isinstance(reply, Failure):
        raise RuntimeError(f"{reply.title}: {reply.message}")
    return reply


def _timed(call: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    gc.collect()
    begin = perf_counter()
    return call(*args), perf_counter() - begin
