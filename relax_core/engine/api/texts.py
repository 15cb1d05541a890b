"""Reading, checking, comparing and printing modules."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from relax_core.check import check as checks
from relax_core.check.prim.prim_policy import Prims
from relax_core.check.text import check_text
from relax_core.diagnostics import CompileError, Diagnostic, RunError, has_errors
from relax_core.frontend.parse import parse_text, said_of
from relax_core.ir.dialect import dialect_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.module import IRModule
from relax_core.printer.ast import print_ast
from relax_core.printer.relay_text.module import print_relay
from relax_core.printer.spelling import Spelling, Tvm
from relax_core.printer.tvmscript import print_for_tvm, print_module

__all__ = ["CompileError", "Diagnostic", "RunError", "check", "parse", "parse_all", "script", "structural_equal"]


def parse(text: str, name: str = "module.py") -> IRModule:
    """Read the first module of a text; its spelling is found by itself. The text is never executed.

    Warnings do not stop it; `check` of the module tells them.

    Raises:
        CompileError: the text has errors, or no module; `diagnostics` are all of it, warnings as well.
    """
    return next(iter(parse_all(text, name).values()))


def parse_all(text: str, name: str = "module.py") -> Mapping[str, IRModule]:
    """Read every module of a text, in order, by the names of their classes.

    Raises:
        CompileError: the text has errors, or no module; then what `check` says of the rest is told with them.
    """
    parsed = parse_text(text, name)
    if has_errors(parsed.diagnostics) or not parsed.modules:
        raise CompileError(checks.combined(parsed.diagnostics, check_text(parsed)))
    return MappingProxyType({module.name: module for module in parsed.modules})


def check(module: IRModule, *, prims: Prims = "everywhere") -> tuple[Diagnostic, ...]:
    """Return what is wrong with a module, in the order of the text: errors, warnings and notes.

    The warnings of reading its text are among them: they do not stop `parse`, and are kept beside the module while it
    lives. A module that a pass or a program has made has none of these.
    `any(item.severity == "error" for item in check(module))` tells whether it can be run. With `prims="packed_only"`
    host scalars outside of the arguments of packed functions are warned of.
    """
    warnings = (item for item in said_of(module) if item.severity != "note")
    return checks.combined(warnings, checks.check(module, prims=prims))


def script(
    module: IRModule,
    dialect: Literal["tvmscript", "relay", "ast"] | None = None,
    *,
    spelling: Spelling = "2026",
    tvm: Tvm | None = None,
) -> str:
    """Print a module, such that `parse(script(m))` is structurally equal to `m`, or as a tree of nodes ("ast").

    The dialect is the module's own if it is not given; each language is printed as itself only.
    `tvm` is the version of apache-tvm that shall read the text: it decides the spelling, and where that version has
    another form, as 0.27 has for the scalars of `call_tir`, the module that is read is equal in value only.
    """
    match dialect or ("relay" if dialect_of(module) == "relay" else "tvmscript"):
        case "tvmscript":
            return (print_module(module, spelling=spelling) if tvm is None else print_for_tvm(module, tvm)).text
        case "relay":
            return print_relay(module).text
        case "ast":
            return print_ast(module).text
