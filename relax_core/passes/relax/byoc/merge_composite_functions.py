"""MergeCompositeFunctions: neighbouring composites of one target become one function of it.

See: tvm/src/relax/transform/merge_composite_functions.cc
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from relax_core.diagnostics import plural
from relax_core.ir.attrs import attrs_of
from relax_core.ir.expr import Binding, Call, DataflowBlock, Function, GlobalVar, TupleGetItem, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import preorder
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import with_definitions
from relax_core.passes.relax.byoc.codegen_functions import composite_name, composites_of, with_local_composites
from relax_core.passes.relax.byoc.outline import CODEGEN, Outlining, change_blocks
from relax_core.pattern.partition.apart import node_name
from relax_core.pattern.partition.dataflow import BindingUnit, DataflowGroups
from relax_core.pattern.partition.tables import target_of


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Put the composites of each target that use one another into functions of the target, as large as they can be.

    A composite joins those whose results it uses, unless a value would leave the function and come back. All paths are
    looked at: TVM forgets those that a later merge made, and then leaves a function that uses an unbound variable.
    """
    composites = composites_of(module)
    if not composites:
        ctx.remark(module, "note", "there are no composites; FuseOpsByPattern makes them")
        return module
    outlining = Outlining(module, ctx, ctx.types(module))

    def change(block: DataflowBlock) -> DataflowBlock:
        merging = _CompositeMerging(DataflowGroups(block), composites, ctx)
        merging.merge()
        attrs = {unit: attrs_of({CODEGEN: target}) for unit, target in merging.target_of.items()}
        merging.explain()
        return outlining.outlined(block, merging.groups, attrs, lifts_constants=True)

    changed = change_blocks(module, ctx, change, ())
    added = tuple(_with_composites(item, composites, ctx) for item in outlining.added)
    parts = (item.function for item in (*changed.definitions, *added))
    used = {item.name for part in parts for item in preorder(part) if isinstance(item, GlobalVar)}
    kept = (item for item in changed.definitions if item.var.name not in composites or item.var.name in used)
    return with_definitions(changed, (*kept, *added), ctx)


def _with_composites(item: Definition, composites: Mapping[str, Function], ctx: PassContext) -> Definition:
    assert isinstance(item.function, Function), "a group becomes a function"
    local = with_local_composites(item.function, composites, ctx, keeps_symbols=False)
    return ctx.derive(replace(item, function=replace(local, is_private=False)), item)


@dataclass(slots=True, eq=False)
class _CompositeMerging:
    """The composites of a block; `target_of` are the units of targets so far, `apart` what keeps two of them apart."""

    groups: DataflowGroups
    composites: Mapping[str, Function]
    ctx: PassContext
    target_of: dict[BindingUnit, str] = field(default_factory=dict[BindingUnit, str])
    apart: list[tuple[Binding, tuple[Binding, ...]]] = field(default_factory=list[tuple[Binding, tuple[Binding, ...]]])

    def merge(self) -> None:
        """Look at the bindings in order, so that what a composite uses has its unit already."""
        for binding in tuple(self.groups.place_of):
            match binding.value:
                case Call(op=GlobalVar(name=name), args=args) if name in self.composites:
                    target = target_of(composite_name(self.composites[name]))
                    self.target_of[self.groups.unit_of[binding]] = target
                    for arg in dict.fromkeys(args):
                        self.merge_with(
                            binding, target, self.groups.binding_of.get(arg) if isinstance(arg, Var) else None
                        )
                case TupleGetItem(tuple_value=Var() as source) if source in self.groups.binding_of:
                    unit = self.groups.unit_of[self.groups.binding_of[source]]
                    if unit in self.target_of:
                        self.join(binding, unit)
                case _:
                    pass

    def merge_with(self, binding: Binding, target: str, producer: Binding | None) -> None:
        """Join a composite to the unit of a value that it uses, unless another path leads there."""
        unit = None if producer is None else self.groups.unit_of[producer]
        if unit is None or producer is None or self.target_of.get(unit) != target:
            return
        way = self.groups.detour((*unit.bindings, binding))
        if way:
            self.apart.append((binding, way))
        elif unit is not self.groups.unit_of[binding]:
            self.join(binding, unit)

    def join(self, binding: Binding, unit: BindingUnit) -> None:
        target = self.target_of.pop(unit)
        self.target_of.pop(self.groups.unit_of[binding], None)
        self.target_of[self.groups.join((*unit.bindings, binding))] = target

    def explain(self) -> None:
        """Say what was merged, and why two regions of one target were not."""
        for unit, target in self.target_of.items():
            names = [name for item in unit.bindings if (name := self.name(item))]
            count = len(names)
            words = f"{target}: {plural(count, 'composite')} {'becomes' if count == 1 else 'become'} one function: "
            words += ", ".join(names)
            self.ctx.remark(unit.bindings[-1], "applied", words, unit.bindings)
        for binding, way in self.apart:
            words = f"{self.words(way)}: a value leaves the region and comes back"
            self.ctx.remark(binding, "missed", f"not merged into one function: {words}", way)
        said = {binding for binding, _ in self.apart}
        for unit, target in self.target_of.items():
            for way in self.between(unit, target):
                if way[-1] not in said:
                    obstacles = ", ".join(dict.fromkeys(self.obstacle(item, target) for item in way[1:-1]))
                    words = f"not merged into one function: {self.words(way)}: {obstacles}"
                    self.ctx.remark(way[-1], "missed", words, way)

    def between(self, unit: BindingUnit, target: str) -> Iterator[tuple[Binding, ...]]:
        """Yield a shortest way from each nearest other unit of the target over what is not of it."""
        behind: dict[Binding, Binding] = {}
        queue: deque[Binding] = deque(unit.bindings)
        found: set[BindingUnit] = set()
        while queue:
            user = queue.popleft()
            for producer in self.groups.inputs[user]:
                other = self.groups.unit_of[producer]
                if other is unit or producer in behind or other in found:
                    continue
                behind[producer] = user
                if self.target_of.get(other) != target:
                    queue.append(producer)
                elif self.groups.unit_of[user] is not unit:
                    found.add(other)
                    yield tuple(self.way(producer, unit, behind))

    def way(self, start: Binding, end: BindingUnit, behind: Mapping[Binding, Binding]) -> Iterator[Binding]:
        while True:
            yield start
            if self.groups.unit_of[start] is end:
                return
            start = behind[start]

    def name(self, binding: Binding) -> str:
        """Return the composite that a binding calls, "" if it calls none."""
        match binding.value:
            case Call(op=GlobalVar(name=name)) if name in self.composites:
                return composite_name(self.composites[name])
            case _:
                return ""

    def words(self, way: tuple[Binding, ...]) -> str:
        return " -> ".join(f"{item.var.name} ({self.name(item) or node_name(item.value)})" for item in way)

    def obstacle(self, binding: Binding, target: str) -> str:
        name = self.name(binding)
        shown = node_name(binding.value)
        return f"{name} goes to {target_of(name)}" if name else f"{shown} is in no composite of {target}"


PASS = Pass(
    "MergeCompositeFunctions",
    "Puts neighbouring composites of one target into one function of it.",
    run,
    needs=("normal form",),
    see="tvm/src/relax/transform/merge_composite_functions.cc",
)
