"""The operator table as text and as data: what each operator takes, and what of it there is."""

import msgspec

from relax_core.ops import OPS, find, special_values
from relax_core.ops.relay import RELAY_NAME_OF
from relax_core.ops.signature import call_text, default_text
from relax_core.ops.spec import OpSpec, Param


class OperatorParam(msgspec.Struct, frozen=True):
    """A parameter; `default` is its text, or empty."""

    name: str
    kind: str
    dtype: str
    default: str
    is_required: bool
    is_keyword: bool
    is_variadic: bool


class Operator(msgspec.Struct, frozen=True):
    """An operator. `realized_by` and `reason` tell how a call runs; see `OpSpec`."""

    name: str
    summary: str
    signature: str
    params: tuple[OperatorParam, ...]
    rule: str
    has_evaluate: bool
    has_legalize: bool
    realized_by: str
    reason: str
    special_values: str
    is_complete: bool
    is_pure: bool
    pattern_kind: str
    relay_name: str
    aliases: tuple[str, ...]
    see: str


def operators() -> tuple[Operator, ...]:
    """Return all operators by name."""
    return tuple(describe(OPS[name]) for name in sorted(OPS))


def operator(name: str) -> Operator | None:
    """Return the operator `name`, with or without "relax." or "R." before it."""
    bare = name.removeprefix("R.").removeprefix("relax.")
    spec = find(f"relax.{bare}")
    return None if spec is None else describe(spec)


def describe(spec: OpSpec) -> Operator:
    """Return what there is of an operator."""
    return Operator(
        spec.name,
        spec.summary,
        call_text(spec),
        tuple(_param(item) for item in spec.params),
        _rule(spec),
        spec.evaluate is not None,
        spec.legalize is not None,
        spec.realized_by,
        spec.reason,
        " ".join(special_values.SPECIAL_VALUES.get(spec.short_name, ())),
        spec.is_complete,
        spec.is_pure,
        spec.pattern_kind,
        RELAY_NAME_OF.get(spec.name, ""),
        spec.aliases,
        spec.see,
    )


def _param(param: Param) -> OperatorParam:
    return OperatorParam(
        param.name,
        param.kind,
        param.dtype or "",
        default_text(param),
        param.is_required,
        param.is_keyword,
        param.is_variadic,
    )


def _rule(spec: OpSpec) -> str:
    """Return the type rule in words, as far as the rule tells it: the lines of its docstring."""
    return " ".join((spec.infer.__doc__ or "").split())


def listing(found: tuple[Operator, ...]) -> str:
    """Return a table with a line per operator, and the counts."""
    width = max((len(item.signature) for item in found), default=0)
    width = min(width, 60)
    lines = [f"{'operator':{width}}  infer evaluate legalize  Relay"]
    for item in found:
        marks = ("yes", _mark(is_there=item.has_evaluate), _mark(is_there=item.has_legalize))
        shown = item.signature if len(item.signature) <= width else f"{item.name.removeprefix('relax.')}(...)"
        lines.append(f"{shown:{width}}  {marks[0]:5} {marks[1]:8} {marks[2]:9} {item.relay_name}".rstrip())
    complete = sum(item.is_complete for item in found)
    return "\n".join([*lines, f"{len(found)} operators, {complete} complete"])


def _mark(*, is_there: bool) -> str:
    return "yes" if is_there else "-"


def page(item: Operator) -> str:
    """Return all that there is about one operator."""
    lines = [item.signature, f"    {item.summary}"]
    for param in item.params:
        kind = f"{param.kind} of {param.dtype}" if param.dtype else param.kind
        default = f", default {param.default}" if param.default else ""
        lines.append(f"    {param.name}: {kind}{default}")
    facts = {
        "type rule": item.rule,
        "runs by": f"{item.realized_by}. {item.reason}".rstrip(),
        "at special values": item.special_values,
        "evaluate": _mark(is_there=item.has_evaluate),
        "legalize": _mark(is_there=item.has_legalize),
        "pattern kind": item.pattern_kind,
        "effects": "none" if item.is_pure else "yes",
        "Relay name": item.relay_name,
        "also written": ", ".join(item.aliases),
        "in TVM": item.see,
    }
    return "\n".join([*lines, *(f"    {name}: {text}" for name, text in facts.items() if text)])
