"""A module for each operator that shows a call of it and runs."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from types import MappingProxyType

from relax_core.ops.spec import OpSpec

EXAMPLES: Mapping[str, str] = MappingProxyType(
    tomllib.loads(Path(__file__).with_name("examples.toml").read_text(encoding="utf-8"))
)
"""By operator: `parameters -> call`, where a parameter is `name: (sizes) dtype`; or the definitions of a module."""

_HEAD = """\
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


@I.ir_module
class Module:
"""


def example(spec: OpSpec) -> str:
    """Return the text of a module whose `main` calls the operator.

    An operator without a line in the table is called with matrices of floats; its other arguments are left out.
    """
    line = spec.example or EXAMPLES.get(spec.short_name) or _plain_line(spec)
    return _HEAD + indent(line if "def " in line else _main(line), "    ")


def _plain_line(spec: OpSpec) -> str:
    names = [param.name for param in spec.params if param.is_required]
    return f"{'; '.join(f'{name}: (2, 3)' for name in names)} -> R.{spec.short_name}({', '.join(names)})"


def _main(line: str) -> str:
    params, _, call = line.partition(" -> ")
    spelled = ", ".join(map(_param, params.split("; "))) if params.strip() else ""
    symbols = sorted({word for word in ("n", "m") if f'"{word}"' in spelled})
    lines = (*(f"    {name} = T.int64()" for name in symbols), f"    gv = {call}", "    return gv")
    return "\n".join(("@R.function", f"def main({spelled}):", *lines, ""))


def _param(text: str) -> str:
    name, _, rest = text.strip().partition(": ")
    shape, _, dtype = rest.rpartition(")")
    return f'{name}: R.Tensor({shape}), "{dtype.strip() or "float32"}")'
