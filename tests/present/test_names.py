"""What a program defines, and the words of a language: what the editor offers."""

import pytest

from relax_core.check.infer import infer
from relax_core.frontend.parse import parse_text
from relax_core.ops import OPS
from relax_core.ops.relay import RELAY_OPS
from relax_core.present.editing.names import names_of
from relax_core.present.editing.vocabulary import vocabulary
from relax_core.present.models import NameFact

SCRIPT = """from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def f(x: R.Tensor(("n", 3), "float32")):
        y = R.nn.relu(x)
        return y

    @R.function
    def g(x: R.Tensor((2,), "int64")):
        return x
"""
RELAY = """#[version = "0.0.5"]
def @f(%x: Tensor[(2, 3), float32]) {
  let %y = nn.relu(%x);
  %y
}
"""


def names(text: str, name: str) -> tuple[NameFact, ...]:
    parsed = parse_text(text, name)
    (module,) = parsed.modules
    return names_of(parsed.source, module, infer(module).types)


def test_names_have_types_places_and_the_lines_of_their_function() -> None:
    found = names(SCRIPT, "m.py")
    assert [(item.name, item.kind, item.type, item.line, item.column) for item in found] == [
        ("f", "function", "((n, 3) f32) → (n, 3) f32", 6, 9),
        ("x", "variable", "(n, 3) f32", 6, 11),
        ("y", "variable", "(n, 3) f32", 7, 9),
        ("n", "dimension", "i64", 0, 0),
        ("g", "function", "((2,) i64) → (2,) i64", 11, 9),
        ("x", "variable", "(2,) i64", 11, 11),
    ]
    assert {(item.first, item.last) for item in found if item.kind == "function"} == {(1, 13)}
    assert [(item.first, item.last) for item in found if item.name == "x"] == [(6, 10), (11, 13)]


def test_a_module_without_functions_has_no_names() -> None:
    assert names(SCRIPT.replace("R.function", "R.functoin"), "m.py") == ()


def test_names_of_relay_have_their_signs() -> None:
    found = names(RELAY, "m.relay")
    assert [(item.name, item.line, item.column) for item in found] == [("@f", 2, 5), ("%x", 2, 8), ("%y", 3, 7)]
    assert found[1].type == "(2, 3) f32"


@pytest.mark.parametrize("language", ["tvmscript", "relay"])
def test_every_operator_is_a_word(language: str) -> None:
    terms = vocabulary("relay" if language == "relay" else "tvmscript").terms
    operators = [term for term in terms if term.kind == "operator"]
    wanted = RELAY_OPS if language == "relay" else [spec.short_name for spec in OPS.values()]
    assert sorted(term.name for term in operators) == sorted(wanted)
    assert all(term.signature for term in operators)
    assert {"float32", "bool"} <= {term.name for term in terms if term.kind == "dtype"}
    assert {"cpu", "cuda"} <= {term.name for term in terms if term.kind == "device"}


def test_a_word_says_what_a_call_may_give_by_name() -> None:
    (softmax,) = (term for term in vocabulary("tvmscript").terms if term.name == "nn.softmax")
    assert softmax.signature == "R.nn.softmax(data: tensor, axis: int64 = -1)"
    assert softmax.keywords == ("axis=-1",)
    (relay,) = (term for term in vocabulary("relay").terms if term.name == "nn.softmax")
    assert relay.signature == "nn.softmax(%data, axis=-1)"
    assert relay.summary == softmax.summary
