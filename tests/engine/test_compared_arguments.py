"""Made-up arguments tell forms of a program apart: floats have both signs where the program takes them."""

import pytest

from relax_core.engine.debug.replies import Bisection
from relax_core.engine.debug.requests import BisectOf
from relax_core.engine.protocol import Program
from relax_core.engine.session import Session
from tests.engine.programs import HEADER

BODY = """    @R.function
    def main(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        y = {value}
        return y
"""


def bisected(session: Session, first: str, second: str) -> Bisection:
    left, right = (Program(HEADER + BODY.format(value=value)) for value in (first, second))
    reply = session.request(BisectOf(left, (right,)))
    assert isinstance(reply, Bisection)
    return reply


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.mark.parametrize(
    ("value", "other"),
    [("R.nn.relu(x)", "R.nn.leakyrelu(x, 0.5)"), ("R.abs(x)", "R.nn.relu(x)"), ("R.nn.relu(x)", "R.clip(x, 0, 0.5)")],
)
def test_forms_that_agree_on_positive_numbers_alone_are_different(session: Session, value: str, other: str) -> None:
    found = bisected(session, value, other)
    assert found.verdict == "different"
    assert found.first_different == 1


def test_a_logarithm_gets_positive_numbers(session: Session) -> None:
    found = bisected(session, "R.log(x)", "R.log(R.abs(x))")
    assert found.verdict == "same"


def test_a_lost_logarithm_is_seen(session: Session) -> None:
    assert bisected(session, "R.log(x)", "R.log(R.add(x, x))").verdict == "different"


LOOKED_UP = """    @R.function
    def main(x: R.Tensor((4, 4), "float32"), at: R.Tensor((3,), "int64")) -> R.Tensor((3, 4), "float32"):
        y = R.take(x, {at}, axis=0)
        return y
"""


@pytest.mark.parametrize(
    ("at", "verdict"), [("R.abs(at)", "same"), ("R.multiply(at, R.const(2, 'int64'))", "different")]
)
def test_indices_are_those_of_a_small_tensor(session: Session, at: str, verdict: str) -> None:
    first, second = (Program(HEADER + LOOKED_UP.format(at=item)) for item in ("at", at))
    reply = session.request(BisectOf(first, (second,)))
    assert isinstance(reply, Bisection)
    assert reply.verdict == verdict
