"""The answer about what each line of a program takes: bytes and operations as counted, time and values of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from relax_core.analysis.cost.costs import BindingCost, costs_of_bindings
from relax_core.diagnostics import Diagnostic, RunError, plural
from relax_core.engine.debug import service
from relax_core.engine.debug.changed import trace_of
from relax_core.engine.debug.intermediates import bound_values
from relax_core.engine.debug.replies import Profiled
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import LineHeatOf, ProfileOf
from relax_core.engine.inputs import symbol_sizes
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.prim_entry import with_entries
from relax_core.engine.protocol import Progress
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Call, Function, MatchCast, VarBinding
from relax_core.ir.relay import Let
from relax_core.passes.pipeline import run_pipeline
from relax_core.present.heat.levels import Figure, Scale, count_text, heat_of, micros_text
from relax_core.present.measures import bytes_text
from relax_core.present.models import LineHeat
from relax_core.present.nodes.origin_models import spans

_TIME: Final = Scale("Time", "µs a run")
_BYTES: Final = Scale("Bytes", "a call")
_OPERATIONS: Final = Scale("Operations", "FLOP a call")
_VALUES: Final = Scale("Largest |value|", "", is_logarithmic=True)

_NUMBERS: Final = "iufV"
"""The kinds of dtypes of NumPy that numbers have; those of bfloat16 and 8 bits are `V`."""


def line_heat(message: LineHeatOf, context: RequestContext) -> LineHeat:
    """Count or measure a quantity, line by line."""
    opened = context.opened_by(message.program)
    opened.source.require_sound(reads_data=False)
    return opened.remembered(message, lambda: _heat(message, opened, context))


def _heat(message: LineHeatOf, opened: OpenProgram, context: RequestContext) -> LineHeat:
    match message.quantity:
        case "time":
            found = service.answer(ProfileOf(message.program), opened, context)
            assert isinstance(found, Profiled)
            return _of_time(found, opened)
        case "values":
            return _of_values(message, opened, context)
        case "bytes":
            return _counted(_BYTES, "moved_bytes", opened)
        case "operations":
            return _counted(_OPERATIONS, "operations", opened)


def _lines_of_nodes(opened: OpenProgram) -> Mapping[str, int]:
    """Return of each line in which bindings or calls begin the first of them, which computes what the others do."""
    index = opened.compilation.index(0)
    found: dict[int, str] = {}
    for name, nodes in index.nodes_of.items():
        is_relax = isinstance(index.nodes_of[name][0], Function)
        for node in nodes if is_relax else ():
            if isinstance(node, VarBinding | MatchCast | Let | Call):
                found.setdefault(opened.compilation.line_of(node), index.id_of(node))
    return {node: line for line, node in found.items() if line}


def _drawn(scale: Scale, figures: Mapping[int, Figure], opened: OpenProgram, note: str, why_blank: str) -> LineHeat:
    line_of = _lines_of_nodes(opened)
    blank = sorted(set(line_of.values()) - set(figures))
    if blank:
        lines = f"{plural(len(blank), 'line')} blank ({spans(blank)})"
        note = f"{note} {lines}: {why_blank}"
    return heat_of(scale, figures, line_of, note)


def _counted(scale: Scale, name: str, opened: OpenProgram) -> LineHeat:
    """Count what one call costs, of operators what their kernels do; Relay costs what Relax of it does."""
    entry, function = opened.source.entry()
    module = with_entries(opened.source.module, opened.source.program.entry)
    is_relay = opened.source.dialect == "relay"
    stage = run_pipeline(module, "RelayToRelax, LegalizeOps" if is_relay else "LegalizeOps")[-1]
    lowered = module if stage.is_failed else stage.after
    if dialect_of(lowered) == "relay":
        return heat_of(scale, {}, {}, "Costs are counted in Relax, and this is Relay that does not become it.")
    sizes = symbol_sizes(function, dict(opened.source.program.sizes))
    found: dict[int, list[BindingCost]] = {}
    for item in costs_of_bindings(lowered, entry, sizes):
        node = item.node.var if isinstance(item.node, VarBinding | MatchCast) else item.node
        span = stage.log.locate(node)
        if span is not None and span.source is opened.source.parsed.source:
            found.setdefault(span.line, []).append(item)
    figures: dict[int, Figure] = {}
    for line, items in found.items():
        value = sum(getattr(item, name) for item in items)
        is_least = any(name in item.lower_bounds for item in items)
        if value or not is_least:
            text = bytes_text(value) if name == "moved_bytes" else count_text(value, "FLOP")
            figures[line] = Figure(value, text, "at least: a part is not counted" if is_least else "")
    shown = ", ".join(dict.fromkeys(f"{var.name} = {size}" for var, size in sizes.items()))
    note = f"Counted from the text{f' for {shown}' if shown else ''}; a call of a function counts what that does."
    return _drawn(scale, figures, opened, note, "no call comes to them, or what they do is not counted.")


@dataclass(slots=True)
class _Spent:
    seconds: float = 0.0
    share: float = 0.0
    calls: int = 0
    others: set[int] = field(default_factory=set[int])


def _of_time(found: Profiled, opened: OpenProgram) -> LineHeat:
    spent: dict[int, _Spent] = {}
    for row in found.lines:
        together = {row.line, *row.others} - {0}
        for line in together:
            own = spent.setdefault(line, _Spent())
            own.seconds += row.seconds
            own.share += row.share
            own.calls = max(own.calls, row.calls)
            own.others |= together - {line}
    figures = {
        line: Figure(
            own.seconds,
            micros_text(own.seconds),
            f"{own.share:.0%} of the run, {plural(own.calls, 'time')}"
            + (f", together with line {spans(sorted(own.others))}" if own.others else ""),
        )
        for line, own in spent.items()
    }
    runs = "one run" if found.rounds == 1 else f"{found.rounds} runs"
    note = f"Median of {runs}, {micros_text(found.seconds)} in all; a call is without what it calls in bytecode."
    if found.rendered:
        note = f"{note} The run ended early: {found.rendered.splitlines()[0]}"
    return _drawn(_TIME, figures, opened, note, "nothing ran there, or passes left nothing of it.")


@dataclass(slots=True)
class _Seen:
    """The numbers that a line bound: the largest one, and of NaN and infinities the most in one value."""

    largest: float = -1.0
    nan_count: int = 0
    infinity_count: int = 0

    def add(self, array: npt.NDArray[np.generic]) -> None:
        """Look at the elements of a value."""
        numbers = np.abs(array.astype(np.float64))
        finite = numbers[np.isfinite(numbers)]
        self.nan_count = max(self.nan_count, int(np.isnan(numbers).sum()))
        self.infinity_count = max(self.infinity_count, int(np.isinf(numbers).sum()))
        if finite.size:
            self.largest = max(self.largest, float(finite.max()))

    def figure(self) -> Figure:
        """Return the figure of the line, which is what is odd if anything is."""
        odd = [(self.nan_count, "NaN"), (self.infinity_count, "∞")]
        found = [(count, name) for count, name in odd if count]
        words = [f"as many as {count:,} {name} in a value" for count, name in found]
        if found and self.largest >= 0:
            words.append(f"otherwise at most {self.largest:.3g}")
        text = ", ".join(name for _, name in found) or f"{self.largest:.3g}"
        return Figure(max(self.largest, 0.0), text, ", ".join(words), is_finite=not found)


def _of_values(message: LineHeatOf, opened: OpenProgram, context: RequestContext) -> LineHeat:
    trace = trace_of(opened, message.program.changes, context)
    context.report(Progress("Looking at the values"))
    seen: dict[int, _Seen] = {}
    for item in bound_values(trace):
        if context.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while looking at the values of bindings"),))
        for array in item.arrays.values():
            if item.line and array.size and array.dtype.kind in _NUMBERS:
                seen.setdefault(item.line, _Seen()).add(array)
    ended = "" if trace.error is None else f" The run ended early: {trace.error.message}"
    note = f"Of all elements of what a line binds, over the whole run.{ended}"
    figures = {line: own.figure() for line, own in seen.items()}
    return _drawn(_VALUES, figures, opened, note, "this run binds no numbers there, or passes made one kernel of it.")
