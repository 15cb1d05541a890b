"""The list of stages, and the detail of one."""

from collections import Counter
from collections.abc import Callable, Sequence

from relax_core.diagnostics import plural
from relax_core.ir.node import Node, preorder
from relax_core.passes import library
from relax_core.passes.core import Stage
from relax_core.passes.options import options_text
from relax_core.present import models
from relax_core.present.diffs.diff import line_counts
from relax_core.present.measures import cut
from relax_core.present.nodes.node_id import NodeIndex
from relax_core.present.problems import problems_of

_REWRITE_LIMIT = 500
_TEXT_COLUMNS = 120

TextOf = Callable[[int], str]
"""The printed module at a stage, 0 being the source."""


def present_pipeline(stages: Sequence[Stage], text_of: TextOf, text: str) -> models.Pipeline:
    """List the source and every pass that ran."""
    count = _node_count(stages[0].before) if stages else 0
    listed = [models.Stage(0, "Source", is_changed=False, seconds=-1.0, node_count=count)]
    for number, stage in enumerate(stages, 1):
        count = count if stage.after is stage.before else _node_count(stage.after)
        listed.append(present_stage(stage, number, text_of, count))
    return models.Pipeline(tuple(listed), sum(stage.seconds for stage in stages), text)


def present_stage(stage: Stage, number: int, text_of: TextOf, node_count: int) -> models.Stage:
    """Present one line of the list; `number` counts from 1, `node_count` is that of the module behind the pass."""
    added, removed = line_counts(text_of(number - 1), text_of(number)) if stage.is_changed else (0, 0)
    return models.Stage(
        number,
        stage.pass_name + options_text(stage.options),
        stage.is_changed,
        added,
        removed,
        "attrs" if stage.is_changed and _only_attributes(text_of(number - 1), text_of(number)) else "",
        stage.seconds,
        len(stage.remarks),
        len(stage.log.replacements),
        node_count,
        problems_of(stage.diagnostics),
    )


def present_detail(
    stage: Stage, before: NodeIndex, after: NodeIndex, show: Callable[[Node], str], line_of: Callable[[Node], int]
) -> models.StageDetail:
    """Present rewrites and remarks of a stage; `show` prints a node in the user's syntax."""
    shown = stage.log.replacements[:_REWRITE_LIMIT]
    rewrites = tuple(
        models.Rewrite(
            number,
            _one_line(show(item.before)),
            _one_line("; ".join(map(show, item.after))) or "nothing",
            item.rule,
            next((id_ for node in (*item.after, *item.made) if (id_ := after.id_of(node))), ""),
            before.id_of(item.before),
            line_of(item.before),
            bool(item.application),
        )
        for number, item in enumerate(shown, 1)
    )
    remarks = tuple(
        models.Remark(
            item.number,
            item.kind,
            item.message,
            tuple(filter(None, (after.id_of(node) or before.id_of(node) for node in (item.node, *item.because)))),
            line_of(item.node),
        )
        for item in stage.remarks
    )
    return models.StageDetail(stage.pass_name, summary(stage), rewrites, remarks, len(stage.log.replacements))


def summary(stage: Stage) -> str:
    """Summarise a stage, such as `2 rewrites, 1 remark`; for one without changes say what the pass is for."""
    if stage.diagnostics:
        return f"stopped: {stage.diagnostics[0].message}"
    about = next((item.summary for item in library.PASSES.values() if item.name == stage.pass_name), "")
    if not stage.is_changed:
        return f"nothing to do here. {about}".strip()
    counts = Counter(item.rule for item in stage.log.replacements if item.rule)
    if counts:
        words = ", ".join(f"{rule} ×{count}" if count > 1 else rule for rule, count in counts.most_common(2))
        return f"{plural(counts.total(), 'rewrite')}: {words}" + (", …" if len(counts) > 2 else "")
    return about


def _one_line(text: str) -> str:
    return cut(" ".join(text.split()), _TEXT_COLUMNS)


def _node_count(module: Node) -> int:
    return sum(1 for _ in preorder(module))


def _only_attributes(before: str, after: str) -> bool:
    words = ("R.func_attr(", "T.func_attr(")
    kept = ([line for line in text.splitlines() if not line.strip().startswith(words)] for text in (before, after))
    return before != after and next(kept) == next(kept)
