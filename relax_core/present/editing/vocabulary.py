"""The words that every program of a language may use, with what they mean: for completion and hovers."""

from collections.abc import Iterator
from functools import lru_cache

from relax_core.analysis.device.devices import DEVICE_KINDS
from relax_core.frontend.tvmscript.names import DTYPES
from relax_core.frontend.tvmscript.relax.types import TYPE_NAMES
from relax_core.ops import OPS
from relax_core.ops.relay import RELAY_OPS
from relax_core.ops.relay.spec import REQUIRED, RelayOp
from relax_core.ops.signature import default_text, schema_text
from relax_core.ops.spec import OpSpec
from relax_core.present.catalog_of.catalog_models import Term, Vocabulary
from relax_core.present.grammar import GRAMMARS, GrammarName


@lru_cache(maxsize=2)
def vocabulary(language: GrammarName) -> Vocabulary:
    """Return the words of a language: operators first."""
    keywords = (Term(word, "keyword") for word in GRAMMARS[language].keywords if word.strip("_"))
    operators = map(_relay_operator, RELAY_OPS.values()) if language == "relay" else map(_operator, OPS.values())
    return Vocabulary((*operators, *_types(language), *keywords))


def _types(language: GrammarName) -> Iterator[Term]:
    names = TYPE_NAMES if language == "tvmscript" else ("Tensor",)
    yield from (Term(name, "type") for name in names)
    yield from (Term(name, "dtype") for name in sorted({*DTYPES.values(), "bool", "int4", "uint4"}))
    yield from (Term(name, "device") for name in sorted(set(DEVICE_KINDS.values())))


def _operator(spec: OpSpec) -> Term:
    keywords = tuple(
        f"{param.name}={default_text(param)}"
        for param in spec.params
        if param.kind != "tensor" and not param.is_variadic
    )
    return Term(spec.short_name, "operator", schema_text(spec), spec.summary, keywords)


def _relay_operator(spec: RelayOp) -> Term:
    needed = len(spec.params) - spec.optional_count
    params = (f"%{name}" if number < needed else f"%{name}?" for number, name in enumerate(spec.params))
    keywords = tuple(
        f"{attr.name}=" if attr.default is REQUIRED else f"{attr.name}={_relay_text(attr.default)}"
        for attr in spec.attrs
    )
    relax = OPS.get(spec.relax[0]) if spec.relax else None
    summary = relax.summary if relax is not None else spec.why
    return Term(spec.name, "operator", f"{spec.name}({', '.join((*params, *keywords))})", summary, keywords)


def _relay_text(value: object) -> str:
    match value:
        case str():
            return f'"{value}"'
        case bool():
            return str(value)
        case tuple():
            return f"[{', '.join(map(_relay_text, value))}]"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # a default is a tuple of scalars
        case _:
            return str(value)
