"""Functions whose parameters and results may be changed: private ones that are only called, never used as a value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from relax_core.ir.expr import Call, Function, GlobalVar, TupleType, Type
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children, preorder
from relax_core.passes.core import PassContext
from relax_core.passes.relax import canonicalize_bindings, dead_code_elimination


@dataclass(frozen=True, slots=True)
class Uses:
    """Where the functions of a module are called, and one place where each is used as a value, by name."""

    calls: dict[str, list[Call]] = field(default_factory=dict[str, list[Call]])
    values: dict[str, Node] = field(default_factory=dict[str, Node])


def uses_of(module: IRModule) -> Uses:
    """Return the uses of the functions of `module`."""
    uses = Uses()
    for _, function in module.relax_functions:
        for item in preorder(function):
            if isinstance(item, Call) and isinstance(item.op, GlobalVar):
                uses.calls.setdefault(item.op.name, []).append(item)
            for part in children(item):
                if isinstance(part, GlobalVar) and not (isinstance(item, Call) and part is item.op):
                    uses.values.setdefault(part.name, item)
            if isinstance(item, Call):
                uses.values.update((arg.name, item) for arg in item.args if isinstance(arg, GlobalVar))
    return uses


def internal_functions(module: IRModule, uses: Uses) -> Mapping[str, Function]:
    """Return the private Relax functions of which every use is a call, by name."""
    return {
        var.name: function
        for var, function in module.relax_functions
        if function.is_private and var.name not in uses.values
    }


def escaping(module: IRModule, uses: Uses) -> Iterator[tuple[str, Function, Node]]:
    """Yield the private functions that are used as values, each with a place where it is."""
    for var, function in module.relax_functions:
        if function.is_private and var.name in uses.values:
            yield var.name, function, uses.values[var.name]


def fields_of(type_: Type | None) -> tuple[Type, ...] | None:
    """Return the fields of a tuple type, `None` for another type."""
    return type_.fields if isinstance(type_, TupleType) else None


def cleaned(module: IRModule, ctx: PassContext) -> IRModule:
    """Fold what a change of interfaces left: other names, known tuples, bindings and functions that nothing uses."""
    canonical = canonicalize_bindings.canonicalized(module, ctx)
    return dead_code_elimination.run(canonical, dead_code_elimination.DCEOptions(), ctx)
