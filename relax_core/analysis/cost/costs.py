"""What one call of a Relax function costs: operations, bytes moved, launches of kernels, and memory held at once.

The sizes of symbolic dimensions are given. What cannot be told from the text, such as the work of a packed function, is
named and counts for nothing, so that the figures are a lower bound where there is any of it. Of two branches the one
with the larger figure counts, for each of them. Arguments and constants are no part of the memory that is held, nor is
what a kernel allocates within.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from relax_core.analysis.cost.arithmetic import Argument, operations
from relax_core.analysis.cost.calls import (
    CLOSURE_CALLS,
    KERNEL_CALLS,
    callee_of,
    given_to_kernel,
    is_bookkeeping,
    name_of,
    own_results,
)
from relax_core.analysis.cost.memory import HeldMemory, Types
from relax_core.analysis.cost.sizes import Sizes, UnknownCostError, bind_sizes, known_size, type_bytes
from relax_core.check.infer import infer
from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    Call,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.tir import PrimFunc
from relax_core.ops import OPS

_OPERATORS: Final = "operators that are no kernels yet"
_CLOSURES: Final = "calls of closures"
_VALUES: Final = "the work of packed functions that are values"
FIGURES: Final = ("operator_calls", "kernels", "launches", "operations", "moved_bytes", "peak_bytes")
"""The figures of `Costs`."""
_HOST_FUNCTION: Final = ("tirx.is_host_func", "tir.is_host_func")


@dataclass(frozen=True, slots=True)
class Costs:
    """What one call costs; `unknown` says what is not counted, with how often it occurs.

    `lower_bounds` are the names of the figures that are a lower bound for it.
    """

    operator_calls: int = 0
    """Calls of operators that become kernels, and are none yet."""
    kernels: int = 0
    """Prim funcs that are launched."""
    launches: int = 0
    operations: int = 0
    moved_bytes: int = 0
    """What operators and kernels read of their arguments and write of their results, each tensor once a call."""
    peak_bytes: int = 0
    unknown: tuple[tuple[str, int], ...] = ()
    lower_bounds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class BindingCost:
    """What a binding costs in one call of the entry, in all its repetitions, with what the functions do that it calls.

    `node` is the binding, or the expression that a function returns.
    """

    node: Node
    operations: int
    moved_bytes: int
    lower_bounds: frozenset[str]


def costs_of_bindings(module: IRModule, entry: str, sizes: Sizes) -> tuple[BindingCost, ...]:
    """Return what each binding costs that a call of the Relax function `entry` comes to; of branches those of both.

    Raises:
        KeyError: there is no such function.
    """
    function = {var.name: item for var, item in module.relax_functions}[entry]
    walk = _Walk(module, infer(module).types)
    walk.of_function(entry, function, dict(sizes))
    return tuple(walk.bindings())


def operators_of(module: IRModule) -> Counter[str]:
    """Count the calls of operators and packed functions in a module, by name."""
    calls = (node for _, function in module.relax_functions for node in preorder(function) if isinstance(node, Call))
    return Counter(name for name in (name_of(call.op) for call in calls) if name)


def costs_of(module: IRModule, entry: str, sizes: Sizes) -> Costs:
    """Return what a call of the Relax function `entry` costs, whose symbolic dimensions have these sizes.

    Complexity: linear in the functions that are called, for each of the sizes that they are called with.

    Raises:
        KeyError: there is no such function.
    """
    function = {var.name: item for var, item in module.relax_functions}[entry]
    found = _Walk(module, infer(module).types).of_function(entry, function, dict(sizes))
    return Costs(
        operator_calls=found.operator_calls,
        kernels=len(found.kernels),
        launches=found.launches,
        operations=found.operations,
        moved_bytes=found.moved,
        peak_bytes=found.peak,
        unknown=tuple(found.unknown.items()),
        lower_bounds=tuple(sorted(found.lower_bounds)),
    )


@dataclass(slots=True)
class _Sum:
    """The figures of a part of the program."""

    operator_calls: int = 0
    launches: int = 0
    operations: int = 0
    moved: int = 0
    peak: int = 0
    kernels: set[str] = field(default_factory=set[str])
    unknown: Counter[str] = field(default_factory=Counter[str])
    lower_bounds: set[str] = field(default_factory=set[str])

    def lacks(self, words: str, *figures: str) -> "_Sum":
        """Note what is not counted, which makes these figures lower bounds; all of them if none is named."""
        self.unknown[words] += 1
        self.lower_bounds.update(figures or FIGURES)
        return self

    def add(self, other: "_Sum") -> None:
        """Add what happens behind this; the peak is for the caller, who knows what lives meanwhile."""
        self.operator_calls += other.operator_calls
        self.launches += other.launches
        self.operations += other.operations
        self.moved += other.moved
        self.kernels |= other.kernels
        self.unknown += other.unknown
        self.lower_bounds |= other.lower_bounds


def _larger(one: _Sum, other: _Sum) -> _Sum:
    return _Sum(
        max(one.operator_calls, other.operator_calls),
        max(one.launches, other.launches),
        max(one.operations, other.operations),
        max(one.moved, other.moved),
        max(one.peak, other.peak),
        one.kernels | other.kernels,
        one.unknown | other.unknown,
        one.lower_bounds | other.lower_bounds,
    )


_Called: TypeAlias = tuple[str, tuple[tuple[PrimVar, int], ...]]
"""A function with the sizes that it is called with."""


class _Walk:
    """Adds up the functions that are called, each once for the sizes that it is called with."""

    def __init__(self, module: IRModule, type_of: Types) -> None:
        self._functions = {item.var.name: item.function for item in module.definitions}
        self._type_of = type_of
        self._known: dict[_Called, _Sum] = {}
        self._called: list[str] = []
        self._inside: list[_Called] = []
        self._calls: dict[_Called, Counter[_Called]] = {}
        self._bindings: dict[_Called, list[tuple[Node, _Sum]]] = {}

    def bindings(self) -> Iterator[BindingCost]:
        """Yield what was walked through, as often as it happens, from the entry on."""
        # What is called is left before its caller, so that in this order all callers of a function stand before it.
        order = tuple(reversed(self._known))
        times: Counter[_Called] = Counter(order[:1])
        for key in order:
            for node, own in self._bindings[key]:
                yield BindingCost(
                    node, times[key] * own.operations, times[key] * own.moved, frozenset(own.lower_bounds)
                )
            for callee, count in self._calls[key].items():
                times[callee] += times[key] * count

    def of_function(self, name: str, function: Function, sizes: dict[PrimVar, int]) -> _Sum:
        key = name, tuple(sizes.items())
        if name in self._called:
            return _Sum().lacks(f"how often `{name}` calls itself is not known")
        if self._inside:
            self._calls[self._inside[-1]][key] += 1
        if key in self._known:
            return self._known[key]
        self._called.append(name)
        self._inside.append(key)
        self._calls[key], self._bindings[key] = Counter(), []
        found = self._known[key] = self._of_value(function.body, sizes)
        self._inside.pop()
        self._called.pop()
        return found

    def _of_value(self, value: Expr, sizes: dict[PrimVar, int]) -> _Sum:
        match value:
            case SeqExpr():
                return self._of_sequence(value, sizes)
            case If(true_branch=yes, false_branch=no):
                return _larger(self._of_value(yes, dict(sizes)), self._of_value(no, dict(sizes)))
            case Call(op=op, args=args):
                return self._with_parts(self._of_call(value, sizes), (op, *args), sizes)
            case Tuple(fields=fields):
                return self._with_parts(_Sum(), fields, sizes)
            case TupleGetItem(tuple_value=inner):
                return self._with_parts(_Sum(), (inner,), sizes)
            case _:
                return _Sum()

    def _with_parts(self, own: _Sum, parts: tuple[Expr, ...], sizes: dict[PrimVar, int]) -> _Sum:
        """Return `own` with what computes the parts of a value, which are variables in a program in normal form."""
        computed = [part for part in parts if isinstance(part, Call | If | SeqExpr | Tuple | TupleGetItem)]
        if not computed:
            return own
        total = _Sum(peak=own.peak)
        for part in computed:
            total.add(self._of_value(part, sizes))
            if not isinstance(part, Tuple | TupleGetItem):
                total.lacks("memory: results that have no variable", "peak_bytes")
        total.add(own)
        return total

    def _of_sequence(self, sequence: SeqExpr, sizes: dict[PrimVar, int]) -> _Sum:
        total, memory = _Sum(), HeldMemory(self._type_of)
        for item in (item for block in sequence.blocks for item in block.bindings):
            if isinstance(item, MatchCast):
                bind_sizes(item.type, self._type_of.get(item.value), sizes, sizes)
            found = self._of_value(item.value, sizes)
            self._bindings[self._inside[-1]].append((item, found))
            total.add(found)
            try:
                memory.add(item, found.peak, sizes)
            except UnknownCostError as error:
                total.lacks(f"memory: {error}", "peak_bytes")
        memory.use(sequence.body, memory.count)
        result = self._of_value(sequence.body, sizes)
        if not isinstance(sequence.body, Var):
            self._bindings[self._inside[-1]].append((sequence.body, result))
        total.add(result)
        total.peak = memory.peak
        return total

    def _of_call(self, call: Call, sizes: dict[PrimVar, int]) -> _Sum:
        callee, args = callee_of(call)
        match callee:
            case GlobalVar(name=name):
                return self._of_global(name, args, call, sizes)
            case Op(name=name) | ExternFunc(name=name) if name in KERNEL_CALLS:
                if isinstance(args[0], GlobalVar):
                    return self._of_global(args[0].name, args[1:], call, sizes)
                return _Sum().lacks("kernels that are values")
            case Op(name=name) | ExternFunc(name=name) if name in CLOSURE_CALLS:
                return _Sum().lacks(_CLOSURES)
            case Op(name=name):
                return self._of_operator(name, call, sizes)
            case ExternFunc(name=name) if is_bookkeeping(name):
                return _Sum()
            case ExternFunc(name=name):
                return self._with_bytes(_Sum().lacks(f"the work of `{name}`", "operations"), call, sizes)
            case _:
                return _Sum().lacks(_CLOSURES)

    def _of_operator(self, name: str, call: Call, sizes: Sizes) -> _Sum:
        match OPS[name].realized_by if name in OPS else "shown":
            case "lowering" if name.startswith("relax.call_"):
                return self._with_bytes(_Sum().lacks(_VALUES, "operations"), call, sizes)
            case "lowering":
                return _Sum()
            case "kernel" if name != "relax.reshape":
                found = _Sum(operator_calls=1).lacks(_OPERATORS, "kernels", "launches", "operations")
                return self._with_bytes(found, call, sizes)
            case "kernel":
                # Where the machine is left with it, it is a view.
                return _Sum()
            case _:
                return self._with_bytes(_Sum().lacks(f"the work of `{name}`", "operations"), call, sizes)

    def _of_global(self, name: str, args: tuple[Expr, ...], call: Call, sizes: dict[PrimVar, int]) -> _Sum:
        match self._functions.get(name):
            case Function() as function:
                inner: dict[PrimVar, int] = {}
                for param, arg in zip(function.params, args, strict=False):
                    bind_sizes(param.annotation, self._type_of.get(arg), sizes, inner)
                return self.of_function(name, function, inner)
            case PrimFunc() as kernel if any(attr(kernel.attrs, key) is True for key in _HOST_FUNCTION):
                # It computes sizes.
                return _Sum()
            case PrimFunc() as kernel:
                return self._of_kernel(name, kernel, call, sizes)
            case _:
                return self._with_bytes(_Sum().lacks(f"the work of `{name}`", "operations"), call, sizes)

    def _of_kernel(self, name: str, kernel: PrimFunc, call: Call, sizes: Sizes) -> _Sum:
        found = self._with_bytes(_Sum(launches=1, kernels={name}), call, sizes)
        front, behind = given_to_kernel(call)
        given = [item for arg in front for item in self._arguments(arg, sizes)]
        for type_ in own_results(call, self._type_of.get(call)):
            given += self._shapes(type_, sizes)
        given += [item for arg in behind for item in self._arguments(arg, sizes)]
        try:
            found.operations = operations(kernel, given)
        except UnknownCostError as error:
            found.lacks(f"`{name}`: {error}", "operations")
        return found

    def _arguments(self, arg: Expr, sizes: Sizes) -> Iterator[Argument]:
        match arg:
            case Tuple(fields=fields):
                for item in fields:
                    yield from self._arguments(item, sizes)
            case ShapeExpr(values=values):
                yield from (known_size(part, sizes) for part in values)
            case PrimValue(value=value):
                yield known_size(value, sizes)
            case _:
                yield from self._shapes(self._type_of.get(arg), sizes)

    def _shapes(self, type_: Type | None, sizes: Sizes) -> Iterator[Argument]:
        match type_:
            case TupleType(fields=fields):
                for item in fields:
                    yield from self._shapes(item, sizes)
            case TensorType(shape=tuple() as dims):
                found = [known_size(dim, sizes) for dim in dims]
                known = tuple(item for item in found if item is not None)
                yield known if len(known) == len(found) else None
            case _:
                yield None

    def _with_bytes(self, found: _Sum, call: Call, sizes: Sizes) -> _Sum:
        """Add the bytes of the arguments, each once, and of the results, unless they are among the arguments."""
        parts = [field for arg in call.args for field in (arg.fields if isinstance(arg, Tuple) else (arg,))]
        types = [self._type_of.get(part) for part in dict.fromkeys(parts)]
        for type_ in (*types, *own_results(call, self._type_of.get(call))):
            try:
                found.moved += type_bytes(type_, sizes)
            except UnknownCostError as error:
                found.lacks(f"bytes: {error}", "moved_bytes")
        return found
