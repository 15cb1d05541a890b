"""Notes about a table of patterns: operators that do not exist, targets without an entry."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches

from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule
from relax_core.ir.node import postorder
from relax_core.ops import OPS
from relax_core.ops.relay import RELAY_OPS, is_foreign
from relax_core.pattern.language.nodes import ExprPattern, subpatterns
from relax_core.pattern.matching.facts import operator_name
from relax_core.pattern.partition.tables import Tables

_RELAX_NAMES = frozenset(name.removeprefix("relax.") for name in OPS)


def table_notes(tables: Tables, module: IRModule) -> tuple[str, ...]:
    """Return a sentence for each operator that a table names and that neither its language nor `module` has.

    An operator in a name space of its own, such as an accelerator's, is taken to exist.
    """
    known = RELAY_OPS if dialect_of(module) == "relay" else _RELAX_NAMES
    named = dict.fromkeys(
        name for item in _names(tables) if (name := item.removeprefix("relax.")) not in known and not is_foreign(name)
    )
    if not named:
        return ()
    of_module = {operator_name(node) for _, item in module.relax_functions for node in postorder(item.body)}
    return tuple(_note(name, known) for name in named if name not in of_module)


def target_notes(tables: Tables, targets: tuple[str, ...]) -> tuple[str, ...]:
    """Return a sentence for each of `targets` that a table has no entry for."""
    known = ", ".join(f"`{target}`" for target in tables.targets) or "none"
    unknown = (target for target in targets if target not in tables.targets)
    return tuple(f"The table says nothing of the target `{target}`; its targets: {known}." for target in unknown)


def _names(tables: Tables) -> Iterator[str]:
    for entry in tables.patterns:
        for part in subpatterns(entry[1]):
            name = operator_name(part.expr) if isinstance(part, ExprPattern) else None
            if name is not None:
                yield name
    for supported in tables.supported.values():
        if not callable(supported):
            yield from (supported,) if isinstance(supported, str) else supported


def _note(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f"The table names `{name}`, which is no operator" + (f"; `{near[0]}` is one." if near else ".")
