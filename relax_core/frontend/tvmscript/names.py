"""Dotted names, the modules they start from, and suggestions for misspelled ones."""

import ast
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from types import MappingProxyType

from relax_core.diagnostics import Suggestion

PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        "R": "relax",
        "relax": "relax",
        "T": "tir",
        "tir": "tir",
        "tirx": "tir",
        "ty": "tir",
        "I": "ir",
        "np": "numpy",
        "numpy": "numpy",
    }
)
_IMPORTED: Mapping[str, str] = MappingProxyType(
    {"relax": "relax", "tir": "tir", "tirx": "tir", "ir": "ir", "numpy": "numpy"}
)


# Short names of dtypes.
DTYPES: Mapping[str, str] = MappingProxyType(
    {
        **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
        **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
        **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
        "bf16": "bfloat16",
        "boolean": "bool",
    }
)

_WHOLE = (*DTYPES.values(), "float8_e4m3fn", "float8_e5m2")
_OF_OTHERS: Mapping[str, str] = MappingProxyType(
    {"double": "float64", "half": "float16", "float": "float32", "int": "int32", "long": "int64", "byte": "uint8"}
)
"""How NumPy, PyTorch and C call them."""


# What stands in `tvm.script` itself; in 2021 prim funcs were marked with `@tvm.script.tir`.
_OF_SCRIPT: Mapping[str, str] = MappingProxyType({"ir_module": "ir.ir_module", "tir": "tir.prim_func"})


def dotted(node: ast.AST) -> tuple[str, ...] | None:
    """Return `("R", "nn", "relu")` for `R.nn.relu`, `None` for what is not a dotted name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return (node.id, *reversed(parts))


def qualified(node: ast.AST, aliases: Mapping[str, str]) -> str | None:
    """Return the name with its module written out: "relax.nn.relu", "tir.grid", "ir.ir_module".

    Names that do not start from a known module stay as they are; `None` for what is not a dotted name.
    """
    if isinstance(node, ast.Attribute) and isinstance(base := node.value, ast.Name) and base.id != "tvm":
        return f"{aliases.get(base.id) or PREFIXES.get(base.id) or base.id}.{node.attr}"
    parts = dotted(node)
    if parts is None:
        return None
    if parts[:2] == ("tvm", "script") and (known := _OF_SCRIPT.get(".".join(parts[2:]))):
        return known
    head, *rest = parts
    if head == "tvm" and rest:
        head, *rest = rest[1:] if rest[0] == "script" and len(rest) > 1 else rest
    known = aliases.get(head) or PREFIXES.get(head) or head
    # `relax.op.add`, as Python's API has it, is `R.add`.
    return ".".join((known, *(rest[1:] if known == "relax" and rest[:1] == ["op"] else rest)))


def import_aliases(statement: ast.stmt) -> dict[str, str]:
    """Return the names by which an import statement makes relax, tir and ir known."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return {}
    found: dict[str, str] = {}
    for item in statement.names:
        module = _IMPORTED.get(item.name.rsplit(".", 1)[-1])
        if module is not None and item.asname is not None:
            found[item.asname] = module
    return found


def suggestion(name: str, known: Iterable[str], prefix: str = "", more: str = "") -> str:
    """Return "did you mean R.matmul?" if a known name is close, with `more` behind it, else the empty string."""
    by_lower = {item.lower(): item for item in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return Suggestion(prefix + name, prefix + by_lower[close[0]], more) if close else ""


def dtype_suggestion(name: str, written: str) -> str:
    """Return which dtype is meant by a string that names none, which is written so in the text, with its quotes."""
    known = {item: item for item in _WHOLE} | dict(DTYPES) | dict(_OF_OTHERS)
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.75)
    return Suggestion(written, f"{written[:1]}{known[close[0]]}{written[:1]}") if close else ""
