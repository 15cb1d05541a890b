"""The exercise of a step: it is answered, judged by the engine on the state of the program, and told why."""

from typing import Final

import msgspec
import streamlit as st

from relax_core.diagnostics import CompileError, plural
from relax_core.lessons.judging import filled, is_right, judge, not_of_kind, right_answer
from relax_core.lessons.library import LessonFile
from relax_core.lessons.model import Do, Explain, Fix, Look, PageName, Predict, Shown, Step
from relax_core.lessons.progress import StepRecord
from relax_core.lessons.screens import program_of
from relax_core.present.escape import authored, bullets, literal, prose
from views.classroom.membership import awaited, takes_answers
from views.lessons.keeping import progress, record
from views.lessons.names import offer_names
from views.lessons.steps import open_step, said, screen_question
from views.worker.connection import ask

_CLICKED: Final = "lesson.clicked"
"""What was clicked at which step, until a run has done it: one may end before, where another takes its place."""
_HINT_KEY: Final = "Alt+H"


def show_exercise(file: LessonFile, number: int, step: Step) -> None:
    """Show the exercise of a step; what it needs of the engine and does not get is said in its place."""
    done = progress().of(file.name, number)
    try:
        match step.exercise:
            case Predict() as exercise:
                _predict(file, number, step, exercise, done)
            case Do(ask=asked, holds=holds) | Fix(ask=asked, holds=holds):
                st.markdown(authored(f"**{type(step.exercise).__name__}**  {_filled(file, step, asked)}"))
                _reach(file, number, step, holds, done)
            case Explain() as exercise:
                _explain(file, number, step, exercise, done)
            case Look(ask=asked):
                st.markdown(authored(f"**Look at**  {_filled(file, step, asked)}"))
            case None:
                pass
    except CompileError as error:
        st.error(literal(said(error.diagnostics[0])))
        offer_names(error.diagnostics[0].code, "exercise")


def _filled(file: LessonFile, step: Step, text: str) -> str:
    return filled(text, ask, program_of(file.folder, step.shown))


def _predict(file: LessonFile, number: int, step: Step, exercise: Predict, done: StepRecord) -> None:
    st.markdown(authored(f"**Predict**  {_filled(file, step, exercise.ask)}"))
    program = program_of(file.folder, step.shown)
    if awaited(file.name, number) and done.state in ("open", "given"):
        _give(file, number, step, exercise, done)
        return
    if done.state == "given":
        is_good = is_right(exercise.answer_kind, done.answer, right_answer(exercise, ask, program))
        done = StepRecord("solved" if is_good else "shown", done.hints, done.wrong + (not is_good), done.answer)
        _finish(file, number, step, done)
    if done.state != "open":
        right = right_answer(exercise, ask, program)
        _reveal(done, right, _filled(file, step, exercise.because))
        return
    _hide_graph(exercise, step.shown.page)
    key = f"lesson.answer.{file.name}.{number}"
    with st.form(f"{key}.form", border=False):
        given = _answer_field(exercise, key)
        _offer_answer(file, number, key)
    is_sent = _is_clicked("answer", file, number)
    unlike = not_of_kind(exercise.answer_kind, given) if is_sent and given else ""
    if is_sent and given and not unlike:
        is_good = is_right(exercise.answer_kind, given, right_answer(exercise, ask, program))
        _forget_click()
        judged = StepRecord("solved" if is_good else "open", done.hints, done.wrong + (not is_good), given)
        if is_good:
            _finish(file, number, step, judged)
        else:
            record(file.name, number, judged)
        st.rerun()
    if is_sent:
        _forget_click()
    # A place that is there from the start: a message that came in between would mount the hint's button anew, and
    # its shortcut would be deaf meanwhile.
    verdict = st.empty()
    if unlike:
        verdict.warning(prose(f"{unlike}. It costs nothing."))
    elif done.wrong:
        verdict.error(prose(f"✕ `{done.answer}` is not it. Try again, take a hint, or let it be shown."))
    _hints(file, number, step, done)


def _finish(file: LessonFile, number: int, step: Step, done: StepRecord) -> None:
    """Record that a step was answered or shown, and open the screen that tells the answer, if there is one."""
    match step.exercise:
        case Predict() as exercise:
            told = exercise.revealed(step.shown.page)
        case Do(solution=solution):
            told = solution
        case Fix(solution=solution):
            told = Shown(program=solution)
        case _:
            told = None
    if told is None:
        record(file.name, number, done)
    else:
        open_step(file, number, told, done=done)


def _hide_graph(exercise: Predict, page: PageName | None) -> None:
    """Hide the graph where it would tell the answer; the style sheet does so while this place is there.

    The Source page draws it without what is asked, and the Run page has none.
    """
    if page not in ("source", "run", None) and (exercise.is_of_types or exercise.is_of_problems):
        st.container(key="lesson.hides").caption("The graph comes back with the answer.")


def _give(file: LessonFile, number: int, step: Step, exercise: Predict, done: StepRecord) -> None:
    """Take an answer for the class, which is judged once the teacher reveals it, and may be changed until then."""
    _hide_graph(exercise, step.shown.page)
    verdict = st.empty()
    if not takes_answers(file.name, number):
        _forget_click()
        verdict.info(prose(f"Answers are closed. Yours is `{done.answer}`." if done.answer else "Answers are closed."))
        return
    key = f"lesson.answer.{file.name}.{number}"
    with st.form(f"{key}.form", border=False):
        given = _answer_field(exercise, key)
        _offer_answer(file, number, key)
    if _is_clicked("answer", file, number):
        _forget_click()
        if given:
            done = StepRecord("given", done.hints, done.wrong, given)
            record(file.name, number, done)
    if done.state == "given":
        verdict.info(prose(f"`{done.answer}` is counted, without a name. You may change it until it is revealed."))


def _offer_answer(file: LessonFile, number: int, key: str) -> None:
    here = ("answer", file.name, number)
    st.form_submit_button("Answer", type="primary", key=f"{key}.send", on_click=_click, args=here)


def _click(what: str, lesson: str, number: int) -> None:
    st.session_state[_CLICKED] = (what, lesson, number)


def _is_clicked(what: str, file: LessonFile, number: int) -> bool:
    return st.session_state.get(_CLICKED) == (what, file.name, number)


def _forget_click() -> None:
    st.session_state.pop(_CLICKED, None)


def _answer_field(exercise: Predict, key: str) -> str:
    """Show the field for an answer, and return what stands in it."""
    match exercise.answer_kind:
        case "choice":
            labels = [prose(_option(option)) for option in exercise.options]
            chosen = st.radio("Your answer", labels, index=None, key=key)
            return "" if chosen is None else exercise.choices[labels.index(chosen)]
        case "order":
            words = "Your answer, the first one first"
            # All at once would be an order that nobody chose.
            picked = st.multiselect(words, list(exercise.choices), key=key, select_all=False)
            return ", ".join(picked)
        case kind:
            label = {"shape": "Your answer, such as (2, 3)", "line": "Your answer, the number of a line"}
            return st.text_input(literal(label.get(kind, "Your answer")), key=key, autocomplete="off")


def _option(option: str) -> str:
    value, _, words = option.partition(" | ")
    return f"`{value.strip()}`" + (f"  {words}" if words else "")


def _reveal(done: StepRecord, right: str, because: str) -> None:
    if done.state == "shown":
        own = f"`{done.answer}` was not it. " if done.answer and done.answer != right else ""
        st.info(prose(f"{own}The answer is `{right}`. No point for it."))
    else:
        st.success(prose(f"✓ `{right}` is right. {_points(done)}"))
    _show_why(because)


def _show_why(because: str) -> None:
    """Show why an answer is what it is, and offer what passes and codes in it are."""
    st.markdown(authored(because))
    offer_names(because, "because")


def _points(done: StepRecord) -> str:
    return f"{done.points} point{'' if done.points == 1 else 's'}."


def _hints(file: LessonFile, number: int, step: Step, done: StepRecord) -> None:
    """Show the hints that were taken, and offer the next one, or to be shown the answer."""
    hints = () if step.exercise is None or isinstance(step.exercise, Look) else step.exercise.hints
    for at, hint in enumerate(hints[: done.hints], 1):
        st.markdown(authored(f"**Hint {at}**  {hint}"))
    with st.container(horizontal=True, gap="xsmall", key="lesson.hints"):
        if done.hints < len(hints):
            label = f"Hint {done.hints + 1} of {len(hints)}"
            help_ = "Costs one point" if done.worth > 1 else "Costs nothing any more: one point is left in any case"
            hinted = StepRecord(done.state, done.hints + 1, done.wrong, done.answer)
            given = (file.name, number, hinted)
            st.button(literal(label), key="lesson.hint", help=help_, shortcut=_HINT_KEY, on_click=record, args=given)
        help_, here = "Tells the answer, and gives no point", ("show", file.name, number)
        st.button("Show me", key="lesson.show", help=help_, on_click=_click, args=here)
        if _is_clicked("show", file, number):
            _forget_click()
            _finish(file, number, step, StepRecord("shown", done.hints, done.wrong, done.answer))
            st.rerun()
    st.caption(literal(_price(done, has_hints=done.hints < len(hints))))


def _price(done: StepRecord, *, has_hints: bool) -> str:
    """Say what the step is worth, and what that is lowered by."""
    worth = f"Worth {plural(done.worth, 'point')}"
    what = "A hint and a wrong answer cost" if has_hints else "A wrong answer costs"
    costs = f"{what} one{' each' * has_hints}" if done.worth > 1 else "Neither hints nor wrong answers take that"
    return f"{worth}. {costs}; Show me gives none."


def _reach(file: LessonFile, number: int, step: Step, holds: tuple[str, ...], done: StepRecord) -> None:
    """Show whether the state that is asked for is reached; it counts from the moment at which it first is."""
    if done.state == "open":
        found = judge(holds, ask, file.folder, screen_question(step.shown), step.shown)
        if all(item.is_held for item in found):
            done = StepRecord("solved", done.hints, done.wrong)
            record(file.name, number, done)
        else:
            met = sum(item.is_held for item in found)
            st.info(literal(f"◌ not yet: {met} of {plural(len(found), 'condition')} met"))
            st.markdown(bullets(f"{'✓' if item.is_held else '✕'} {item.words}" for item in found))
            offer_names(" ".join(item.words for item in found), "found")
            _hints(file, number, step, done)
            return
    if done.state == "shown":
        st.info("This is a solution. No point for it.")
    else:
        st.success(prose(f"✓ reached. {_points(done)}"))
    _show_why(_why(file, step))


def _why(file: LessonFile, step: Step) -> str:
    """Return why it is so, with the values of the solution."""
    match step.exercise:
        case Fix(because=because, solution=solution):
            program = program_of(file.folder, msgspec.structs.replace(step.shown, program=solution))
            return filled(because, ask, program)
        case Do(because=because):
            return _filled(file, step, because)
        case _:
            return ""


def _explain(file: LessonFile, number: int, step: Step, exercise: Explain, done: StepRecord) -> None:
    st.markdown(authored(f"**Explain**  {_filled(file, step, exercise.ask)}"))
    if done.state == "open":
        for at, hint in enumerate(exercise.hints[: done.hints], 1):
            st.markdown(authored(f"**Hint {at}**  {hint}"))
        given = (file.name, number, StepRecord("solved"))
        st.button("Compare with the machine's answer", key="lesson.explain", on_click=record, args=given)
        return
    _show_why(_filled(file, step, exercise.because))
