"""The definitions that any module may use: `prelude/*.relay`, and tensor arrays made for a dtype and a shape."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from relax_core.frontend.relay.definitions import Item, find_items
from relax_core.frontend.relay.lexer.tokens import Tokens, tokenize
from relax_core.frontend.relay.report import Report
from relax_core.source import Source

FOLDER = Path(__file__).with_name("prelude")
TENSOR_ARRAY = FOLDER / "tensor_array.relay.in"
TENSOR_ARRAY_ROWS = FOLDER / "tensor_array_rows.relay.in"
TENSOR_ARRAY_RANKS = FOLDER / "tensor_array_ranks.relay.in"
_DTYPE = r"(?:u?int|float)(?:8|16|32|64)|bool"
_SHAPE = r"scalar|(?:\d+|\?|any)(?:_(?:\d+|\?|any))*"
_OF_TENSOR_ARRAY = re.compile(rf"(?:static_)?tensor_(?:[a-z_]+_)?({_DTYPE})_({_SHAPE})(?:_t)?")
_OF_RANKED_ARRAY = re.compile(rf"tensor(?:\d|_[a-z_]+(?:tensor\d)?)?_({_DTYPE})(?:_t)?")


@dataclass(frozen=True, slots=True)
class Found:
    """A definition of the library."""

    tokens: Tokens
    item: Item


@dataclass(frozen=True, slots=True)
class Definitions:
    """Definitions by name; a constructor leads to its type."""

    types: Mapping[str, Found]
    functions: Mapping[str, Found]
    type_of_constructor: Mapping[str, str]


@lru_cache(maxsize=1)
def prelude() -> Definitions:
    """Return what `prelude/*.relay` defines."""
    paths = sorted(FOLDER.glob("*.relay"))
    return _definitions([Source(path.name, path.read_text(encoding="utf-8")) for path in paths])


def definitions_for(name: str) -> Definitions:
    """Return the definitions among which one called `name` may be."""
    match = _OF_TENSOR_ARRAY.fullmatch(name)
    if match is not None:
        return tensor_array(match[1], match[2])
    match = _OF_RANKED_ARRAY.fullmatch(name)
    return prelude() if match is None else ranked_tensor_array(match[1])


@lru_cache(maxsize=64)
def tensor_array(dtype: str, shape: str) -> Definitions:
    """Return the type of tensors of a dtype and a shape such as `2_?_4`, and the functions on it and its lists.

    TVM makes them with `StaticTensorArrayOps`; the names are its names.
    """
    unknown = "any" if "any" in shape else "?"
    dims = [] if shape == "scalar" else shape.split("_")
    words = {
        "DTYPE": dtype,
        "NAME": shape,
        "STACKED": "_".join([unknown, *dims]),
        "JOINED": "_".join([unknown, *dims[1:]]) if dims else unknown,
        "DIMS": _dims(dims),
        "ROW": "_".join(dims[1:]) or "scalar",
    }
    templates = [TENSOR_ARRAY, TENSOR_ARRAY_ROWS] if dims else [TENSOR_ARRAY]
    return _made(templates, words, f"tensor_array_{dtype}_{shape}.relay")


@lru_cache(maxsize=16)
def ranked_tensor_array(dtype: str) -> Definitions:
    """Return the type of tensors of a dtype and any rank up to 6, and the functions on it and its lists.

    TVM makes them with `TensorArrayOps`; the names are its names.
    """
    return _made([TENSOR_ARRAY_RANKS], {"DTYPE": dtype}, f"tensor_array_{dtype}.relay")


def _made(templates: list[Path], words: Mapping[str, str], name: str) -> Definitions:
    text = "\n".join(path.read_text(encoding="utf-8") for path in templates)
    return _definitions([Source(name, re.sub(r"\$(\w+?)\$", lambda found: words[found[1]], text))])


def _dims(dims: list[str]) -> str:
    return "(" + ", ".join("?" if dim == "any" else dim for dim in dims) + ("," if len(dims) == 1 else "") + ")"


def _definitions(sources: list[Source]) -> Definitions:
    types: dict[str, Found] = {}
    functions: dict[str, Found] = {}
    type_of_constructor: dict[str, str] = {}
    for source in sources:
        report = Report()
        tokens = tokenize(source, report)
        assert not report.diagnostics, f"{source.name} holds what is no token"
        for item in find_items(tokens):
            if item.kind == "def":
                functions[item.name] = Found(tokens, item)
                continue
            types[item.name] = Found(tokens, item)
            for name in _constructor_names(tokens, item):
                type_of_constructor[name] = item.name
    return Definitions(MappingProxyType(types), MappingProxyType(functions), MappingProxyType(type_of_constructor))


def _constructor_names(tokens: Tokens, item: Item) -> list[str]:
    """List the names that stand directly in the braces of a type."""
    found: list[str] = []
    depth = 0
    for at in range(item.start, item.end):
        kind = tokens.kinds[at]
        depth += (kind in ("(", "[", "{")) - (kind in (")", "]", "}"))
        if (
            depth == 1
            and kind == "ident"
            and tokens.kinds[at - 1] in ("{", ",")
            and "{" in tokens.kinds[item.start : at]
        ):
            found.append(tokens.texts[at])
    return found
