"""A name is looked for in what every pass of a program made."""

import pytest

from relax_core.engine.protocol import Failure, FoundInStages, Program
from relax_core.engine.session import Session
from tests.engine.programs import SMALL, program

PASSES = "Normalize, LegalizeOps, ToNonDataflow, CallTIRRewrite"


@pytest.mark.parametrize(
    ("text", "rows", "words"),
    [
        ("relax.add", [("Source", "appears"), ("LegalizeOps", "goes")], "first appears in Source"),
        ("R.add", [("Source", "appears"), ("LegalizeOps", "goes")], "it is gone from LegalizeOps on"),
        ("R.call_tir", [("LegalizeOps", "appears"), ("CallTIRRewrite", "goes")], "first appears in LegalizeOps"),
        ("nowhere", [], "`nowhere` is in no form of the program"),
    ],
)
def test_a_name_is_found_where_its_count_changes(text: str, rows: list[tuple[str, str]], words: str) -> None:
    given = Program(program(SMALL).text, pipeline=PASSES)
    found = Session().request(FoundInStages(given, text))
    assert not isinstance(found, Failure)
    assert [(row.name, row.change) for row in found.rows] == rows
    assert words in found.conclusion
