"""Device kernels as Python, a generator for each thread: all accesses are kept, and all pairs of them are judged.

It reads the text alone, and has nothing of the package: neither its parser nor its simulator. Which barriers a thread
passes does not depend on memory here, so that one run tells what races without each barrier.
"""

import ast
import math
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

WARP = 32
SYNC = "T.tvm_storage_sync"
Place = tuple[str, str, int]
"""Kind and name of a memory, and the cell."""
Access = tuple[int, int, bool, int, float]
"""Block, thread, whether it writes, how many barriers are behind it, and the value."""
Thread = Generator[tuple[Any, ...], Any, None]


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """Apply a function to a number or to each of a vector; what has no value is NaN, as in idle threads."""

    def applied(value: Any) -> Any:
        try:
            return np.vectorize(function)(value) if type(value) is np.ndarray else function(value)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return applied


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, str) else value


def _ramp(base: int, stride: int, lanes: int) -> Any:
    return base + stride * np.arange(lanes)


def _select(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def _cast(_dtype: str, value: Any) -> Any:
    return value


def _grid(*extents: int) -> Iterator[tuple[int, ...]]:
    return product(*map(range, extents))


WORDS = SimpleNamespace(
    **dict.fromkeys(("float32", "float16", "int32", "int64", "uint32", "bool"), _number),
    **{name: _each(getattr(math, name)) for name in ("exp", "sqrt", "tanh", "erf")},
    rsqrt=_each(lambda x: 1 / math.sqrt(x)),
    max=np.maximum,
    min=np.minimum,
    grid=_grid,
    Broadcast=np.repeat,
    Ramp=_ramp,
    Select=_select,
    Cast=_cast,
)
"""What stands behind `T.` in a kernel."""


@dataclass
class Cells:
    """A memory as one thread sees it."""

    thread: "Seen"
    place: tuple[str, str]
    lanes: int
    data: list[Any]

    def _cells(self, index: Any) -> Any:
        if getattr(index, "start", None) is not None:
            cut: list[int] = list(range(index.start, index.stop, index.step or 1))
            return np.array(cut)
        return index * self.lanes + np.arange(self.lanes) if self.lanes > 1 and np.ndim(index) == 0 else index

    def __getitem__(self, index: Any) -> Any:
        cells = self._cells(index)
        if type(cells) is np.ndarray:
            return np.array([self._read(int(cell)) for cell in cells])
        return self._read(int(cells))

    def _read(self, cell: int) -> Any:
        assert 0 <= cell < len(self.data)
        self.thread.note((*self.place, cell), 0.0, is_write=False)
        return self.data[cell]

    def __setitem__(self, index: Any, value: Any) -> None:
        cells: Any = np.atleast_1d(self._cells(index))
        values: Any = np.broadcast_to(value, cells.shape)
        for cell, item in zip(cells, values, strict=True):
            assert 0 <= cell < len(self.data)
            self.data[int(cell)] = item.item()
            self.thread.note((*self.place, int(cell)), float(item), is_write=True)


@dataclass
class Seen:
    """What one thread has: its numbers, and where its accesses are kept."""

    run: "Kernel"
    block: int
    thread: int
    numbers: dict[str, int]
    barriers: int = 0

    def note(self, place: Place, value: float, *, is_write: bool) -> None:
        if place[0] != "local":
            # A cell of shared memory is another one in each block.
            at = (place[0], f"{place[1]}/{self.block if place[0] == 'shared' else ''}", place[2])
            self.run.accesses[at].append((self.block, self.thread, is_write, self.barriers, value))

    def allocated(self, kind: str, shape: tuple[int, ...], dtype: str, line: int) -> Cells:
        _, _, lanes = dtype.partition("x")
        size = math.prod(shape) * int(lanes or 1)
        own = [math.nan] * size
        data = own if kind == "local" else self.run.shared.setdefault((self.block, line), own)
        return Cells(self, (kind, str(line)), int(lanes or 1), data)

    def given(self, name: str, shape: tuple[int, ...]) -> Cells:
        data = self.run.memory.setdefault(name, self.run.random.uniform(-1, 1, math.prod(shape)).tolist())
        return Cells(self, ("global", name), 1, data)


class _Rewrite(ast.NodeTransformer):
    """Makes a kernel the body of a generator, which yields where threads meet."""

    def __init__(self) -> None:
        self.extents: dict[str, int] = {}

    def _launch(self, call: ast.Call) -> ast.expr:
        tag, extent = ast.literal_eval(call.args[0]), call.args[1]
        self.extents[tag] = int(ast.literal_eval(extent.args[0] if isinstance(extent, ast.Call) else extent))
        return ast.parse(f"_seen.numbers[{tag!r}]", mode="eval").body

    def visit_With(self, node: ast.With) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for item in node.items:
            if isinstance(item.optional_vars, ast.Name) and isinstance(item.context_expr, ast.Call):
                found.append(ast.Assign([item.optional_vars], self._launch(item.context_expr)))
        for stmt in node.body:
            made = self.visit(stmt)
            found += made if isinstance(made, list) else [made]
        return found

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign:
        return ast.Assign([node.target], self.visit(node.value or ast.Constant(None)))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name, given = ast.unparse(node.func), {item.arg: item.value for item in node.keywords}
        match name:
            case "T.launch_thread":
                return self._launch(node)
            case "T.alloc_local" | "T.alloc_shared":
                dtype = ast.unparse(node.args[1]) if len(node.args) > 1 else "'float32'"
                kind = name.removeprefix("T.alloc_")
                text = f"_seen.allocated({kind!r}, {ast.unparse(node.args[0])}, {dtype}, {node.lineno})"
                return ast.parse(text, mode="eval").body
            case "T.decl_buffer":
                text = f"_seen.given({ast.unparse(given['data'])!r}, {ast.unparse(node.args[0])})"
                return ast.parse(text, mode="eval").body
            case "T.if_then_else":
                condition, then, other = (self.visit(item) for item in node.args)
                return ast.IfExp(condition, then, other)
            case "T.tvm_storage_sync" | "T.tvm_warp_activemask" | "T.tvm_warp_shuffle_down" | "T.tvm_warp_shuffle":
                parts = (ast.Constant(name), ast.Constant(node.lineno), *(self.visit(item) for item in node.args[1:3]))
                return ast.Yield(ast.Tuple(list(parts), ast.Load()))
            case "T.func_attr":
                return ast.Constant(None)
            case _:
                return self.generic_visit(node)  # pyright: ignore[reportReturnType]  # a call stays one


@dataclass
class Kernel:
    """One device kernel, which has run."""

    function: ast.FunctionDef
    accesses: dict[Place, list[Access]] = field(default_factory=lambda: defaultdict(list))
    shared: dict[tuple[int, int], list[Any]] = field(default_factory=dict[tuple[int, int], list[Any]])
    memory: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    barriers: list[int] = field(default_factory=list[int])
    """The lines of the barriers that each thread passes, in order."""

    def __post_init__(self) -> None:
        rewrite = _Rewrite()
        body: list[ast.stmt] = []
        for stmt in self.function.body:
            made = rewrite.visit(stmt)
            body += made if isinstance(made, list) else [made]
        body += ast.parse("if False:\n    yield ()").body
        names = [ast.arg("_seen"), *self.function.args.args]
        arguments = ast.arguments([], [ast.arg(item.arg) for item in names], None, [], [], None, [])
        made = ast.FunctionDef("kernel", arguments, body, [], lineno=1)
        scope: dict[str, Any] = {"T": WORDS}
        exec(ast.unparse(ast.fix_missing_locations(ast.Module([made], []))), scope)
        sizes = [rewrite.extents.get(f"{kind}Idx.{axis}", 1) for kind in ("block", "thread") for axis in "zyx"]
        for block, at in enumerate(product(*map(range, sizes[:3]))):
            numbers = dict(zip(("blockIdx.z", "blockIdx.y", "blockIdx.x"), at, strict=True))
            threads: list[Seen] = []
            for thread, within in enumerate(product(*map(range, sizes[3:]))):
                own = dict(zip(("threadIdx.z", "threadIdx.y", "threadIdx.x"), within, strict=True))
                threads.append(Seen(self, block, thread, {**numbers, **own}))
            given = [None] * len(self.function.args.args)
            self._run_block(threads, [scope["kernel"](seen, *given) for seen in threads])

    def _run_block(self, threads: list[Seen], generators: list[Thread]) -> None:
        waiting: dict[int, tuple[Any, ...]] = {}

        def advance(thread: int, sent: Any = None) -> None:
            waiting.pop(thread, None)
            with suppress(StopIteration):
                waiting[thread] = generators[thread].send(sent)

        met: list[int] = []
        for thread in range(len(threads)):
            advance(thread)
        while waiting:
            for first in range(0, len(threads), WARP):
                _run_warp(range(first, min(first + WARP, len(threads))), waiting, advance)
            if waiting:
                assert len(waiting) == len(threads)
                (line,) = {item[1] for item in waiting.values()}
                met.append(line)
                for thread in range(len(threads)):
                    threads[thread].barriers += 1
                    advance(thread)
        assert self.barriers in ([], met)
        self.barriers = met

    def races(self, without: int = 0) -> bool:
        """Tell whether two accesses of a cell are not ordered, if the barrier in a line is taken out."""
        behind = [0]
        for line in self.barriers:
            behind.append(behind[-1] + (line != without))
        return any(_meet(found, behind) for found in self.accesses.values())


def _run_warp(lanes: range, waiting: dict[int, tuple[Any, ...]], advance: Callable[..., None]) -> None:
    """Run a warp up to its next barrier: of lanes that shuffle in several places those that are behind go first."""
    while ready := [lane for lane in lanes if lane in waiting and waiting[lane][0] != SYNC]:
        line = min(waiting[lane][1] for lane in ready)
        together = {lane: waiting[lane] for lane in ready if waiting[lane][1] == line}
        for lane, (name, _, *given) in together.items():
            if name.endswith("activemask"):
                advance(lane, sum(1 << (item - lanes[0]) for item in together))
                continue
            source = lanes[0] + given[1] if name.endswith("shuffle") else lane + given[1]
            source = source if source < lanes[0] + WARP else lane
            advance(lane, together[source][2] if source in together else math.nan)


def _meet(found: list[Access], behind: list[int]) -> bool:
    if len({item[:2] for item in found}) < 2 or not any(item[2] for item in found):
        return False
    if len({item[0] for item in found}) > 1:
        return True
    groups: defaultdict[int, list[Access]] = defaultdict(list)
    for item in found:
        groups[behind[item[3]]].append(item)
    return any(map(_conflict, groups.values()))


def _conflict(found: list[Access]) -> bool:
    """Tell whether a thread writes what another one reads, or two write different values."""
    writers = {item[1] for item in found if item[2]}
    readers = {item[1] for item in found if not item[2]}
    values = {item[4] for item in found if item[2]}
    return (bool(writers) and len(writers | readers) > 1 and bool(readers)) or (len(writers) > 1 and len(values) > 1)


def kernels_in(text: str) -> Iterator[Kernel]:
    """Run every device kernel of a module's text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and "launch_thread" in "".join(map(ast.unparse, node.body)):
            yield Kernel(node)


def verdicts(text: str) -> list[bool]:
    """Tell whether a module races as it is, and without each of its barriers, in the order of the text."""
    kernels = list(kernels_in(text))
    lines = [number for number, line in enumerate(text.split("\n"), 1) if SYNC in line]
    return [any(kernel.races(line) for kernel in kernels) for line in (0, *lines)]
