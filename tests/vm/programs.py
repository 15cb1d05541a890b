"""Build and run the text of a program."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from relax_core.bytecode.build import build
from relax_core.bytecode.executable import Executable
from relax_core.diagnostics import has_errors
from relax_core.frontend.parse import parse_text
from relax_core.vm.machine import Machine
from relax_core.vm.recording.trace import Trace
from relax_core.vm.virtual_machine import entry_arguments

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n\n\n"
MODULE = f"{HEAD}@I.ir_module\nclass Module:\n"
FIB = """
    @R.function
    def plus(x: T.int64, y: T.int64) -> T.int64:
        return R.prim_value(x + y)

    @R.function
    def main(n: T.int64) -> T.int64:
        cls = Module
        small = R.prim_value(n < 2)
        if small:
            r = n
        else:
            a = cls.main(R.prim_value(n - 1))
            b = cls.main(R.prim_value(n - 2))
            r = cls.plus(a, b)
        return r
"""
"""A part of a module: Fibonacci numbers of scalars, by a function that calls itself and another one."""


def executable_of(text: str, name: str = "test.py", passes: str | None = None) -> Executable:
    parsed = parse_text(text, name)
    assert not has_errors(parsed.diagnostics), "\n".join(item.render() for item in parsed.diagnostics)
    return build(parsed.modules[0], passes=passes)


def sample_text(path: str) -> str:
    return (SAMPLES / path).read_text(encoding="utf-8")


def run_text(
    text: str, *args: Any, entry: str = "main", name: str = "test.py", passes: str | None = None, **options: Any
) -> Trace:
    executable = executable_of(text, name, passes)
    return Machine(executable, **options).run(entry, entry_arguments(executable, entry, args))


def run_sample(path: str, *args: Any, entry: str = "main", **options: Any) -> Trace:
    return run_text(sample_text(path), *args, entry=entry, name=path, **options)


def floats(*shape: int) -> npt.NDArray[np.float32]:
    """Numbers between -1 and 1, the same every time."""
    return np.random.default_rng(len(shape)).random(shape, np.float32) * 2 - 1
