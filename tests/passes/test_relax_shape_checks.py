"""VMShapeLower: what is not checked, and what checks say."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import RunError

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor((4,), "float32")) -> R.Tensor(("n",), "float32"):
        R.func_attr({"num_input": 1})
        y = R.exp(x)
        return y
"""


def test_a_weight_of_constant_size_is_not_checked() -> None:
    stages = rc.run_pipeline(rc.parse(TEXT), "VMShapeLower")
    text = rc.script(stages[-1].after)
    assert "param=x" in text
    assert "param=w" not in text
    assert "w is not checked: it is a weight, whose sizes are constant" in [item.message for item in stages[-1].remarks]


@pytest.mark.parametrize(("options", "words"), [("", "param=x"), ("(emit_err_ctx=False)", "")])
def test_a_check_says_where_it_stands_if_it_shall(options: str, words: str) -> None:
    text = rc.script(rc.run_pipeline(rc.parse(TEXT), f"VMShapeLower{options}")[-1].after)
    assert ("ErrorContext" in text) is bool(words)
    assert words in text


def test_a_wrong_input_is_refused() -> None:
    machine = rc.VirtualMachine(rc.build(rc.parse(TEXT)))
    with pytest.raises(RunError, match="`x` of `main` must be a tensor with 1 dimension"):
        machine["main"](np.zeros((2, 2), "float32"), np.zeros(4, "float32"))
