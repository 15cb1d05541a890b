"""A pattern partitions a Relax module without a pipeline: what it matches becomes functions of the module."""

from collections.abc import Mapping

from relax_core.ir.attrs import AttrValue, attrs_of
from relax_core.ir.expr import DataflowBlock
from relax_core.ir.module import IRModule
from relax_core.ir.rewriting.builder import normalize
from relax_core.passes.core import PassContext
from relax_core.passes.relax.byoc.composite_matches import CompositeMatches
from relax_core.passes.relax.byoc.outline import Outlining, change_blocks
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.matching.search import facts_of
from relax_core.pattern.partition.dataflow import DataflowGroups
from relax_core.pattern.partition.tables import Check


def partition_by_pattern(pattern: Pattern, module: IRModule, attrs: Mapping[str, AttrValue], check: Check) -> IRModule:
    """Return `module` in A-normal form with each match of a dataflow block in a private function that has `attrs`.

    The same module if there is none. Composites and functions of targets are not looked into, and constants stay in the
    functions.
    """
    ctx = PassContext()
    normal = normalize(module, ctx.log)
    facts = facts_of(normal, pattern)
    outlining = Outlining(normal, ctx, ctx.types(normal))

    def change(block: DataflowBlock) -> DataflowBlock:
        found = CompositeMatches(DataflowGroups(block), pattern, check, facts).find()
        return outlining.outlined(
            block, found.groups, dict.fromkeys(found.units, attrs_of(attrs)), lifts_constants=False
        )

    changed = change_blocks(normal, ctx, change, ())
    return outlining.module(changed) if outlining.added else module
