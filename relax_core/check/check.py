"""Checking a module: types and well-formedness."""

from relax_core.check.infer import infer
from relax_core.check.relay.well_formed import well_formed_relay
from relax_core.check.well_formed import well_formed
from relax_core.diagnostics import Diagnostic
from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule
from relax_core.source import Span


def check(module: IRModule) -> tuple[Diagnostic, ...]:
    """Return what is wrong with `module`, in the order of the text.

    Of two errors at one place the later rule's is dropped: it follows from the first.
    """
    inference = infer(module)
    if dialect_of(module) == "relay":
        found = (*well_formed_relay(module), *inference.diagnostics)
    else:
        found = (*inference.diagnostics, *well_formed(module, inference))
    taken: set[Span] = set()
    kept: list[Diagnostic] = []
    for item in found:
        if item.severity == "error" and item.span is not None:
            if item.span in taken:
                continue
            taken.add(item.span)
        kept.append(item)
    return tuple(sorted(kept, key=_position))


def _position(diagnostic: Diagnostic) -> tuple[bool, int]:
    span = diagnostic.span
    return (True, 0) if span is None else (False, span.start)
