"""What the user looks at as one frozen value, and the address that says the same.

An address is read by one table: the fields of `Selection` with their rules. What is wrong is left out and told. An
address that would be too long is not cut either: the longest parts are left out as wholes, and it says which.
"""

import base64
import binascii
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import urlencode

from relax_core.engine.samples import list_samples
from relax_core.jit.options import MODES
from relax_core.present.regions.partition_models import LETS
from views.state import rules
from views.state.rules import KEY, Choice, Number, Packed, Rule, Text

LONGEST_ADDRESS: Final = 60_000
"""Characters of an address behind the `?`.

The server takes a request of 64 KB with all its headers. Chromium and Firefox take more; proxies often take 8 or 16 KB,
which is for those who set one up to raise.
"""
_LONGEST_TEXT: Final = 4_000_000
_LONGEST_GIVEN: Final = 200_000
_LONGEST_LIST: Final = 10_000
_LONGEST_NAME: Final = 1_000
_MOST_STEPS: Final = 10**12
_LEFT_OUT: Final = "left_out"
_SIZE: Final = r"\s*[^=,\s]{1,200}\s*=\s*[0-9]{1,12}\s*"
_SIZES: Final = (_LONGEST_LIST, "", f"{_SIZE}(,{_SIZE})*", "sizes such as n=64,m=8, of at most 12 digits")

FIRST_SAMPLE: Final = "seeds/my_ir_module_corrected.py"


def _sizes() -> str:
    longest, default, form, words = _SIZES
    return rules.text(longest, default, form=form, words=words)


@dataclass(frozen=True, slots=True)
class Selection:
    """A screen: which module, which pipeline, which stage, which node, which time.

    `text` is empty while the sample is as it was; `pipeline` is empty for the default one. `breakpoints` are
    lines (`8`) and instructions (`@12`) with their conditions, see `views.pages.run.points`.
    `operator` and `search` are those of the Operators page.
    `table` to `pair` are those of the Partition page: the sample of a table or its edited text, targets separated by
    commas (empty: all), which of the passes is shown, and the pair of regions whose blocking path is. `device` to
    `visit` are those of the Devices page: the options of PlanDevices, and the step of the analysis that is shown.
    `kernel` to `part` are those of the Kernels page: sizes as `n=64,m=8`, and the selected part.
    `mode` is how kernels round; with `unwritten` a run stops at an element that nothing wrote, and with `poisoned` each
    new tensor in a storage is filled with bytes 0xFF. `dims` are the sizes of symbolic dimensions of made-up inputs, as
    `n=64,m=8`; with `results` the stages are run and compared.
    `changes` are values that were changed while the program ran, see `views.pages.run.program`; with `unchanged` the
    run without them is shown. `tab` is what stands beside the registers: the listings, or `memory`.
    """

    sample: str = rules.text(_LONGEST_NAME, FIRST_SAMPLE)
    text: str = rules.packed("z", _LONGEST_TEXT)
    module: str = rules.text(_LONGEST_NAME)
    pipeline: str = rules.text(_LONGEST_LIST)
    stage: int = rules.number(-1, 10**6, -1)
    function: str = rules.text(_LONGEST_NAME)
    node: str = rules.text(_LONGEST_NAME)
    entry: str = rules.text(_LONGEST_NAME)
    time: int = rules.number(-1, _MOST_STEPS, -1)
    # What the box of the Run page can hold.
    seed: int = rules.number(0, (1 << 53) - 1)
    breakpoints: str = rules.text(_LONGEST_LIST)
    view: str = rules.text(40)
    operator: str = rules.text(_LONGEST_NAME)
    search: str = rules.text(_LONGEST_NAME)
    table: str = rules.text(_LONGEST_NAME)
    table_text: str = rules.packed("tz", _LONGEST_TEXT)
    targets: str = rules.text(_LONGEST_LIST)
    lets: str = rules.choice(*LETS)
    through_lets: int = rules.number(0, 1)
    step: int = rules.number(-1, 100, -1)
    pair: int = rules.number(-1, 10**6, -1)
    device: str = rules.text(40)
    clone: int = rules.number(0, 1)
    as_in: str = rules.choice("fixed", "reported")
    visits: str = rules.text(40)
    visit_limit: int = rules.number(1, 99, 1)
    visit: int = rules.number(-1, 10**9, -1)
    kernel: str = rules.text(_LONGEST_NAME)
    sizes: str = _sizes()
    part: int = rules.number(0, 10**6)
    mode: str = rules.choice(*MODES)
    unwritten: int = rules.number(0, 1)
    poisoned: int = rules.number(0, 1)
    dims: str = _sizes()
    results: int = rules.number(0, 1)
    changes: str = rules.text(_LONGEST_LIST)
    unchanged: int = rules.number(0, 1)
    tab: str = rules.choice("memory")


RULES: Final[Mapping[str, Rule]] = MappingProxyType({item.name: item.metadata[KEY] for item in fields(Selection)})
"""What each field may be."""
_PARAMETERS: Final = frozenset(
    (_LEFT_OUT, *(rule.name if isinstance(rule, Packed) else name for name, rule in RULES.items()))
)
_MOST_UNKNOWN: Final = 5
_DEFAULT: Final = Selection()

FIRST: Final = Selection(node="0/relax_func/5", time=11)
"""What a visitor without an address sees: the matrix product is selected, and its kernel has just written."""


class Read(NamedTuple):
    """The selection that an address stands for, and a sentence on each part of it that was left out."""

    selection: Selection
    complaints: tuple[str, ...] = ()


def read_address(address: Mapping[str, str], known: Selection | None = None) -> Read:
    """Read the parameters of an address; what is none of the table is no part of a selection.

    What was left out of an address as too long stays as it is in `known`, what the session has of the same sample.
    """
    if not address:
        return Read(FIRST)
    values: dict[str, str | int] = {}
    complaints: list[str] = []
    for name in left_out(address):
        if known is not None and known.sample == address.get("sample"):
            values[name] = getattr(known, name)
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
    return Read(Selection(**values), tuple(complaints))  # pyright: ignore[reportArgumentType]  # built field by field


def _short(given: str) -> str:
    return given if len(given) <= 40 else f"{given[:40]}…, {len(given):,} characters"


def from_address(address: Mapping[str, str]) -> Selection:
    """Return the selection that an address stands for; parts that cannot be read are as if absent."""
    return read_address(address).selection


def to_address(current: Selection) -> dict[str, str]:
    """Return the query parameters that reproduce `current`; values that are the default are left out."""
    address: dict[str, str] = {}
    field_of: dict[str, str] = {}
    for name, value in asdict(current).items():
        if name != "sample" and value == getattr(_DEFAULT, name):
            continue
        rule = RULES[name]
        parameter = rule.name if isinstance(rule, Packed) else name
        address[parameter] = _packed(value) if isinstance(rule, Packed) else str(value)
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
