"""View models of the memory of a recorded run: a row for each storage, with the tensors in it, and bytes over time."""

import msgspec


class MemoryBox(msgspec.Struct, frozen=True, array_like=True):
    """A tensor: held from time `start` to time `end`. `first_write` and `last_use` are events, -1 for none."""

    label: str
    start: int
    end: int
    first_write: int
    last_use: int
    size_bytes: int
    offset: int = 0
    """In its storage."""
    line: int = 0
    note: str = ""
    """Type and further names, such as `(2, 3) f32, also y`."""
    is_faulty: bool = False
    """It was used after its storage had been reused."""


class MemoryRow(msgspec.Struct, frozen=True, array_like=True):
    """A storage, or the memory of a tensor that is in none."""

    label: str
    kind: str
    """`storage`, `tensor` or `argument`."""
    size_bytes: int
    start: int
    end: int
    boxes: tuple[MemoryBox, ...] = ()
    note: str = ""


class MemoryFault(msgspec.Struct, frozen=True):
    """A tensor that was used after its storage had been reused."""

    message: str
    write: int
    """The event that overwrote its bytes."""
    read: int
    """The later event that read them."""
    line: int = 0


class MemoryView(msgspec.Struct, frozen=True):
    """The memory of a run; `sizes[i]` bytes are taken from `times[i]` on."""

    rows: tuple[MemoryRow, ...]
    times: tuple[int, ...]
    sizes: tuple[int, ...]
    peak_bytes: int
    peak_time: int
    total: int
    """Events of the run."""
    summary: str
    faults: tuple[MemoryFault, ...] = ()
    note: str = ""
    """What is left out."""

    def to_text(self) -> str:
        """Print the rows, the peak, and what was used too late."""
        lines = [self.summary]
        table = [("time", "last use", "bytes", "memory", "")]
        for row in self.rows:
            table.append((f"{row.start}-{row.end}", "", f"{row.size_bytes:,}", f"{row.kind} {row.label}", row.note))
            for box in row.boxes:
                last = str(box.last_use) if box.last_use >= 0 else "never"
                is_part = row.kind == "storage"
                words = (f"{box.start}-{box.end}", last, f"{box.size_bytes:,}")
                name = f"  {box.label} at byte {box.offset}" if is_part else ""
                if is_part:
                    table.append((*words, name, box.note))
                else:
                    table[-1] = (*table[-1][:1], last, *table[-1][2:])
        widths = [max(len(cells[column]) for cells in table) for column in range(4)]
        for time, last, size, name, note in table:
            cells = (time.ljust(widths[0]), last.rjust(widths[1]), size.rjust(widths[2]), name.ljust(widths[3]), note)
            lines.append("  ".join(cells).rstrip())
        lines += [f"! {fault.message}" for fault in self.faults]
        return "\n".join((*lines, self.note) if self.note else lines)
