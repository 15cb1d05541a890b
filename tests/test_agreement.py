"""benchmarks.agreement: what it counts as equal, as different, and as not compared."""

import pytest

from benchmarks.agreement import Wheel, compare

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.exp(x)
        z = R.exp(y)
        return z
"""
LEFT = PROGRAM.replace("R.exp", "R.sin")


class LeavesOne(Wheel):
    """A wheel whose pass leaves one program as it was, as if it had another opinion of it."""

    def run(self, text: str, name: str) -> dict[str, str]:
        answer = super().run(text, name)
        return {**answer, "after": answer["before"]} if text == LEFT else answer


@pytest.mark.tvm
def test_a_pass_is_compared_text_by_text() -> None:
    wheel = LeavesOne()
    found = compare("KillAfterLastUse", (("alike", PROGRAM), ("other", LEFT), ("no text", "class")), wheel)
    wheel.close()
    assert found.counts == {"equal": 1, "different": 1, "not run by TVM": 1}
    assert any("bindings" in words and texts == ["other"] for words, texts in found.classes.items())
    assert found.as_text().startswith("KillAfterLastUse: 1 ")
