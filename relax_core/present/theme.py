"""Colours, sizes and marks: the only reader of `tokens.json`, for graphs, components and tests.

DOT and SVG are written with the light values of the tokens; since all of them are distinct, `variable_of`
leads back from a value to its token, and one picture serves both modes.
"""

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

import msgspec

Mode = Literal["light", "dark"]


class Category(msgspec.Struct, frozen=True):
    """A device's or target's look; symbol and pattern tell it without its colour."""

    token: str
    symbol: str
    shape: str
    pattern: str


class MarkLook(msgspec.Struct, frozen=True):
    """Sign and colours of a change or a state; `token` tints a changed token in a changed row."""

    sign: str
    color: str
    fill: str = ""
    token: str = ""


class KindLook(msgspec.Struct, frozen=True):
    """Letter, shape and colour of the badge of a kind of value."""

    letter: str
    shape: str
    color: str


class Tokens(msgspec.Struct, frozen=True):
    """The whole of `tokens.json` that is used in Python."""

    color: dict[Mode, dict[str, str]]
    categories: tuple[Category, ...]
    marks: dict[str, MarkLook]
    kinds: dict[str, KindLook]
    font: dict[str, str]
    size: dict[str, float]


TOKENS = msgspec.json.decode(files("relax_core.present").joinpath("tokens.json").read_bytes(), type=Tokens)
LIGHT: Mapping[str, str] = MappingProxyType(TOKENS.color["light"])
DARK: Mapping[str, str] = MappingProxyType(TOKENS.color["dark"])
TOKEN_OF_LIGHT: Mapping[str, str] = MappingProxyType({value: name for name, value in LIGHT.items()})

# Texts on surfaces as the components use them; the contrast of each is at least 4.5 in both modes.
_TEXT = ("text", "text2", "text3", "accent")
_SYNTAX = ("synKeyword", "synName", "synString", "synNumber", "synType", "synComment", "synDecor")
_ROWS = ("bg", "chrome", "accentBg", "current", "addBg", "delBg", "chgBg", "movBg")
_MARKED = (
    ("error", "errorBg"),
    ("warn", "warnBg"),
    ("add", "addBg"),
    ("del", "delBg"),
    ("chg", "chgBg"),
    ("mov", "movBg"),
    ("ok", "cat2Bg"),
    ("text", "addTok"),
    ("text", "delTok"),
    ("accentOn", "accentFill"),
    ("text3", "canvas"),
    ("text2", "canvas"),
    ("text", "canvas"),
    ("text2", "raised"),
    ("text3", "raised"),
    ("text", "raised"),
    ("text", "errorBg"),
    ("catNone", "catNoneBg"),
)
_ON_PLAIN = ("error", "warn", "ok", "add", "del", "chg", "mov", "catNone", *(f"cat{i}" for i in range(6)))
CONTRAST_PAIRS: tuple[tuple[str, str], ...] = (
    *((text, row) for text in _TEXT for row in _ROWS),
    *((syntax, row) for syntax in _SYNTAX for row in _ROWS),
    *((f"cat{i}", f"cat{i}Bg") for i in range(6)),
    *((mark, "bg") for mark in _ON_PLAIN),
    *_MARKED,
)
"""Pairs (text token, surface token) in use."""


def component_css() -> str:
    """Write all colour tokens as custom properties that follow the mode of the page without a rerun."""
    colours = "".join(f"--{name}:light-dark({LIGHT[name]},{DARK[name]});" for name in LIGHT)
    return f":host{{{colours}--mono:var(--st-code-font,{TOKENS.font['mono']});--ui:var(--st-font,{TOKENS.font['ui']})}}"


def variable_of(light_value: str) -> str | None:
    """Return `var(--cat0)` for the light value of a token, None for any other colour."""
    name = TOKEN_OF_LIGHT.get(light_value.lower())
    return None if name is None else f"var(--{name})"


def contrast(foreground: str, background: str) -> float:
    """Return the contrast of two `#rrggbb` colours, 1 to 21, as WCAG 2.2 defines it."""
    high, low = sorted((_luminance(foreground), _luminance(background)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
