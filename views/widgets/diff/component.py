"""What a pass did: its head, the two texts side by side, its rewrites and remarks."""

from collections.abc import Callable

from relax_core.engine.components.diff import DiffAction, DiffProps, DiffTab, SingleRewrite, stages_of, views_of
from relax_core.engine.debug.replies import ValueRow
from relax_core.present.models import Diff, Pipeline, StageDetail, Structure
from views.widgets.channel import PANE_HEIGHT, channel

_DIFF = channel("diff", Diff, DiffProps, DiffAction)


def diff(
    model: Diff,
    *,
    key: str,
    detail: StageDetail | None = None,
    pipeline: Pipeline | None = None,
    stage: int = 0,
    tab: DiffTab = "text",
    selected: str = "",
    height: str = PANE_HEIGHT,
    values: tuple[tuple[ValueRow, ...], str] = ((), ""),
    single: SingleRewrite | None = None,
    structure: Structure | None = None,
    on_action: Callable[[DiffAction], None] | None = None,
) -> DiffAction | None:
    """Show two texts side by side.

    Args:
        model: the two texts, and which of their lines belong together.
        key: names the component on the page.
        detail: gives the head (name, summary, choice of view) and the lists; without it there is no head.
        pipeline: gives the stages of the scrubber; without it there is none.
        stage: number of the stage that the scrubber stands at.
        tab: `both` shows the text and leaves room for a graph below it, `graph` and `film` show the head only.
        selected: node whose lines are marked.
        values: for the tab `values`: the bindings before and after, and a sentence above them.
        single: for the tab `rewrites`: the rewrite that the texts of `model` are about, in place of the list.
        structure: for the tab `structure`: what became of the parts of the module.
        height: a CSS length, or `auto`.
        on_action: called with what the user did.
    """
    return _DIFF.show(
        key,
        model,
        view=DiffProps(
            detail=detail,
            tabs=() if detail is None else views_of(detail),
            tab=tab,
            stages=() if pipeline is None else stages_of(pipeline),
            problems=pipeline.stages[stage].problems if pipeline is not None else (),
            stage=stage,
            height=height,
            values=values[0],
            values_note=values[1],
            single=single,
            structure=structure,
        ),
        commands={"node": selected},
        on_action=on_action,
    )
