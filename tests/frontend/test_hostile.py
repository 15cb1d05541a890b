"""Hostile texts end in a module or in diagnostics, in time, whatever is asked of them."""

import pytest

from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Check, Failure, Script
from relax_core.engine.session import Session
from tests.frontend.hostile import HOSTILE


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_answered(name: str) -> None:
    program = Program(HOSTILE[name], "m.relay" if "elay" in name else "m.py")
    session = Session()
    for request in (Check(program), Script(program)):
        reply = session.request(request)
        assert not isinstance(reply, Failure) or reply.kind != "internal", reply.rendered
