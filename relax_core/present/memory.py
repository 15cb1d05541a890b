"""The memory of a recorded run as rows of storages and tensors over time."""

from collections.abc import Callable
from typing import Final

from relax_core.present.measures import bytes_text
from relax_core.present.running.memory_models import MemoryBox, MemoryFault, MemoryRow, MemoryView
from relax_core.present.words import dtype_text
from relax_core.vm.objects.values import shape_text
from relax_core.vm.recording.lifetimes import Life, MemoryUse, Reuse, memory_of
from relax_core.vm.recording.trace import Trace

ROWS: Final = 400
_BOXES: Final = 1_500
_POINTS: Final = 600
_SHARED: Final = 5


def present_memory(
    trace: Trace, written: frozenset[str] = frozenset(), is_cancelled: Callable[[], bool] = lambda: False
) -> MemoryView:
    """Present the memory of a run; names in `written`, those of the user's text, go before those that passes made.

    Raises:
        RunError: VM008, it was cancelled.
    """
    memory = memory_of(trace, is_cancelled)
    return _Presenter(trace, memory, written).view()


class _Presenter:
    def __init__(self, trace: Trace, memory: MemoryUse, written: frozenset[str]) -> None:
        self._lines = trace.lines.line_of
        self._memory = memory
        self._written = written
        self._faults = tuple(reuse for reuse in memory.reuses if not reuse.is_shared)
        self._faulty = {reuse.tensor for reuse in self._faults}

    def view(self) -> MemoryView:
        """Return the view model."""
        memory = self._memory
        peak_bytes, peak_time = memory.peak
        times, sizes = _curve(memory)
        rows, left_out = self._rows()
        notes = [f"{left_out:,} smaller ones are not shown." if left_out else ""]
        notes += [] if memory.is_complete else ["Values that were given up to save memory are not counted."]
        notes += self._shared()
        faults = tuple(map(self._fault, self._faults))
        note = " ".join(filter(None, notes))
        return MemoryView(rows, times, sizes, peak_bytes, peak_time, memory.total, self._summary(), faults, note)

    def _summary(self) -> str:
        memory = self._memory
        peak_bytes, peak_time = memory.peak
        counts = {kind: sum(life.kind == kind for life in memory.lives) for kind in ("storage", "tensor", "argument")}
        parts = [f"{count:,} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items() if count]
        constants = f"; constants take {bytes_text(memory.constant_bytes)} besides" if memory.constant_bytes else ""
        held = ", ".join(parts) or "no tensors"
        return f"At most {bytes_text(peak_bytes)}, at time {peak_time} of {memory.total}; {held}{constants}."

    def _rows(self) -> tuple[tuple[MemoryRow, ...], int]:
        owners = [life for life in self._memory.lives if life.storage is None]
        inside: dict[Life, list[Life]] = {life: [] for life in owners}
        for life in self._memory.lives:
            if life.storage is not None:
                inside[life.storage].append(life)
        largest = sorted(owners, key=lambda life: (not self._faulty.isdisjoint(inside[life]), life.size_bytes))
        kept = set(largest[-ROWS:])
        shown = [life for life in owners if life in kept]
        count = max(1, _BOXES // max(1, len(shown)))
        return tuple(self._row(life, inside[life], count) for life in shown), len(owners) - len(shown)

    def _row(self, life: Life, inside: list[Life], count: int) -> MemoryRow:
        label, more = self._names(life)
        if life.kind != "storage":
            return MemoryRow(
                label, life.kind, life.size_bytes, life.start, life.end, (self._box(life),), _typed(life, more)
            )
        shown = tuple(map(self._box, inside[:count]))
        left = len(inside) - len(shown)
        place = f"on {life.device}" if life.device is not None else ""
        note = ", ".join(filter(None, (place, f"and {left:,} more tensors" if left else "")))
        return MemoryRow(label, life.kind, life.size_bytes, life.start, life.end, shown, note)

    def _box(self, life: Life) -> MemoryBox:
        label, more = self._names(life)
        return MemoryBox(
            label,
            life.start,
            life.end,
            life.first_write,
            life.last_use,
            life.size_bytes,
            life.offset,
            int(self._lines[life.pc]) if life.pc >= 0 else 0,
            _typed(life, more),
            life in self._faulty,
        )

    def _names(self, life: Life) -> tuple[str, tuple[str, ...]]:
        """Return the most descriptive name, and the others."""
        names = list(dict.fromkeys(life.names))
        own = next(
            (name for name in names if name.rpartition(".")[2] in self._written), names[0] if names else "a temporary"
        )
        return own, tuple(name for name in names if name != own)

    def _shared(self) -> list[str]:
        """List the pairs of tensors that share bytes by the program's own intent, each once."""
        first: dict[tuple[Life, Life], Reuse] = {}
        for reuse in self._memory.reuses:
            if reuse.is_shared:
                first.setdefault((reuse.tensor, reuse.other), reuse)
        words = [self._sharing(reuse) for reuse in list(first.values())[:_SHARED]]
        left = len(first) - len(words)
        return [*words, f"{left:,} more pairs of tensors share bytes."] if left else words

    def _sharing(self, reuse: Reuse) -> str:
        written = f"as it was written through `{self._names(reuse.other)[0]}` at time {reuse.write}"
        return f"{self._read(reuse)}, {written}: the program made both in the same bytes before it wrote them."

    def _read(self, reuse: Reuse) -> str:
        """Say where the tensor is read."""
        line = int(self._lines[reuse.pc]) if reuse.pc >= 0 else 0
        reader = f"read at time {reuse.read}, line {line}" if reuse.pc >= 0 else "returned"
        return f"`{self._names(reuse.tensor)[0]}` is {reader}"

    def _fault(self, reuse: Reuse) -> MemoryFault:
        other = self._names(reuse.other)[0]
        storage = self._names(reuse.tensor.storage)[0] if reuse.tensor.storage is not None else "its storage"
        line = int(self._lines[reuse.pc]) if reuse.pc >= 0 else 0
        comma = "," if reuse.pc >= 0 else ""
        message = f"{self._read(reuse)}{comma} but `{other}` has had its bytes in `{storage}` since time {reuse.write}"
        return MemoryFault(f"{message}: the storage was taken again too early.", reuse.write, reuse.read, line)


def _typed(life: Life, names: tuple[str, ...]) -> str:
    kind = f"{shape_text(life.shape)} {dtype_text(life.dtype)}" if life.dtype else ""
    return ", ".join(filter(None, (kind, f"also {', '.join(names)}" if names else "")))


def _curve(memory: MemoryUse) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Thin the curve to as many points as can be seen, keeping the peak of every stretch."""
    times, sizes = memory.times, memory.size_bytes
    if len(times) <= _POINTS:
        return times, sizes
    stretch = -(-len(times) // _POINTS)
    chosen = [
        max(range(first, min(first + stretch, len(times))), key=sizes.__getitem__)
        for first in range(0, len(times), stretch)
    ]
    return tuple(times[place] for place in chosen), tuple(sizes[place] for place in chosen)
