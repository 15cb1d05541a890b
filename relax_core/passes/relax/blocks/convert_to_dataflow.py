"""Put runs of bindings without side effects into dataflow blocks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TypeAlias

from relax_core.diagnostics import plural
from relax_core.ir.expr import Binding, BindingBlock, DataflowBlock, If, SeqExpr, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.passes.core import Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax import canonicalize_bindings
from relax_core.passes.relax.blocks.outputs import hide_outputs
from relax_core.passes.relax.effects import has_effect
from relax_core.passes.relax.functions import rewrite_functions
from relax_core.passes.remarks import UnnumberedRemark

Run: TypeAlias = tuple[Binding, ...]
"""Bindings in a row without side effects."""


@dataclass(frozen=True, slots=True)
class DataflowOptions:
    """`min_size` is the number of bindings in a row that make a block."""

    min_size: int = 2

    def __post_init__(self) -> None:
        if self.min_size < 1:
            raise ValueError("min_size is a number of bindings, 1 or more")


def run(module: IRModule, options: DataflowOptions, ctx: PassContext) -> IRModule:
    """Turn each run of at least `min_size` pure bindings into a dataflow block, and one beside a block into its part.

    A conditional is never part of a block. Bindings that only rename go, as CanonicalizeBindings does it, and a
    variable that is used in its block only is visible there only.
    """
    type_of = ctx.types(module)
    runs_of = {body: _runs(body, type_of, options.min_size) for body in _sequences(module)}
    ctx.remark_on_reading(partial(_what_stays, runs_of, options.min_size, type_of))
    runs = [run for found in runs_of.values() for run in found]
    for run in runs:
        words = f"{plural(len(run), 'binding')} without side effects become one dataflow block"
        ctx.remark(run[0], "applied", words, run[1:])
    split_module = _split(module, {item.var: run for run in runs for item in run}, ctx)
    hidden = change_functions(split_module, ctx, lambda _, function: hide_outputs(function, ctx))
    return canonicalize_bindings.canonicalized(hidden, ctx)


def _sequences(module: IRModule) -> Iterator[SeqExpr]:
    for _, function in module.relax_functions:
        yield from (item for item in preorder(function) if isinstance(item, SeqExpr))


def _runs(body: SeqExpr, type_of: Mapping[Node, Type], min_size: int) -> tuple[Run, ...]:
    """Return the longest runs of pure bindings, over the borders of blocks, that are not dataflow blocks already."""
    runs: list[list[Binding]] = [[]]
    inside: set[Binding] = set()
    for block in body.blocks:
        inside.update(block.bindings if isinstance(block, DataflowBlock) else ())
        for item in block.bindings:
            if item in inside or _is_dataflow(item, type_of):
                runs[-1].append(item)
            else:
                runs.append([])
    long = (tuple(item) for item in runs if len(item) >= min_size or not inside.isdisjoint(item))
    return tuple(item for item in long if not inside.issuperset(item))


def _is_dataflow(binding: Binding, type_of: Mapping[Node, Type]) -> bool:
    return not isinstance(binding.value, If) and not has_effect(binding.value, type_of)


def _split(module: IRModule, run_of: Mapping[Var, Run], ctx: PassContext) -> IRModule:
    """Return the module with the runs as blocks of their own; a binding is known by its variable."""

    def split(node: Node) -> Node | None:
        """Rule: pure bindings in a row -> dataflow block."""
        if not isinstance(node, SeqExpr) or not any(
            item.var in run_of for block in node.blocks for item in block.bindings
        ):
            return None
        homes = [(item, run_of.get(item.var, block), block) for block in node.blocks for item in block.bindings]
        blocks: list[BindingBlock] = []
        for _, group in groupby(homes, lambda entry: id(entry[1])):
            parts = list(group)
            _, home, block = parts[0]
            kind = type(block) if home is block else DataflowBlock
            blocks.append(kind(tuple(item for item, _, _ in parts), span=block.span))
        return replace(node, blocks=tuple(blocks))

    return rewrite_functions(module, ctx, lambda _, __: (split,))


def _what_stays(
    runs_of: Mapping[SeqExpr, tuple[Run, ...]], min_size: int, type_of: Mapping[Node, Type]
) -> Iterator[UnnumberedRemark]:
    """Say of the bindings outside dataflow blocks why they stay there."""
    for body, runs in runs_of.items():
        taken = {item for run in runs for item in run}
        for block in body.blocks:
            for item in () if isinstance(block, DataflowBlock) else block.bindings:
                if item in taken:
                    continue
                if isinstance(item.value, If):
                    words = "a conditional stands outside of dataflow blocks"
                elif has_effect(item.value, type_of):
                    words = "it may have a side effect"
                else:
                    words = f"it is not among {min_size} bindings in a row without side effects"
                yield UnnumberedRemark(item, "missed", f"{item.var.name} stays: {words}")


PASS = Pass(
    "ConvertToDataflow",
    "Puts bindings in a row that have no side effects into dataflow blocks.",
    run,
    options=DataflowOptions,
    needs=("normal form",),
    breaks=("no dataflow blocks",),
    see="tvm/src/relax/transform/convert_dataflow.cc",
)
