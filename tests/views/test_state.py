"""The selection and the address say the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_core.engine.protocol import Inspect, Program, RunOf
from relax_core.engine.samples import list_samples
from relax_core.engine.session import Session
from relax_core.present.models import Inspector
from relax_core.present.running.run_models import Run
from views.pages.run.state import RunState
from views.state.address import FIRST, from_address, to_address
from views.state.selection import Selection, screen
from views.state.shared import FocusState, ProgramState

WORDS = st.text(max_size=20)


@given(
    st.builds(
        screen,
        text=st.text(max_size=200).filter(lambda text: text.isprintable() or text == ""),
        node=WORDS,
        pipeline=WORDS,
        breakpoints=WORDS,
        stage=st.integers(-1, 99),
        time=st.integers(-1, 10**6),
        seed=st.integers(0, 99),
    )
)
def test_an_address_reproduces_the_selection(selection: Selection) -> None:
    assert from_address(to_address(selection)) == selection


@pytest.mark.parametrize(
    "address",
    [{"sample": "x", "stage": "many"}, {"z": "no base64 !"}, {"z": "AAAA"}, {"unknown": "1"}],
    ids=["a number that is none", "no base64", "nothing packed", "an unknown name"],
)
def test_a_damaged_address_opens_what_can_be_read(address: dict[str, str]) -> None:
    selection = from_address(address)
    assert selection.of(ProgramState).text == ""
    assert selection.of(FocusState).stage == -1


def test_the_first_visit_stands_at_the_matrix_product() -> None:
    text = next(sample.text for sample in list_samples() if sample.path == FIRST.of(ProgramState).sample)
    session = Session()
    node = session.request(Inspect(Program(text), FIRST.of(FocusState).node))
    assert isinstance(node, Inspector)
    assert node.title == "gv0"
    run = session.request(RunOf(Program(text), FIRST.of(RunState).time))
    assert isinstance(run, Run)
    assert "tir_matmul" in run.events[FIRST.of(RunState).time - 1].now
