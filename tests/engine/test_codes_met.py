"""Diagnostics that no sample can show, because they are about a request or its arguments: each is met."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.codes import CODES
from relax_core.engine.protocol import Failure, Open, PartitionOf, Program, RunOf, Script
from relax_core.engine.session import Session
from tests.engine.asking import ask
from tests.engine.programs import HEADER, SMALL, sample

ONE_PARAM = """    @R.function
    def main(x: {type}):
        return x
"""
NO_FUNCTION = """    @T.prim_func
    def main(A: T.handle):
        T.evaluate(0)
"""
RELAY = "def @main(%x: int32) { %x }"
REFUSED = {
    "a value that cannot be made up": ("EN002", RunOf(Program(HEADER + ONE_PARAM.format(type="R.Object")))),
    "a tensor that is too large to make up": (
        "EN003",
        RunOf(Program(HEADER + ONE_PARAM.format(type='R.Tensor((100000, 100000), "float32")'))),
    ),
    "a seed below 0": ("EN005", RunOf(Program(SMALL, seed=-1))),
    "Relay as TVMScript": ("EN006", Script(Program(RELAY, name="m.relay"), dialect="tvmscript")),
    "a module that has nothing to run": ("EN009", RunOf(Program(HEADER + NO_FUNCTION))),
}


@pytest.mark.parametrize(("code", "message"), REFUSED.values(), ids=REFUSED)
def test_a_request_that_cannot_be_met_is_refused(
    session: Session, code: str, message: "RunOf | Script | PartitionOf"
) -> None:
    reply = session.request(message)
    assert isinstance(reply, Failure)
    assert [item.code for item in reply.problems] == [code]
    assert code in CODES


def test_an_access_that_is_checked_when_it_runs_is_a_warning(session: Session) -> None:
    view = ask(session, Open(sample("tir/gather.py")))
    assert {(item.code, item.severity) for item in view.code.problems} == {("EN007", "warning")}


@pytest.mark.parametrize(
    ("type_", "given"),
    [('R.Tensor((1,), "float32")', np.array(["one"])), ("R.Shape(ndim=1)", (1.5,))],
    ids=["an array of strings", "a shape of floats"],
)
def test_what_the_machine_has_no_value_for_is_refused(type_: str, given: object) -> None:
    machine = rc.VirtualMachine(rc.build(rc.parse(HEADER + ONE_PARAM.format(type=type_))))
    with pytest.raises(rc.RunError) as caught:
        machine["main"](given)
    assert [item.code for item in caught.value.diagnostics] == ["VM016"]


def test_patterns_that_are_too_many_are_a_note() -> None:
    half = 16
    places = range(2 * half)
    # Whether all is covered depends on each of the first places together with one far behind it.
    pairs = [[name if place % half == at else "_" for place in places] for at in range(half) for name in "AB"]
    clauses = ", ".join(f"({', '.join(row)}) => 1" for row in (*pairs, ["_" for _ in places]))
    params = ", ".join(f"%x{place}: T" for place in places)
    values = ", ".join(f"%x{place}" for place in places)
    text = f"type T {{ A, B }} def @main({params}) {{ match (({values})) {{ {clauses} }} }}"
    assert [(item.code, item.severity) for item in rc.check(rc.parse(text, name="m.relay"))] == [("RY020", "note")]
