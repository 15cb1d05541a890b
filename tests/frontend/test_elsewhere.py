"""A message about an undefined name says where its function defines the name, and what to do."""

import pytest

from relax_core.frontend.parse import parse_text

HEAD = '@R.function\ndef main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):\n'
BRANCH = "    if c:\n        t = R.exp(x)\n        r = R.add(t, x)\n    else:\n        r = x\n"
LOCAL = '    @R.function\n    def f(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):\n        t = R.exp(a)\n'
PRIM = '@T.prim_func\ndef f(A: T.Buffer((4,), "float32")):\n'
RESULT = """@R.function
def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("k",), "float32"):
    k = T.int64()
    return x
"""
# what is wrong, the text, the line of the definition, a part of its words, a part of the hint
CASES = (
    ("behind its use", f"{HEAD}    y = R.add(t, x)\n    t = R.exp(x)\n    return y\n", 4, "behind its use", "before"),
    ("in one branch", f"{HEAD}{BRANCH}    return t\n", 4, "inside the branch", "both branches end by assigning `t`"),
    ("in the other branch", f"{HEAD}{BRANCH.replace('r = x', 'r = t')}    return r\n", 4, "inside the branch", "both"),
    ("in a function", f"{HEAD}{LOCAL}        return t\n    return t\n", 5, "inside the function `f`", "return it"),
    ("in a loop", f"{PRIM}    for i in range(4):\n        k = i + 1\n    A[k] = 0.0\n", 4, "the loop", "inside"),
    ("a dimension of the result", RESULT, 3, "is defined here", "left open"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "line", "words", "hint"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_a_message_leads_to_the_definition(text: str, line: int, words: str, hint: str) -> None:
    diagnostics = parse_text(text, "m.py").diagnostics
    found = next(item for item in diagnostics if item.code == "RS001")
    assert hint in found.hint
    ((said, place),) = found.related
    assert place.line == line
    assert words in said


def test_a_name_of_another_function_is_not_pointed_at() -> None:
    text = f"{PRIM}    A[k] = 0.0\n\n\n{PRIM.replace('f(', 'g(')}    for k in range(4):\n        A[k] = 0.0\n"
    (found,) = (item for item in parse_text(text, "m.py").diagnostics if item.code == "RS001")
    assert found.related == ()
