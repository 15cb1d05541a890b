"""What the program of a recording runs on: the function, its inputs, and constants that the recording lacks."""

from typing import Final, Literal

import streamlit as st

from relax_core.engine.debug.replies import ReadInputs
from relax_core.engine.debug.requests import (
    InputsOf,
    Parcel,
    RecordedInputsOf,
)
from relax_core.engine.programs.program import StandInFor
from relax_core.engine.protocol import (
    Failure,
    Program,
)
from relax_core.engine.replies import RecordedInputs, RecordedView
from relax_core.present.escape import bold, bullets, literal, prose
from views.pages.pipeline.state import PipelineState
from views.shell.controls.choose import choose
from views.shell.controls.input_files import told, upload_files, uploaded_files
from views.shell.controls.sheet import sheet
from views.shell.failures import show_reason
from views.state.session import select, state
from views.worker.connection import ask
from views.worker.program import sizes_of
from views.worker.recordings import inputs_for, keep_constants, keep_recorded_inputs

_INPUTS: Final = "pipeline.inputs"
_CONSTANTS: Final = "pipeline.constants"
_READ: Final = "pipeline.inputs.read"
"""What was last read of files, or why it was not."""
_NOTHING: Final = "nothing stands in"
# A request holds them beside the recording.
_MEGABYTES: Final = 8


def options_for(chosen: str, known: RecordedInputs | Failure) -> Program:
    """Return how the forms of a recording are entered and run; what its program does not have is left out."""
    own = state(PipelineState)
    entries, sizes, stand_ins = (), (), ()
    if isinstance(known, RecordedInputs):
        stand_ins = tuple(StandInFor(name, how) for name, how in _stand_ins(known).items())
        entries, names = known.entries, dict(known.sizes)
        sizes = tuple((name, size) for name, size in sizes_of(own.recorded_sizes) if name in names)
    entry = own.recorded_entry if own.recorded_entry in entries else ""
    inputs = inputs_for(chosen)
    return Program("", entry=entry, seed=own.recorded_seed, sizes=sizes, inputs=inputs, stand_ins=stand_ins)


def _stand_ins(known: RecordedInputs) -> dict[str, Literal["zeros", "recorded"]]:
    """Return what stands in for which function; what the program does not name, or no run has, is left out."""
    found: dict[str, Literal["zeros", "recorded"]] = {}
    has_results = dict(known.unknown)
    for item in state(PipelineState).recorded_stand_ins.split(","):
        name, _, how = item.rpartition("=")
        if name in has_results and how == "zeros":
            found[name] = "zeros"
        elif name in has_results and how == "recorded" and has_results[name]:
            found[name] = "recorded"
    return found


def known_inputs(parcel: Parcel) -> RecordedInputs | Failure:
    """Ask what the program of a recording takes."""
    own = state(PipelineState)
    return ask(RecordedInputsOf(parcel, Program("", entry=own.recorded_entry, sizes=sizes_of(own.recorded_sizes))))


def choose_inputs(chosen: str, parcel: Parcel, view: RecordedView, known: RecordedInputs | Failure) -> None:
    """Choose what the program runs on: the inputs of a recorded run, made-up ones, or a file; and its constants."""
    archive, options = inputs_for(chosen), options_for(chosen, known)
    is_recorded = archive is None and not options.sizes and any(options.entry in ("", run) for run in view.runs)
    words = "file" if archive is not None else "recorded" if is_recorded else f"seed {options.seed}"
    missing = f", {len(view.missing)} constants missing" if view.missing else ""
    with st.popover(literal(f"Inputs: {words}{missing}")):
        if isinstance(known, Failure):
            st.caption(literal(known.problem.message))
        else:
            _choose_entry(known)
            _list_parameters(known)
        if archive is not None:
            st.button("Without the file", key="pipeline.no_inputs", on_click=keep_recorded_inputs, args=(chosen, None))
        else:
            if is_recorded:
                st.caption("The inputs are those of the recorded run, unless a size is chosen or a file is given.")
            else:
                _choose_seed()
            if isinstance(known, RecordedInputs) and known.sizes:
                _choose_sizes(known, is_recorded=is_recorded)
        upload_files(_INPUTS, _MEGABYTES, lambda: _ask_to_read(chosen, parcel, options))
        _show_read(chosen, archive)
        _choose_constants(chosen, view)
        if isinstance(known, RecordedInputs) and known.unknown:
            _choose_stand_ins(known)


def _ask_to_read(chosen: str, parcel: Parcel, options: Program) -> None:
    files = uploaded_files(_INPUTS)
    st.session_state[_READ] = InputsOf(options, files, recording=parcel) if files else None
    if not files:
        keep_recorded_inputs(chosen, None)


def _show_read(chosen: str, archive: bytes | None) -> None:
    """Read the files that were just given, and run on them; say what was read of them, or why they do not fit."""
    read = st.session_state.get(_READ)
    if isinstance(read, InputsOf):
        read = st.session_state[_READ] = ask(read)
        if isinstance(read, ReadInputs):
            keep_recorded_inputs(chosen, read.archive)
            st.rerun()
    if isinstance(read, Failure):
        show_reason(read, _INPUTS)
    elif isinstance(read, ReadInputs) and read.archive == archive:
        st.markdown(bullets(told(read.rows)))


def _choose_stand_ins(known: RecordedInputs) -> None:
    """Choose what stands in for packed functions that are not here."""
    st.markdown(bold("Functions that are not here"))
    st.caption(
        "A run that calls one ends there, unless something stands in for it; behind zeros nothing is comparable."
    )
    chosen = _stand_ins(known)
    for number, (name, has_results) in enumerate(known.unknown):
        key = f"pipeline.stand_in.{number}"
        st.session_state[key] = chosen.get(name, _NOTHING)
        st.selectbox(
            literal(name),
            (_NOTHING, "zeros", "recorded") if has_results else (_NOTHING, "zeros"),
            key=key,
            on_change=_keep_stand_ins,
            args=(known,),
        )


def _keep_stand_ins(known: RecordedInputs) -> None:
    chosen = ((name, st.session_state[f"pipeline.stand_in.{at}"]) for at, (name, _) in enumerate(known.unknown))
    select(recorded_stand_ins=",".join(f"{name}={how}" for name, how in chosen if how != _NOTHING))


def _choose_entry(known: RecordedInputs) -> None:
    if not known.entries:
        st.caption("No function of the program can be run on made-up inputs.")
        return
    if len(known.entries) < 2:
        return
    choose(
        "Function",
        known.entries,
        known.entry,
        lambda entry: select(recorded_entry=entry, recorded_sizes=""),
        key="pipeline.entry",
        label_visibility="visible",
    )


def _list_parameters(known: RecordedInputs) -> None:
    """Name what the function takes, in the order of the archive's members."""
    if not known.params:
        return
    st.markdown(bold(f"{known.entry} takes"))
    rows = [
        {"In a file": f"in_{number}", "Parameter": name, "Type": type_}
        for number, (name, type_) in enumerate(known.params)
    ]
    sheet(rows, key="pipeline.params", name="parameters")


def _choose_seed() -> None:
    seed = state(PipelineState).recorded_seed
    given = int(st.number_input("Seed of the made-up inputs", 0, 10**6, value=seed, key="pipeline.seed"))
    if given != seed:
        select(recorded_seed=given)
        st.rerun()


def _choose_sizes(known: RecordedInputs, *, is_recorded: bool) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        chosen = tuple(
            (name, int(st.number_input(literal(f"Size of {name}"), 0, 10**9, value=size, key=_key(name, size))))
            for name, size in known.sizes
        )
    if chosen != known.sizes:
        select(recorded_sizes=",".join(f"{name}={size}" for name, size in chosen))
        st.rerun()
    if not is_recorded and state(PipelineState).recorded_sizes:
        st.button("Sizes as they were", key="pipeline.no_sizes", on_click=_forget_sizes)


def _forget_sizes() -> None:
    select(recorded_sizes="")


def _key(name: str, size: int) -> str:
    return f"pipeline.size.{name}.{size}"


def _choose_constants(chosen: str, view: RecordedView) -> None:
    """List the constants that are not at hand, and take them from a file."""
    if view.missing:
        st.markdown(bold("Constants that are not at hand"))
        sheet(
            [{"Constant": words} for words in view.missing], key="pipeline.missing", name="missing", prose=("Constant",)
        )
        st.caption(prose("What needs none of them is compared all the same."))
    st.file_uploader(
        "Constants as .npz: const_0, const_1, …",
        type=["npz"],
        key=_CONSTANTS,
        on_change=lambda: keep_constants(chosen, _uploaded(_CONSTANTS)),
        max_upload_size=_MEGABYTES,
    )


def _uploaded(key: str) -> bytes | None:
    given = st.session_state[key]
    return None if given is None else given.getvalue()
