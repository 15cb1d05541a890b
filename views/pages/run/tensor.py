"""The tensor that the Run page shows: what is seen of which value, and what it is compared with.

The address holds it as `DEPTH;AXES;FIXED;TOP,LEFT;OTHER;MEASURE;SEARCH;EXPRESSION`, an expression being last for what
it may hold. `OTHER` is what it is compared with, such as a time; -1 for nothing.
"""

from typing import Final, cast, get_args
from urllib.parse import quote, unquote

import msgspec
import streamlit as st

from relax_core.engine.components.stepper import NUMPY, Comparable, TensorAsked, TensorShown, tensor_shown
from relax_core.engine.debug.requests import TensorFileOf
from relax_core.engine.programs.program import NOTHING, Against, Program
from relax_core.engine.protocol import Failure
from relax_core.engine.scheduling.beside_tvm import NOT_INSTALLED, Installed, installed_tvm, returned_by_tvm
from relax_core.present.escape import bold, file_name, literal, prose
from relax_core.present.running.moment_models import Measure
from views.pages.run.other_runs import other_runs
from views.pages.run.state import RunState
from views.shell.failures import show_reason
from views.state.session import state
from views.worker.connection import ask

_FIELDS: Final = 8
_NOTHING: Final = "-1"
_TVM: Final = "tvm"
# What apache-tvm computed last: a number for the question, and the answer.
_COMPUTED: Final = "run.tensor.tvm"


def written(asked: TensorAsked) -> str:
    """Write for the address what is seen of a tensor."""
    fields = (
        str(asked.depth),
        _joined(asked.axes),
        _joined(asked.fixed),
        _joined((asked.top, asked.left)),
        quote(asked.other, safe="") or _NOTHING,
        asked.measure,
        quote(asked.search, safe=""),
        asked.expression,
    )
    return ";".join(fields)


def read(text: str) -> TensorAsked | None:
    """Read what is seen of a tensor; None if the address names none."""
    fields = text.split(";", _FIELDS - 1)
    if len(fields) < _FIELDS or not fields[-1].strip() or fields[5] not in get_args(Measure):
        return None
    depth, axes, fixed, place, other, measure, search, expression = fields
    try:
        top, left = _split(place)
        where = int(depth), _split(axes), _split(fixed), top, left
    except ValueError:
        return None
    chosen = "" if other == _NOTHING else unquote(other)
    return TensorAsked(expression, *where, chosen, cast("Measure", measure), unquote(search))


def shown_tensor(program: Program) -> TensorShown | None:
    """Ask for the tensor while its tab is open; a step that leaves the frame leaves nothing to show."""
    own = state(RunState)
    asked = read(own.tensor)
    if own.tab != "tensor" or asked is None:
        return None
    time = max(0, own.time)
    return tensor_shown(ask, program, asked, time, (*other_runs(program), NUMPY, _tvm(program, asked, time)))


def _tvm(program: Program, asked: TensorAsked, time: int) -> Comparable:
    """Return what the kernel that computed a tensor computes by apache-tvm, which runs it once it is asked for."""
    tvm = installed_tvm()
    if tvm is None or not tvm.words:
        absent = Against("array", name="apache-tvm", problem=NOT_INSTALLED)
        return Comparable(_TVM, "apache-tvm (not installed)", absent)
    name = f"apache-tvm {tvm.version}"
    if asked.other != _TVM:
        return Comparable(_TVM, name, NOTHING)
    request = TensorFileOf(program, time, asked.depth, asked.expression, tvm.words)
    return Comparable(_TVM, name, msgspec.structs.replace(_computed(request, tvm), name=name))


def _computed(request: TensorFileOf, tvm: Installed) -> Against:
    """Run a kernel by apache-tvm, once for all windows of the tensor."""
    known, found = st.session_state.get(_COMPUTED, (0, NOTHING))
    if known == hash((request, tvm)):
        return found
    reply = ask(request)
    if isinstance(reply, Failure) or reply.for_tvm is None:
        return Against("array", problem=reply.problem.message if isinstance(reply, Failure) else "")
    place = st.empty()
    array = returned_by_tvm(reply.for_tvm, tvm, lambda words: place.caption(prose(words)))
    place.empty()
    found = Against("array", content=array.content, problem=array.problem)
    st.session_state[_COMPUTED] = (hash((request, tvm)), found)
    return found


def tensor_form(program: Program) -> None:
    """Offer the whole tensor that is shown as a file, written when it is asked for."""
    own = state(RunState)
    asked = read(own.tensor)
    if own.tab != "tensor" or asked is None:
        return
    st.markdown(bold("Tensor"))
    if st.button(literal(f"Write {asked.expression} as .npy"), key="run.tensor.write"):
        reply = ask(TensorFileOf(program, max(0, own.time), asked.depth, asked.expression))
        if isinstance(reply, Failure):
            show_reason(reply, "run.tensor")
        else:
            name = f"{file_name(asked.expression)}.npy"
            st.download_button("Download .npy", reply.content, name, key="run.tensor.save", on_click="ignore")


def _joined(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _split(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",")) if text else ()
