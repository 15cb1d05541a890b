"""The form of the inputs on the Run page: made up from a seed, or a named set that files were read for."""

import re
from functools import partial
from typing import Final

import streamlit as st

from relax_core.engine.debug.replies import ReadInputs
from relax_core.engine.debug.requests import InputsOf
from relax_core.engine.protocol import Failure, SourceView
from relax_core.present.escape import bullets, file_name, literal
from relax_core.present.measures import bytes_text
from views.shell.controls.choose import choose
from views.shell.controls.input_files import told, upload_files, uploaded_files
from views.shell.failures import show_reason
from views.state.inputs import (
    InputSet,
    archive_of,
    inputs_for,
    keep_inputs_for,
    kept_set,
    set_named,
    set_of,
    sets_in,
    with_set,
    without_set,
)
from views.state.links import LinkError, days_kept, links_place
from views.state.rules import whole
from views.state.session import complain, select, state
from views.state.shared import LONGEST_NAME, ProgramState
from views.worker.connection import ask
from views.worker.program import given_program, inputs_of, sizes_of

_SIGNED: Final = "From -1 to 1, but where an operator such as `sqrt` or `log` has no value for them; else from 0 to 1"
_MADE_UP: Final = "Made up"
_MEGABYTES: Final = 12
_VOCABULARY: Final = "A JSON object of numbers by token, a `tokenizer.json`, or a token a line; default: UTF-8's bytes"
_INTEGERS: Final = re.compile(r"\b[iu](8|16|32|64)\b")
_READ: Final = "run.inputs.read"
"""What was last read of files, or why it was not."""
_REMOVED: Final = "run.inputs.removed"
"""The name of the set that was removed last, and the sets before."""
_KNOWN: Final = "run.inputs.known"
"""The sets that this session has had in its addresses, by signature: they outlive the opening of another sample."""
_FILES: Final = "run.upload"
_WORDS: Final = "run.vocabulary"


def inputs_form(source: SourceView) -> None:
    """Choose the function that runs and its inputs."""
    chosen = state(ProgramState)
    fed = _name_of(chosen)
    words = f"Inputs: {fed or f'seed {chosen.seed}'}{', signed' if chosen.signed and not fed else ''}"
    with st.popover(literal(words), key="run.inputs"):
        _choose_set(chosen, source, fed)
        if fed:
            _show_set(chosen, source, fed)
        else:
            _made_up(source)
        _upload(source)
        if len(source.entries) > 1:
            shown = chosen.entry if chosen.entry in source.entries else source.entries[0]
            choose("Function", source.entries, shown, _enter, key="run.entry", label_visibility="visible")


def _name_of(chosen: ProgramState) -> str:
    """Return the name of what it runs on; empty if that is made up. A short link may lead to a file without a name."""
    return chosen.fed or ("file" if inputs_for(chosen.sample) is not None else "")


def _enter(entry: str) -> None:
    select(entry=entry, time=-1)


def _choose_set(chosen: ProgramState, source: SourceView, fed: str) -> None:
    """Choose among the sets that fit what runs; one that does not fit is offered while it is chosen."""
    names = [item.name for item in sets_in(_known(source.signature))]
    others = [fed] if fed and fed not in names else []
    if names or others:
        options = [_MADE_UP, *names, *others]
        picked = partial(_feed, source.signature)
        choose("Inputs", options, fed or _MADE_UP, picked, key="run.set", label_visibility="visible")


def _known(signature: str) -> str:
    """Return the sets for a signature: those of the address, and those that this session has had in it."""
    known: dict[str, str] = st.session_state.get(_KNOWN, {})
    text = known.get(signature, "")
    for item in sets_in(state(ProgramState).input_sets):
        text = with_set(text, item) if item.signature == signature else text
    st.session_state[_KNOWN] = {**known, signature: text}
    return text


def _forget(made: InputSet) -> None:
    known: dict[str, str] = st.session_state.get(_KNOWN, {})
    left = without_set(known.get(made.signature, ""), made.name)
    st.session_state[_KNOWN] = {**known, made.signature: left}


def _feed(signature: str, name: str) -> None:
    current = state(ProgramState)
    if name == _MADE_UP:
        keep_inputs_for(current.sample, None)
        name = ""
    st.session_state.pop(_READ, None)
    made = set_named(_known(signature), name)
    sets = current.input_sets if made is None else with_set(current.input_sets, made)
    select(fed=name, input_sets=sets, time=-1)


def _made_up(source: SourceView) -> None:
    current = state(ProgramState)
    seed = st.number_input("Seed of the generated inputs", min_value=0, value=current.seed, key="run.seed")
    signed = st.toggle("Floats of both signs", value=bool(current.signed), key="run.signed", help=_SIGNED)
    if (int(seed), int(signed)) != (current.seed, current.signed):
        select(seed=int(seed), signed=int(signed), time=-1)
        st.rerun()
    if not source.sizes:
        return
    with st.container(horizontal=True, gap="xsmall"):
        chosen = tuple(
            (name, int(st.number_input(literal(f"Size of {name}"), min_value=0, value=size, key=_key(name, size))))
            for name, size in source.sizes
        )
    if chosen != source.sizes:
        known = dict(sizes_of(current.dims)) | dict(chosen)
        select(dims=",".join(f"{name}={size}" for name, size in known.items()), time=-1)
        st.rerun()


def _key(name: str, size: int) -> str:
    return f"run.size.{name}.{size}"


def _show_set(chosen: ProgramState, source: SourceView, fed: str) -> None:
    """Say what a set is, and offer to keep, save and remove it."""
    archive, made = inputs_of(chosen), set_named(chosen.input_sets, chosen.fed)
    if archive is None:
        st.caption(
            literal(f"The inputs {fed} are not here: an address does not hold long files. This runs on made-up ones.")
        )
    elif made is not None and made.signature != source.signature:
        st.caption(literal(f"These inputs are for {made.signature}, what runs takes {source.signature}."))
    read = st.session_state.get(_READ)
    if isinstance(read, ReadInputs) and read.archive == archive:
        st.markdown(bullets(told(read.rows)))
    with st.container(horizontal=True, gap="xsmall"):
        if archive is not None:
            words = literal(f"Download {bytes_text(len(archive))}")
            st.download_button(words, archive, f"{file_name(fed)}.npz", key="run.inputs.save", on_click="ignore")
        if (
            made is not None
            and archive is not None
            and not made.content
            and not made.link
            and links_place() is not None
        ):
            why = literal(f"The address then has these inputs as well: this server keeps them for {days_kept()} days.")
            st.button("Keep", key="run.inputs.keep", help=why, on_click=_keep, args=(made, archive))
        if made is not None:
            st.button("Remove", key="run.inputs.remove", on_click=_remove, args=(fed,))
    if made is not None:
        name = st.text_input("Name", fed, max_chars=LONGEST_NAME, key=f"run.inputs.name.{fed}").strip()
        if name and name != fed:
            _rename(chosen, made, name)


def _keep(made: InputSet, archive: bytes) -> None:
    try:
        kept = kept_set(made, archive)
    except LinkError as error:
        complain(f"The inputs are not kept: {error}.")
        return
    select(input_sets=with_set(state(ProgramState).input_sets, kept))


def _remove(name: str) -> None:
    before = state(ProgramState)
    made = set_named(before.input_sets, name)
    if made is not None:
        _forget(made)
    st.session_state[_REMOVED] = (name, before.input_sets)
    select(input_sets=without_set(before.input_sets, name), fed="", time=-1)


def _bring_back(name: str, sets: str) -> None:
    st.session_state.pop(_REMOVED, None)
    found = set_named(sets, name)
    if found is not None:
        select(input_sets=with_set(state(ProgramState).input_sets, found), fed=name, time=-1)


def _rename(chosen: ProgramState, made: InputSet, name: str) -> None:
    """Give a set another name: what has that name already is replaced."""
    archive = archive_of(made, chosen.sample)
    _forget(made)
    renamed = InputSet(whole(name), made.signature, made.content, made.link)
    if archive is not None:
        keep_inputs_for(chosen.sample, archive, renamed.name)
    select(input_sets=with_set(without_set(chosen.input_sets, made.name), renamed), fed=renamed.name)
    st.rerun()


def _upload(source: SourceView) -> None:
    """Read files for the parameters, and say why they are not what is wanted."""
    removed = st.session_state.get(_REMOVED)
    if removed is not None and set_named(state(ProgramState).input_sets, removed[0]) is None:
        st.button(literal(f"Undo: bring back {removed[0]}"), key="run.inputs.undo", on_click=_bring_back, args=removed)
    upload_files(_FILES, _MEGABYTES, _ask_to_read)
    if _INTEGERS.search(source.signature):
        st.file_uploader(
            "Vocabulary of a text", ["json", "txt"], key=_WORDS, help=_VOCABULARY, max_upload_size=_MEGABYTES,
            on_change=_ask_to_read,
        )  # fmt: skip
    read = st.session_state.get(_READ)
    if isinstance(read, InputsOf):
        _adopt(read, source)
    elif isinstance(read, Failure):
        show_reason(read, "run.inputs")


def _ask_to_read() -> None:
    files, vocabulary = uploaded_files(_FILES), st.session_state.get(_WORDS)
    st.session_state.pop(_READ, None)
    if files:
        words = vocabulary.getvalue() if vocabulary is not None else b""
        st.session_state[_READ] = InputsOf(given_program(), files, words)


def _adopt(asked: InputsOf, source: SourceView) -> None:
    """Run on what files hold, as a set that has the name of the first one."""
    found = ask(asked)
    st.session_state[_READ] = found
    if isinstance(found, ReadInputs):
        current = state(ProgramState)
        name = asked.files[0].name.rpartition(".")[0][:LONGEST_NAME] or "file"
        made = set_of(name, source.signature, current.sample, found.archive)
        select(input_sets=with_set(current.input_sets, made), fed=name, time=-1)
    st.rerun()
