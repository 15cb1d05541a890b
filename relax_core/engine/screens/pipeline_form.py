"""A pipeline as a list that is edited: the passes that it names, and those that there are."""

import dataclasses
from typing import Any, Literal, get_args, get_origin

from relax_core.diagnostics import CompileError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.protocol import PipelineFormOf
from relax_core.passes.core import Pass
from relax_core.passes.options import option_types
from relax_core.passes.own import OWN_PASSES
from relax_core.passes.pipeline import EVERYWHERE, Step, parse_pipeline
from relax_core.present.editing.pipeline_models import (
    GivenOption,
    GivenPass,
    KnownPass,
    OptionKind,
    PassOption,
    PipelineForm,
)
from relax_core.present.problems import problems_of


def pipeline_form(message: PipelineFormOf, context: RequestContext) -> PipelineForm:
    """Read the pipeline of a program as a list; one that cannot be read gives its problems."""
    source = context.opened_by(message.program).source
    text = source.pipeline
    # What is Relax may become no Relay again, so that a pipeline of Relax has no passes of Relay.
    dialects = (source.dialect, *EVERYWHERE, *(("relax",) if source.dialect == "relay" else ()))
    passes = tuple(item for item in OWN_PASSES.all().values() if item.dialect in dialects)
    known = tuple(map(_known, passes))
    try:
        steps = parse_pipeline(text, source.dialect)
    except CompileError as error:
        return PipelineForm(text, (), known, problems_of(error.diagnostics))
    return PipelineForm(text, tuple(_given(step, passes) for step in steps), known)


def _known(pass_: Pass) -> KnownPass:
    hints = option_types(pass_)
    options = tuple(_option(item, hints.get(item.name)) for item in dataclasses.fields(pass_.options))
    return KnownPass(pass_.name, pass_.dialect, pass_.summary, options)


def _option(item: "dataclasses.Field[Any]", hint: Any) -> PassOption:
    kind = _kind(hint)
    default = "" if item.default is dataclasses.MISSING else _shown(kind, item.default)
    choices = tuple(map(str, get_args(hint))) if kind == "choice" else ()
    return PassOption(item.name, kind, default, choices)


def _kind(hint: Any) -> OptionKind:
    if hint is bool:
        return "flag"
    if hint is int:
        return "number"
    if hint is str:
        return "text"
    if hint == tuple[str, ...]:
        return "list"
    is_choice = get_origin(hint) is Literal and all(isinstance(item, str) for item in get_args(hint))
    return "choice" if is_choice else "literal"


def _shown(kind: OptionKind, value: Any) -> str:
    """Return a value as the field of its option shows it."""
    match kind:
        case "text" | "choice":
            return str(value)
        case "list":
            return ", ".join(map(str, value))
        case _:
            return repr(value)


def _given(step: Step, passes: tuple[Pass, ...]) -> GivenPass:
    name = step.text.partition("(")[0].strip()
    defaults = {item.name: item.default for item in dataclasses.fields(step.options)}
    hints = option_types(step.pass_)
    given = tuple(
        GivenOption(item, _shown(_kind(hints.get(item)), value), repr(value))
        for item, default in defaults.items()
        if (value := getattr(step.options, item)) != default
    )
    return GivenPass(name, passes.index(step.pass_), given)
