"""The page of all passes, from their table, with a program before and after each."""

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import relax_core as rc
from relax_core.engine.documents.pass_examples import Example, examples
from relax_core.ir.dialect import dialect_of
from relax_core.passes.core import Pass, Stage
from relax_core.passes.library import PASSES
from relax_core.passes.options import described, option_types
from tools.docs.api_page import documented

_TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {"relax": "Passes on Relax", "relay": "Passes on Relay", "tir": "Passes and schedules on TIR", "any": "Others"}
)
_INTRODUCTION = """# Passes

Made of the table of passes, and each example by running the pass on a program. Names and options are those of TVM, so
that a pipeline is written as in `FuseOps(max_depth=4), FuseTIR`; `relay.FuseOps` says which is meant where two
languages have one of a name. Named pipelines are `zero`, `default_build`, `default`, `cpu_generic` and `s_tir`.
"""


def run_example(example: Example) -> Stage:
    """Run the pass of an example on its program and return the stage."""
    module = rc.parse(example.program)
    passes: Any = rc.rules(example.rules) if example.rules else example.step
    tables = rc.read_tables(example.table) if example.table else rc.Tables()
    return rc.run_pipeline(module, passes, tables=tables)[-1]


def passes_page() -> str:
    """Return the page."""
    lines = [_INTRODUCTION]
    for dialect, title in _TITLES.items():
        found = [pass_ for (key, _), pass_ in PASSES.items() if key == dialect]
        if found:
            lines += [f"## {title}\n", *(line for pass_ in found for line in _pass(dialect, pass_))]
    return "\n".join(lines)


def _pass(dialect: str, pass_: Pass) -> Iterator[str]:
    yield f"({dialect}.{pass_.name})="
    yield f"### {pass_.name}\n"
    yield f"{pass_.summary}\n"
    details = inspect.getdoc(pass_.run) or ""
    yield f"{documented(details)}\n"
    yield from _options(pass_)
    for words, names in (("Needs", pass_.needs), ("Gives", pass_.gives), ("Breaks", pass_.breaks)):
        if names:
            yield f"{words}: {', '.join(names)}.\n"
    if pass_.see:
        yield f"In TVM: `{pass_.see}`\n"
    example = examples().get(f"{dialect}.{pass_.name}")
    yield from _example(example) if example is not None else ()


def _options(pass_: Pass) -> Iterator[str]:
    fields = dataclasses.fields(pass_.options)
    if not fields:
        return
    declared = option_types(pass_)
    yield from ("| option | takes | default |", "| --- | --- | --- |")
    for item in fields:
        default = "" if item.default is dataclasses.MISSING else f"`{item.default!r}`".replace("|", "\\|")
        takes = described(declared.get(item.name, Any)).replace("|", "\\|")
        yield f"| `{item.name}` | {takes} | {default} |"
    yield ""
    text = inspect.getdoc(pass_.options) or ""
    if text and not text.startswith(f"{pass_.options.__name__}("):
        yield f"{documented(text)}\n"


def _example(example: Example) -> Iterator[str]:
    stage = run_example(example)
    lexer = "text" if dialect_of(stage.before) == "relay" else "python"
    yield f"`{example.step}` makes of\n" if not example.rules else "It makes of\n"
    yield f"```{lexer}\n{_shown(rc.script(stage.before))}\n```\n"
    if stage.is_failed:
        yield f"a diagnostic: {stage.diagnostics[0].message}.\n"
        return
    yield "this:\n"
    lexer = "text" if dialect_of(stage.after) == "relay" else "python"
    yield f"```{lexer}\n{_shown(rc.script(stage.after))}\n```\n"


def _shown(text: str) -> str:
    """Return the text of a module without the comments that say what it imports."""
    return re.sub(r"\A(?:# from [^\n]*\n)*", "", text.strip()).strip()
