"""The operator table as a page of documentation."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from relax_core.ops import FAMILIES, OPS, special_values
from relax_core.ops.relay import RELAY_NAME_OF
from relax_core.ops.signature import call_text
from relax_core.ops.spec import OpSpec, Realization

_HEAD = """\
# Operators

This page is made by `python -m relax_core ops --markdown`. It lists every operator of the table in `relax_core/ops`,
by family: how it is called, how a call of it runs, and its name in Relay.
"""
MEANING: Mapping[Realization, str] = MappingProxyType(
    {
        "kernel": "LegalizeOps makes a prim func of it, which is compiled; it has a NumPy meaning besides.",
        "evaluation": "The virtual machine computes it with NumPy.",
        "lowering": "A pass, an instruction or a function of the machine does it.",
        "shown": "It is read, typed, printed and shown, and not run.",
    }
)
_AGAINST = """\
## Against apache-tvm 0.27

The wheel registers 230 operators, and each has an entry here. `nn.relu6`, `linear` and `masked_fill`, which are
operators here, are functions of Python there that make calls of others.
What an entry does not do, and why:
"""
_AT_SPECIAL_VALUES = """
## At special values

An operator means one thing for NaN, infinities, zeros with a sign, subnormal numbers, the ends of integers, ties and no
elements, whether it is evaluated, folded or run: what apache-tvm gives where both run it, for a program is to show here
what it does there. Arithmetic and choice are the same bits; of functions and products the two are as near as
`tests/ops/bounds.py` says and derives. This is what to know besides:
"""


def markdown() -> str:
    """Return the page: counts, what is missing and why, and a table per family."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    counts = Counter(spec.realized_by for spec in OPS.values())
    complete = sum(spec.is_complete for spec in OPS.values())
    yield _HEAD
    yield f"Of {len(OPS)} operators {complete} run.\n"
    yield from _table(
        ("runs by", "operators", "what that means"), ((how, str(counts[how]), text) for how, text in MEANING.items())
    )
    yield f"\n{_AGAINST}"
    yield from _table(
        ("operator", "what is missing", "why"),
        ((f"`{spec.short_name}`", _missing(spec), spec.reason) for spec in OPS.values() if spec.realized_by == "shown"),
    )
    yield "\nThese have no kernel; the machine computes them:\n"
    evaluated = [spec for spec in OPS.values() if spec.realized_by == "evaluation"]
    reasons = dict.fromkeys(spec.reason for spec in evaluated)
    yield from _table(
        ("operators", "why"),
        ((", ".join(f"`{spec.short_name}`" for spec in evaluated if spec.reason == why), why) for why in reasons),
    )
    yield _AT_SPECIAL_VALUES
    said = {spec.short_name: special_values.SPECIAL_VALUES.get(spec.short_name, ()) for spec in OPS.values()}
    texts = dict.fromkeys(text for own in said.values() for text in own)
    yield from _table(
        ("operators", "what they give"),
        ((", ".join(f"`{name}`" for name, own in said.items() if text in own), text) for text in texts),
    )
    for title, specs in FAMILIES.items():
        yield f"\n## {title}\n"
        yield from _table(("operator", "what it does", "runs by", "Relay"), map(_row, specs))


def _missing(spec: OpSpec) -> str:
    return "a run among several workers" if spec.evaluate is not None else "a run"


def _row(spec: OpSpec) -> tuple[str, ...]:
    name = RELAY_NAME_OF.get(spec.name)
    relay = "" if name is None else f"`{name}`"
    return f"`{call_text(spec)}`", spec.summary, spec.realized_by, relay


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield _line(head)
    yield _line(("---",) * len(head))
    yield from map(_line, rows)


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
