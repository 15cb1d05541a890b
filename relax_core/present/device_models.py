"""View models of device planning: the report, and the Devices page, in strings, numbers and tuples of them.

A node is named by its id as text, as in `models`; a report that belongs to no page names none.
"""

from typing import Literal

import msgspec

from relax_core.present.models import Code, Problem

VisitsName = Literal["memo_body", "args_first"]
VisitKind = Literal["enter", "argument", "memo hit", "recursion", "leave"]
MAX_REASONS = 8


class DeviceOptions(msgspec.Struct, frozen=True):
    """The options of PlanDevices, as a request gives them."""

    default: str = "cpu"
    clone: bool = False
    as_in: Literal["fixed", "reported"] = "fixed"
    visits: VisitsName = "memo_body"
    visit_limit: int = 1


class DeviceReason(msgspec.Struct, frozen=True):
    """A link of a chain of reasons: a constraint, or, as the last link, what decides the device."""

    words: str
    line: int = 0
    column: int = 0
    node: str = ""
    number: int = 0
    """Of the step of the analysis at which it was found."""


class DeviceRow(msgspec.Struct, frozen=True):
    """A value and its device, "" if the analysis left it unconstrained."""

    name: str
    """`%x` for a variable, `result` for the function's result."""
    role: Literal["parameter", "let", "pattern", "result"]
    device: str
    line: int = 0
    node: str = ""
    why: tuple[DeviceReason, ...] = ()
    """The chain from the value to what decides; the first and last links of a long one."""
    link_count: int = 0
    """How many links the whole chain has."""


class FunctionDevices(msgspec.Struct, frozen=True):
    """The devices of a function. One that is not `is_visited` was never reached, `hidden_by` says why."""

    name: str
    rows: tuple[DeviceRow, ...]
    is_visited: bool = True
    hidden_by: str = ""
    hidden_at: int = -1
    """The number of the visit that was a memo hit."""
    line: int = 0
    node: str = ""

    @property
    def result(self) -> str:
        """The device of the function's result."""
        return next((row.device for row in self.rows if row.role == "result"), "")


class CopyRow(msgspec.Struct, frozen=True):
    """A copy between devices: the value, both devices, bytes (`None`: known only at run time), and why."""

    function: str
    value: str
    source: str
    target: str
    size_bytes: int | None
    words: str
    line: int = 0
    node: str = ""
    """The value that is copied."""
    user: str = ""
    """The node that wants the copy."""


class DeviceConflict(msgspec.Struct, frozen=True):
    """A constraint that cannot hold, with the chains of both sides to what decided them."""

    message: str
    left: str
    right: str
    left_chain: tuple[DeviceReason, ...]
    right_chain: tuple[DeviceReason, ...]
    line: int = 0
    node: str = ""


class VisitRow(msgspec.Struct, frozen=True):
    """One step of the order in which the analysis of 2020 visits functions; replayed like a rewrite log."""

    number: int
    kind: VisitKind
    function: str
    words: str
    depth: int
    path: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    line: int = 0
    node: str = ""
    """The call."""


class DeviceReport(msgspec.Struct, frozen=True):
    """Devices by function and variable, with copies, conflicts and visits."""

    default: str
    devices: tuple[str, ...]
    """In the order of first appearance; the default is among them if it is used."""
    functions: tuple[FunctionDevices, ...]
    copies: tuple[CopyRow, ...] = ()
    conflicts: tuple[DeviceConflict, ...] = ()
    visits: tuple[VisitRow, ...] = ()
    """Empty unless the analysis is the one as reported."""

    def function(self, name: str) -> FunctionDevices | None:
        """Return the devices of a function, `None` if there is none of that name."""
        return next((item for item in self.functions if item.name == name), None)

    def device(self, function: str, variable: str) -> str:
        """Return the device of `%x` or of `result` in a function; empty if there is none."""
        found = self.function(function)
        rows = () if found is None else found.rows
        return next((row.device for row in rows if row.name.lstrip("%") == variable.lstrip("%")), "")

    @property
    def known_bytes(self) -> int:
        """Bytes of the copies whose size is known."""
        return sum(item.size_bytes or 0 for item in self.copies)

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return msgspec.json.encode(self).decode()

    def to_text(self) -> str:
        """Return the report as a table to read."""
        lines: list[str] = []
        for function in self.functions:
            lines.append(f"@{function.name}" if function.is_visited else f"@{function.name}: {function.hidden_by}")
            width = max((len(row.name) for row in function.rows), default=0)
            for row in function.rows:
                reason = f"  {row.why[-1].words}" if row.why else ""
                lines.append(f"  {row.name:<{width}}  {row.device or 'no device'}{reason}")
        count = len(self.copies)
        lines.append(f"{count} {'copy' if count == 1 else 'copies'}, {self.known_bytes} bytes known before the run")
        for copy in self.copies:
            size = "size not known" if copy.size_bytes is None else f"{copy.size_bytes} bytes"
            lines.append(f"  @{copy.function}, line {copy.line}: {copy.value}: {copy.source} to {copy.target}, {size}")
        lines += [f"conflict, line {item.line}: {item.message}" for item in self.conflicts]
        lines += [f"{item.number:>4} {'  ' * item.depth}{item.words}" for item in self.visits]
        return "\n".join(lines)


class DeviceMark(msgspec.Struct, frozen=True, array_like=True):
    """The device of a node in a graph; "" is drawn grey."""

    node: str
    device: str


class DeviceStep(msgspec.Struct, frozen=True, array_like=True):
    """A step of the analysis: a constraint that joined values, fixed a device, or asked for a copy."""

    number: int
    words: str
    node: str
    line: int


class DevicesView(msgspec.Struct, frozen=True):
    """The Devices page: marks for the graphs of the source, the report, and the text of the debug print."""

    report: DeviceReport
    marks: tuple[DeviceMark, ...]
    steps: tuple[DeviceStep, ...]
    step_count: int
    """Of all steps; `steps` are the first ones."""
    code: Code
    """The module with `<cpu(0)>` behind its values, as TVM's debug print."""
    pipeline: str = ""
    """The pass with the options of the request: its stage is the module with copies."""
    problems: tuple[Problem, ...] = ()


class WhyDevice(msgspec.Struct, frozen=True):
    """The whole chain of one value."""

    node: str
    text: str
    device: str
    why: tuple[DeviceReason, ...] = ()
    path: tuple[str, ...] = ()
    """The nodes on the way, to highlight."""
