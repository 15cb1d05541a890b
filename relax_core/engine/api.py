"""The public functions of RelaxScope, in this process: what `import relax_core` gives."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from relax_core.bytecode.build import build
from relax_core.check.check import check
from relax_core.diagnostics import CompileError, Diagnostic, RunError, has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.dialect import dialect_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.module import IRModule
from relax_core.passes.pipeline import run_pipeline
from relax_core.printer.ast import print_ast
from relax_core.printer.relay import print_relay
from relax_core.printer.spelling import SPELLING_OF, Spelling, Tvm
from relax_core.printer.tvmscript import print_module
from relax_core.vm.packed import register_packed
from relax_core.vm.virtual_machine import VirtualMachine

__all__ = [
    "CompileError",
    "Diagnostic",
    "RunError",
    "VirtualMachine",
    "build",
    "check",
    "parse",
    "parse_all",
    "register_packed",
    "run_pipeline",
    "script",
    "structural_equal",
]


def parse(text: str, name: str = "module.py") -> IRModule:
    """Read the first module of a text; its spelling is found by itself. The text is never executed.

    Raises:
        CompileError: the text has errors, all of which are in `diagnostics`, or no module.
    """
    return next(iter(parse_all(text, name).values()))


def parse_all(text: str, name: str = "module.py") -> Mapping[str, IRModule]:
    """Read every module of a text, in order, by the names of their classes.

    Raises:
        CompileError: the text has errors, or no module.
    """
    parsed = parse_text(text, name)
    if has_errors(parsed.diagnostics) or not parsed.modules:
        raise CompileError(parsed.diagnostics)
    return MappingProxyType({module.name: module for module in parsed.modules})


def script(
    module: IRModule,
    dialect: Literal["tvmscript", "relay", "ast"] | None = None,
    *,
    spelling: Spelling = "2026",
    tvm: Tvm | None = None,
) -> str:
    """Print a module, such that `parse(script(m))` is structurally equal to `m`, or as a tree of nodes ("ast").

    The dialect is the module's own if it is not given; each language is printed as itself only.
    `tvm` is the version of apache-tvm that shall read the text; it decides the spelling.
    """
    spelling = spelling if tvm is None else SPELLING_OF[tvm]
    match dialect or ("relay" if dialect_of(module) == "relay" else "tvmscript"):
        case "tvmscript":
            return print_module(module, spelling=spelling).text
        case "relay":
            return print_relay(module).text
        case "ast":
            return print_ast(module).text
