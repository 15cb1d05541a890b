"""FuseOpsByPattern: what a pattern of the table matches becomes a call of a composite function.

See: tvm/src/relax/transform/fuse_ops.cc
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.attrs import attrs_of
from relax_core.ir.expr import Binding, Call, DataflowBlock
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, nodes_in
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.relax.byoc.codegen_functions import in_target_functions
from relax_core.passes.relax.byoc.composite_matches import REASONS, CompositeMatches
from relax_core.passes.relax.byoc.outline import COMPOSITE, PRIMITIVE, Outlining, change_blocks, is_open
from relax_core.passes.remarks import UnnumberedRemark
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.matching.facts import MatchContext
from relax_core.pattern.matching.matcher import match
from relax_core.pattern.matching.search import facts_of
from relax_core.pattern.partition.apart import node_name
from relax_core.pattern.partition.dataflow import DataflowGroups
from relax_core.pattern.partition.groups import accept
from relax_core.pattern.partition.tables import Check, PatternEntry, Tables, read_tables, target_of

TABLE_NAME = "<patterns>"
"""How diagnostics name a table that is an option of the pass."""


@dataclass(frozen=True, slots=True)
class FuseOpsByPatternOptions:
    """`patterns` are the text of a table, or names of composites or targets of the table beside the pipeline.

    With `bind_constants` constants stay in the composites; without they are parameters. With `annotate_codegen` each
    composite is put into a function of its target. `entry_functions` are where matches are looked for, everywhere if
    there are none.
    """

    patterns: tuple[str, ...] = ()
    bind_constants: bool = True
    annotate_codegen: bool = False
    entry_functions: tuple[str, ...] = ()


def run(module: IRModule, options: FuseOpsByPatternOptions, ctx: PassContext) -> IRModule:
    """Apply the patterns in order, each to the dataflow blocks of all functions.

    A composite of an earlier pattern is a call for the later ones. A match of which a part belongs to a composite
    already, or from which a value leaves and comes back, stays as it is and has a remark: TVM gives the rest of the
    first the name of the whole, and stops at the second with an internal error.

    Raises:
        CompileError: PT005 if `patterns` is no table or names nothing in it, PS018 if an entry function does not exist.
    """
    unknown = next((name for name in options.entry_functions if name not in module), None)
    if unknown is not None:
        ctx.fail("PS018", f"there is no function {unknown} to look in", module, f"functions: {', '.join(module.names)}")
    for name, _ in ctx.tables.graphs:
        ctx.remark(module, "note", f"{name} is a pattern of several bindings, and makes no composites")
    entries = entries_of(options.patterns, ctx.tables)
    if not entries:
        ctx.remark(module, "note", "the table has no patterns")
    for name, pattern, *check in entries:
        module = _PatternFusion(name, pattern, check[0] if check else accept, options, ctx).fused(module)
    return in_target_functions(module, ctx) if options.annotate_codegen else module


def entries_of(patterns: tuple[str, ...], tables: Tables) -> tuple[PatternEntry, ...]:
    """Return the patterns that an option names: those of a table's text, of a composite, or of a target; else all.

    What a target supports besides stands behind its patterns, an operator each.

    Raises:
        CompileError: PT005: a text is no table, or there is no such composite or target.
    """
    known = (*tables.patterns, *tables.single_operators())
    if not patterns:
        return known
    found: list[PatternEntry] = []
    for item in patterns:
        if item.lstrip().startswith("{"):
            table = read_tables(item, TABLE_NAME)
            found += (*table.patterns, *table.single_operators())
            continue
        named = [entry for entry in known if item in (entry[0], target_of(entry[0]))]
        if not named and not any(item in (name, target_of(name)) for name, _ in tables.graphs):
            names = ", ".join(dict.fromkeys(entry[0] for entry in known)) or "none"
            hint = f"composites of the table: {names}; an option may also be the text of a table"
            raise CompileError((Diagnostic("PT005", f"the table has no composite or target {item}", hint=hint),))
        found += named
    return tuple(found)


@dataclass(slots=True)
class _PatternFusion:
    """A pattern of the table in one module."""

    name: str
    pattern: Pattern
    check: Check
    options: FuseOpsByPatternOptions
    ctx: PassContext
    found: list[CompositeMatches] = field(default_factory=list[CompositeMatches])

    def fused(self, module: IRModule) -> IRModule:
        """Return `module` with what the pattern matches in composite functions."""
        ctx, facts = self.ctx, facts_of(module, self.pattern)
        outlining = Outlining(module, ctx, ctx.types(module))

        def change(block: DataflowBlock) -> DataflowBlock:
            found = CompositeMatches(DataflowGroups(block), self.pattern, self.check, facts).find()
            self.found.append(found)
            self.explain(found)
            if not found.units:
                return block
            attrs = dict.fromkeys(found.units, attrs_of({COMPOSITE: self.name, PRIMITIVE: True}))
            return outlining.outlined(block, found.groups, attrs, lifts_constants=not self.options.bind_constants)

        changed = change_blocks(module, ctx, change, self.options.entry_functions)
        if not any(found.units for found in self.found):
            ctx.remark_on_reading(partial(self.nearest, module, facts))
        return outlining.module(changed)

    def explain(self, found: CompositeMatches) -> None:
        """Say of each match that it became a composite, or why not."""
        if found.units:
            self.explain_units(found)
        for refusal in found.refusals:
            words = f"{self.name}: {REASONS[refusal.obstacle]}"
            self.ctx.remark(refusal.root, "missed", words, refusal.because)

    def explain_units(self, found: CompositeMatches) -> None:
        """Say of each match that became a composite what is in it, and what it gives besides its result."""
        outputs = found.groups.outputs()
        for unit in found.units:
            words = " ".join(filter(None, map(_operator, unit.bindings)))
            self.ctx.remark(unit.bindings[-1], "applied", f"{self.name}: {words}", unit.bindings)
            inner = tuple(item for item in unit.bindings[:-1] if item.var in outputs[unit])
            if inner:
                names = ", ".join(item.var.name for item in inner)
                words = f"{self.name}: {names} inside is used outside as well, and is a result of the composite, too"
                self.ctx.remark(unit.bindings[-1], "note", words, inner)

    def nearest(self, module: IRModule, facts: MatchContext) -> Iterator[UnnumberedRemark]:
        """Say where a pattern that matches in no dataflow block came furthest, and what stopped it there."""
        elsewhere = self.outside_of_dataflow(module, facts)
        if elsewhere is not None:
            words = f"{self.name}: it matches here, outside of dataflow blocks; ConvertToDataflow makes one"
            yield UnnumberedRemark(elsewhere, "missed", words)
        misses = [item for found in self.found for item in found.misses]
        best = max(misses, key=lambda item: item[1].matched_count, default=None)
        if best is not None and best[1].matched_count > 0:
            binding, miss = best
            part = show_pattern(miss.part).splitlines()[-1]
            met = node_name(facts.value(miss.node))
            words = f"{self.name}: closest at {binding.var.name}, where {part} met {met}, which {miss.reason}"
            yield UnnumberedRemark(binding, "missed", words, (miss.node,))

    def outside_of_dataflow(self, module: IRModule, facts: MatchContext) -> Call | None:
        """Return a call that the pattern matches, and that no dataflow block binds."""
        inside = {binding for found in self.found for binding in found.groups.place_of}
        bindings = (
            node
            for _, function in module.relax_functions
            for node in (nodes_in(function) if is_open(function) else ())
            if isinstance(node, Binding) and node not in inside
        )
        calls = (item.value for item in bindings if isinstance(item.value, Call))
        return next((call for call in calls if match(self.pattern, call, facts) is not None), None)


def _operator(binding: Binding) -> str:
    value: Node = binding.value
    return str(getattr(value.op, "name", "")).removeprefix("relax.") if isinstance(value, Call) else ""


PASS = Pass(
    "FuseOpsByPattern",
    "Puts what the table's patterns match into composite functions.",
    run,
    options=FuseOpsByPatternOptions,
    needs=("normal form",),
    see="tvm/src/relax/transform/fuse_ops.cc",
)
