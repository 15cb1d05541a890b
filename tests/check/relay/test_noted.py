"""What a Relay text says beside its module: types in comments, missing functions, open types."""

import pytest

from relax_core.check.text import check_text
from relax_core.frontend.parse import parse_text

NOTED = {
    "the same type": ("nn.relu(%x) /* ty=Tensor[(2, 3), float32] */", ()),
    "an open size agrees": ("nn.relu(%x) /* ty=Tensor[(?, 3), float32] */", ()),
    "another size": ("nn.relu(%x) /* ty=Tensor[(2, 4), float32] */", ("RY033",)),
    "another dtype": ("nn.relu(%x) /* ty=Tensor[(2, 3), int8] */", ("RY033",)),
    "another rank": ("nn.relu(%x) /* ty=Tensor[(2,), float32] */", ("RY033",)),
    "a tuple where none is": ("nn.relu(%x) /* ty=(int32,) */", ("RY033",)),
    "no type": ("nn.relu(%x) /* a type of ours */", ()),
    "a function": ("(fn (%y: int32) { %y }) /* ty=fn (int32) -> int32 */", ()),
    "another function": ("(fn (%y: int32) { %y }) /* ty=fn (int32) -> bool */", ("RY033",)),
}


@pytest.mark.parametrize("name", NOTED)
def test_a_type_in_a_comment_is_compared_with_the_one_inferred(name: str) -> None:
    expression, expected = NOTED[name]
    parsed = parse_text(f"def @main(%x: Tensor[(2, 3), float32]) {{ {expression} }}", "m.relay")
    found = check_text(parsed)
    assert tuple(item.code for item in found) == expected
    assert all(item.severity == "note" and item.span is not None for item in found)


def test_a_missing_function_is_told_once() -> None:
    parsed = parse_text("def @main() { @nowhere_at_all(1) }", "m.relay")
    assert [item.code for item in (*parsed.diagnostics, *check_text(parsed))] == ["RL011"]


@pytest.mark.parametrize("call", ["@hd(Nil)", "@id(@hd(Nil))", "@compose(@id, @hd)(Nil)"])
def test_what_is_not_determined_is_told_where_the_user_wrote_it(call: str) -> None:
    parsed = parse_text(f"def @main() {{ let %x = {call}; 1 }}", "m.relay")
    found = [item for item in check_text(parsed) if item.severity == "error"]
    assert {item.code for item in found} == {"RY013"}
    assert all(item.span is not None and item.span.source.name == "m.relay" for item in found)
