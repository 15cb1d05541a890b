"""The language of properties: what a property may ask, each form in one row, and their evaluation on a program.

A property is a measure and, for those of a module, the stage that is meant: `shape of y`, `launches after FuseOps`,
`number of R.add before LegalizeOps`, `value of y[1, 2]`, `number of bindings at the end`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from relax_core.diagnostics import DiagnosedError
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.properties import of_kernels, of_launches, of_modules, of_plans, of_runs
from relax_core.engine.properties.asked import Asked, refuse
from relax_core.engine.protocol import PropertiesOf
from relax_core.engine.replies import PropertyList, PropertyValue

_STAGE: Final = re.compile(r"(.*\S)\s+(at the end|now|(?:after|before) [\w.]+(?:#\d+)?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Measure:
    """A form of property: how it is written, with names in capitals, what it means, and how it is evaluated."""

    form: str
    meaning: str
    evaluate: Callable[..., str]

    def match(self, text: str) -> tuple[str, ...] | None:
        """Return the parts of `text` that stand where the form has capitals or a choice, `None` if it is another."""
        pattern = re.sub(r"\\?\(([a-z |]+)\\?\)", r"(\1)", re.escape(self.form).replace(r"\ ", " ").replace(r"\|", "|"))
        found = re.fullmatch(re.sub(r"\b[A-Z]+\b", "(.+)", pattern), text)
        return None if found is None else found.groups()


_FIGURES: Final = "|".join(of_modules.FIGURES)

MEASURES: Final = (
    Measure("type of NAME", "the type of a variable or function, as the text would declare it", of_modules.type_text),
    Measure("shape of NAME", "`(2, n)`, or `unknown`", of_modules.shape_text),
    Measure("rank of NAME", "how many dimensions it has", of_modules.rank_text),
    Measure("dtype of NAME", "such as `float32`", of_modules.dtype_text),
    Measure("number of (loops|blocks) in NAME", "of a prim func", of_modules.count_in),
    Measure("number of instructions in NAME", "of a function of the bytecode", of_runs.instruction_count),
    Measure("number of registers in NAME", "of a frame of a function of the bytecode", of_runs.register_count),
    Measure("number of regions", "of the tables of patterns", of_plans.region_count),
    Measure("number of matches of NAME", "of a pattern of the tables", of_plans.match_count),
    Measure("number of offloaded operators", "those that are in regions", of_plans.offloaded_count),
    Measure("reason of pair NUMBER", "why two regions stayed apart: `let`, `blocking path`", of_plans.reason_of_pair),
    Measure("number of events", "instructions that the run executes", of_runs.events),
    Measure("number of entries of NAME", "how often the run enters a function", of_runs.frame_count),
    Measure("number of copies", "between devices", of_plans.copy_count),
    Measure("number of findings NAME", "of this code, in a simulated launch", of_launches.finding_count),
    Measure("number of statements", "that the first kernel of the run executes", of_kernels.statement_count),
    Measure(
        "number of WHAT",
        f"{', '.join(of_modules.COUNTED)}; or calls of an operator or packed function, `R.add`",
        of_modules.count,
    ),
    Measure(f"({_FIGURES})", "what one call of the entry costs at a stage", of_modules.figure),
    Measure("(problem|problem line)", "the code of the first error or `none`; its line", of_modules.problem),
    Measure("line of NAME", "where a variable is bound, or a function begins", of_modules.line),
    Measure("node of NAME", "the id of what binds a variable, or of a call of `R.add`", of_modules.node),
    Measure("stage of NAME", "the number of a pass of the pipeline", of_modules.stage_number),
    Measure("is NAME changing", "`yes` if a pass of the pipeline changes the module", of_modules.is_changed),
    Measure("failed pass", "the pass at which the pipeline fails and the code, `none`", of_modules.failed_pass),
    Measure("EXPRESSION before statement NUMBER", "of that kernel; as in a condition", of_kernels.value_before),
    Measure("value of EXPRESSION", "at the return of the entry, or `now`; as in a condition", of_runs.value),
    Measure("outcome", "`returned`, or the code of what stopped the run", of_runs.outcome),
    Measure("stop line", "the line at which the run stopped, 0 if it returned", of_runs.stop_line),
    Measure("output", "the lines that the run prints, ` / ` between", of_runs.output),
    Measure("time of NAME", "when a variable has its value", of_runs.time_of),
    Measure("order of NAMES", "variables in the order in which the run binds them", of_runs.order),
    Measure("first nan", "the variable that is the first to hold a NaN, `none`", of_runs.first_nan),
    Measure("depth", "frames on the stack at once at most, or `now`", of_runs.depth),
    Measure("instruction NUMBER of NAME", "of a function of the bytecode", of_runs.instruction),
    Measure("device of NAME", "of a variable of a Relay module, `%x`, or of the result of a function", of_plans.device),
    Measure("devices unreached", "functions that device planning never visits", of_plans.unreached),
    Measure("first finding", "the code of the worst finding in a simulated launch, `none`", of_launches.first_finding),
    Measure("finding line", "its line, 0", of_launches.finding_line),
    Measure("simulated result", "what the simulated launch writes", of_launches.written),
    Measure(
        "worst bank conflict", "words that lanes want of a bank of shared memory at once", of_launches.worst_conflict
    ),
    Measure("call of NAME", "the time of the first call of a kernel", of_kernels.call_time),
    Measure("phase of statement NUMBER", "of that kernel: `init`, `update`", of_kernels.phase),
    Measure("statement of MOVES", "where moves inside it lead from its start, `; ` between", of_kernels.statement_of),
    Measure("shown statement", "of the kernel that was gone into, `none`", of_kernels.shown_statement),
    Measure("shown time", "of the Run page", of_runs.shown_time),
    Measure("shown pass", "of the Passes page, `Source` for the text", of_modules.shown_pass),
    Measure("shown line", "of the node that is selected, 0", of_modules.shown_line),
    Measure("result", "what the run returns", of_runs.result),
    Measure("signed result", "what it returns on made-up inputs of both signs", of_runs.signed_result),
    Measure("result[PLACE]", "an element of it, `result[1, 2]`; of a tuple a field", of_runs.result),
)
"""Every form of property; the first one that fits is meant."""


def evaluated(message: PropertiesOf, context: RequestContext) -> PropertyList:
    """Evaluate properties; one that has no value here says why, and the others are evaluated nevertheless."""
    opened = context.opened_by(message.program)
    return PropertyList(tuple(_value(text, message, opened, context) for text in message.properties))


def _value(text: str, message: PropertiesOf, opened: OpenProgram, context: RequestContext) -> PropertyValue:
    try:
        return PropertyValue(_evaluated(text.strip(), Asked(message, opened, context)))
    except DiagnosedError as error:
        first = error.diagnostics[0]
        hint = f" ({first.hint})" if first.hint else ""
        return PropertyValue(problem=f"{first.message}{hint}")


def _evaluated(text: str, asked: Asked) -> str:
    stage = _STAGE.fullmatch(text)
    if stage is not None:
        text, asked = stage[1], replace(asked, at=stage[2])
    for measure in MEASURES:
        parts = measure.match(text)
        if parts is not None:
            return measure.evaluate(asked, *parts)
    refuse(f"`{text}` is no property", "docs/lessons.md lists the properties")
