"""What is selected in plain words: from the inspector's data, with lessons and the words of the glossary."""

import pytest

from relax_core.engine.documents.glossary import terms, terms_in
from relax_core.engine.protocol import Failure, Inspect, Program, PropertiesOf
from relax_core.engine.samples import SAMPLES
from relax_core.engine.session import Session
from relax_core.lessons.explaining import explained_node, lessons_about, names_in, operator_of
from relax_core.present.models import Inspector

PROGRAM = Program((SAMPLES / "relax" / "mlp.py").read_text(encoding="utf-8"), "mlp.py")
SESSION = Session()


def inspected(name: str) -> Inspector:
    found = SESSION.request(PropertiesOf(PROGRAM, (f"node of {name}",)))
    assert not isinstance(found, Failure)
    model = SESSION.request(Inspect(PROGRAM, found.values[0].text))
    assert not isinstance(model, Failure)
    return model


@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        (
            "lv",
            (
                "`lv` is what `R.matmul` returns: product of matrices, or of stacks of matrices.",
                'It is a value of type `R.Tensor((4, 16), dtype="float32")`.',
                "It has no effects but its result.",
                "It is defined in line 18, in a dataflow block and lies on cpu(0) by default.",
                "It is read by `add` in line 19.",
                "`LegalizeOps`, `CallTIRRewrite`,",
            ),
        ),
        (
            "x",
            (
                "`x` is a parameter of type `R.Tensor((4, 8)",
                "by `matmul` in line 18.",
                "No pass of the pipeline changes it.",
            ),
        ),
        ("gv", ("`R.nn.softmax`", "It is read by `return` in line 24.")),
    ],
)
def test_a_node_is_explained_from_its_data(name: str, sentences: tuple[str, ...]) -> None:
    text = explained_node(inspected(name))
    for sentence in sentences:
        assert sentence in text
    assert "  " not in text


def test_an_operator_leads_to_the_steps_that_name_it() -> None:
    assert operator_of(inspected("lv")) == "R.matmul"
    assert operator_of(inspected("x")) == ""
    found = {file.name: step for file, step in lessons_about("R.nn.softmax")}
    assert found["nan_hunting"] == 7
    assert lessons_about("") == ()


def test_words_of_the_glossary_are_found_as_words_and_not_in_code() -> None:
    assert len(terms()) > 50
    assert all(term.words and term.meaning for term in terms())
    text = "Two dataflow blocks and a prim func; the word frameworks is none, nor is `span`.\n```python\nspan\n```\n"
    assert [word for word, _ in terms_in(text)][:2] == ["dataflow block", "prim func"]
    assert not {"frame", "span"} & {word for word, _ in terms_in(text)}
    assert terms_in("Nothing is checked at run time, nor at the same time.") == ()
    assert [word for word, _ in terms_in("Who owns which bytes at each *time*?")] == ["time"]
    # What a session is to those who work on RelaxScope is not what a lesson means by a program or a request.
    assert terms_in("A program has a request.") == ()
    assert {"program", "request"} <= {word for term in terms() if term.is_internal for word in term.words}


def test_codes_and_passes_that_a_text_names_are_found() -> None:
    text = (
        "`FuseOps` and `LambdaLift(names='2022')` run; **VM012** or `TY012` stops, FuseTIR and `x` are no names, XX999"
    )
    assert names_in(text) == ("FuseOps", "LambdaLift", "VM012", "TY012")
    assert names_in("") == ()
