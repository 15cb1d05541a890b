"""Text to modules. The text is data: parsed, walked, and never executed."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy.typing as npt

from relax_core.diagnostics import Diagnostic, in_order
from relax_core.frontend.collector import collector_held
from relax_core.frontend.layout import with_spaces
from relax_core.frontend.relay import module as relay
from relax_core.frontend.relay.detect import is_relay
from relax_core.frontend.tvmscript import text as tvmscript
from relax_core.frontend.tvmscript.known import KnownFunctions
from relax_core.ir.dialect import DIALECT_ATTR, dialect_of
from relax_core.ir.expr import Type
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.source import Source, Span

Constants: TypeAlias = Sequence["npt.NDArray[Any] | None"]
"""The tensors of a metadata table in order; `None` for one that is not at hand."""


class _Readings:
    """The diagnostics of reading, by module, for as long as the module lives; the module itself does not hold them."""

    def __init__(self) -> None:
        self._said: WeakKeyDictionary[IRModule, tuple[Diagnostic, ...]] = WeakKeyDictionary()

    def note(self, modules: tuple[IRModule, ...], diagnostics: tuple[Diagnostic, ...]) -> None:
        """Give each module the diagnostics inside its text and those outside of all modules."""
        if not diagnostics:
            return
        placed = sorted((item.span.start, at) for at, item in enumerate(diagnostics) if item.span is not None)
        inside = {module: _within(placed, module.span) for module in modules if module.span is not None}
        outside = set(range(len(diagnostics))).difference(*inside.values())
        for module in modules:
            said = outside.union(inside[module]) if module in inside and len(modules) > 1 else range(len(diagnostics))
            self._said[module] = tuple(diagnostics[at] for at in sorted(said))

    def of(self, module: IRModule) -> tuple[Diagnostic, ...]:
        return self._said.get(module, ())


_READINGS = _Readings()


def said_of(module: IRModule) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of reading a module, in the order of the text; none for a module that was not read."""
    return _READINGS.of(module)


def _within(placed: Sequence[tuple[int, int]], span: Span) -> list[int]:
    """Return what stands in a span of what is sorted by its place in the text."""
    first, after = bisect_left(placed, (span.start,)), bisect_left(placed, (span.end,))
    return [at for _, at in placed[first:after]]


def _no_types() -> Mapping[Node, Type]:
    return MappingProxyType({})


def _no_marks() -> Mapping[Node, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Parsed:
    """The modules of a text in order, its diagnostics, and the source that spans refer to.

    The source differs from the given text only in line ends, and in tabs at the start of lines, which are expanded.
    Relay text may say more than the program: `noted_types` are the types in its comments `/* ty=... */`, and `marks`
    the devices that an analysis printed behind expressions, such as `<cpu(0)>`.
    """

    modules: tuple[IRModule, ...]
    diagnostics: tuple[Diagnostic, ...]
    source: Source
    noted_types: Mapping[Node, Type] = field(default_factory=_no_types)
    marks: Mapping[Node, str] = field(default_factory=_no_marks)


def parse_text(text: str, name: str, constants: Constants = (), known: "KnownFunctions | None" = None) -> Parsed:
    """Read a text in any TVMScript dialect, or Relay text; every error is a located diagnostic, never an exception.

    `constants` are the tensors that the text names `metadata["ir.GenericConst"][0]` and so on, where it has no table of
    its own. Functions that are `known` word for word are taken from the text in which they were read, with the spans in
    them and without what is noted of them; all of a text with an error are read.
    """
    with collector_held():
        parsed = _parsed(text, name, constants, known)
    _READINGS.note(parsed.modules, parsed.diagnostics)
    return parsed


def _parsed(text: str, name: str, constants: Constants, known: "KnownFunctions | None") -> Parsed:
    source = Source(name, _clean(text))
    if is_relay(source.text, name):
        return _relay(source)
    modules, found = tvmscript.read_text(source, text, constants, known)
    return Parsed(modules, in_order(found), source)


def _relay(source: Source) -> Parsed:
    read = relay.read_relay(source)
    types, marks = MappingProxyType(read.notes.types), MappingProxyType(read.notes.marks)
    return Parsed(tuple(map(_as_relay, read.modules)), in_order(read.diagnostics), source, types, marks)


def _as_relay(module: IRModule) -> IRModule:
    """Mark a module as Relay where nothing in it shows so, as when its functions only call each other."""
    if dialect_of(module) == "relay":
        return module
    return replace(module, attrs=(*module.attrs, (DIALECT_ATTR, "relay")))


def _clean(text: str) -> str:
    """Normalise line ends, and expand tabs at the start of lines."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ")
    if "\t" not in text:
        return text
    return "\n".join(map(with_spaces, text.split("\n")))
