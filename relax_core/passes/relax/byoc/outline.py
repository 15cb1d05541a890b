"""Groups of bindings of dataflow blocks become functions of the module, equal ones the same function."""

from collections.abc import Callable, Iterator, Mapping
from operator import is_

from relax_core.ir.attrs import Attrs, attr
from relax_core.ir.equality import structural_hash
from relax_core.ir.expr import Binding, Call, DataflowBlock, Function, GlobalVar, Op, SeqExpr, Type
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, nodes_in
from relax_core.ir.rewriting.builder import Names
from relax_core.passes.core import PassContext
from relax_core.passes.functions import change_functions, with_definitions
from relax_core.passes.relax.fusion.grouped import Group, Grouped, call_bindings, grouped_function
from relax_core.pattern.partition.dataflow import BindingUnit, DataflowGroups

COMPOSITE, CODEGEN, PRIMITIVE = "Composite", "Codegen", "Primitive"


class Outlining:
    """The functions that groups of a module become; `names` are those that its functions have so far."""

    def __init__(self, module: IRModule, ctx: PassContext, type_of: Mapping[Node, Type]) -> None:
        self.names = Names(module.names)
        self.added: list[Definition] = []
        self._ctx = ctx
        self._type_of = type_of
        self._by_hash = {
            structural_hash(function): (var, function)
            for var, function in module.relax_functions
            if attr(function.attrs, COMPOSITE)
        }

    def outlined(
        self,
        block: DataflowBlock,
        groups: DataflowGroups,
        attrs_of: Mapping[BindingUnit, Attrs],
        *,
        lifts_constants: bool,
    ) -> DataflowBlock:
        """Return `block` with the units of `attrs_of` as calls of functions that have these attributes.

        Units stand behind those that they use, and otherwise in the order of their first bindings.
        """
        outputs, names = groups.outputs(), Names(item.var.name for item in block.bindings)
        bindings: list[Binding] = []
        for unit in groups.order():
            if unit not in attrs_of:
                bindings += unit.bindings
                continue
            group = Group(unit.bindings, outputs[unit])
            made = grouped_function(group, attrs_of[unit], self._type_of, self._ctx, lifts_constants=lifts_constants)
            name = self._name_of(made, unit)
            bindings += call_bindings(name, group, made, names, self._ctx)
        if len(bindings) == len(block.bindings) and all(map(is_, bindings, block.bindings)):
            return block
        return DataflowBlock(tuple(bindings), span=block.span)

    def _name_of(self, made: Grouped, unit: BindingUnit) -> GlobalVar:
        """Return the name of a function of the module that is equal to the one made; that is added if there is none."""
        key = structural_hash(made.function)
        if key in self._by_hash:
            name, function = self._by_hash[key]
            # Its bindings compute those of this unit as well.
            held = (item for item in unit.bindings if item not in made.fields)
            for kept, item in zip(_bindings(function), held, strict=True):
                self._ctx.log.share((kept, kept.value), item)
            return name
        name = GlobalVar(self._fresh_name(made.function, unit))
        self._by_hash[key] = name, made.function
        self.added.append(self._ctx.derive(Definition(name, made.function), *unit.bindings))
        return name

    def _fresh_name(self, function: Function, unit: BindingUnit) -> str:
        name, target = self.names.fresh(fused_name(unit)), attr(function.attrs, CODEGEN)
        return name if target is None else self.names.fresh(f"{name}_{target}")

    def module(self, module: IRModule) -> IRModule:
        """Return `module` with the functions that were made."""
        if not self.added:
            return module
        return with_definitions(module, (*module.definitions, *self.added), self._ctx)


def _bindings(function: Function) -> Iterator[Binding]:
    """Yield the bindings of a function that was outlined."""
    assert isinstance(function.body, SeqExpr), "a function that was outlined is in normal form"
    for block in function.body.blocks:
        yield from block.bindings


def fused_name(unit: BindingUnit) -> str:
    """Name a function by what its bindings call: `fused_relax_matmul_relax_nn_relu`."""
    called = (_called(item) for item in unit.bindings)
    return "_".join(("fused", *filter(None, called))).replace(".", "_")


def _called(binding: Binding) -> str:
    match binding.value:
        case Call(op=Op(name="relax.call_tir" | "relax.call_tir_inplace"), args=(GlobalVar(name=name), *_)):
            return name
        case Call(op=Op(name=name)):
            return name
        case Call(op=GlobalVar(name=name)):
            return name.removeprefix("fused_")
        case _:
            return ""


def change_blocks(
    module: IRModule, ctx: PassContext, change: Callable[[DataflowBlock], DataflowBlock], entries: tuple[str, ...]
) -> IRModule:
    """Return `module` with `change` applied to each dataflow block of its open functions, or of `entries` only.

    Composites and functions for a target are closed.
    """

    def changed(var: GlobalVar, function: Function) -> Function:
        if not is_open(function) or (entries and var.name not in entries):
            return function
        nodes = nodes_in(function)
        made: dict[Node, DataflowBlock] = {}
        # With one sequence no block stands in another one, which would be another block once the inner one is changed.
        if sum(isinstance(node, SeqExpr) for node in nodes) == 1:
            made |= {node: change(node) for node in nodes if isinstance(node, DataflowBlock)}
            if all(map(is_, made, made.values())):
                return function

        def rule(node: Node) -> Node | None:
            """Rule: dataflow block -> dataflow block with calls of functions."""
            return made.get(node) or (change(node) if isinstance(node, DataflowBlock) else None)

        return ctx.rewrite(function, rule, kinds=(DataflowBlock,))

    return change_functions(module, ctx, changed)


def is_open(function: Node) -> bool:
    """Tell whether a function of the module is neither a composite nor one that belongs to a target."""
    return isinstance(function, Function) and not any(
        attr(function.attrs, key) for key in (PRIMITIVE, COMPOSITE, CODEGEN)
    )
