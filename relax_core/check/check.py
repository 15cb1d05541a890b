"""Checking a module: types and well-formedness."""

from collections.abc import Iterable
from dataclasses import replace
from weakref import WeakKeyDictionary

from relax_core.check.expressions import ForeignExprError
from relax_core.check.infer import infer
from relax_core.check.prim.prim_policy import Prims, prims_outside_packed
from relax_core.check.relay import well_formed as relay
from relax_core.check.rules.impossible import impossible_types
from relax_core.check.rules.well_formed import Sound, well_formed
from relax_core.diagnostics import Diagnostic
from relax_core.ir.dialect import dialect_of, relay_parts
from relax_core.ir.module import IRModule
from relax_core.source import Span

_ABSENT = ("WF024", "WF025")
"""Codes of values that are not there: nothing can run without them, whatever a module says of checks."""
_INDEPENDENT = ("RY030",)
"""Codes of errors that follow from no other one at their place: each names a variable of its own."""


def check(module: IRModule, *, prims: Prims = "everywhere", before: Iterable[IRModule] = ()) -> tuple[Diagnostic, ...]:
    """Return what is wrong with `module`, in the order of the text.

    Of two errors at one place the later rule's is dropped: it follows from the first. The errors of a module with
    `check_well_formed=False` are warnings, but for values that are not there. With `prims="packed_only"` host scalars
    outside of the arguments of packed functions are warned of.

    `before` are modules that it was made from, the latest first. What did not change since the latest in which nothing
    was wrong is not looked at again: a check of what a pass made takes the time of what it changed.
    """
    return _CHECKER.check(module, prims, tuple(before))


class _Checker:
    """Checks modules, and remembers what is wrong with each while it lives: a module never changes."""

    def __init__(self) -> None:
        self._found: WeakKeyDictionary[IRModule, dict[Prims, tuple[Diagnostic, ...]]] = WeakKeyDictionary()
        self._sound: WeakKeyDictionary[IRModule, Sound] = WeakKeyDictionary()

    def check(self, module: IRModule, prims: Prims, before: tuple[IRModule, ...]) -> tuple[Diagnostic, ...]:
        known = self._found.setdefault(module, {})
        if prims not in known:
            known[prims] = _in_order(module, self._all(module, prims, before))
        return known[prims]

    def _all(self, module: IRModule, prims: Prims, before: tuple[IRModule, ...]) -> tuple[Diagnostic, ...]:
        if dialect_of(module) == "relay":
            inference = infer(module)
            return (*relay.well_formed_relay(module), *inference.diagnostics, *impossible_types(inference.types))
        earlier = next(filter(None, map(self._sound.get, before)), None)
        try:
            inference = infer(module, before)
        except ForeignExprError:
            foreign = _foreign(module)
            if not foreign:
                raise
            return foreign
        broken, sound = well_formed(module, inference, earlier)
        found = (*inference.diagnostics, *impossible_types(inference.types), *broken)
        if not found and not module.type_data:
            self._sound[module] = sound
        elif foreign := _foreign(module):
            # The table has no operator of Relay, so that each of them is among what is wrong.
            return foreign
        return (*found, *prims_outside_packed(module, inference)) if prims == "packed_only" else found


_CHECKER = _Checker()


def _in_order(module: IRModule, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Return diagnostics in the order of the text, but for those that follow from another one."""
    # What the text does not hold is the first cause of whatever else is wrong at its place.
    causes = sorted(found, key=lambda item: item.code not in _ABSENT)
    taken: set[Span] = set()
    kept: list[Diagnostic] = []
    for item in causes:
        if item.severity == "error" and item.span is not None:
            if item.span in taken and item.code not in _INDEPENDENT:
                continue
            taken.add(item.span)
        is_meant = module.is_checked or item.severity != "error" or item.code in _ABSENT
        kept.append(item if is_meant else replace(item, severity="warning"))
    return tuple(sorted(kept, key=_position))


def combined(said: Iterable[Diagnostic], found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return what reading has said and what checking has found, in the order of the text.

    Reading warns of a value that is not there and checking refuses it: of the two at one place the error is kept.
    """
    found = tuple(found)
    refused = {item.span for item in found if item.code in _ABSENT and item.severity == "error"}
    kept = (item for item in said if item.severity == "error" or item.span is None or item.span not in refused)
    return tuple(sorted((*kept, *found), key=_position))


def _foreign(module: IRModule) -> tuple[Diagnostic, ...]:
    """Return the first part of a Relax module that only Relay has, as a diagnostic; nothing if there is none."""
    part = next(relay_parts(module), None)
    if part is None:
        return ()
    what = getattr(part, "name", "") or type(part).__name__
    return (Diagnostic("WF016", f"{what} belongs to Relay, the module is Relax", part.span, "run RelayToRelax"),)


def _position(diagnostic: Diagnostic) -> tuple[bool, int]:
    span = diagnostic.span
    return (True, 0) if span is None else (False, span.start)
