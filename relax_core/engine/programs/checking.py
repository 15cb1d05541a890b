"""What is said of a text without running anything: problems of reading and checking it, and accesses out of range."""

from relax_core.analysis.lint import regions
from relax_core.check.check import combined
from relax_core.check.infer import infer
from relax_core.check.prim.prim_policy import Prims, prims_outside_packed
from relax_core.check.text import check_text
from relax_core.diagnostics import Diagnostic, has_errors, in_order
from relax_core.engine.replies import Found
from relax_core.frontend.parse import Parsed
from relax_core.ir.module import IRModule
from relax_core.ir.tir import BufferStore
from relax_core.jit.lowering.known import ranges
from relax_core.present.problems import problems_of
from relax_core.present.words import prim_text

_WORDS_OF_REGIONS = ("compiler_begin", "compiler_end", "Codegen", "Composite")
"""One of these stands in each text that has a compiler region or a composite."""


def found(parsed: Parsed, prims: Prims = "everywhere") -> Found:
    """Check every module of a text."""
    diagnostics = diagnostics_of(parsed)
    if prims == "packed_only":
        policy = (item for module in parsed.modules for item in prims_outside_packed(module, infer(module)))
        diagnostics = in_order((*diagnostics, *policy))
    rendered = tuple(item.render() for item in diagnostics)
    return Found(problems_of(diagnostics), rendered, has_errors(diagnostics))


def diagnostics_of(parsed: Parsed) -> tuple[Diagnostic, ...]:
    """Return what parsing and checking say of the whole text, and what is suspicious in it: accesses, regions."""
    found = [*combined(parsed.diagnostics, check_text(parsed))]
    if not has_errors(found):
        for module in parsed.modules:
            found += _unproven(module)
            if any(word in parsed.source.text for word in _WORDS_OF_REGIONS):
                found += regions.region_problems(module)
    return in_order(found)


def _unproven(module: IRModule) -> list[Diagnostic]:
    """Warn of accesses that are checked when they run, each once per line."""
    found: dict[tuple[int, str], Diagnostic] = {}
    for _, function in module.prim_funcs:
        for fact in ranges.access_report(function):
            node, span = fact.node, fact.node.span
            if fact.proven or span is None:
                continue
            access = f"{node.buffer.name}[{', '.join(map(prim_text, node.indices))}]"
            verb = "Write" if isinstance(node, BufferStore) else "Read"
            when = f"is in range only if `{fact.condition}`" if fact.condition else "may be out of range"
            words = f"{verb} `{access}` {when}. It is checked when it runs."
            found.setdefault((span.line, access), Diagnostic("EN007", words, span, severity="warning"))
    return list(found.values())
