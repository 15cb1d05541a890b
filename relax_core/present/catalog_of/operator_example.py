"""The example of an operator as text: its module, the prim funcs that it becomes, and their LLVM IR."""

from dataclasses import replace

from relax_core.diagnostics import CompileError, has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.module import IRModule
from relax_core.jit.engine import Engine
from relax_core.ops import find
from relax_core.ops.example import example as example_of
from relax_core.passes.pipeline import final_module, run_pipeline
from relax_core.printer.tvmscript import print_module

_PASSES = "Normalize, LegalizeOps"


def example(name: str) -> str:
    """Return a module whose `main` calls the operator, with or without "relax." or "R." before its name.

    Raises:
        KeyError: there is no such operator.
    """
    spec = find(f"relax.{name.removeprefix('R.').removeprefix('relax.')}")
    if spec is None:
        raise KeyError(name)
    return example_of(spec)


def example_tir(name: str) -> str:
    """Return the prim funcs that the example runs, as TVMScript; empty if it runs none."""
    module = _lowered(name)
    kernels = tuple(item for item in module.definitions if item.var in {var for var, _ in module.prim_funcs})
    return print_module(replace(module, definitions=kernels)).text if kernels else ""


def example_llvm(name: str) -> str:
    """Return the optimised LLVM IR of those prim funcs, one after the other; nothing is run."""
    engine = Engine()
    kernels = (engine.kernel(function, var.name) for var, function in _lowered(name).prim_funcs)
    return "\n".join(kernel.optimized_ir() for kernel in kernels)


def _lowered(name: str) -> IRModule:
    parsed = parse_text(example(name), f"{name}.py")
    if has_errors(parsed.diagnostics):
        raise CompileError(parsed.diagnostics)
    (module,) = parsed.modules
    return final_module(module, run_pipeline(module, _PASSES))
