"""Whatever an address holds, it is read as a selection in range; what is wrong is said; nothing is cut."""

import base64
import random
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from relax_core.engine.samples import list_samples
from tests.views.pages import REPOSITORY, arrive, opened
from views import PAGES
from views.pages.run.points import read as read_points
from views.pages.run.state import RunState
from views.shell.navigation import page_file
from views.state.address import LONGEST_ADDRESS, RULES, from_address, read_address, to_address
from views.state.rules import Choice, Number, Packed, Text
from views.state.selection import screen
from views.state.shared import FIRST_SAMPLE, ProgramState

NUMBERS = st.one_of(
    st.integers(-(10**40), 10**40).map(str),
    st.sampled_from(("²", "١٢", "1_000", " 7", "+7", "0x10", "1e3", "-0", "9" * 5000, "NaN", "½", "-", "７")),
)
SIZES = st.lists(st.tuples(st.text(max_size=4), NUMBERS), max_size=4).map(
    lambda pairs: ",".join(f"{name}={size}" for name, size in pairs)
)
ANYTHING = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
BOMB = base64.urlsafe_b64encode(zlib.compress(b"a" * 20_000_000, 9)).decode().rstrip("=")
WHOLE = base64.urlsafe_b64encode(zlib.compress("x = größe".encode(), 9)).decode().rstrip("=")
PACKED = st.one_of(
    st.sampled_from((BOMB, WHOLE[:-1], WHOLE[:10], WHOLE + "AAAA", "A" * 300_000, "=", "%", "\x00", WHOLE[::-1])),
    st.binary(max_size=40).map(lambda data: base64.urlsafe_b64encode(data).decode()),
    st.binary(max_size=40).map(lambda data: base64.urlsafe_b64encode(zlib.compress(data)).decode()),
)
LONG = st.sampled_from(("x" * 100_000, "\x00", "\ud800", "a\x00b", "'\"<>", "../../etc/passwd", "\u202e"))
PARAMETERS = [rule.name if isinstance(rule, Packed) else name for name, rule in RULES.items()]
ADDRESSES = st.dictionaries(
    st.one_of(st.sampled_from([*PARAMETERS, "left_out", "text", "table_text", "rule_text"]), st.text(max_size=8)),
    st.one_of(NUMBERS, SIZES, ANYTHING, PACKED, LONG),
    max_size=8,
)


def is_in_range(name: str, value: Any) -> bool:
    match RULES[name]:
        case Number(least, most):
            return type(value) is int and least <= value <= most
        case Text(longest):
            return type(value) is str and len(value) <= longest
        case Choice(words):
            return value == "" or value in words
        case Packed(longest=longest):
            return type(value) is str and len(value) <= longest


@given(ADDRESSES)
def test_any_address_is_a_selection_in_range(address: dict[str, str]) -> None:
    selection, complaints = read_address(address)
    assert from_address(address) == selection
    for name, value in selection.values().items():
        assert is_in_range(name, value), (name, value)
        if isinstance(value, str):
            value.encode()
    assert all(len(words) < 400 for words in complaints)
    assert from_address(to_address(selection)) == selection
    assert all(
        0 <= point.line < 10**9 and point.pc < 10**9 for point in read_points(selection.of(RunState).breakpoints)
    )


@given(st.sampled_from([*RULES]), st.one_of(NUMBERS, ANYTHING, PACKED, LONG))
def test_what_is_wrong_is_said_and_left_out(name: str, given_text: str) -> None:
    rule = RULES[name]
    parameter = rule.name if isinstance(rule, Packed) else name
    selection, complaints = read_address({parameter: given_text})
    default = screen().values()[name]
    is_default = given_text in ("", str(default)) or (isinstance(rule, Number) and rule.read(given_text) == default)
    is_empty = (
        isinstance(rule, Packed)
        and {selection.values()[field] for field in ("text", "table_text", "rule_text")} == {""}
        and not complaints
    )
    assert complaints or selection.values()[name] != default or is_default or is_empty
    assert len(complaints) <= 2


@pytest.mark.parametrize("packed", [BOMB, WHOLE[:-1], WHOLE[:-4], WHOLE + "AAAA", "A" * 300_000, "no base64 !"])
def test_a_text_that_is_not_whole_is_refused(packed: str) -> None:
    selection, complaints = read_address({"z": packed})
    assert selection.of(ProgramState).text == ""
    assert len(complaints) == 1
    assert "`z=" in complaints[0]


def long_text(length: int) -> str:
    letters = random.Random(7)
    return "".join(letters.choices("abcdefghijklmnopqrstuvwxyz0123456789\n", k=length))


def test_a_text_that_is_too_long_is_left_out_whole() -> None:
    shown = screen(sample="relax/fib.py", text=long_text(453_414), time=3)
    address = to_address(shown)
    assert address == {"sample": "relax/fib.py", "time": "3", "left_out": "text"}
    read = read_address(address)
    assert read.selection == shown.changed(text="")
    assert read.complaints == ("The address does not hold `text`: it was too long for one.",)
    assert read_address(address, shown).selection == shown
    assert read_address(address, shown).complaints == ()


@given(st.integers(0, 90_000), st.integers(0, 90_000), st.integers(0, 30_000))
def test_an_address_has_a_length_and_holds_a_text_whole_or_not_at_all(text: int, table: int, pipeline: int) -> None:
    given_screen = screen(text=long_text(text), table_text=long_text(table), pipeline=long_text(pipeline)[:10_000])
    address = to_address(given_screen)
    read = from_address(address).values()
    for name in ("text", "table_text", "pipeline"):
        assert read[name] in ("", given_screen.values()[name])
        assert (read[name] == given_screen.values()[name]) != (name in address.get("left_out", "").split(","))
    assert sum(len(name) + len(value) for name, value in address.items()) <= LONGEST_ADDRESS


HOSTILE: dict[str, dict[str, str]] = {
    "numbers of thirty digits": dict.fromkeys(("seed", "time", "stage", "pair", "part", "visit", "step"), "9" * 30),
    "numbers below their range": dict.fromkeys(("seed", "time", "stage", "pair", "part", "visit", "clone"), "-7"),
    "sizes of thirty digits": {"dims": "n=" + "9" * 30, "sizes": "m=" + "9" * 30},
    "sizes that are large": {"dims": "n=999999999999,m=999999999999", "sizes": "n=999999999999"},
    "digits that are no ASCII": {"seed": "²", "time": "١٢", "dims": "n=²", "breakpoints": "²,١٢"},
    "breakpoints of thirty digits": {"breakpoints": "9" * 30 + ",@" + "9" * 30 + ",*?" + "9" * 3000},
    "changes of thirty digits": {"changes": "abcdef;" + "9" * 12 + "." + "9" * 6 + ":x = 1"},
    "nodes that are none": {
        "node": "9" * 30 + "/main/" + "9" * 30,
        "function": "\x00",
        "entry": "../..",
        "module": "<b>",
    },
    "words that are none": {
        "mode": "x",
        "lets": "x",
        "as_in": "x",
        "visits": "x",
        "device": "x",
        "tab": "x",
        "view": "x",
    },
    "a bomb": {"z": BOMB, "tz": BOMB},
    "a text that was cut": {"z": WHOLE[:-3]},
    "texts without end": dict.fromkeys(
        ("sample", "pipeline", "search", "operator", "kernel", "targets", "table"), "x" * 20_000
    ),
    "a large seed": {"seed": str((1 << 53) - 1), "sample": "relax/mlp.py"},
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_answers_whatever_the_address_holds(page: str) -> None:
    app = AppTest.from_file(str(REPOSITORY / page_file(page)), default_timeout=120)
    for title, address in HOSTILE.items():
        arrive(app, address)
        assert not app.exception, title
        said = [item.value for item in (*app.error, *app.info, *app.markdown)]
        assert not [words for words in said if "Mistake in RelaxScope" in words], title
        assert bool(read_address(address).complaints) == _has_complaints(app), title
        if _has_complaints(app):
            app.button(key="complaints.hide").click().run()
            assert not _has_complaints(app), title


def _has_complaints(app: AppTest) -> bool:
    return any(item.key == "complaints.hide" for item in app.button)


def test_the_session_keeps_a_text_that_its_address_cannot_hold() -> None:
    sample = next(item for item in list_samples() if item.path == "relax/fib.py")
    text = sample.text + "".join(f"# {line}\n" for line in long_text(200_000).splitlines())
    app = opened("source", screen(sample=sample.path))
    app.session_state["selection"] = screen(sample=sample.path, text=text)
    app.run()
    assert not app.exception
    assert app.query_params["left_out"] == "text"
    assert "z" not in app.query_params
    assert any("no address of this screen" in item.value for item in app.warning)
    assert len(app.get("download_button")) == 1
    arrive(app, {**dict(app.query_params), "stage": "1"})
    assert app.session_state["selection"] == screen(sample=sample.path, text=text, stage=1)


def test_a_message_of_a_browser_that_has_not_seen_the_last_change_takes_nothing_back() -> None:
    app = opened("passes", screen(sample="relax/mlp.py", stage=1))
    old = dict(app.query_params)
    app.session_state["selection"] = changed = screen(sample="relax/mlp.py", stage=3)
    app.run()
    new = dict(app.query_params)
    assert new != old
    for address in (old, {}):
        app.query_params.clear()
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        assert app.session_state["selection"] == changed
        assert dict(app.query_params) == new
    arrive(app, old)
    assert app.session_state["selection"] == screen(sample="relax/mlp.py", stage=1)


def test_a_parameter_that_no_screen_has_is_said() -> None:
    selection, complaints = read_address({"sed": "3", "seed": "4"})
    assert selection.of(ProgramState).seed == 4
    assert complaints == ("The address has `sed`, which is no part of a screen. It was left out.",)
    assert read_address(to_address(screen().changed(seed=4))).complaints == ()
    assert len(read_address({f"unknown{number}": "1" for number in range(100)}).complaints) == 5


# What a link may hold that somebody kept: a name is never taken away, and never given to something else.
NAMES = (
    "sample z module pipeline stage function node entry time seed breakpoints view operator search table tz targets "
    "lets through_lets step pair device clone as_in visits visit_limit visit kernel sizes part mode unwritten poisoned "
    "dims results changes unchanged tab signed"
)


def test_a_link_of_today_is_read_tomorrow() -> None:
    assert set(NAMES.split()) <= set(PARAMETERS)


def test_what_belongs_to_a_text_is_dropped_with_it_and_the_options_stay() -> None:
    before = screen(**{name: 1 for name, rule in RULES.items() if isinstance(rule, Number)}, operator="x", lets="ended")
    always = {"sample": FIRST_SAMPLE, "operator": "x", "lesson_step": "1"}
    assert to_address(before.kept("always")) == always
    kept = {**always, "lets": "ended", "seed": "1", "signed": "1", "through_lets": "1"}
    assert to_address(before.kept("edit")) == kept


def test_a_field_that_no_page_has_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="no record of state has a field tiem"):
        screen(tiem=3)
