"""What an editor shows of values: the scopes of frames, and values that open into their parts."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from relax_core.cli.integration.debugging.asking import RequestError
from relax_core.cli.integration.debugging.debuggee import Debuggee
from relax_core.cli.integration.debugging.messages import Evaluated, Scope, Variable
from relax_core.present.running.moment_models import FrameView, Held, Parts

SHOWN_PARTS: Final = 200
"""So many parts of a value are shown to an editor that does not ask for some of them."""
_NUMBER: Final = re.compile(r"\[(\d+)\]|\.(\d+)")
_SETTABLE: Final = "variables, registers, elements of tensors and fields of tuples"
Of = Literal["locals", "registers", "dimensions"]
_TITLES: Final[tuple[tuple[Of, str], ...]] = (
    ("locals", "Locals"),
    ("registers", "Registers"),
    ("dimensions", "Dimensions"),
)


@dataclass(frozen=True, slots=True)
class _ScopeOf:
    depth: int
    of: Of


@dataclass(frozen=True, slots=True)
class _PartsOf:
    depth: int
    expression: str
    path: tuple[int, ...]
    count: int


class References:
    """The numbers under which an editor asks for variables; they hold until the program moves."""

    def __init__(self, *, has_paging: bool) -> None:
        self._has_paging = has_paging
        self._places: list[_ScopeOf | _PartsOf] = []

    def clear(self) -> None:
        """Forget all: the program has moved."""
        self._places.clear()

    def scopes(self, debuggee: Debuggee, depth: int) -> tuple[Scope, ...]:
        """Return the scopes of a frame; that of the symbolic dimensions only if there are such."""
        frame = debuggee.frame(depth)
        shown = (of_title for of_title in _TITLES if of_title[0] != "dimensions" or frame.dimensions)
        return tuple(
            Scope(title, self._put(_ScopeOf(depth, of)), expensive=False, presentation_hint=of) for of, title in shown
        )

    def variables(self, debuggee: Debuggee, reference: int, start: int, count: int) -> tuple[Variable, ...]:
        """Return the variables of a scope, or parts of a value."""
        match self._place(reference):
            case _ScopeOf(depth, of):
                found = _members(debuggee.frame(depth), of)
                return tuple(self._variable(depth, name, held, held.expression, ()) for name, held in found.items())
            case _PartsOf(depth, expression, path, whole):
                part = range(start, start + (count or SHOWN_PARTS))
                found = debuggee.parts(depth, expression, path, part).parts
                shown = tuple(
                    self._variable(depth, held.name, held, expression, (*path, number))
                    for number, held in enumerate(found, start)
                )
                left = whole - start - len(found)
                is_cut = not count and left > 0
                return (*shown, Variable("…", f"{left:,} more", 0)) if is_cut else shown

    def evaluated(self, depth: int, expression: str, found: Parts, *, is_whole: bool) -> Evaluated:
        """Return the value of an expression, `is_whole` as long text."""
        held = found.value
        variable = self._variable(depth, expression, held, expression, ())
        text = found.long if is_whole else variable.value
        return Evaluated(text, variable.variables_reference, held.type, variable.indexed_variables)

    def assigned(self, debuggee: Debuggee, reference: int, name: str) -> tuple[int, str]:
        """Return the frame of a variable, and what is assigned to in order to set it.

        Raises:
            RequestError: it cannot be set.
        """
        match self._place(reference):
            case _ScopeOf(depth, of):
                held = _members(debuggee.frame(depth), of).get(name)
                place = held.expression if held is not None and of != "dimensions" else ""
            case _PartsOf(depth, expression, path, _):
                parts = _NUMBER.fullmatch(name)
                number = int(parts[1] or parts[2]) if parts is not None else 0
                value = debuggee.parts(depth, expression, (*path, number)).value
                place = value.expression if parts is not None else ""
        if not place:
            raise RequestError(f"`{name}` cannot be set: only {_SETTABLE} can")
        return depth, place

    def register(self, debuggee: Debuggee, reference: int, name: str) -> tuple[int, Held] | None:
        """Return the frame and the register of a variable of a scope; `None` for anything else."""
        match self._place(reference):
            case _ScopeOf(depth, of) if of != "dimensions":
                held = _members(debuggee.frame(depth), of).get(name)
                return None if held is None else (depth, held)
            case _:
                return None

    def _variable(self, depth: int, name: str, held: Held, expression: str, path: tuple[int, ...]) -> Variable:
        reference = self._put(_PartsOf(depth, expression, path, held.part_count)) if held.part_count else 0
        indexed = held.part_count if held.is_indexed and self._has_paging else 0
        return Variable(name, held.text, reference, held.type, held.expression, indexed)

    def _put(self, place: _ScopeOf | _PartsOf) -> int:
        self._places.append(place)
        return len(self._places)

    def _place(self, reference: int) -> _ScopeOf | _PartsOf:
        if not 0 < reference <= len(self._places):
            raise RequestError("the program has moved since: this value is of another time")
        return self._places[reference - 1]


def _members(frame: FrameView, of: Of) -> dict[str, Held]:
    match of:
        case "registers":
            return {item.name: item for item in frame.registers}
        case "dimensions":
            return {item.name: item for item in frame.dimensions}
        case "locals":
            named = [item for item in frame.registers if item.variable]
            # Several registers may hold a variable: it is in the one that its name evaluates to.
            ordered = sorted(named, key=lambda item: item.expression == item.variable)
            latest = {item.variable: item for item in ordered}
            return {item.variable: latest[item.variable] for item in named}


def named_register(frame: FrameView, name: str) -> Held | None:
    """Return the register that a variable or a register's name stands for."""
    return _members(frame, "registers").get(name) or _members(frame, "locals").get(name)
