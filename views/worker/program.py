"""The program that is open, as the engine is told of it."""

import re
from pathlib import Path
from typing import Final, Literal

import streamlit as st

from relax_core.engine.files import UnreadableFileError, read_file
from relax_core.engine.limits import REQUEST_BYTES
from relax_core.engine.protocol import Program, SourceView
from relax_core.engine.replies import Sample
from relax_core.engine.samples import list_samples
from relax_core.jit.options import DEFAULT_OPTIONS, MODES, Mode
from views.state.inputs import archive_of, inputs_for, set_named
from views.state.session import complain, open_text, select, state
from views.state.shared import ProgramState
from views.worker.recordings import opened_program
from views.worker.tables import table_text

_SIZE: Final = re.compile(r"\s*([^=,\s]+)\s*=\s*([0-9]{1,12})\s*")
# Only these passes read a table, so that a mistake in it concerns no other program.
_TABLE_PASSES: Final = re.compile("MergeComposite|AnnotateTarget|MergeCompilerRegions")


def samples() -> dict[str, Sample]:
    """Return the samples by path, in their order."""
    return {sample.path: sample for sample in list_samples()}


def text_of(chosen: ProgramState) -> str:
    """Return the text that is open: the user's, or the sample's."""
    if chosen.text:
        return chosen.text
    sample = samples().get(chosen.sample)
    return sample.text if sample else ""


def mode_of(chosen: ProgramState) -> Mode:
    """Return the numerical mode that is chosen, the default one if it is none."""
    return MODES[MODES.index(chosen.mode)] if chosen.mode in MODES else DEFAULT_OPTIONS.mode


def as_in_of(chosen: ProgramState) -> Literal["fixed", "reported"]:
    """Return whether the bugs that were reported are switched on."""
    return "reported" if chosen.as_in == "reported" else "fixed"


def sizes_of(text: str) -> tuple[tuple[str, int], ...]:
    """Read sizes as an address holds them, such as `n=64,m=8`; anything else is dropped."""
    return tuple((found[1], int(found[2])) for found in map(_SIZE.fullmatch, text.split(",")) if found)


def inputs_of(chosen: ProgramState) -> bytes | None:
    """Return the archive of the inputs that are chosen; None if they are made up, or are not here."""
    made = set_named(chosen.input_sets, chosen.fed) if chosen.fed else None
    return inputs_for(chosen.sample, chosen.fed) if made is None else archive_of(made, chosen.sample)


def open_given_program() -> None:
    """Open the program that the server was started on, if it was started on one."""
    path = opened_program()
    if not path:
        return
    try:
        content = read_file(path, REQUEST_BYTES)
    except UnreadableFileError as error:
        complain(f"The app was started on a file that it cannot read: {error}.")
        return
    open_text(content.decode("utf-8", errors="replace"), sample=Path(path).name)


def given_program() -> Program:
    """Return the program that is open."""
    return program_of(state(ProgramState))


def program_of(chosen: ProgramState) -> Program:
    """Return what the engine needs to know of a program."""
    text = text_of(chosen)
    return Program(
        text=text,
        name=chosen.sample.rsplit("/", 1)[-1],
        module=chosen.module,
        pipeline=chosen.pipeline or None,
        entry=chosen.entry,
        seed=chosen.seed,
        inputs=inputs_of(chosen),
        sizes=sizes_of(chosen.dims),
        tables=table_text(chosen, text) if _TABLE_PASSES.search(chosen.pipeline) else "",
        rules=chosen.rule_text if _applies_rules(chosen.pipeline) else "",
        mode=mode_of(chosen),
        finds_uninitialised=bool(chosen.unwritten),
        poisons_memory=bool(chosen.poisoned),
        is_signed=bool(chosen.signed),
        as_in=as_in_of(chosen),
    )


def _applies_rules(pipeline: str) -> bool:
    """Tell whether the rewrite rules are a stage: of the default pipeline they always are."""
    return not pipeline or "ApplyRules" in pipeline


def drop_unknown_sizes(source: SourceView) -> None:
    """Drop the sizes of dimensions that the function that runs does not have, and say so; the page is run again."""
    current = state(ProgramState)
    given, known = sizes_of(current.dims), tuple(name for name, _ in source.sizes)
    others = [name for name, _ in given if name not in known]
    # Without an entry it is not known what dimensions there are: the text may have errors for the moment.
    if not others or not source.entries:
        return
    names = ", ".join(f"`{name}`" for name in others)
    has = f"its dimensions: {', '.join(known)}" if known else "it has no symbolic dimensions"
    complain(f"The function that runs has no dimension {names}; {has}. The size was left out.")
    select(dims=",".join(f"{name}={size}" for name, size in given if name in known))
    st.rerun()
