"""What a module is like behind its passes, in figures that two of them can be compared by."""

from collections import Counter
from hashlib import sha256

from relax_core.analysis.cost.costs import operators_of
from relax_core.diagnostics import CompileError, RunError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.protocol import CostsOf, MeasuredOf
from relax_core.engine.replies import CostRow, Measured
from relax_core.engine.screens.cost_views import costs
from relax_core.present.regions.region_report import region_report


def measured(message: MeasuredOf, context: RequestContext) -> Measured:
    """Run the passes, and count what they leave.

    Raises:
        DiagnosedError: the module is ill-formed, or a pass fails.
    """
    opened = context.opened_by(message.program)
    opened.source.require_sound(reads_data=False)
    stages = opened.compilation.stages(context.report, context.is_cancelled)
    if stages and stages[-1].is_failed:
        raise CompileError(stages[-1].diagnostics)
    module = opened.compilation.module_at(len(stages))
    text = opened.compilation.printed(len(stages)).text
    targets = Counter(row.target for row in region_report(module).regions)
    return Measured(
        sha256(text.encode("utf-8", "replace")).hexdigest(),
        tuple(sorted(operators_of(module).items())),
        tuple(sorted(targets.items())),
        _costs(message, context),
    )


def _costs(message: MeasuredOf, context: RequestContext) -> CostRow:
    try:
        return costs(CostsOf(message.program), context).rows[-1]
    except RunError as error:
        if context.is_cancelled():
            raise
        # There is no function to call; what the text holds is counted all the same.
        return CostRow(0, "", hindrance=error.diagnostics[0].message)
