"""The packed functions with schemas as text and as data: what each takes, gives and writes."""

import msgspec

from relax_core.ops.packed.registry import DECLARED
from relax_core.ops.packed.schema import REQUIRED, SchemaParam
from relax_core.ops.packed.spec import AtLeast, AxisLimit, Choice, Limit, PackedSpec


class PackedParam(msgspec.Struct, frozen=True):
    """A parameter; `default` is its text, or empty. `is_written` is a tensor that the function writes."""

    name: str
    type: str
    default: str
    is_required: bool
    is_keyword: bool
    is_written: bool
    limits: tuple[str, ...]


class PackedFunction(msgspec.Struct, frozen=True):
    """A packed function. `call` is how a program calls it."""

    name: str
    summary: str
    schema: str
    call: str
    params: tuple[PackedParam, ...]
    results: tuple[str, ...]
    is_pure: bool
    has_type_rule: bool
    see: str


def packed_functions() -> tuple[PackedFunction, ...]:
    """Return the packed functions that have a schema, by name: those of the library and of the host."""
    return tuple(map(describe_packed, DECLARED.all()))


def packed_function(name: str) -> PackedFunction | None:
    """Return the packed function `name`, with or without "libtorch_" before it."""
    spec = DECLARED.find(name) or DECLARED.find(f"libtorch_{name}")
    return None if spec is None else describe_packed(spec)


def describe_packed(spec: PackedSpec) -> PackedFunction:
    """Return what is declared about a packed function."""
    return PackedFunction(
        spec.name,
        spec.summary,
        str(spec.schema),
        _call(spec),
        tuple(_param(spec, param) for param in spec.params),
        tuple(map(str, spec.result)),
        spec.is_pure,
        spec.infer is not None,
        spec.see,
    )


def _param(spec: PackedSpec, param: SchemaParam) -> PackedParam:
    default = "" if param.default is REQUIRED else str(param).partition("=")[2]
    limits = tuple(_words(limit) for limit in spec.limits if limit.param == param.name)
    return PackedParam(
        param.name,
        str(param.type),
        default,
        param.default is REQUIRED,
        param.is_keyword,
        param.type.is_written,
        limits,
    )


def _words(limit: Limit) -> str:
    match limit:
        case Choice(options=options):
            return f"one of {', '.join(map(repr, options))}"
        case AtLeast(minimum=minimum):
            return f"at least {minimum}"
        case AxisLimit(tensor=tensor, extra=extra):
            return f"an axis of {tensor}" if not extra else "an axis of the result"


def _call(spec: PackedSpec) -> str:
    """Return a call with the required arguments by position, and the others by name with their defaults."""
    required = [param.name for param in spec.inputs if param.default is REQUIRED]
    named = [str(param).partition(" ")[2] for param in spec.inputs if param.default is not REQUIRED]
    name = f'"{spec.name}"'
    if spec.outputs:
        comma = "," if len(required) == 1 else ""
        parts = (name, f"({', '.join(required)}{comma})", *named, "out_ty=R.Tensor(...)")
        return f"R.call_dps_packed({', '.join(parts)})"
    form = "R.call_pure_packed" if spec.is_pure else "R.call_packed"
    return f"{form}({', '.join((name, *required, *named))})"


def packed_listing(found: tuple[PackedFunction, ...]) -> str:
    """Return a table with a line per function."""
    return "\n".join([*(item.schema for item in found), f"{len(found)} packed functions"])


def packed_page(item: PackedFunction) -> str:
    """Return all that there is about one packed function."""
    lines = [item.schema, f"    {item.summary}"]
    for param in item.params:
        facts = (f"default {param.default}" if param.default else "", *param.limits, "written" * param.is_written)
        lines.append("    " + ", ".join([f"{param.name}: {param.type}", *(fact for fact in facts if fact)]))
    rule = "from the types and values of the arguments" if item.has_type_rule else "as the call declares"
    facts = {
        "gives": ", ".join(item.results) or "nothing",
        "type of the result": rule,
        "effects": "none" if item.is_pure else "writes the marked tensors",
        "called": item.call,
        "see": item.see,
    }
    return "\n".join([*lines, *(f"    {name}: {text}" for name, text in facts.items() if text)])
