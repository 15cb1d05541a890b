"""What a module's text holds, seen without parsing it: the functions by name, and what kind of stage it is."""

import re
from typing import Final, Literal, TypeAlias

StageKind: TypeAlias = Literal["module", "prim funcs", "folded call", "no functions", "no text"]
"""What a stage holds.

`module`: functions of Relax or Relay. `prim funcs`: nothing else. `folded call`: the prim func that FoldConstant
compiles to fold a call; it is in no module. `no functions`: a module that a pass made to work in.
"""

_FUNCTION: Final = re.compile(r"^[ \t]*@[\w.]*?\b(function|prim_func)\b[^\n]*\n\s*def\s+(\w+)", re.MULTILINE)
_RELAY_FUNCTION: Final = re.compile(r"^[ \t]*def[ \t]+@(\w+)", re.MULTILINE)
_FOLDED: Final = re.compile(r"(?:__tvm_ffi_)?tir_function(?:_kernel\w*)?")
_CONSTANT: Final = re.compile(r'metadata\["(ir\.GenericConst|relax\.expr\.Constant)"\]\[(\d{1,9})\]')


def functions_in(text: str) -> tuple[tuple[str, str], ...]:
    """Return `(kind, name)` of the functions in the order of the text; the kind is "function" or "prim_func"."""
    found = tuple((item[1], item[2]) for item in _FUNCTION.finditer(text))
    return found or tuple(("function", item[1]) for item in _RELAY_FUNCTION.finditer(text))


def kind_of(text: str | None) -> StageKind:
    """Return what a stage with this text holds."""
    if text is None:
        return "no text"
    found = functions_in(text)
    if any(kind == "function" for kind, _ in found):
        return "module"
    if not found:
        # A text in a language or a spelling that this does not know is judged by the parser.
        return "no functions" if "class " in text or not text.strip() else "module"
    return "folded call" if all(_FOLDED.fullmatch(name) for _, name in found) else "prim funcs"


def constants_in(text: str) -> tuple[int, ...]:
    """Return the numbers of the tensors that a text refers to in its metadata table, ascending."""
    if "metadata[" not in text:
        return ()
    return tuple(sorted({int(item[2]) for item in _CONSTANT.finditer(text)}))


def constant_uses(text: str) -> dict[int, tuple[str, int, str]]:
    """Return, of each tensor in the metadata table, how the text writes it, and the line of its first use."""
    found: dict[int, tuple[str, int, str]] = {}
    for number, line in enumerate(text.split("\n"), 1) if "metadata[" in text else ():
        for item in _CONSTANT.finditer(line):
            found.setdefault(int(item[2]), (item[0], number, line.strip()))
    return found
