"""The address that says what the user looks at.

An address is read by one table, which is composed of the records of state: their fields with their rules. What is
wrong is left out and told. An address that would be too long is not cut either: the longest parts are left out as
wholes, and it says which.
"""

import base64
import binascii
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import urlencode

from relax_core.engine.samples import list_samples
from views.state.rules import Choice, Number, Packed, Rule, Text
from views.state.selection import RULES, Selection, screen

LONGEST_ADDRESS: Final = 60_000
"""Characters of an address behind the `?`.

The server takes a request of 64 KB with all its headers. Chromium and Firefox take more; proxies often take 8 or 16 KB,
which is for those who set one up to raise.
"""
_LONGEST_GIVEN: Final = 200_000
_PACKED_KEPT: Final = 8
"""So many texts are not packed anew for each step of their users: of 10,000 bindings that takes 0.1 s."""
_LEFT_OUT: Final = "left_out"
LINK: Final = "link"
"""The parameter with the name of a screen that is kept on the server."""
_PARAMETERS: Final = frozenset(
    (_LEFT_OUT, LINK, *(rule.name if isinstance(rule, Packed) else name for name, rule in RULES.items()))
)
_MOST_UNKNOWN: Final = 5
_DEFAULT: Final = screen().values()

FIRST: Final = screen(node="0/relax_func/5", time=11)
"""What a visitor without an address sees: the matrix product is selected, and its kernel has just written."""


class Read(NamedTuple):
    """The selection that an address stands for, and a sentence on each part of it that was left out."""

    selection: Selection
    complaints: tuple[str, ...] = ()


def read_address(
    address: Mapping[str, str], known: Selection | None = None, kept: Mapping[str, str | int] | None = None
) -> Read:
    """Read the parameters of an address; what is none of the table is no part of a selection.

    `kept` is the screen that the address has a link to, if there is one: it holds what was left out of an address as
    too long, or the whole screen, of which the address then says what is otherwise. Without it, what was left out
    stays as it is in `known`, what the session has of the same sample.
    """
    if not address:
        return Read(FIRST)
    values: dict[str, str | int] = {}
    complaints: list[str] = []
    stored = _within_rules(kept or {})
    if not left_out(address):
        values |= stored
    before = {} if known is None else known.values()
    for name in left_out(address):
        if name in stored:
            values[name] = stored[name]
        elif before and before["sample"] == address.get("sample"):
            values[name] = before[name]
        else:
            complaints.append(f"The address does not hold `{name}`: it was too long for one.")
    for name in [name for name in address if name not in _PARAMETERS][:_MOST_UNKNOWN]:
        complaints.append(f"The address has `{_short(name)}`, which is no part of a screen. It was left out.")
    for name, rule in RULES.items():
        parameter = rule.name if isinstance(rule, Packed) else name
        given = address.get(parameter, "")
        if not given:
            continue
        value = _unpacked(given, rule) if isinstance(rule, Packed) else rule.read(given)
        if value is None:
            complaints.append(
                f"The address says `{parameter}={_short(given)}`; expected {rule.expected}. It was left out."
            )
        else:
            values[name] = value
    sample = values.get("sample")
    if sample is not None and not values.get("text") and all(item.path != sample for item in list_samples()):
        del values["sample"]
        complaints.append(f"There is no sample `{sample}`: another one is open.")
    return Read(screen(**values), tuple(complaints))


def _within_rules(kept: Mapping[str, str | int]) -> dict[str, str | int]:
    """Return what of a kept screen this version of the app can show."""
    return {name: value for name, value in kept.items() if name in RULES and _is_of_rule(RULES[name], value)}


def _is_of_rule(rule: Rule, value: str | int) -> bool:
    match rule, value:
        case Number(), int():
            return rule.within(value) is not None
        case Packed(longest=longest), str():
            return len(value) <= longest
        case Text() | Choice(), str():
            return rule.read(value) is not None
        case _:
            return False


def _short(given: str) -> str:
    return given if len(given) <= 40 else f"{given[:40]}…, {len(given):,} characters"


def from_address(address: Mapping[str, str]) -> Selection:
    """Return the selection that an address stands for; parts that cannot be read are as if absent."""
    return read_address(address).selection


def changed_values(current: Selection) -> dict[str, str | int]:
    """Return the fields of a selection that are not as they are by default, and which sample is open."""
    return {name: value for name, value in current.values().items() if name == "sample" or value != _DEFAULT[name]}


def to_address(current: Selection) -> dict[str, str]:
    """Return the query parameters that reproduce `current`; values that are the default are left out."""
    address: dict[str, str] = {}
    field_of: dict[str, str] = {}
    for name, value in changed_values(current).items():
        rule = RULES[name]
        parameter = rule.name if isinstance(rule, Packed) else name
        address[parameter] = _packed(str(value)) if isinstance(rule, Packed) else str(value)
        field_of[parameter] = name
    left_out: list[str] = []
    while len(urlencode(address)) > LONGEST_ADDRESS:
        longest = max(field_of, key=lambda parameter: len(urlencode({parameter: address[parameter]})))
        del address[longest]
        left_out.append(field_of.pop(longest))
        address[_LEFT_OUT] = ",".join(left_out)
    return address


def left_out(address: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fields that `to_address` could not put into an address."""
    named = address.get(_LEFT_OUT, "").split(",")
    return tuple(name for name in RULES if name in named)


def within(changes: Mapping[str, str | int]) -> dict[str, str | int]:
    """Return the changes of a selection without numbers that their rules do not allow: no page asks for such a one."""
    return {name: value for name, value in changes.items() if _is_within(RULES.get(name), value)}


def _is_within(rule: Rule | None, value: str | int) -> bool:
    match rule:
        case Number():
            return isinstance(value, int) and rule.within(value) is not None
        case Text() | Choice() | Packed() | None:
            return True


@lru_cache(maxsize=_PACKED_KEPT)
def _packed(given: str) -> str:
    return base64.urlsafe_b64encode(zlib.compress(given.encode(), 9)).decode().rstrip("=")


def _unpacked(given: str, rule: Packed) -> str | None:
    """Return the whole text of an address, None if it was cut or is too long; never inflates without a bound."""
    if len(given) > _LONGEST_GIVEN:
        return None
    try:
        data = base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True)
        stream = zlib.decompressobj()
        found = stream.decompress(data, rule.longest + 1)
        return found.decode() if stream.eof and not stream.unused_data and len(found) <= rule.longest else None
    except (ValueError, binascii.Error, zlib.error):
        return None
