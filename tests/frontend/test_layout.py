"""Layout that got lost is restored where that is unambiguous, and what was done is said."""

from pathlib import Path

import pytest

from relax_core.diagnostics import has_errors
from relax_core.frontend.layout import restore_layout
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import structural_equal
from tests.frontend.seeds import SAMPLES

SEEDS = SAMPLES / "seeds"
CLOSURES = ("print_closure", "print_closure2", "print_closure_lifted", "print_closure2_lifted")


def flat(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines())


def read(name: str) -> str:
    return (SEEDS / f"{name}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CLOSURES)
def test_a_text_without_any_indentation_is_indented(name: str) -> None:
    text = read(name)
    restored = restore_layout(flat(text))
    parsed = parse_text(restored.text, name)
    assert not has_errors(parsed.diagnostics)
    assert structural_equal(parsed.modules[0], parse_text(text, name).modules[0])
    assert len(restored.changes) == 1
    assert restored.changes[0].startswith("indented ")


@pytest.mark.parametrize(("mark", "word"), [("+ ", "+"), ("> ", ">"), (">>> ", ">>>")])
@pytest.mark.parametrize("path", sorted(SEEDS.glob("*.py")), ids=lambda path: path.stem)
def test_quote_marks_are_stripped(path: Path, mark: str, word: str) -> None:
    text = path.read_text(encoding="utf-8").rstrip("\n")
    marked = "\n".join((mark + line).rstrip() for line in text.split("\n"))
    restored = restore_layout(marked)
    assert restored.text == text
    assert restored.changes == (f'stripped "{word}" from {text.count(chr(10)) + 1} lines',)


def test_tabs_are_expanded() -> None:
    restored = restore_layout("@R.function\ndef f(x):\n\treturn x\n")
    assert restored.text == "@R.function\ndef f(x):\n        return x\n"
    assert restored.changes == ("expanded tabs in 1 line",)


def test_an_ambiguous_text_is_left_alone() -> None:
    # The second store may stand in the block, in the loop or behind both.
    text = flat(read("my_ir_module"))
    assert restore_layout(text).text == text
    assert restore_layout(text).changes == ()


@pytest.mark.parametrize("text", ["", "no program at all", "x = 1\n", "def f(:\nreturn", read("my_ir_module")])
def test_a_text_with_nothing_to_restore_is_left_alone(text: str) -> None:
    assert restore_layout(text).text == text
    assert restore_layout(text).changes == ()
