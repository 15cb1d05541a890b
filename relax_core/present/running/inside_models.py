"""View models of a run inside a kernel: the statement, loops, what it reads and writes, buffers, the access report."""

import msgspec

from relax_core.present.models import CodeLine


class InsideLoop(msgspec.Struct, frozen=True):
    """A loop or a block of the kernel, in the order of the text; `depth` is how many are around it."""

    number: int
    name: str
    kind: str
    """`for`, `while` or `block`."""
    depth: int
    line: int
    is_around: bool
    """Whether the statement that runs next is in it."""
    value: int = 0
    start: int = 0
    end: int = 0
    """Its values are from `start` to before `end`; equal if that is not known here."""
    step: int = 1
    range_start: int = 0
    range_end: int = 0
    """Where its text is."""

    @property
    def words(self) -> str:
        """Return its value and how far it is, such as `6 (7 of 12)`."""
        count = -(-(self.end - self.start) // self.step) if self.end > self.start else 0
        if not self.is_around:
            return f"- of {count:,}" if count else "-"
        done = (self.value - self.start) // self.step + 1
        return f"{self.value} ({done:,} of {count:,})" if count else str(self.value)


class InsideAxis(msgspec.Struct, frozen=True):
    """An axis of the block around the statement."""

    name: str
    kind: str
    binding: str
    value: int
    extent: str


class InsideAccess(msgspec.Struct, frozen=True):
    """An element that the statement reads or writes."""

    buffer: str
    indices: tuple[int, ...]
    is_write: bool
    is_inside: bool
    value: str
    """What it holds before the statement runs; empty if that is not known."""
    after: str = ""
    """What a write leaves there."""
    flat: int = -1
    """The number of the element in memory, if it is out of range but inside of the memory."""
    range_start: int = 0
    range_end: int = 0
    others: tuple[int, ...] = ()
    """The elements that the other lanes of the warp touch with it, counted as one row."""

    @property
    def cell(self) -> str:
        """Return it as in a text: `C[3, 6]`."""
        return f"{self.buffer}[{', '.join(map(str, self.indices))}]"


class InsideBuffer(msgspec.Struct, frozen=True):
    """A buffer of the kernel with memory of its own."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    scope: str
    size_bytes: int
    is_parameter: bool
    is_written: bool


class ThreadGroup(msgspec.Struct, frozen=True):
    """Threads that stand at one place in one way."""

    state: str
    """`runs` the statement that is next, is `ready` for one of its own, `waits` at a barrier, is `off` while others
    of its warp take a branch, or has `ended`."""
    threads: str
    """Their numbers in the block, such as `0-31, 64-95`."""
    count: int
    line: int
    """The line of what they run next, of the barrier, or of the condition; 0 at the end."""
    text: str

    @property
    def words(self) -> str:
        """Return what they do."""
        at = f" line {self.line}" if self.line else ""
        match self.state:
            case "runs":
                return f"run{at} now"
            case "ready":
                return f"are ready for{at}"
            case "waits":
                return f"wait at the barrier in{at}"
            case "off":
                return f"wait for the lanes of their warp behind `{self.text}` in{at}"
            case _:
                return "have ended"


class ThreadsHere(msgspec.Struct, frozen=True):
    """Where the threads of a block are, before one of its warps runs a statement."""

    states: str
    """A letter for each thread: r runs, g ready, w waits, o off, e ended."""
    groups: tuple[ThreadGroup, ...]
    warp: int
    """The warp that runs the statement."""
    shown: int
    """The thread of the block whose loops, variables and accesses are told: the chosen one if it takes part."""
    told: tuple[str, ...] = ()
    """What is wrong with the statement."""
    costs: tuple[str, ...] = ()
    """What its accesses of memory cost the warp."""


class InsideThreads(msgspec.Struct, frozen=True):
    """The launch whose threads are stepped through, and what is chosen in it."""

    grid: str
    """How many blocks and threads it has."""
    block: int
    block_count: int
    thread: int
    thread_count: int
    launch: int
    order: str
    here: ThreadsHere
    reported: tuple[int, ...] = ()
    """The numbers of the statements with which something is wrong, as far as the run was followed."""


class InsideStop(msgspec.Struct, frozen=True):
    """What stands at one statement of a window."""

    clock: int
    line: int
    range_start: int
    range_end: int
    phase: str
    block: int
    """The number of the block around it among the loops and blocks, -1 if there is none."""
    loops: tuple[tuple[int, ...], ...]
    """For each loop and block: its value, first value and end if the statement is in it and they are known, or none."""
    axes: tuple[InsideAxis, ...]
    where: str
    lets: tuple[tuple[str, str], ...]
    accesses: tuple[InsideAccess, ...]
    sentence: str
    threads: ThreadsHere | None = None
    watched: tuple[str, ...] = ()
    """The values of the expressions that are watched, in their order."""


class InsideView(msgspec.Struct, frozen=True):
    """Where a run inside a kernel is: before statement `clock` of `total`, which is -1 if they are not counted."""

    kernel: str
    text: str
    line: int
    """The line of the statement, 0 at the end."""
    range_start: int
    range_end: int
    clock: int
    total: int
    is_ended: bool
    is_found: bool
    """Whether the move found what it looked for."""
    kind: str
    phase: str
    block: str
    loops: tuple[InsideLoop, ...]
    axes: tuple[InsideAxis, ...]
    where: str
    """The predicate of the block, empty if it has none; it holds where a statement runs."""
    lets: tuple[tuple[str, str], ...]
    accesses: tuple[InsideAccess, ...]
    buffers: tuple[InsideBuffer, ...]
    sentence: str
    statement_lines: tuple[int, ...] = ()
    """The lines with statements."""
    problem: str = ""
    """Why the run stops here."""
    checkpoints: tuple[int, ...] = ()
    milliseconds: float = 0.0
    """How long the move took."""
    lines: tuple[CodeLine, ...] = ()
    """The text with its tokens, for a page, which then needs no `text`."""
    stops: tuple[InsideStop, ...] = ()
    """The statements before and behind this one, if they were asked for."""
    threads: InsideThreads | None = None
    """Of a launch: where its threads are."""
    watched: tuple[tuple[str, str], ...] = ()
    """Expressions with their values before the statement runs; `-` where one of their names says nothing."""

    def to_text(self) -> str:
        """Return what the command prints for a stop."""
        of = f" of {self.total:,}" if self.total >= 0 else ""
        head = f"`{self.kernel}`, statement {self.clock:,}{of}"
        if self.is_ended:
            return f"{head}: the end"
        of_threads = [] if self.threads is None else _threads_text(self.threads)
        place = f", {self.phase} of block {self.block}" if self.phase else f", block {self.block}" if self.block else ""
        lines = [f"{head}{place}"]
        loops = [f"{item.name} = {item.words}" for item in self.loops if item.is_around and item.kind == "for"]
        if loops:
            lines.append(f"  loops   {'; '.join(loops)}")
        if self.axes:
            lines.append(f"  axes    {'; '.join(f'{item.name} = {item.value} ({item.kind})' for item in self.axes)}")
        if self.where:
            lines.append(f"  where   {self.where}")
        if self.lets:
            lines.append(f"  lets    {'; '.join(f'{name} = {value}' for name, value in self.lets)}")
        lines.append(f"  {self.line:>5} > {self.text.split(chr(10))[self.line - 1].strip() if self.line else ''}")
        lines += [f"  {_accessed(item)}" for item in self.accesses]
        lines += [f"  watch   {text} = {value}" for text, value in self.watched]
        lines += of_threads
        return "\n".join((*lines, *([self.problem] if self.problem else [])))


def _threads_text(threads: InsideThreads) -> list[str]:
    here = threads.here
    lines = [f"  threads {item.threads} {item.words}" for item in here.groups]
    lines.insert(0, f"  of      thread {here.shown} of block {threads.block}, warp {here.warp}")
    lines += [f"  cost    {item}" for item in here.costs]
    return [*lines, *here.told]


def _accessed(item: InsideAccess) -> str:
    if not item.is_inside:
        where = f"; element {item.flat} of its memory" if item.flat >= 0 else ""
        return f"{'write' if item.is_write else 'read '}   {item.cell}: out of range{where}"
    known = f" = {item.value}" if item.value else ""
    return f"write   {item.cell}{known} -> {item.after}" if item.is_write else f"read    {item.cell}{known}"


class HeatView(msgspec.Struct, frozen=True):
    """A window of two axes of a buffer: counts, ages or values, with where each cell is in five steps of colour."""

    buffer: str
    shape: tuple[int, ...]
    axes: tuple[int, int]
    """The axis of the rows, and that of the columns; -1 where a buffer has no such axis."""
    fixed: tuple[int, ...]
    """The index in every axis, which counts in the axes that are not shown."""
    top: int
    left: int
    rows: int
    columns: int
    """How many rows and columns the window has."""
    texts: tuple[str, ...]
    """What stands in each cell, row by row; none where the window has more cells than have room for text."""
    levels: str
    """A step for each cell of the window, row by row: digits from 0 to 5."""
    legend: tuple[str, ...]
    """What the steps from 1 to 5 mean."""
    overview: str
    overview_rows: int
    overview_columns: int
    """The whole plane, its steps taken together in blocks."""
    row_count: int
    column_count: int
    touched: int
    """How many elements of the whole buffer are touched."""
    counted: int
    """How often, all together."""
    most: int = 0
    """The greatest count, if counts are shown."""
    since: int = 0
    """The statement from which on is counted: not 0 only behind very many."""


class ReportRow(msgspec.Struct, frozen=True):
    """The accesses of one statement to one buffer in one direction, over the whole run."""

    buffer: str
    line: int
    phase: str
    is_write: bool
    count: int
    footprint: int
    """Different elements."""
    per_loop: tuple[tuple[str, int], ...]
    """Different elements in one iteration of each loop, from the outermost: its first one."""
    stride: str
    """How far apart in memory neighbours in the innermost loop are, in elements."""
    reuse: str
    """How many other elements are touched between two touches of one: the median, of what was looked at."""
    size_bytes: int
    """Bytes that are moved, were there no cache."""
    footprint_bytes: int
    lines: int
    """Different lines of a cache, of 64 bytes."""


class RooflineOf(msgspec.Struct, frozen=True):
    """What simulated launches are bound by on a machine, in operations and bytes."""

    machine: str
    operations: int
    global_bytes: int
    moved_bytes: int
    shared_bytes: int
    intensity: float
    bound: str
    """`operations`, `global memory` or `shared memory`."""
    attainable: float
    """Operations a second at most."""
    least_time: str
    """What they take at least, with its unit."""
    text: str
    parts: tuple[tuple[str, float], ...] = ()
    """How many seconds each part takes at least."""
    peak: float = 0.0
    """Operations a second of the machine."""


class LaunchRow(msgspec.Struct, frozen=True):
    """The accesses of one statement to one memory in one direction, by all threads."""

    buffer: str
    scope: str
    """`global`, `shared` or `warp`."""
    line: int
    text: str
    is_write: bool
    count: int
    footprint: int
    """Different elements; of shared memory one block has them."""
    asked_bytes: int
    moved_bytes: int
    """Whole sectors of global memory; bytes of shared memory as often as banks are asked for them."""
    sectors: float
    """Of global memory: how many sectors of 32 bytes a warp moves in the mean."""
    used: float
    """Of global memory: which part of the bytes that are moved was asked for."""
    conflict: int
    """Of shared memory: the largest number of words that lanes wanted of one bank at once; 1 is none."""

    @property
    def cost(self) -> str:
        """Say how well lanes go together."""
        match self.scope:
            case "global":
                return f"{self.sectors:.3g} sectors, {self.used:.0%} used"
            case "shared":
                return f"{self.conflict}-way conflict" if self.conflict > 1 else "no conflict"
            case _:
                return "-"


class LaunchReport(msgspec.Struct, frozen=True):
    """What all launches of a kernel do to memory, access by access."""

    kernel: str
    launches: tuple[str, ...]
    """The grids, such as `2 blocks of 256 threads`."""
    rows: tuple[LaunchRow, ...]
    footprint_bytes: int
    """Of global memory, each element once."""
    roofline: RooflineOf

    def to_text(self) -> str:
        """Return what the command prints."""
        heads = ("buffer", "scope", "line", "reads", "writes", "cells", "asked", "moved", "cost")
        rows = [heads, *(_launch_cells(item) for item in self.rows)]
        tail = f"{self.footprint_bytes:,} B of global memory are touched"
        return "\n".join((f"`{self.kernel}`: {', '.join(self.launches)}", *_table(rows), tail, self.roofline.text))


def _launch_cells(item: LaunchRow) -> tuple[str, ...]:
    count = f"{item.count:,}"
    return (
        item.buffer, item.scope, str(item.line), "-" if item.is_write else count, count if item.is_write else "-",
        f"{item.footprint:,}", f"{item.asked_bytes:,}", f"{item.moved_bytes:,}", item.cost,
    )  # fmt: skip


class InsideReport(msgspec.Struct, frozen=True):
    """What a kernel does to memory, access by access."""

    kernel: str
    rows: tuple[ReportRow, ...]
    operations: int
    footprint_bytes: int
    """Of all buffers, each element once."""
    moved_bytes: int
    looked_at: int
    """Accesses from the start among which reuse was looked for."""
    is_whole: bool = True
    """Whether all statements were counted, and not only the first ones of very many."""
    launched: LaunchReport | None = None
    """Of a kernel that launches threads, in place of the rows."""
    peak_operations: float = 0.0
    """Operations a second that this machine was measured to do; 0 if it was not."""
    peak_bytes: float = 0.0
    """Bytes a second that it was measured to move behind its caches."""

    @property
    def bound(self) -> str:
        """Say what bounds it if its data come from memory, and how near to the peak that lets it come."""
        if not self.peak_operations or not self.operations:
            return ""
        by_memory = self.intensity * self.peak_bytes
        what = "memory" if by_memory < self.peak_operations else "operations"
        most = min(by_memory, self.peak_operations)
        return (
            f"with data from memory at most {most / 1e9:.3g} GFLOP/s, "
            f"{most / self.peak_operations:.1%} of the peak, bound by {what}; measured here: "
            f"{self.peak_operations / 1e9:.3g} GFLOP/s, {self.peak_bytes / 1e9:.3g} GB/s"
        )

    @property
    def intensity(self) -> float:
        """Operations for each byte that has to be moved."""
        return self.operations / self.footprint_bytes if self.footprint_bytes else 0.0

    def to_text(self) -> str:
        """Return what the command prints."""
        if self.launched is not None:
            return self.launched.to_text()
        heads = ("buffer", "line", "reads", "writes", "cells", "per iteration", "stride", "reuse", "bytes", "lines")
        rows = [heads, *(_cells(item) for item in self.rows)]
        tail = (
            f"{self.operations:,} operations, {self.footprint_bytes:,} B: {self.intensity:.2f} for each byte; "
            f"{self.moved_bytes:,} B without a cache"
        )
        return "\n".join((f"`{self.kernel}`", *_table(rows), tail, *([self.bound] if self.bound else [])))


def _cells(item: ReportRow) -> tuple[str, ...]:
    count = f"{item.count:,}"
    per = ", ".join(f"{name} {cells:,}" for name, cells in item.per_loop)
    return (
        f"{item.buffer}{', init' if item.phase == 'init' else ''}", str(item.line), "-" if item.is_write else count,
        count if item.is_write else "-", f"{item.footprint:,}", per or "-", item.stride, item.reuse,
        f"{item.size_bytes:,}", f"{item.lines:,}",
    )  # fmt: skip


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Return rows in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
