"""The region report as plain values, and as JSON, Markdown and text; the difference of two."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from relax_core.diagnostics import plural
from relax_core.pattern.matching.reasons import ReasonKind
from relax_core.present.measures import bytes_text, columns


class Flow(msgspec.Struct, frozen=True):
    """A value that crosses the border of a region."""

    name: str
    """The parameter that takes it, such as `dnnl_0_i0`; for an output `0`, `1`, ..."""
    source: str
    """What gives it: a variable, an operator, a region; for an output the operator inside."""
    type: str = ""
    size_bytes: int | None = None
    """`None` if the size is known only at run time."""


class OperatorCall(msgspec.Struct, frozen=True):
    """A call of an operator that a region holds or leaves out, and the line of the user's text that it stems from."""

    operator: str
    line: int
    """0 if it stems from no line."""
    node: str = ""
    """The call, or the composite that it stands in."""


class RegionRow(msgspec.Struct, frozen=True):
    """A region, or the external function that it became."""

    name: str
    """`dnnl 0`, or the external function's name; pairs name it so."""
    function: str
    target: str
    operators: tuple[str, ...]
    """In the order of evaluation; a composite by its name, with what it holds: `dnnl.conv_relu: nn.conv2d nn.relu`."""
    operator_count: int
    inputs: tuple[Flow, ...] = ()
    outputs: tuple[Flow, ...] = ()
    constants: tuple[Flow, ...] = ()
    """Literals that stand inside: they do not cross at run time."""
    input_bytes: int = 0
    """Of the inputs whose size is known."""
    output_bytes: int = 0
    external: str = ""
    """The function that PartitionGraph makes of it, empty if that is not known."""
    is_open: bool = False
    """A begin has no end."""
    nodes: tuple[str, ...] = ()
    places: tuple[OperatorCall, ...] = ()
    """Of the operators, those inside composites included."""


class Unsupported(msgspec.Struct, frozen=True):
    """An operator that stays with the compiler itself, how often, and why."""

    operator: str
    count: int
    reason: str
    nodes: tuple[str, ...] = ()
    places: tuple[OperatorCall, ...] = ()


class PairRow(msgspec.Struct, frozen=True):
    """Two neighbouring regions of one target that stayed apart, and the one reason."""

    function: str
    target: str
    producer: str
    user: str
    kind: ReasonKind
    message: str
    path: tuple[str, ...] = ()
    """Names along the way, both regions included: `dnnl 0`, `tanh`, `dnnl 4`."""
    nodes: tuple[str, ...] = ()
    """What stands between, to be marked as the blocking path."""


class RegionReport(msgspec.Struct, frozen=True):
    """What a module's regions are, what crosses their borders, and what is left out."""

    regions: tuple[RegionRow, ...] = ()
    pairs: tuple[PairRow, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    operator_count: int = 0
    offloaded_count: int = 0
    notes: tuple[str, ...] = ()
    """What is odd about the table, in sentences."""

    @property
    def coverage(self) -> float:
        """The share of the operators that are in regions; 1 for a module without operators."""
        return self.offloaded_count / self.operator_count if self.operator_count else 1.0

    def to_json(self) -> str:
        """Return the report as a JSON object, which `read_report` reads."""
        fields = {**msgspec.to_builtins(self), "coverage": round(self.coverage, 6)}
        return msgspec.json.encode(fields).decode()

    def to_markdown(self) -> str:
        """Return the report as Markdown: a headline and its tables, those without rows left out."""
        parts = [f"**{self.headline}**", *self.notes]
        for title, table in self.tables():
            header, *rows = ("| " + " | ".join(map(_cell, row)) + " |" for row in table)
            parts.append("\n".join((f"### {title}", "", header, "|" + " --- |" * len(table[0]), *rows)))
        return "\n\n".join(parts) + "\n"

    def to_text(self) -> str:
        """Return the report in aligned columns, for a terminal."""
        parts = [self.headline, *self.notes]
        for title, table in self.tables():
            widths = [max(columns(row[place]) for row in table) for place in range(len(table[0]))]
            lines = ("  ".join(_padded(cell, width) for cell, width in zip(row, widths, strict=True)) for row in table)
            parts.append("\n".join((title, *(f"  {line}".rstrip() for line in lines))))
        return "\n\n".join(parts) + "\n"

    @property
    def headline(self) -> str:
        """Such as `3 of 4 operators offloaded (75 %), 2 regions, 20 B in, 8 B out`."""
        share = f"{100 * self.coverage:.4g} %"
        total_in, total_out = sum(item.input_bytes for item in self.regions), sum(r.output_bytes for r in self.regions)
        return (
            f"{self.offloaded_count:,} of {plural(self.operator_count, 'operator')} offloaded ({share}), "
            f"{plural(len(self.regions), 'region')}, {bytes_text(total_in)} in, {bytes_text(total_out)} out"
        )

    def tables(self) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
        """Yield title and rows of each table that has rows, the header first."""
        if self.regions:
            yield "Regions", (_REGION_HEADER, *map(_region_cells, self.regions))
        if self.pairs:
            cells = ((f"{item.producer} and {item.user}", item.kind, item.message) for item in self.pairs)
            yield "Not merged", (("Pair", "Reason", "Why"), *cells)
        if self.unsupported:
            rows = (
                (item.operator, f"{item.count:,}", lines_text(item.places), item.reason) for item in self.unsupported
            )
            yield "Not offloaded", (("Operator", "Count", "Lines", "Why"), *rows)


_REGION_HEADER = ("Region", "Function", "Target", "Operators", "Lines", "Inputs", "In", "Outputs", "Out", "Literals")


def _region_cells(row: RegionRow) -> tuple[str, ...]:
    return (
        row.name,
        f"@{row.function}",
        row.target,
        f"{row.operator_count}: {', '.join(row.operators)}",
        lines_text(row.places),
        _flows(row.inputs),
        size_text(row.inputs),
        _flows(row.outputs),
        size_text(row.outputs),
        size_text(row.constants),
    )


def _flows(flows: tuple[Flow, ...]) -> str:
    return ", ".join(f"{item.source or item.name}: {item.type}" for item in flows)


def lines_text(places: tuple[OperatorCall, ...]) -> str:
    """Return the lines of `places` in order, neighbours as a range: `3-5, 9`; empty if there are none."""
    lines = sorted({item.line for item in places if item.line})
    ranges: list[tuple[int, int]] = []
    for line in lines:
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], line)
        else:
            ranges.append((line, line))
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)


def size_text(flows: tuple[Flow, ...]) -> str:
    """Return the bytes of `flows`; a `+` behind says that the size of one is known only at run time."""
    known = sum(item.size_bytes or 0 for item in flows)
    return bytes_text(known) + ("+" if any(item.size_bytes is None for item in flows) else "")


def read_report(text: str | bytes) -> RegionReport:
    """Read what `to_json` wrote.

    Raises:
        msgspec.MsgspecError: it is no report.
    """
    return msgspec.json.decode(text, type=RegionReport)


class ReportChange(msgspec.Struct, frozen=True):
    """One difference of two reports."""

    what: Literal["coverage", "region", "pair", "unsupported"]
    mark: Literal["added", "removed", "changed"]
    name: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """The difference in one line: `~ coverage: 50 % -> 75 %`."""
        sign = {"added": "+", "removed": "-", "changed": "~"}[self.mark]
        values = " -> ".join(item for item in (self.before, self.after) if item)
        return f"{sign} {self.what} {self.name}".rstrip() + (f": {values}" if values else "")


def compare_reports(old: RegionReport, new: RegionReport) -> tuple[ReportChange, ...]:
    """Return what is different in `new`: coverage, regions and pairs by name, operators that are not offloaded."""
    changes: list[ReportChange] = []
    facts = (_facts(old), _facts(new))
    for key in dict.fromkeys((*facts[0], *facts[1])):
        before, after = (item.get(key) for item in facts)
        if before != after:
            mark = "added" if before is None else "removed" if after is None else "changed"
            changes.append(ReportChange(key[0], mark, key[1], before or "", after or ""))
    return tuple(changes)


_What = Literal["coverage", "region", "pair", "unsupported"]


def _facts(report: RegionReport) -> dict[tuple[_What, str], str]:
    """Return a line of text for each thing that reports are compared by."""
    found: dict[tuple[_What, str], str] = {("coverage", ""): f"{100 * report.coverage:.4g} %"}
    for row in report.regions:
        sizes = f"{size_text(row.inputs)} in, {size_text(row.outputs)} out"
        found["region", f"@{row.function} {row.name}"] = f"{', '.join(row.operators)}; {sizes}"
    for pair in report.pairs:
        found["pair", f"@{pair.function} {pair.producer} and {pair.user}"] = f"{pair.kind}: {pair.message}"
    for item in report.unsupported:
        found["unsupported", item.operator] = f"{item.count}: {item.reason}"
    return found


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))
