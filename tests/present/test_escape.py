"""Text that becomes Markdown or the name of a file; that Streamlit shows it so, a test in Chromium says."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relax_core.present.escape import file_name, literal, prose, sentence, table, visible

APART = ":red[]"
MEANS_SOMETHING = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@given(st.text(max_size=60))
def test_a_literal_text_has_no_character_that_means_something(text: str) -> None:
    written = literal(text)
    left = re.sub(r"&#[0-9]+;", "", written.replace(APART, ""))
    assert not MEANS_SOMETHING & set(left)
    assert html.unescape(written.replace(APART, "")) == " ".join(map(visible, text.splitlines())).strip(" ")
    assert "  " not in written
    assert written == written.strip(" ")


@pytest.mark.parametrize(
    ("message", "written"),
    [
        ("`x` is unknown", "`x` is unknown"),
        ("no `code", "no &#96;code"),
        ("`` and ` `", "&#96;&#96; and &#96; &#96;"),
        ("`a` `b", "`a` &#96;b"),
        ("`:smile:` and :smile:", "&#96;&#58;smile&#58;&#96; and &#58;smile&#58;"),
    ],
)
def test_what_stands_between_backticks_is_code(message: str, written: str) -> None:
    assert prose(message) == written


def test_a_sentence_and_a_table_hold_texts_as_they_are() -> None:
    assert sentence("A*", "b*") == "**A&#42;&#46;** b&#42;"
    assert table(("Key", ""), [("`n`", "a|b")]) == "| Key |  |\n| --- | --- |\n| `n` | a&#124;b |"


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("main", "main"),
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\y.py", "y.py"),
        ('a"b\r\nSet-Cookie: x', "a_b_Set-Cookie_x"),
        ("\u202egnp.exe", "_gnp.exe"),
        (".bashrc", "bashrc"),
        ("-rf", "rf"),
        ("", "module"),
        ("...", "module"),
        ("größe", "größe"),
        ("x" * 500, "x" * 100),
    ],
)
def test_the_name_of_a_file_is_no_path_and_no_header(given_name: str, name: str) -> None:
    assert file_name(given_name) == name
