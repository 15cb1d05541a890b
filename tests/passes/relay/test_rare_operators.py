"""Operators that few programs have: the interpreter and the machine compute what NumPy says they mean."""

from collections import Counter

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import RunError
from tests.passes.relay.operator_cases import Case
from tests.passes.relay.rare_cases import CASES
from tests.passes.relay.rare_image_cases import IMAGE_CASES
from tests.passes.relay.running import agree, both, parsed
from tests.passes.relay.test_operators_to_relax import program

ALL = (*CASES, *IMAGE_CASES)
FIRST = tuple({case.op: case for case in reversed(ALL)}.values())


@pytest.mark.parametrize("case", ALL, ids=str)
def test_a_call_gives_what_numpy_says(case: Case) -> None:
    agree(rc.evaluate(parsed(program(case)), "main", *case.args), case.compute(*case.args))


@pytest.mark.parametrize("case", FIRST, ids=str)
def test_the_machine_gives_it_too(case: Case) -> None:
    agree(both(program(case), *case.args), case.compute(*case.args))


def test_each_operator_has_five_cases() -> None:
    assert min(Counter(case.op for case in ALL).values()) >= 5


REFUSED = {
    "log of integers": ("%a: Tensor[(3), int32]", "log(%a)", "log expects a floating-point tensor"),
    "a logarithm to another base": ("%a: Tensor[(3), int64]", "log2(%a)", "log expects a floating-point tensor"),
    "softmax of bytes": ("%a: Tensor[(3), uint8]", "nn.softmax(%a)", "softmax expects a floating-point tensor"),
    "not of numbers": ("%a: Tensor[(3), float32]", "logical_not(%a)", "logical_not expects"),
    "bits of floats": ("%a: Tensor[(3), float32]", "bitwise_and(%a, %a)", "bitwise_and expects"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_relax_does_not_define_is_told_at_the_call(name: str) -> None:
    param, body, words = REFUSED[name]
    module = parsed(f"def @main({param}) {{\n  {body}\n}}")
    found = rc.run_pipeline(module, "RelayToRelax")[-1].diagnostics
    assert [(item.code, item.span.line if item.span else 0) for item in found] == [("PS011", 3)]
    assert words in found[0].message
    dtype = param.rpartition(" ")[2].rstrip("]")
    with pytest.raises(RunError, match=words):
        rc.evaluate(module, "main", np.array([1, 2, 3], dtype))
