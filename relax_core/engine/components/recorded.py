"""Which functions of two recorded stages have a graph of their own."""

from typing import Final

from relax_core.engine.replies import RecordedFunctions

_TABS: Final = 40


def drawable(listed: RecordedFunctions) -> tuple[str, ...]:
    """Return what has a graph: "" for the Relax functions, and prim funcs, those first that changed."""
    rows = [row for row in listed.rows if row.after or row.before]
    prim_funcs = [row for row in rows if row.kind == "prim func"]
    prim_funcs.sort(key=lambda row: row.mark == "unchanged")
    has_relax = any(row.kind == "Relax" and row.after for row in rows)
    is_changed = any(row.kind == "Relax" and row.mark != "unchanged" for row in rows)
    changed = [row.name for row in prim_funcs if row.mark != "unchanged"]
    names = [row.name for row in prim_funcs][:_TABS]
    if not has_relax:
        return tuple(names)
    return ("", *names) if is_changed or not changed else (*names, "")
