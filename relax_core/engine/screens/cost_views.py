"""The answer about what a call costs at each stage of a pipeline."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import msgspec

from relax_core.analysis.cost.costs import operators_of
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.inputs import symbol_sizes
from relax_core.engine.programs.call_costs import costs_of
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.programs.prim_entry import with_entries
from relax_core.engine.protocol import CostsOf, Progress
from relax_core.engine.replies import CostRow, CostsView
from relax_core.ir.dialect import dialect_of
from relax_core.ir.module import IRModule


def costs(message: CostsOf, context: RequestContext) -> CostsView:
    """Run the passes, and count what one call of the entry costs at each stage that changed the module."""
    opened = context.opened_by(message.program)
    opened.source.require_sound(reads_data=False)
    return opened.remembered(message, lambda: _view(opened, context))


def _view(opened: OpenProgram, context: RequestContext) -> CostsView:
    entry, function = opened.source.entry()
    sizes = dict(opened.source.program.sizes)
    shown = tuple((var.name, size) for var, size in symbol_sizes(function, sizes).items())
    return CostsView(entry, tuple(dict(shown).items()), tuple(_rows(opened, context, entry, sizes)))


def _rows(opened: OpenProgram, context: RequestContext, entry: str, sizes: Mapping[str, int]) -> Iterator[CostRow]:
    stages = opened.compilation.stages(context.report, context.is_cancelled)
    before = operators_of(opened.compilation.module_at(0))
    for number, name in enumerate(("Source", *(item.pass_name for item in stages))):
        if number and stages[number - 1].is_failed:
            yield CostRow(number, name, hindrance=f"the pass failed: {stages[number - 1].diagnostics[0].message}")
            continue
        if number and not stages[number - 1].is_changed:
            continue
        if context.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while counting what the stages cost"),))
        context.report(Progress(f"Counting after {name}" if number else "Counting", number, len(stages)))
        module = opened.compilation.module_at(number)
        after = operators_of(module)
        added, removed = (tuple(item.most_common()) for item in (after - before, before - after))
        before = after
        row = _row(number, name, with_entries(module, opened.source.program.entry), entry, sizes)
        yield msgspec.structs.replace(row, added=added, removed=removed)


def _row(number: int, name: str, module: IRModule, entry: str, sizes: Mapping[str, int]) -> CostRow:
    if dialect_of(module) == "relay":
        return CostRow(number, name, hindrance="costs are counted in Relax, and this is Relay")
    try:
        return CostRow(number, name, **asdict(costs_of(module, entry, sizes)))
    except KeyError:
        return CostRow(number, name, hindrance=f"there is no function `{entry}`")
