"""The answer about what each pass would make of the module at a stage."""

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.programs.effects import PassEffect, pair_effects, pass_effects
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import EffectsOf, Progress
from relax_core.engine.replies import EffectRow, EffectsView, PairRow
from relax_core.engine.screens.stage_views import reach
from relax_core.present.diffs.diff import line_counts


def effects(message: EffectsOf, context: RequestContext) -> EffectsView:
    """Try every pass on the module at a stage, and each two of those that change it in both orders."""
    opened = context.opened_by(message.program)
    opened.source.require_sound()
    reach(opened, message.stage, context)
    return opened.remembered(message, lambda: _tried(message.stage, opened, context))


def _tried(stage: int, opened: OpenProgram, context: RequestContext) -> EffectsView:
    module, tables = opened.compilation.module_at(stage), opened.source.tables
    before = opened.compilation.known_stages[:stage]

    def progress(number: int, count: int, words: str) -> None:
        if context.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while trying the passes"),))
        context.report(Progress(f"Trying {words}", number, count))

    found = list(pass_effects(module, before, tables, progress))
    text = opened.compilation.printed(stage).text
    pairs = pair_effects(found, before, tables, progress)
    name = before[-1].pass_name if before else "Source"
    rows = tuple(_row(item, text, opened) for item in found)
    return EffectsView(name, rows, tuple(PairRow(item.first, item.second, item.effect) for item in pairs))


def _row(found: PassEffect, text: str, opened: OpenProgram) -> EffectRow:
    added, removed = 0, 0
    if found.effect == "changes" and found.stage is not None:
        added, removed = line_counts(text, opened.compilation.text_of(found.stage.after).text)
    return EffectRow(found.name, found.effect, added, removed, found.is_idempotent, found.reason)
