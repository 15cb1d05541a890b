"""The text of a reproducer: its heading, its data, and the parts of `reproduce_tvm.py` that it needs."""

import ast
import base64
import pprint
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np

from relax_core.engine.inputs import write_members
from relax_core.engine.npy import Array
from relax_core.engine.pipelines.entries import fail
from relax_core.vm.objects.values import ShapeValue

Look: TypeAlias = Literal["compare_forms", "stop_again"]

_TEMPLATE: Final = Path(__file__).with_name("reproduce_tvm.py")
_FIRST_OF_DATA: Final = 'PASS_NAME = ""\n'
_LAST_OF_DATA: Final = "# The data of a reproducer stand in place of the lines above.\n"
_IMPORTS: Final = "\nimport base64\n"
_LOOKS: Final = "look = compare_forms\n"
_ONLY_FOR: Final[Mapping[Look, frozenset[str]]] = MappingProxyType(
    {
        "compare_forms": frozenset(("compare_forms", "run", "_leaves", "_order", "_say_differences")),
        "stop_again": frozenset(("stop_again", "_finish", "_transform")),
    }
)
"""The functions of the template that only one kind of reproducer needs."""
_ARRAY_LIMIT_BYTES: Final = 8 << 20
_LINE: Final = 100


def script_of(heading: str, data: Mapping[str, str], arrays: Mapping[str, Array], look: Look) -> str:
    """Return a reproducer: `data` are the values of its names, as they stand in the text.

    Raises:
        CompileError: PL012: the arrays are too large to stand in a text.
    """
    if sum(array.nbytes for array in arrays.values()) > _ARRAY_LIMIT_BYTES:
        hint = "give smaller sizes, such as --sizes n=4"
        fail("PL012", "the inputs, results and constants are too large to stand in one file", hint)
    archive = base64.b64encode(write_members(arrays)).decode() if arrays else ""
    lines = [archive[start : start + _LINE] for start in range(0, len(archive), _LINE)]
    given = "(\n" + "\n".join(f'    "{line}"' for line in lines) + "\n)" if lines else '""'
    rows = [f"{name} = {value}" for name, value in {**data, "ARRAYS": given}.items()]
    template = _template(look)
    start, end = template.index(_FIRST_OF_DATA), template.index(_LAST_OF_DATA)
    words = heading.replace("\\", "/").replace('"""', "'''")
    status = "Exit status: 1 while the bug is there, 0 if it is not, 2 if that cannot be told."
    opening = f'"""{words}\n\n{status}\n"""\n'
    imports = template[template.index(_IMPORTS) : start]
    return "".join((opening, imports, "\n".join(rows), "\n", template[end + len(_LAST_OF_DATA) :]))


def _template(look: Look) -> str:
    """Return the template without what is only for the other kind of reproducer."""
    text = _TEMPLATE.read_text(encoding="utf-8")
    dropped = frozenset[str]().union(*(names for kind, names in _ONLY_FOR.items() if kind != look))
    lines = text.splitlines(keepends=True)
    for item in reversed(ast.parse(text).body):
        if isinstance(item, ast.FunctionDef) and item.name in dropped:
            # The two empty lines behind it go as well.
            del lines[item.lineno - 1 : (item.end_lineno or item.lineno) + 2]
    return "".join(lines).replace(_LOOKS, f"look = {look}\n")


def named_constants(prefix: str, constants: Sequence[Array | None], arrays: dict[str, Array]) -> tuple[str, ...]:
    """Return the names of tensors, which are added to `arrays`; one that is there already is not added again."""
    names: list[str] = []
    for number, array in enumerate(constants):
        known = next((name for name, item in arrays.items() if item is array), "")
        if array is not None and not known:
            known = f"{prefix}_{number}"
            arrays[known] = array
        names.append(known)
    return tuple(names)


def arguments_of(args: Sequence[object], arrays: dict[str, Array]) -> str:
    """Return the arguments of a call as the reproducer's literal; their arrays are added to `arrays`."""
    return pprint.pformat(tuple(_argument(f"in_{number}", arg, arrays) for number, arg in enumerate(args)))


def _argument(name: str, value: object, arrays: dict[str, Array]) -> Any:
    """Return an argument as a literal: arrays by their names."""
    match value:
        case np.ndarray():
            arrays[name] = cast("Array", value)
            return name
        case ShapeValue():
            return ("shape", [int(item) for item in value])
        case tuple() | list():
            fields = cast("Sequence[object]", value)
            if all(isinstance(item, int) for item in fields):
                fields = cast("Sequence[int]", fields)
                return ("shape", [int(item) for item in fields])
            return ("tuple", *(_argument(f"{name}_{at}", item, arrays) for at, item in enumerate(fields)))
        case np.generic():
            return cast("Any", value).item()
        case _:
            return value


def literal(text: str) -> str:
    """Return a text as a literal that reads as the text does, where that is possible."""
    is_plain = '"""' not in text and "\\" not in text and text.isprintable() is False and text.isascii()
    return f'"""\\\n{text}"""' if is_plain else repr(text)
