"""Run low-level prim funcs that are written as text, here and in apache-tvm."""

from typing import Any

import numpy as np

from relax_core.diagnostics import DiagnosedError, has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.tir import PrimFunc
from relax_core.jit.engine import Engine
from tests.narrow import is_array


def prim_funcs(text: str) -> dict[str, PrimFunc]:
    """Read the prim funcs of a text by name."""
    parsed = parse_text(text, "low_level.py")
    assert not has_errors(parsed.diagnostics), [item.render() for item in parsed.diagnostics]
    return {var.name: function for var, function in parsed.modules[0].prim_funcs}


def run(text: str, *args: Any, fuel: int = 1 << 30) -> Any:
    """Run `main` on copies of the arguments; return what they hold then, or what it returns."""
    functions = prim_funcs(text)
    copies = [np.array(arg) if is_array(arg) else arg for arg in args]
    result = Engine(fuel=fuel).kernel(functions["main"], "main", functions=functions)(*copies)
    return copies if result is None else result


def run_in_tvm(text: str, *args: Any) -> Any:
    """Do the same with apache-tvm."""
    from tests.apache_tvm import from_source, tvm

    compiled = tvm.compile(from_source(text), target="llvm")
    tensors = [tvm.runtime.tensor(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    result = compiled(*tensors)
    arrays = [item.numpy() if isinstance(arg, np.ndarray) else arg for item, arg in zip(tensors, args, strict=True)]
    return arrays if result is None else result


def failure(text: str, *args: Any, fuel: int = 1 << 30) -> tuple[str, str]:
    """Return the code and the message of the diagnostic that `main` ends with."""
    try:
        run(text, *args, fuel=fuel)
    except DiagnosedError as error:
        return error.diagnostics[0].code, error.diagnostics[0].message
    raise AssertionError("it ran to its end")
