"""From the text of a file in TVMScript to its modules."""

import re
from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from relax_core.diagnostics import Diagnostic
from relax_core.frontend.layout import TAB_WIDTH
from relax_core.frontend.tvmscript import remedies
from relax_core.frontend.tvmscript.context import Context
from relax_core.frontend.tvmscript.depth import without_deep_statements
from relax_core.frontend.tvmscript.elsewhere import point_at_definitions
from relax_core.frontend.tvmscript.known import KnownFunctions
from relax_core.frontend.tvmscript.module import read_file
from relax_core.frontend.tvmscript.recover import parse_with_recovery
from relax_core.ir.module import IRModule
from relax_core.source import Source, Span

MAX_DEPTH = 80
_UNREADABLE = re.compile("[\0\ud800-\udfff]")


def read_text(
    source: Source,
    text: str,
    constants: "Sequence[npt.NDArray[Any] | None]" = (),
    known: KnownFunctions | None = None,
) -> tuple[tuple[IRModule, ...], list[Diagnostic]]:
    """Read the modules of `source`, which stands for the user's `text`; every error is among the diagnostics.

    `constants` are the tensors of the metadata table, where the text has none of its own. Functions that are `known`
    are not read; a text with an error is read without them.
    """
    modules, found = _read(Context(source, known=known), text, constants)
    if known is None or not any(item.severity == "error" for item in found):
        return modules, found
    known.forget()
    return _read(Context(source), text, constants)


def _read(
    context: Context, text: str, constants: "Sequence[npt.NDArray[Any] | None]"
) -> tuple[tuple[IRModule, ...], list[Diagnostic]]:
    source = context.source
    if constants:
        # apache-tvm has named the kind of its tensors in two ways.
        context.tables["metadata"] = dict.fromkeys(("ir.GenericConst", "relax.expr.Constant"), constants)
    _report_unreadable(context, text)
    modules: tuple[IRModule, ...] = ()
    if not context.diagnostics or all(item.severity == "note" for item in context.diagnostics):
        tree = parse_with_recovery(context)
        if tree is not None:
            modules = read_file(context, without_deep_statements(context, tree, MAX_DEPTH))
            point_at_definitions(context, tree)
            if context.known is None and any(item.severity == "error" for item in context.diagnostics):
                remedies.offer_mends(context, tree)
            if not modules and not any(item.severity == "error" for item in context.diagnostics):
                hint = "a module is a class below @I.ir_module"
                context.report("PA015", Span(source, 0, 0), "the text holds no module", hint)
    return modules, context.diagnostics


def _report_unreadable(context: Context, text: str) -> None:
    source = context.source
    is_plain = context.is_ascii and "\0" not in source.text
    found = None if is_plain else _UNREADABLE.search(source.text)
    if found:
        span = Span(source, found.start(), found.end())
        context.report("PA002", span, f"the character {found[0]!r} is not text")
        return
    if "\t" in text and any(line.lstrip(" ").startswith("\t") for line in text.splitlines()):
        message = f"tabs at the start of lines were expanded to {TAB_WIDTH} columns"
        context.report("PA021", Span(source, 0, 0), message, severity="note")
