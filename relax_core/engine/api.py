"""The public functions of RelaxScope, in this process: what `import relax_core` gives."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from relax_core.analysis.device_visits import Visits
from relax_core.bytecode.build import build
from relax_core.check import check as checks
from relax_core.check.prim_policy import Prims
from relax_core.check.relay.noted import check_text
from relax_core.diagnostics import CompileError, Diagnostic, RunError, has_errors
from relax_core.frontend.parse import parse_text, said_of
from relax_core.ir.attrs import AttrValue
from relax_core.ir.dialect import dialect_of
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Expr
from relax_core.ir.module import IRModule
from relax_core.ir.rewrite import RewriteLog
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.pipeline import run_pipeline
from relax_core.passes.relay.plan_devices import PlanDevicesOptions
from relax_core.pattern import matcher
from relax_core.pattern.groups import Check, accept
from relax_core.pattern.matcher import Match, Miss
from relax_core.pattern.nodes import (
    Pattern,
    dominates,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from relax_core.pattern.search import Callback, facts_of, find, partition_matches, rewrite_matches
from relax_core.pattern.tables import Tables, read_tables
from relax_core.pattern.text import parse_pattern
from relax_core.present import region_report as regions
from relax_core.present.device_models import DeviceReport
from relax_core.present.devices import shown_devices
from relax_core.present.region_models import RegionReport
from relax_core.printer.ast import print_ast
from relax_core.printer.relay import print_relay
from relax_core.printer.spelling import SPELLING_OF, Spelling, Tvm
from relax_core.printer.tvmscript import print_module
from relax_core.vm.packed import register_packed
from relax_core.vm.relay_host import run_relay
from relax_core.vm.virtual_machine import VirtualMachine

__all__ = [
    "CompileError",
    "DeviceReport",
    "Diagnostic",
    "Match",
    "Miss",
    "Pass",
    "PassContext",
    "Pattern",
    "RunError",
    "Tables",
    "VirtualMachine",
    "build",
    "check",
    "device_report",
    "dominates",
    "evaluate",
    "explain",
    "is_constant",
    "is_expr",
    "is_function",
    "is_if",
    "is_let",
    "is_op",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "match",
    "parse",
    "parse_all",
    "partition",
    "pattern",
    "read_tables",
    "region_report",
    "register_packed",
    "rewrite",
    "run_pipeline",
    "script",
    "structural_equal",
    "wildcard",
]


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


def evaluate(module: IRModule, entry: str = "main", *args: Any) -> Any:
    """Run a function of a module by definition: without passes, an operator at a time by the table of operators.

    Relay is run by an interpreter of its own, Relax by the machine with nothing lowered that need not be.
    Arguments and results are those of `VirtualMachine`.

    Raises:
        CompileError: the module has errors.
        RunError: the program failed.
    """
    if dialect_of(module) != "relay":
        return VirtualMachine(build(module, passes=""))[entry](*args)
    diagnostics = checks.check(module)
    if has_errors(diagnostics):
        raise CompileError(diagnostics)
    return run_relay(module, entry, args)


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


def pattern(text: str) -> Pattern:
    """Read a dataflow pattern, such as `is_op("nn.relu")(is_op("nn.conv2d")(wildcard(), wildcard()))`.

    Raises:
        CompileError: PT001 to PT003, with the place in `text`.
    """
    return parse_pattern(text)


def match(pattern: Pattern, module: IRModule) -> tuple[Match, ...]:
    """Return every match of a pattern in a module, inner ones first: `match.root`, and `match[part]` for each part."""
    return find(pattern, module)


def explain(pattern: Pattern, node: Expr, module: IRModule | None = None) -> Miss | None:
    """Return why a pattern does not fit a node, `None` if it does; `module` gives the types that it may ask for."""
    facts = matcher.NO_FACTS if module is None else facts_of(module, pattern)
    return matcher.explain(pattern, node, facts)


def rewrite(pattern: Pattern, callback: Callback, module: IRModule, *, once: bool = False) -> IRModule:
    """Return `module` with what the pattern matches replaced by `callback(match)`, until nothing changes.

    Raises:
        CompileError: PT004 if it never ends.
    """
    return rewrite_matches(pattern, callback, module, RewriteLog(), once=once)


def partition(
    pattern: Pattern, module: IRModule, attrs: Mapping[str, AttrValue] | None = None, check: Check = accept
) -> IRModule:
    """Return `module` with what the pattern matches in function literals with `attrs`, called in its place.

    A match that `check` refuses stays, and one of which a part is used outside.
    """
    return partition_matches(pattern, module, attrs or {}, check, RewriteLog())


def region_report(module: IRModule, tables: Tables | None = None) -> RegionReport:
    """Report the compiler regions of an annotated or partitioned Relay module: `to_json()`, `to_markdown()`, and data.

    `tables` tell why an operator is in no region, and why two regions stayed apart.
    """
    return regions.region_report(module, tables)


def device_report(
    module: IRModule,
    default: str = "cpu",
    *,
    clone: bool = False,
    as_in: Literal["fixed", "reported"] = "fixed",
    visits: Visits = "memo_body",
    visit_limit: int = 1,
) -> DeviceReport:
    """Plan the devices of a Relay module, with the options of PlanDevices: `to_json()`, `to_text()`, and data.

    By function and variable where each value is, and why; copies with their bytes; conflicts with the chains of both
    sides, which are no exception here; the visits, if `as_in` is "reported".

    Raises:
        ValueError: `default` names no device, or `visit_limit` is not positive.
        CompileError: the module is not Relay.
    """
    options = PlanDevicesOptions(default, clone, as_in, visits, visit_limit)
    return shown_devices(module, options).report()
