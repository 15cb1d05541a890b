"""What the user looks at: one frozen value, kept in the session and in the address of the page."""

import base64
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType

import streamlit as st

_KEY = "selection"
_WRITTEN = "address"
_LINE = "source.line"
_PART_OF = "kernels.line"
_FIRST_VISIT = "first_visit"
_MAX_TEXT = 400_000

FIRST_SAMPLE = "seeds/my_ir_module_corrected.py"


@dataclass(frozen=True, slots=True)
class Selection:
    """A screen: which module, which pipeline, which stage, which node, which time.

    `text` is empty while the sample is as it was; `pipeline` is empty for the default one. `breakpoints` are
    lines (`8`) and instructions (`@12`) with their conditions, see `views.points`. `operator` and `search` are those
    of the Operators page.
    `table` to `pair` are those of the Partition page: the sample of a table or its edited text, targets separated by
    commas (empty: all), which of the passes is shown, and the pair of regions whose blocking path is. `device` to
    `visit` are those of the Devices page: the options of PlanDevices, and the step of the analysis that is shown.
    `kernel` to `part` are those of the Kernels page: sizes as `n=64,m=8`, and the selected part.
    `mode` is how kernels round, and with `unwritten` they stop at an element that nothing wrote. `dims` are the sizes
    of symbolic dimensions of made-up inputs, as `n=64,m=8`; with `results` the stages are run and compared.
    `changes` are values that were changed while the program ran, see `views.run_program`; with `unchanged` the run
    without them is shown. `tab` is what stands beside the registers: the listings, or `memory`.
    """

    sample: str = FIRST_SAMPLE
    text: str = ""
    module: str = ""
    pipeline: str = ""
    stage: int = -1
    function: str = ""
    node: str = ""
    entry: str = ""
    time: int = -1
    seed: int = 0
    breakpoints: str = ""
    view: str = ""
    operator: str = ""
    search: str = ""
    table: str = ""
    table_text: str = ""
    targets: str = ""
    lets: str = ""
    through_lets: int = 0
    step: int = -1
    pair: int = -1
    device: str = ""
    clone: int = 0
    as_in: str = ""
    visits: str = ""
    visit_limit: int = 1
    visit: int = -1
    kernel: str = ""
    sizes: str = ""
    part: int = 0
    mode: str = ""
    unwritten: int = 0
    dims: str = ""
    results: int = 0
    changes: str = ""
    unchanged: int = 0
    tab: str = ""


_PACKED: Mapping[str, str] = MappingProxyType({"text": "z", "table_text": "tz"})
"""Fields that stand in the address compressed, and their names there."""

FIRST = Selection(node="0/relax_func/5", time=11)
"""What a visitor without an address sees: the matrix product is selected, and its kernel has just written."""


def selection() -> Selection:
    """Return what is selected: from the address if the user came by one, else from the session.

    Leaving a page empties the address; it is then written again.
    """
    address = dict(st.query_params)
    if _KEY not in st.session_state:
        st.session_state[_FIRST_VISIT] = not address
    if _KEY not in st.session_state or (address and address != st.session_state.get(_WRITTEN)):
        st.session_state[_KEY] = from_address(address)
    current: Selection = st.session_state[_KEY]
    _write_address(current)
    return current


def is_first_visit() -> bool:
    """Return whether the session began without an address, so that nothing of this app may be known yet."""
    return bool(st.session_state.get(_FIRST_VISIT))


def show(screen: Selection) -> None:
    """Look at another screen."""
    st.session_state[_KEY] = screen
    _write_address(screen)


def select(**changes: str | int) -> Selection:
    """Change the selection and the address; unknown names are a mistake of the caller."""
    current: Selection = st.session_state.get(_KEY, Selection())
    new = replace(current, **changes)  # pyright: ignore[reportArgumentType]  # checked by the dataclass's fields
    st.session_state[_KEY] = new
    _write_address(new)
    return new


def opened_groups(page: str) -> tuple[str, ...]:
    """Return the groups of the graph of `page` that the user opened."""
    return st.session_state.get(f"{page}.opened", ())


def open_group(page: str, group: str) -> None:
    """Open a group of the graph of `page`."""
    st.session_state[f"{page}.opened"] = (*opened_groups(page), group)


def go_to_line(line: int) -> None:
    """Bring a line of the text into sight on the Source page."""
    _, number = line_to_show()
    st.session_state[_LINE] = (line, number + 1)


def find_part(line: int) -> None:
    """Let the Kernels page select the part of its kernel that a line of the text became."""
    st.session_state[_PART_OF] = line


def line_of_part() -> int:
    """Return the line whose part of a kernel was asked for, once; 0 for none."""
    return st.session_state.pop(_PART_OF, 0)


def line_to_show() -> tuple[int, int]:
    """Return the line that was last asked for and how often one was; 0 for none."""
    return st.session_state.get(_LINE, (0, 0))


def open_sample(path: str) -> None:
    """Open a sample from its start."""
    current: Selection = st.session_state.get(_KEY, Selection())
    show(Selection(sample=path, operator=current.operator, search=current.search))


def open_text(text: str, *, sample: str = "") -> None:
    """Open a text in place of what is open; what was selected in the old text is dropped.

    `sample` is the name of the file that it comes from; without one the text is an edit of what is open.
    """
    current: Selection = st.session_state.get(_KEY, Selection())
    st.session_state[_KEY] = Selection(
        sample=sample or current.sample,
        # An empty text would stand for the sample as it was.
        text=text or "\n",
        pipeline=current.pipeline,
        seed=current.seed,
        dims=current.dims,
        view=current.view,
        operator=current.operator,
        search=current.search,
        table=current.table,
        table_text=current.table_text,
        targets=current.targets,
        lets=current.lets,
        through_lets=current.through_lets,
    )
    _write_address(st.session_state[_KEY])


def _write_address(current: Selection) -> None:
    address = to_address(current)
    if dict(st.query_params) != address:
        st.query_params.from_dict(address)
    st.session_state[_WRITTEN] = address


def to_address(current: Selection) -> dict[str, str]:
    """Return the query parameters that reproduce `current`; values that are the default are left out."""
    default = asdict(Selection())
    address = {
        name: str(value)
        for name, value in asdict(current).items()
        if name == "sample" or (name not in _PACKED and value != default[name])
    }
    for name, short in _PACKED.items():
        if text := str(getattr(current, name)):
            address[short] = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    return address


def from_address(address: dict[str, str]) -> Selection:
    """Return the selection that an address stands for; parts that cannot be read are as if absent."""
    if not address:
        return FIRST
    values: dict[str, str | int] = {}
    for field in fields(Selection):
        given = address.get(field.name, "")
        if field.name not in _PACKED and given:
            values[field.name] = given if field.type is str else _number(given, int(str(field.default)))
    values |= {name: _unpacked(address[short]) for name, short in _PACKED.items() if short in address}
    return Selection(**values)  # pyright: ignore[reportArgumentType]  # built field by field


def _number(text: str, default: int) -> int:
    try:
        return int(text)
    except ValueError:
        return default


def _unpacked(packed: str) -> str:
    """Return the text of an address, empty if it was cut or is not one; never inflates without a bound."""
    try:
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        return zlib.decompressobj().decompress(data, _MAX_TEXT).decode()
    except (ValueError, zlib.error):
        return ""
