"""Checking a text: its modules, and what it says beside them."""

from relax_core.check.check import check
from relax_core.check.relay import noted
from relax_core.diagnostics import Diagnostic
from relax_core.frontend.parse import Parsed
from relax_core.ir.dialect import dialect_of


def check_text(parsed: Parsed) -> tuple[Diagnostic, ...]:
    """Check each module of a text; what parsing has said already is not said again."""
    # The parser warns of a function that a fragment lacks, at the same place.
    told = {item.span for item in parsed.diagnostics if item.code == "RL011"}
    found: list[Diagnostic] = []
    for module in parsed.modules:
        found += (item for item in check(module) if item.code != "RY032" or item.span not in told)
        if parsed.noted_types and dialect_of(module) == "relay":
            found += noted.disagreements(module, parsed.noted_types)
    return tuple(found)
