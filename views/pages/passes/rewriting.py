"""Rewrite rules on the Passes page: their text, what was applied where and what came closest, and the values behind."""

import re
from typing import Final

import streamlit as st

from relax_core.diagnostics import plural
from relax_core.engine.debug.replies import ValuesCompared
from relax_core.engine.debug.requests import CompareValuesOf
from relax_core.engine.programs.program import with_rules_stage
from relax_core.engine.protocol import Failure, StageOf
from relax_core.present.escape import badge, file_name, literal, prose, visible
from relax_core.present.models import Pipeline, Problem, Stage
from views.pages.passes.stages import FIRST_SHOWN, go_to_stage
from views.pages.passes.verifying import passed_program
from views.shell.controls.undo import offer_undo, remember
from views.shell.frame import chip
from views.shell.guide import offer_paragraph
from views.state.session import state
from views.state.shared import ProgramState
from views.worker.connection import ask, run_again

_STAGE: Final = re.compile(r"(?<![\w.])ApplyRules\s*(\([^()]*\))?\s*(,\s*|$)")
_PLACEHOLDER: Final = "one: R.multiply(x, 1.0) -> x"
_HELP: Final = (
    "`name: pattern -> replacement where condition`, for example `R.nn.relu(R.nn.relu(x)) -> R.nn.relu(x) "
    'where x.dtype == "float32"`. Each rule starts at the beginning of a line; continuation lines are indented. '
    "Rules are data: nothing in them is executed."
)
EXAMPLES: Final = (
    ("x + x", "double: R.add(x, x) -> R.multiply(x, 2.0)\n"),
    ("x * 1", "one: R.multiply(x, 1.0) -> x\n"),
    ("a - b", "minus: R.subtract(x, y) -> R.add(x, R.negative(y))\n   where x.dtype in ('float32', 'float64')\n"),
    ("relu", "twice: R.nn.relu(R.nn.relu(x)) -> R.nn.relu(x)\nrelu: R.nn.relu(x) -> R.maximum(x, 0.0)\n"),
    (
        "transposes",
        "twice: R.permute_dims(R.permute_dims(x, axes=[1, 0]), axes=[1, 0]) -> x\n"
        "gram: R.matmul(R.permute_dims(x, axes=[1, 0]), R.permute_dims(y, axes=[1, 0]))\n"
        "   -> R.permute_dims(R.matmul(y, x), axes=[1, 0])\n   where x.ndim == 2 and y.ndim == 2\n",
    ),
    ("a wrong one", "wrong: R.add(x, y) -> R.subtract(x, y)\n"),
)
"""Labels and texts of rules to begin with; the last one changes what a program computes."""

_SIGNS: Final = {"applied": ("✓", "green"), "missed": ("near miss", "orange"), "note": ("note", "grey")}
_VERDICTS: Final = {"same": ("✓", "green"), "different": ("✕", "red")}


def show_rules(pipeline: Pipeline | None) -> None:
    """Edit the rules; `pipeline` is what ran, if anything did."""
    text = state(ProgramState).rule_text
    stages = [] if pipeline is None else [item for item in pipeline.stages if _is_rules(item)]
    with st.popover("Rules" if not text else "Rules: own", key="passes.rules"):
        _form(text)
        for stage in stages if text else ():
            _show_findings(stage)
        if text and pipeline is not None and not stages:
            st.caption("The pipeline did not reach ApplyRules." if _is_named() else "The pipeline has no ApplyRules.")
    for stage in stages if text else ():
        _show_value(stage)


def _is_rules(stage: Stage) -> bool:
    return stage.name.partition("(")[0] == "ApplyRules"


def _is_named() -> bool:
    pipeline = state(ProgramState).pipeline
    return not pipeline or _STAGE.search(pipeline) is not None


def _form(text: str) -> None:
    """Edit the text, or take an example in its place; a click on one applies it at once."""
    edited = st.text_area("Rewrite rules", value=text, height=130, placeholder=_PLACEHOLDER, help=_HELP)
    with st.container(horizontal=True, gap="xsmall"):
        if st.button("Apply rules", type="primary", key="passes.rules.apply"):
            _apply(edited)
        if text:
            if st.button("Remove rules", key="passes.rules.remove"):
                _apply("")
            stem = file_name(state(ProgramState).sample.rsplit("/", 1)[-1].partition(".")[0])
            st.download_button(
                "Download", text, f"{stem}.rules.txt", key="passes.rules.file", on_click="ignore",
                help="For the command line: `opt m.py --rules FILE`, and likewise `bisect`, `compare` and `run`",
            )  # fmt: skip
        offer_undo("passes.rules", "Bring back the rules before the latest change")
    st.caption("Examples, applied by a click")
    with st.container(horizontal=True, gap="xsmall"):
        for number, (label, rules) in enumerate(EXAMPLES):
            if st.button(literal(label), key=f"passes.rules.example.{number}"):
                _apply(rules)


def _apply(text: str) -> None:
    """Take a text of rules, with a stage for it in a pipeline of one's own."""
    pipeline = state(ProgramState).pipeline
    if text != state(ProgramState).rule_text:
        remember("passes.rules", "rule_text", "pipeline", "stage")
    if text.strip():
        go_to_stage(FIRST_SHOWN, rule_text=text, pipeline=with_rules_stage(pipeline) if pipeline else "")
    else:
        go_to_stage(FIRST_SHOWN, rule_text="", pipeline=_STAGE.sub("", pipeline).strip().rstrip(","))
    run_again()
    st.rerun()


def _show_findings(stage: Stage) -> None:
    """List what was applied where and what came closest, or what is wrong with the rules."""
    for number, problem in enumerate(stage.problems):
        show_problem(problem, f"passes.rules.code.{stage.index}.{number}")
    view = ask(StageOf(passed_program(), stage.index))
    if isinstance(view, Failure):
        return
    for remark in view.detail.remarks:
        st.markdown(f"{badge(*_SIGNS[remark.kind])} {prose(remark.message)}")
    if not view.detail.remarks and not stage.problems:
        st.caption("Nothing in the program resembles the patterns.")
    st.button("Show this stage", key=f"passes.rules.show.{stage.index}", on_click=_show, args=(stage.index,))


def show_problem(problem: Problem, key: str) -> None:
    """Say what is wrong, above the line of the rules with a mark below the place."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        offer_paragraph(problem.code, key)
        st.markdown(prose(problem.message), width="content")
    if problem.excerpt:
        st.code(_marked(problem), language=None)
    if problem.hint:
        st.caption(prose(problem.hint))


def _marked(problem: Problem) -> str:
    line = "".join(ch if ch == "\t" else visible(ch) for ch in problem.excerpt)
    head = f"{problem.line} | "
    start = max(problem.column - 1, 0)
    end = problem.end_column - 1 if problem.end_line == problem.line else len(problem.excerpt)
    lead = "".join("\t" if ch == "\t" else " " * len(visible(ch)) for ch in problem.excerpt[:start])
    return f"{head}{line}\n{' ' * len(head)}{lead}{'^' * max(end - start, 1)}"


def _show(stage: int) -> None:
    go_to_stage(stage, view="text", node="")


def _show_value(stage: Stage) -> None:
    """Say whether the values before and after the rules are the same, on the inputs of the program."""
    if stage.is_failed:
        chip("✕ rules: not applied", "red")
        return
    if not stage.is_changed:
        chip("rules: no match", "grey")
        return
    program = passed_program()
    found = ask(CompareValuesOf(program, stage.index - 1, program, stage.index))
    if isinstance(found, Failure):
        chip("rules: values not comparable", "orange")
        return
    sign, colour = _VERDICTS.get(_verdict(found), ("?", "orange"))
    label = badge(f"{sign} rules: {_words(found)}", colour)
    key = f"passes.rules.values.{stage.index}"
    st.button(label, key=key, type="tertiary", on_click=_show_values, args=(stage.index,))


def _verdict(found: ValuesCompared) -> str:
    """What the results come to: a binding that a rule takes away has nothing to be compared with."""
    return found.verdict if found.outcome is None else found.outcome.verdict


def _words(found: ValuesCompared) -> str:
    count = sum(row.verdict == "different" for row in found.rows)
    bindings = f", {plural(count, 'binding')} {'differs' if count == 1 else 'differ'}" if count else ""
    return f"result {_verdict(found)}{bindings}"


def _show_values(stage: int) -> None:
    go_to_stage(stage, view="values", node="")
