"""Type inference for Relay: the side table of types of a module, with polymorphism and algebraic data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from relax_core.check.inference import Inference
from relax_core.check.order import components
from relax_core.check.relay.application import Applications
from relax_core.check.relay.context import UNKNOWN, Context, constructor_type
from relax_core.check.relay.solver import MAX_LEVELS, ClashError, rebuilt
from relax_core.check.relay.walk import declare_function, type_expressions
from relax_core.diagnostics import Diagnostic
from relax_core.ir.expr import Function, GlobalVar, TensorType, Type, TypeVar
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node


def infer_relay(module: IRModule) -> Inference:
    """Return the types of a Relay module.

    Functions that call each other are typed together; what they do not declare follows from all of them. Functions
    are polymorphic only as they say, `fn[A]`; the type arguments of calls are inferred. Complexity: linear in the
    number of nodes, but for types that are large themselves.
    """
    data_of = {item.name: item for item in module.type_data}
    signature_of: dict[str, Type] = {}
    types: dict[Node, Type] = {
        item: constructor_type(item, data) for data in module.type_data for item in data.constructors
    }
    type_args: dict[Node, tuple[Type, ...]] = {}
    found: dict[GlobalVar, tuple[Diagnostic, ...]] = {}
    unruled: set[str] = set()
    applied = Applications()
    functions = {item.var: item.function for item in module}
    for group in components(module):
        members = {var: function for var in group if isinstance(function := functions[var], Function)}
        context = Context(signature_of, data_of, unruled=unruled, applied=applied)
        found.update(_type_group(context, members))
        final = _Final(context)
        for node, type_ in context.type_of.items():
            types[node] = type_ if isinstance(type_, TensorType) else final(type_)
        type_args.update({node: tuple(map(final, items)) for node, items in context.type_args.items()})
        for var in members:
            signature_of[var.name] = types[var] = types[functions[var]]
    for var in functions:
        types.setdefault(var, UNKNOWN)
    diagnostics = tuple(item for var in functions for item in found.get(var, ()))
    return Inference(MappingProxyType(types), diagnostics, MappingProxyType(type_args))


def _type_group(context: Context, members: Mapping[GlobalVar, Function]) -> dict[GlobalVar, tuple[Diagnostic, ...]]:
    """Type functions that call each other, and return their diagnostics."""
    for var, function in members.items():
        context.signature_of[var.name] = declare_function(context, function, f"@{var.name}")
    found: dict[GlobalVar, tuple[Diagnostic, ...]] = {}
    for var, function in members.items():
        context.function_name, context.fallback = var.name, function
        context.diagnostics = []
        type_expressions(context, function)
        _settle(context)
        found[var] = tuple(context.diagnostics)
    context.diagnostics = []
    _settle(context)
    _close(context)
    last = tuple(members)[-1:]
    found.update({var: (*found[var], *context.diagnostics) for var in last})
    return found


def _settle(context: Context) -> None:
    def report(clash: ClashError) -> None:
        place = context.solver.place
        words = f": {clash.words}" if clash.words else ""
        context.report(place, "RY001", f"{context.show(clash.a)} is not {context.show(clash.b)}{words}")

    context.solver.settle(report)


def _close(context: Context) -> None:
    """Report the types that nothing determines, and take them as unknown from there on."""
    solver = context.solver
    open_holes = [item for item in solver.holes if solver.open_hole(item) is item]
    # Relay allows an open type inside of another one: nothing asks what an empty list that nobody reads is a list of.
    whole = {solver.open_hole(item) for item in context.type_of.values()} if open_holes else set[TypeVar | None]()
    open_whole = [item for item in open_holes if item in whole]
    told = [item for item in open_whole if not solver.holes[item].is_derived] or open_whole[:1]
    if not context.has_errors:
        for hole in told:
            entry = solver.holes[hole]
            context.report(
                entry.node,
                "RY013",
                f"{entry.words} is not determined",
                "declare it: nothing that the program does with it says which type it is",
            )
    for hole in open_holes:
        if solver.open_hole(hole) is hole:
            solver.fill(hole, UNKNOWN)
    _settle(context)


@dataclass(slots=True)
class _Final:
    """Puts the types of holes in place; parts that many types share are visited once."""

    context: Context
    memo: dict[Type, Type] = field(default_factory=dict[Type, Type])
    level: int = 0

    def __call__(self, type_: Type) -> Type:
        current = self.context.solver.find(type_)
        if isinstance(current, TensorType):
            return current
        if isinstance(current, TypeVar):
            return UNKNOWN if current in self.context.solver.holes else current
        found = self.memo.get(current)
        if found is None:
            if self.level > MAX_LEVELS:
                return UNKNOWN
            self.level += 1
            found = self.memo[current] = rebuilt(current, self)
            self.level -= 1
        return found
