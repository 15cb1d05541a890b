"""Samples of faults in launches: the simulation finds those that the text announces, line by line, and no others."""

import re
from pathlib import Path

import pytest

from relax_core.engine.protocol import Failure, Program, SimulateOf
from relax_core.engine.samples import SAMPLES
from relax_core.engine.session import Session

PATHS = sorted((SAMPLES / "errors").glob("gp_*.py"))
MARK = re.compile(r"#!\s*(GP\d{3}(?:[ ,]+GP\d{3})*)")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_simulation_finds_what_a_sample_announces(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    marks = {
        (number, code)
        for number, line in enumerate(text.splitlines(), 1)
        for mark in MARK.findall(line)
        for code in re.split(r"[ ,]+", mark)
    }
    reply = Session().request(SimulateOf(Program(text, path.name)))
    assert not isinstance(reply, Failure)
    assert {(item.line, item.code) for item in reply.problems} == marks
    assert marks
