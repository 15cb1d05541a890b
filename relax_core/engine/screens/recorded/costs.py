"""The answer about what a call of a recorded program costs in each of its forms."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Final

import msgspec

from relax_core.analysis.cost.costs import operators_of
from relax_core.diagnostics import DiagnosedError, Diagnostic, RunError
from relax_core.engine.debug.outcomes import diagnostic_words
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import RecordedCostsOf
from relax_core.engine.inputs import symbol_sizes
from relax_core.engine.pipelines import pipeline as pipelines
from relax_core.engine.pipelines.entries import fail
from relax_core.engine.programs.call_costs import costs_of
from relax_core.engine.programs.prim_entry import with_entries
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Progress
from relax_core.engine.replies import CostRow, CostsView
from relax_core.engine.splicing.forms import splice
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import Function
from relax_core.ir.module import IRModule
from relax_core.ir.tir import PrimFunc

_KNOWN_BY_SIZE: Final = frozenset(("moved_bytes", "peak_bytes"))
"""The figures that are lower bounds where the sizes of tensors are not known before a run."""


def costs(message: RecordedCostsOf, context: RequestContext) -> CostsView:
    """Count what one call of the entry costs in each form.

    Prim funcs alone are counted with the calls of the last whole form whose sizes are known: behind VMShapeLower they
    are values of a run.
    """
    opened = context.recorded_by(message.parcel)
    counting = _Counting(message.options)
    rows: list[CostRow] = []
    forms = opened.forms()
    for number, stage in enumerate(forms):
        if context.is_cancelled():
            raise RunError((Diagnostic("VM008", "cancelled while counting what the stages cost"),))
        context.report(Progress(f"Counting after {stage.pass_name}", number, len(forms)))
        rows.append(counting.row(opened, stage))
    if counting.function is None:
        fail("PL001", "the recording holds no function whose costs can be counted")
    sizes = {var.name: size for var, size in symbol_sizes(counting.function, dict(message.options.sizes)).items()}
    return CostsView(counting.entry, tuple(sizes.items()), tuple(rows))


class _Counting:
    """What is known of the program so far: its entry, and the form whose calls are those of later prim funcs."""

    def __init__(self, options: Program) -> None:
        self.entry = options.entry
        self.function: Function | None = None
        self._sizes = dict(options.sizes)
        self._operators: Counter[str] | None = None
        self._base: IRModule | None = None

    def row(self, opened: "pipelines.Pipeline", stage: "pipelines.RecordedStage") -> CostRow:
        """Return the figures of the next form, or why there are none."""
        named = CostRow(stage.number, stage.pass_name)
        try:
            module = with_entries(opened.module(stage.number)) if self._base is None else opened.module(stage.number)
        except DiagnosedError as error:
            return msgspec.structs.replace(named, hindrance=diagnostic_words(error.diagnostics[0]))
        if dialect_of(module) == "relay":
            return msgspec.structs.replace(named, hindrance="costs are counted in Relax, and this is Relay")
        if module.relax_functions:
            return self._of_whole(named, module)
        if self._base is None:
            return msgspec.structs.replace(named, hindrance="it holds no function that can be called")
        kernels = splice(module, {var.name: item for var, item in self._base.prim_funcs}).kernels
        if not kernels:
            return msgspec.structs.replace(named, hindrance="it holds none of the program's functions")
        self._base = _with_kernels(self._base, kernels)
        return msgspec.structs.replace(named, **asdict(costs_of(self._base, self.entry, self._sizes)))

    def _of_whole(self, named: CostRow, module: IRModule) -> CostRow:
        functions = {var.name: item for var, item in module.relax_functions}
        entry = self.entry or ("main" if "main" in functions else next(iter(functions)))
        if entry not in functions:
            return msgspec.structs.replace(named, hindrance=f"there is no function `{entry}`")
        self.entry, self.function = entry, self.function or functions[entry]
        found = costs_of(module, entry, self._sizes)
        if self._base is None or not _KNOWN_BY_SIZE.intersection(found.lower_bounds):
            self._base = module
        after = operators_of(module)
        before = after if self._operators is None else self._operators
        self._operators = after
        added, removed = (tuple(item.most_common()) for item in (after - before, before - after))
        return msgspec.structs.replace(named, **asdict(found), added=added, removed=removed)


def _with_kernels(module: IRModule, kernels: Mapping[str, PrimFunc]) -> IRModule:
    """Return a module with other prim funcs in the places of those of the same name."""
    changed = (replace(item, function=kernels.get(item.var.name, item.function)) for item in module.definitions)
    return replace(module, definitions=tuple(changed))
