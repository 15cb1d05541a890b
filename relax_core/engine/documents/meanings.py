"""What a name means: a diagnostic, pass, operator, instruction, remark, word of the glossary, and more.

Nothing is written here: the texts are those of the tables and of the docstrings beside what they are about.
"""

import dataclasses
import inspect
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from relax_core.codes import CODES
from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.documents.glossary import terms
from relax_core.frontend.tvmscript.names import suggestion
from relax_core.jit.transforms.registry import SUMMARIES
from relax_core.ops import OPS, special_values
from relax_core.ops.packed.registry import DECLARED
from relax_core.ops.relay import RELAY_NAME_OF
from relax_core.ops.signature import call_text
from relax_core.ops.spec import OpSpec
from relax_core.passes import library
from relax_core.passes.core import Pass
from relax_core.passes.properties import PROPERTIES
from relax_core.present.catalog_of.catalog_models import GLOSSARY, Explanation, Explanations
from relax_core.present.catalog_of.operator_docs import MEANING
from relax_core.vm.builtin.builtins import BUILTINS

_UNKNOWN: Final = "EN005"
_RAISES: Final = re.compile(r"^Raises:\n(?P<what>(?: +.*\n?)*)", re.MULTILINE)
_CODE: Final = re.compile(r"\b[A-Z]{2}\d{3}\b")
_LANGUAGES: Final = MappingProxyType({"relax": " on Relax", "relay": " on Relay", "tir": " on TIR", "any": ""})


def explanations(*names: str, language: Literal["", "relax", "relay"] = "") -> Explanations:
    """Return what each of some names means; names that mean nothing are left out.

    Passes on Relax and on Relay share names: those on the other `language` are left out, if one is given.

    Raises:
        CompileError: EN005 if none of them means anything.
    """
    found = dict.fromkeys(item for name in names for item in _index().get(_key(name), ()))
    if not found:
        message = f"nothing is known by the name `{'`, `'.join(names)}`"
        raise CompileError((Diagnostic(_UNKNOWN, message, hint=suggestion(names[0], _names()) if names else ""),))
    others = {f"pass{_LANGUAGES[item]}" for item in ("relax", "relay") if language and item != language}
    return Explanations(tuple(item for item in found if item.kind not in others) or tuple(found))


def _names() -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.name for found in _index().values() for item in found))


def _key(name: str) -> str:
    return name.strip().strip("`").casefold()


@lru_cache(maxsize=1)
def _index() -> Mapping[str, tuple[Explanation, ...]]:
    """Return all explanations by each of the names that they are found by, without regard to case.

    A name with its kind before it, `remark/missed`, means that one only.
    """
    found: dict[str, list[Explanation]] = {}
    for source in _SOURCES:
        for names, explanation in source():
            for name in dict.fromkeys(map(_key, (*names, f"{explanation.kind}/{explanation.name}"))):
                found.setdefault(name, []).append(explanation)
    return MappingProxyType({name: tuple(items) for name, items in found.items()})


_Found = Iterator[tuple[tuple[str, ...], Explanation]]
"""Explanations, each with the names that it is found by."""


def _diagnostics() -> _Found:
    for code, text in CODES.items():
        yield (code,), Explanation(code, "diagnostic", text)


def _passes() -> _Found:
    for (dialect, name), pass_ in library.PASSES.items():
        yield (name, f"{dialect}.{name}"), Explanation(name, f"pass{_LANGUAGES[dialect]}", *_of_pass(pass_))


def _of_pass(pass_: Pass) -> tuple[str, tuple[tuple[str, str], ...]]:
    told = inspect.getdoc(pass_.run) or ""
    stops = (_CODE.findall(found["what"]) for found in _RAISES.finditer(told))
    facts = {
        "Options": ", ".join(f"`{_option(item)}`" for item in dataclasses.fields(pass_.options)),
        "Needs": "; ".join(f"{_module(name)}{_makers(name)}" for name in pass_.needs),
        "Gives": "; ".join(map(_module, pass_.gives)),
        "May undo": "; ".join(map(_module, pass_.breaks)),
        "Stops with": ", ".join(dict.fromkeys(code for codes in stops for code in codes)),
        "In TVM": f"`{pass_.see}`" if pass_.see else "",
    }
    text = _paragraphs(f"{pass_.summary}\n\n{_RAISES.sub('', told)}")
    return text, tuple((label, fact) for label, fact in facts.items() if fact)


def _option(item: "dataclasses.Field[object]") -> str:
    return item.name if item.default is dataclasses.MISSING else f"{item.name}={item.default!r}"


def _module(name: str) -> str:
    return f"a module {PROPERTIES[name].claim}"


def _makers(name: str) -> str:
    """Say which passes give a property."""
    makers = [f"`{pass_.name}`" for pass_ in library.PASSES.values() if name in pass_.gives]
    return f", which {' or '.join(makers)} gives" if makers else ""


def _operators() -> _Found:
    for spec in OPS.values():
        relay = RELAY_NAME_OF.get(spec.name, "")
        full = (spec.name, *spec.aliases, *((relay,) if relay else ()))
        short = tuple(name.removeprefix("relax.") for name in full)
        yield (
            (*full, *short, *(f"R.{name}" for name in short)),
            Explanation(f"R.{spec.short_name}", "operator", *_of_operator(spec, relay)),
        )


def _of_operator(spec: OpSpec, relay: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    special = special_values.SPECIAL_VALUES.get(spec.short_name, ())
    facts = {
        "Called": f"`{call_text(spec)}`",
        "Runs": MEANING[spec.realized_by],
        "Why so": spec.reason,
        "At special values": " ".join(special),
        "In Relay": f"`{relay}`" if relay else "",
        "In TVM": f"`{spec.see}`" if spec.see else "",
    }
    return _paragraphs(spec.summary), tuple((label, fact) for label, fact in facts.items() if fact)


def _packed() -> _Found:
    for spec in DECLARED.all():
        facts = (("Takes and gives", f"`{spec.schema}`"), *((("In", f"`{spec.see}`"),) if spec.see else ()))
        yield (spec.name,), Explanation(spec.name, "packed function", _paragraphs(spec.summary), facts)


def _machine() -> _Found:
    for name, builtin in BUILTINS.items():
        text = _paragraphs(inspect.getdoc(builtin) or "")
        yield (name, name.rpartition(".")[2]), Explanation(name, "function of the machine", text)


def _words() -> _Found:
    told: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
    for kind, texts in told.items():
        for name, text in texts.items():
            yield (name,), Explanation(name, kind, text.strip())


def _transformations() -> _Found:
    for name, summary in SUMMARIES.items():
        yield (name,), Explanation(name, "transformation of kernels", _paragraphs(summary))


def _glossary() -> _Found:
    for term in terms():
        yield (
            (term.title, *term.words),
            Explanation(term.title, GLOSSARY, _paragraphs(term.meaning[:1].upper() + term.meaning[1:])),
        )


def _paragraphs(text: str) -> str:
    """Return a docstring with each paragraph in one line, which ends as a sentence does."""
    parts = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return "\n\n".join(part if part.endswith((".", ":")) else f"{part}." for part in parts if part)


_SOURCES: Final[tuple[Callable[[], _Found], ...]] = (
    _diagnostics,
    _passes,
    _operators,
    _packed,
    _machine,
    _words,
    _transformations,
    _glossary,
)
