"""The operator table as text and as data: what each operator takes, and what of it there is."""

import msgspec

from relax_core.ops import OPS, find
from relax_core.ops.spec import OMITTED, REQUIRED, OpSpec, Param

# Their result has a size that only the run knows, or no elements that a kernel could compute.
EVALUATED = (
    "relax.unique",
    "relax.nonzero",
    "relax.dynamic_strided_slice",
    "relax.shape_of",
    "relax.shape_to_tensor",
    "relax.tensor_to_shape",
    "relax.null_value",
    "relax.to_vdevice",
    "relax.hint_on_device",
    "relax.memory.view",
    "relax.memory.ensure_zero_offset",
    "relax.builtin.stop_lift_params",
)
EVALUATED_FAMILIES = ("relax.inspect.", "relax.ccl.", "relax.dist.")

# Passes lower these, and the bytecode has instructions for what they become.
LOWERED = (
    "relax.print",
    "relax.assert_op",
    "relax.call_tir",
    "relax.call_tir_inplace",
    "relax.call_dps_packed",
    "relax.call_pure_packed",
    "relax.call_inplace_packed",
    "relax.call_builtin_with_ctx",
    "relax.make_closure",
    "relax.invoke_closure",
    "relax.invoke_pure_closure",
    "relax.builtin.alloc_tensor",
    "relax.memory.alloc_storage",
    "relax.memory.alloc_tensor",
    "relax.memory.kill_tensor",
    "relax.memory.kill_storage",
    "relax.vm.alloc_storage",
    "relax.vm.alloc_tensor",
    "relax.vm.kill_object",
    "relax.vm.call_tir_dyn",
)


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
    """An operator. It is complete if it is typed, and computed or lowered as far as its result allows."""

    name: str
    summary: str
    signature: str
    params: tuple[OperatorParam, ...]
    rule: str
    has_evaluate: bool
    has_legalize: bool
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
        signature(spec),
        tuple(_param(item) for item in spec.params),
        _rule(spec),
        spec.evaluate is not None,
        spec.legalize is not None,
        is_complete(spec),
        spec.is_pure,
        spec.pattern_kind,
        spec.relay_name,
        spec.aliases,
        spec.see,
    )


def is_complete(spec: OpSpec) -> bool:
    """Tell whether nothing of the operator is missing."""
    if spec.name in LOWERED:
        return True
    needs_kernel = spec.name not in EVALUATED and not spec.name.startswith(EVALUATED_FAMILIES)
    return spec.evaluate is not None and (spec.legalize is not None or not needs_kernel)


def signature(spec: OpSpec) -> str:
    """Return how the operator is called."""
    parts: list[str] = []
    has_star = False
    for param in spec.params:
        if param.is_variadic:
            parts.append(f"*{param.name}")
            has_star = True
            continue
        if param.is_keyword and not has_star:
            parts.append("*")
            has_star = True
        default = _default(param)
        parts.append(f"{param.name}={default}" if default else param.name)
    return f"R.{spec.short_name}({', '.join(parts)})"


def _default(param: Param) -> str:
    match param.default:
        case default if default in (REQUIRED, OMITTED):
            return "" if default is REQUIRED else "None"
        case str(text):
            return f'"{text}"'
        case tuple(values):
            return f"[{', '.join(map(str, values))}]"
        case value:
            return str(value)


def _param(param: Param) -> OperatorParam:
    return OperatorParam(
        param.name,
        param.kind,
        param.dtype or "",
        _default(param),
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
        "evaluate": _mark(is_there=item.has_evaluate),
        "legalize": _mark(is_there=item.has_legalize),
        "pattern kind": item.pattern_kind,
        "effects": "none" if item.is_pure else "yes",
        "Relay name": item.relay_name,
        "also written": ", ".join(item.aliases),
        "in TVM": item.see,
    }
    return "\n".join([*lines, *(f"    {name}: {text}" for name, text in facts.items() if text)])
