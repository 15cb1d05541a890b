"""The run in a report: what it is given, what comes out, each step with what it writes, and the values."""

from typing import Final

from relax_core.diagnostics import plural
from relax_core.engine.debug import changed
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.protocol import Program, Progress, SourceView
from relax_core.engine.screens import text_views
from relax_core.present.escape import markup
from relax_core.present.report.elements import block, chip, pairs, part, problems, said
from relax_core.present.report.page import ReportSection
from relax_core.present.report.pieces import Piece, Rank
from relax_core.present.report.runs import parameters, steps, steps_table, values_table, variables
from relax_core.present.running.run import present_run
from relax_core.present.running.run_models import Run
from relax_core.vm.recording.trace import Trace

NAME: Final = "run"
_OUTPUT_LINES: Final = 200


def run_section(program: Program, view: SourceView, context: RequestContext) -> ReportSection:
    """Run the program, and tell how that went."""
    opened = context.opened_by(program)
    trace = changed.trace_of(opened, program.changes, context)
    context.report(Progress("Writing the run"))
    run = present_run(changed.recording(opened, trace, program.changes))
    given, held = tuple(parameters(run)), variables(run)
    entry = run.functions[run.frames[0].function].name if run.frames else program.entry
    pieces = [
        Piece(pairs(_facts(program, view, run, entry))),
        Piece(f"<h3>Inputs</h3>{values_table(given, 'Inputs')}" if given else "", "the inputs", Rank.RUN),
        Piece(_outcome(run, trace)),
        Piece(
            f"<h3>Values of <code>{markup(entry)}</code></h3>{values_table(held, 'Values')}" if held else "",
            "the values",
            Rank.RUN,
        ),
        Piece(f"<h3>Steps</h3>{_steps(run)}", "the steps", Rank.RUN),
    ]
    return ReportSection(NAME, "Run", tuple(pieces), has_errors=run.problem is not None)


def _facts(program: Program, view: SourceView, run: Run, entry: str) -> tuple[tuple[str, str], ...]:
    made_up = f"made up from seed {program.seed}"
    sizes = ", ".join(f"{name} = {size}" for name, size in view.sizes)
    facts = [
        ("Function", f"<code>{markup(entry)}</code>"),
        ("Inputs", "given as an archive" if program.inputs is not None else made_up),
        ("Sizes", markup(sizes)),
        ("Kernels", program.mode),
        ("Events", f"{run.total:,}"),
    ]
    return tuple((label, value) for label, value in facts if value)


def _outcome(run: Run, trace: Trace) -> str:
    """Write how the run ended: its result and what it printed, or why it stopped."""
    ran = text_views.executed(trace)
    tone = {"returned": "ok", "error": "error", "limit": "warning"}[run.outcome]
    words = {"returned": "✓ returned", "error": "✕ stopped", "limit": "▲ stopped at a limit"}[run.outcome]
    found = [f"<h3>Outcome</h3><p>{chip(words, tone)} {said(run.end) if run.problem is None else ''}</p>"]
    if run.problem is not None:
        found.append(problems((run.problem,), "source"))
    if ran.stand_ins:
        found.append(f"<p>{said(ran.stand_ins)}</p>")
    if ran.result:
        found.append(f"<h3>Result</h3>{block(ran.result)}")
    if ran.output:
        left = len(ran.output) - _OUTPUT_LINES
        more = f"<p>The first {_OUTPUT_LINES} of {len(ran.output):,} lines.</p>" if left > 0 else ""
        found.append(f"<h3>Printed</h3>{block(chr(10).join(ran.output[:_OUTPUT_LINES]))}{more}")
    return "".join(found)


def _steps(run: Run) -> str:
    found, shown = steps(run), len(run.events)
    beyond = f"<p>These are the first {shown:,} of {run.total:,} events.</p>" if shown < run.total else ""
    return part(plural(len(found), "step"), steps_table(found) + beyond, is_open=True)
