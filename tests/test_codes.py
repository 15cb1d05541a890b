"""Every diagnostic code that is used is explained, and every code that is explained is used."""

import re
from pathlib import Path

from relax_core.codes import CODES

CORE = Path(__file__).resolve().parent.parent / "relax_core"
TEXTS = (".py", ".relay", ".toml", ".txt")
CODE = re.compile(r'"((?:PA|RL|RS|RY|TY|WF|PS|PT|RW|BC|BY|DV|VM|JT|EN|PL|GP|TI)\d{3})"')


def test_the_codes_in_use_are_those_that_are_explained() -> None:
    used = {code for path in CORE.rglob("*.py") for code in CODE.findall(path.read_text(encoding="utf-8"))}
    assert used - set(CODES) == set()
    assert set(CODES) - used == set()


def test_every_code_is_met_by_a_sample_or_a_test() -> None:
    folders = (CORE.parent / "samples", CORE.parent / "tests")
    texts = [path.read_text(encoding="utf-8") for root in folders for path in root.rglob("*") if path.suffix in TEXTS]
    met = {code for text in texts for code in re.findall(r"\b[A-Z]{2}\d{3}\b", text)}
    assert set(CODES) - met == set()


def test_an_explanation_is_a_paragraph() -> None:
    for code, text in CODES.items():
        assert re.fullmatch(r"[A-Z]{2}\d{3}", code)
        assert text.endswith((".", "?")), code
        assert "\n" not in text, code
