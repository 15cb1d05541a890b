"""Answers about single rewrites of a stage: the module before and after one, and what the others make without it."""

from dataclasses import replace

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import RewriteOf
from relax_core.engine.replies import RewriteView
from relax_core.engine.screens.stage_views import reach
from relax_core.engine.screens.text_views import NO_LOG
from relax_core.ir.module import IRModule
from relax_core.passes.core import Stage
from relax_core.passes.single_rewrites import after_rewrites, single_rewrites, without_rewrite
from relax_core.present.diffs.diff import diff_pages, page_of
from relax_core.present.problems import problems_of


def rewrite(message: RewriteOf, context: RequestContext) -> RewriteView:
    """Set the text after a rewrite beside the text before it, or the one without it beside the one with all."""
    opened = context.opened_by(message.program)
    reach(opened, message.stage, context)
    return opened.remembered(message, lambda: _compared(message, opened))


def _compared(message: RewriteOf, opened: OpenProgram) -> RewriteView:
    known = opened.compilation.known_stages
    if not 0 < message.stage <= len(known):
        raise CompileError((Diagnostic("EN005", f"the pipeline has no stage {message.stage} with rewrites"),))
    stage, number = known[message.stage - 1], message.number
    numbers = tuple(number for number, _ in single_rewrites(stage))
    if message.is_left_out:
        before, made = stage.left_module, without_rewrite(stage, number)
        titles = "With all rewrites", f"Without rewrite {number}"
    else:
        made = after_rewrites(stage, number)
        earlier = max((item for item in numbers if item < number), default=0)
        before = _module(after_rewrites(stage, earlier))
        titles = f"Before rewrite {number}", f"After rewrite {number}"
    texts = tuple(opened.compilation.text_of(module) for module in (before, _module(made)))
    # What the modules share with the stage before has the numbers there.
    index = opened.compilation.index(message.stage - 1)
    pages = tuple(replace(page_of(text, index), title=title) for text, title in zip(texts, titles, strict=True))
    rule = stage.log.replacements[number - 1].rule
    return RewriteView(
        number,
        rule,
        diff_pages(pages[0], pages[1], NO_LOG),
        texts[1].text,
        numbers,
        problems_of(made.diagnostics),
        message.is_left_out,
    )


def _module(made: Stage) -> IRModule:
    """Return the module that a part of a pass left, an ill-formed one as well.

    Raises:
        CompileError: it left none.
    """
    if made.is_failed and made.rejected is None:
        raise CompileError(made.diagnostics)
    return made.left_module
