"""The schema of an operator as one line of text."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.ops.spec import OMITTED, REQUIRED, OpSpec, Param, ParamKind

_WORDS: Mapping[ParamKind, str] = MappingProxyType(
    {"axes": "int64[]", "ints": "int64 or int64[]", "tuple": "tensor[]", "expr": "any"}
)


def schema_text(spec: OpSpec) -> str:
    """Return the parameters with their types and defaults: `R.nn.softmax(data: tensor, axis: int64 = -1)`."""
    return _written(spec, is_typed=True)


def call_text(spec: OpSpec) -> str:
    """Return how the operator is called: `R.nn.softmax(data, axis=-1)`."""
    return _written(spec, is_typed=False)


def _written(spec: OpSpec, *, is_typed: bool) -> str:
    parts: list[str] = []
    has_star = False
    for param in spec.params:
        head = f"{param.name}: {type_word(param)}" if is_typed else param.name
        if param.is_variadic:
            parts.append(f"*{head}")
            has_star = True
            continue
        if param.is_keyword and not has_star:
            parts.append("*")
            has_star = True
        default = default_text(param)
        equals = " = " if is_typed else "="
        parts.append(f"{head}{equals}{default}" if default else head)
    return f"R.{spec.short_name}({', '.join(parts)})"


def type_word(param: Param) -> str:
    """Return what may stand for a parameter, in a word: `tensor`, `int64`, `int64[]`."""
    if param.kind == "prim":
        return param.dtype or "scalar"
    return _WORDS.get(param.kind, param.kind)


def default_text(param: Param) -> str:
    """Return the default as it is written in a call, empty if there is none."""
    match param.default:
        case default if default in (REQUIRED, OMITTED):
            return "" if default is REQUIRED else "None"
        case str(text):
            return f'"{text}"'
        case tuple(values):
            return f"[{', '.join(map(str, values))}]"
        case value:
            return str(value)
