"""Apply rewrite rules that are written as text; docs/rules.md has their grammar."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from relax_core.diagnostics import CompileError, Diagnostic, plural
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.remarks import UnnumberedRemark
from relax_core.pattern.rules.apply import Applied, Outcome, apply_rules
from relax_core.pattern.rules.rule import Rules
from relax_core.pattern.rules.text import read_rules

_LINES_SHOWN = 10
RULES_NAME = "<rules>"
"""How diagnostics name the text of the rules of a program."""


@dataclass(frozen=True, slots=True)
class ApplyRulesOptions:
    """`names` are the rules of the text that are applied, all if there are none.

    With `once` there is one round over the values that are there, in place of as many as something changes.
    """

    names: tuple[str, ...] = ()
    once: bool = False


def run(module: IRModule, options: ApplyRulesOptions, ctx: PassContext) -> IRModule:
    """Refuse a pipeline that names the pass without rules.

    Raises:
        CompileError: RW110, always.
    """
    del module, options, ctx
    hint = "give a text of rules beside the pipeline: with `--rules FILE`, or as rc.rules(text)"
    raise CompileError((Diagnostic("RW110", "there are no rules to apply", hint=hint),))


def _run_rules(rules: Rules, module: IRModule, options: ApplyRulesOptions, ctx: PassContext) -> IRModule:
    applied = apply_rules(module, chosen(rules, options), ctx.log, once=options.once, locate=ctx.locate)
    _remark(applied, ctx)
    return applied.module


def chosen(rules: Rules, options: ApplyRulesOptions) -> Rules:
    """Return those of `rules` that are to be applied.

    Raises:
        CompileError: RW110: there is no rule of that name.
    """
    unknown = next((name for name in options.names if name not in rules.named), None)
    if unknown is not None:
        hint = f"the rules: {', '.join(rules.named)}"
        raise CompileError((Diagnostic("RW110", f"there is no rule {unknown}", hint=hint),))
    if not options.names:
        return rules
    return Rules(tuple(rule for rule in rules.rules if rule.name in options.names), rules.text)


def _remark(applied: Applied, ctx: PassContext) -> None:
    for function in applied.skipped:
        ctx.remark(function, "note", "no rule is looked for where memory is handled explicitly")
    for outcome in applied.outcomes:
        if outcome.replaced:
            where = _lines(outcome.replaced, ctx)
            words = f"{outcome.rule.name} is applied {plural(len(outcome.replaced), 'time')}{where}"
            ctx.remark(outcome.replaced[0], "applied", words, tuple(outcome.replaced[1:]))
        ctx.remark_on_reading(partial(_misses, outcome, ctx))


def _lines(nodes: Sequence[Node], ctx: PassContext) -> str:
    """Say where nodes stem from: `, at lines 3, 5`; "" where that is no line of the text."""
    spans = (ctx.locate(node) for node in nodes)
    lines = list(dict.fromkeys(str(span.line) for span in spans if span is not None))
    shown = [*lines[:_LINES_SHOWN], *(["..."] if len(lines) > _LINES_SHOWN else [])]
    return f", at line{'' if len(lines) == 1 else 's'} {', '.join(shown)}" if lines else ""


def _misses(outcome: Outcome, ctx: PassContext) -> Iterable[UnnumberedRemark]:
    for miss in outcome.misses[:1]:
        place = _lines((miss.root,), ctx).removeprefix(",")
        head = "fits nowhere else" if outcome.replaced else "is not applied"
        where = f"; closest{place}, where line {miss.span.line} of the rules is not met"
        words = f"{outcome.rule.name} {head}{where}: {miss.reason}"
        yield UnnumberedRemark(miss.root, "missed", words, () if miss.node is miss.root else (miss.node,))


PASS = Pass(
    "ApplyRules",
    "Applies rewrite rules that are written as text.",
    run,
    options=ApplyRulesOptions,
    needs=("normal form",),
)


def with_rules(rules: Rules) -> Pass:
    """Return the pass that applies `rules`."""
    return replace(PASS, run=partial(_run_rules, rules))


def pass_for(text: str) -> Pass:
    """Return the pass that applies the rules of a text; if that has errors, they are those of its stage."""
    if not text.strip():
        return PASS
    try:
        return with_rules(read_rules(text, RULES_NAME))
    except CompileError as error:
        return replace(PASS, run=partial(_refuse, error.diagnostics))


def _refuse(found: tuple[Diagnostic, ...], module: IRModule, options: ApplyRulesOptions, ctx: PassContext) -> IRModule:
    del module, options, ctx
    raise CompileError(found)
