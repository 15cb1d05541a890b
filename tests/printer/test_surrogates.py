"""A literal may hold half of a surrogate pair: what is printed of it is text all the same, and reads back."""

import pytest

import relax_core as rc

TEXT = "@R.function\ndef main(x: R.Tensor((2, 3))):\n    s = R.str({})\n    return s\n"


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "é", "\U0001f600", '"', "\\", "\0", "\n"])
def test_what_is_printed_is_text_and_reads_back(text: str) -> None:
    module = rc.parse(TEXT.format(ascii(text)))
    for dialect in ("tvmscript", "ast"):
        rc.script(module, dialect).encode()
    assert rc.structural_equal(module, rc.parse(rc.script(module)))
