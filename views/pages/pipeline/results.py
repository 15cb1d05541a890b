"""What a bisect of the forms of a program says of all stages of its recording."""

from collections.abc import Iterator

import msgspec

from relax_core.engine.debug.replies import Bisection
from relax_core.engine.replies import RecordedFaults, RecordedView
from relax_core.present.models import Pipeline
from views.widgets.pipeline.component import Results, StageVerdict


def results_by_position(view: RecordedView, found: Bisection) -> Results:
    """Return what came of each stage: an unchanged one is as the form before, and a sub-module is not compared."""
    return Results(tuple(_verdicts(view, found)), culprits(view, found))


def _verdicts(view: RecordedView, found: Bisection) -> Iterator[StageVerdict]:
    result_of = dict(zip(view.forms, found.stages, strict=False))
    latest = None
    for stage in view.pipeline.stages:
        own = result_of.get(stage.index)
        latest = own or latest
        if own is not None:
            follows = view.forms[own.follows] if own.follows >= 0 else -1
            yield StageVerdict(stage.index, own.verdict, own.words, follows)
        elif stage.change or latest is None:
            words = f"It holds none of the program's functions: {stage.change or 'no text'}"
            yield StageVerdict(stage.index, "not comparable", words, -1)
        else:
            follows = view.forms[latest.follows] if latest.follows >= 0 else -1
            yield StageVerdict(stage.index, latest.verdict, "The module is unchanged.", follows)


def culprits(view: RecordedView, found: Bisection) -> tuple[int, ...]:
    """Return the positions of the stages of which one brought the first difference."""
    return tuple(view.forms[at] for at in found.suspects if at < len(view.forms))


def marked(pipeline: Pipeline, faults: RecordedFaults) -> Pipeline:
    """Return the stages with what is wrong with the form of each, the first ill-formed one marked."""
    problems_at = {item.position: item.problems for item in faults.stages}
    first = min(problems_at, default=-1)

    def with_problems(index: int) -> dict[str, object]:
        return {"problems": problems_at[index], "mark": "first with errors" if index == first else "errors"}

    stages = (
        msgspec.structs.replace(stage, **with_problems(stage.index)) if stage.index in problems_at else stage
        for stage in pipeline.stages
    )
    return msgspec.structs.replace(pipeline, stages=tuple(stages))
