"""A paragraph for every code, with a program that has it, and with that program mended where it is written down."""

import re

import pytest

import relax_core as rc
from relax_core.codes import CODES
from relax_core.engine.documents.paragraphs import FOLDER, mended_text, mendings, paragraph_of
from relax_core.engine.protocol import Execute, Failure, Program, SimulateOf
from relax_core.engine.samples import SAMPLES
from relax_core.engine.session import Session

RUN = ("bc", "jt", "vm")
"""Samples whose faults show when they run."""
PIPELINE = re.compile(r"^(?:#|//) passes: (.*)$", re.MULTILINE)
TABLE = re.compile(r"^(?:#|//) table: (.*)$", re.MULTILINE)
LEAST_MENDED = 199


def failing_text(name: str) -> str:
    return (SAMPLES / FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", mendings())
def test_what_is_replaced_stands_in_the_sample_once(name: str) -> None:
    text = re.sub(r"[ \t]*(?:#|//)![^\n]*", "", failing_text(name))
    assert {old: text.count(old) for old in mendings()[name]} == dict.fromkeys(mendings()[name], 1)


@pytest.mark.parametrize("name", mendings())
def test_a_mended_program_has_no_fault(name: str) -> None:
    text = mended_text(name, failing_text(name))
    module = rc.parse(text, name)
    assert [item.render() for item in rc.check(module)] == []
    passes, table = PIPELINE.search(text), TABLE.search(text)
    if passes is not None:
        tables = rc.Tables() if table is None else rc.read_tables(table[1])
        ran = rc.run_pipeline(module, passes[1], tables=tables)
        assert [item.render() for item in ran[-1].diagnostics] == []
    if name.startswith(RUN):
        reply = Session().request(Execute(Program(text, name, finds_uninitialised="unwritten" in name)))
        assert not isinstance(reply, Failure)
        assert reply.rendered == ""
    if name.startswith("gp"):
        simulated = Session().request(SimulateOf(Program(text, name)))
        assert not isinstance(simulated, Failure)
        assert simulated.problems == ()


def test_every_code_has_its_paragraph_and_many_have_programs() -> None:
    found = [paragraph_of(code) for code in CODES]
    assert [item.text for item in found if item is not None] == list(CODES.values())
    assert all(f"{item.code}" in item.failing for item in found if item is not None and item.sample)
    assert sum(bool(item and item.mended) for item in found) >= LEAST_MENDED


def test_a_code_that_is_none_has_no_paragraph() -> None:
    assert paragraph_of("TY999") is None
    assert paragraph_of("<b>") is None


def test_a_mended_program_has_no_marks() -> None:
    found = paragraph_of("TY012")
    assert found is not None
    assert found.sample == "errors/ty_matmul.py"
    assert "#! TY012" in found.failing
    assert "R.matmul(x, R.permute_dims(w))\n" in found.mended
    assert "#!" not in found.mended
