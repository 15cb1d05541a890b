"""What one call of a Relax function costs: operations, bytes moved, launches of kernels, and memory held at once.

The sizes of symbolic dimensions are given. What cannot be told from the text, such as the work of a packed function, is
named and counts for nothing, so that the figures are a lower bound where there is any of it. Of two branches the one
with the larger figure counts, for each of them. Peak memory is what results and storages take while something refers to
them; arguments and constants are not counted, nor is what a kernel allocates within.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final

from relax_core.analysis.cost.arithmetic import Argument, Sizes, UnknownCostError, operations, size_of
from relax_core.check.infer import infer
from relax_core.ir.attrs import attr
from relax_core.ir.expr import (
    Binding,
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
    ShapeType,
    TensorType,
    Tuple,
    TupleGetItem,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar, bits_of
from relax_core.ir.tir import PrimFunc

_KERNEL_CALLS: Final = ("relax.call_tir", "relax.call_tir_inplace", "relax.vm.call_tir_dyn", "vm.builtin.call_tir_dyn")
_VIEWS: Final = frozenset(
    ("relax.reshape", "relax.memory.view", "relax.memory.ensure_zero_copy", "relax.memory.alloc_tensor",
     "relax.vm.alloc_tensor", "relax.call_tir_inplace", "vm.builtin.reshape", "vm.builtin.alloc_tensor")
)  # fmt: skip
"""Calls whose result is memory of an argument."""
_STORAGES: Final = ("relax.memory.alloc_storage", "relax.vm.alloc_storage")
_NO_WORK: Final = ("relax.memory.", "relax.vm.", "relax.builtin.", "vm.builtin.", "relax.shape_", "relax.run.")
_NO_WORK_NAMES: Final = _VIEWS | {"relax.tensor_to_shape", "relax.null_value", "relax.print", "relax.assert_op"}


_CLOSURE: Final = "calls of closures"


@dataclass(frozen=True, slots=True)
class Costs:
    """What one call costs; `unknown` says what is not counted, with how often it occurs."""

    operator_calls: int = 0
    """Calls of operators that compute and are no kernels yet."""
    kernels: int = 0
    launches: int = 0
    operations: int = 0
    moved_bytes: int = 0
    """What operators and kernels read of their arguments and write of their results, each tensor once a call."""
    peak_bytes: int = 0
    unknown: tuple[tuple[str, int], ...] = ()


def operators_of(module: IRModule) -> Counter[str]:
    """Count the calls in a module by the name of the operator, packed function or kind of callee."""
    calls = (node for _, function in module.relax_functions for node in preorder(function) if isinstance(node, Call))
    return Counter(name for name in (_callee_name(call) for call in calls) if name)


def _callee_name(call: Call) -> str:
    match call.op:
        case Op(name=name) | ExternFunc(name=name):
            return name
        case _:
            return ""


def costs_of(module: IRModule, entry: str, sizes: Sizes) -> Costs:
    """Return what a call of the Relax function `entry` costs, whose symbolic dimensions have these sizes.

    Complexity: linear in the functions that are called, for each of the sizes that they are called with.

    Raises:
        KeyError: there is no such function.
    """
    function = {var.name: item for var, item in module.relax_functions}[entry]
    walk = _Walk(module, infer(module).types)
    found = walk.of_function(entry, function, dict(sizes))
    return Costs(
        found.operator_calls, len(found.kernels), found.launches, found.operations, found.moved, found.peak,
        tuple(found.unknown.items()),
    )  # fmt: skip


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

    def add(self, other: "_Sum") -> None:
        """Add what happens behind this; the peak is for the caller, who knows what lives meanwhile."""
        self.operator_calls += other.operator_calls
        self.launches += other.launches
        self.operations += other.operations
        self.moved += other.moved
        self.kernels |= other.kernels
        self.unknown += other.unknown


def _larger(one: _Sum, other: _Sum) -> _Sum:
    return _Sum(
        max(one.operator_calls, other.operator_calls),
        max(one.launches, other.launches),
        max(one.operations, other.operations),
        max(one.moved, other.moved),
        max(one.peak, other.peak),
        one.kernels | other.kernels,
        one.unknown | other.unknown,
    )


@dataclass(slots=True)
class _Lives:
    """Which memory the variables of a sequence refer to, how large it is, and behind which binding it is free."""

    owners_of: dict[Node, frozenset[Var]] = field(default_factory=dict[Node, frozenset[Var]])
    bytes_of: dict[Var, int] = field(default_factory=dict[Var, int])
    last_use: dict[Var, int] = field(default_factory=dict[Var, int])

    def used(self, root: Node, at: int) -> frozenset[Var]:
        """Note that `root` is evaluated, and return the memory that it may refer to."""
        owners: set[Var] = set()
        for node in preorder(root):
            owners |= self.owners_of.get(node, frozenset())
        self.last_use.update(dict.fromkeys(owners, at))
        return frozenset(owners)


class _Walk:
    """Adds up the functions that are called, each once for the sizes that it is called with."""

    def __init__(self, module: IRModule, type_of: Mapping[Node, Type]) -> None:
        self._functions = {item.var.name: item.function for item in module.definitions}
        self._type_of = type_of
        self._known: dict[tuple[str, tuple[tuple[PrimVar, int], ...]], _Sum] = {}
        self._called: list[str] = []

    def of_function(self, name: str, function: Function, sizes: dict[PrimVar, int]) -> _Sum:
        key = name, tuple(sizes.items())
        if key in self._known:
            return self._known[key]
        if name in self._called:
            return _Sum(unknown=Counter({f"how often `{name}` calls itself is not known": 1}))
        self._called.append(name)
        found = self._known[key] = self._of_value(function.body, sizes)
        self._called.pop()
        return found

    def _of_value(self, value: Expr, sizes: dict[PrimVar, int]) -> _Sum:
        match value:
            case SeqExpr():
                return self._of_sequence(value, sizes)
            case If(true_branch=yes, false_branch=no):
                return _larger(self._of_value(yes, dict(sizes)), self._of_value(no, dict(sizes)))
            case Call(op=op, args=args):
                return self._of_nested((op, *args), self._of_call(value, sizes), sizes)
            case Tuple(fields=fields):
                return self._of_nested(fields, _Sum(), sizes)
            case TupleGetItem(tuple_value=inner):
                return self._of_nested((inner,), _Sum(), sizes)
            case _:
                return _Sum()

    def _of_nested(self, parts: tuple[Expr, ...], total: _Sum, sizes: dict[PrimVar, int]) -> _Sum:
        """Add what computes the parts of a value, which are variables in a program in normal form."""
        for part in parts:
            total.add(self._of_value(part, sizes))
            if isinstance(part, Call | If):
                total.unknown["memory: results that have no variable"] += 1
        return total

    def _of_sequence(self, sequence: SeqExpr, sizes: dict[PrimVar, int]) -> _Sum:
        bindings = [item for block in sequence.blocks for item in block.bindings]
        total, lives = _Sum(), _Lives()
        inner_peaks: list[int] = []
        for number, item in enumerate(bindings):
            self._match(item, sizes)
            found = self._of_value(item.value, sizes)
            total.add(found)
            inner_peaks.append(found.peak)
            self._note_memory(item, number, lives, sizes, total)
        lives.used(sequence.body, len(bindings))
        total.peak = _peak(bindings, inner_peaks, lives)
        return total

    def _match(self, item: Binding, sizes: dict[PrimVar, int]) -> None:
        """Bind the dimensions that a match_cast names."""
        given = self._type_of.get(item.value)
        if isinstance(item, MatchCast) and given is not None:
            _bind_type(item.type, given, sizes)

    def _note_memory(self, item: Binding, number: int, lives: _Lives, sizes: Sizes, total: _Sum) -> None:
        owners = lives.used(item.value, number)
        if _is_alias(item.value):
            lives.owners_of[item.var] = owners
            return
        try:
            size = self._allocated(item, sizes)
        except UnknownCostError as error:
            total.unknown[f"memory: {error}"] += 1
            size = 0
        lives.owners_of[item.var] = frozenset((item.var,))
        lives.bytes_of[item.var] = size
        lives.last_use[item.var] = number

    def _allocated(self, item: Binding, sizes: Sizes) -> int:
        match item.value:
            case Call(op=Op(name=name), args=(ShapeExpr(values=values), *_)) if name in _STORAGES:
                return prod(size_of(part, sizes, "the size of a storage") for part in values)
            case Call(op=Op(name=name), args=(PrimValue(value=value), *_)) if name in _STORAGES:
                return size_of(value, sizes, "the size of a storage")
            case Call() | If():
                return self._bytes(self._type_of.get(item.var) or self._type_of.get(item.value), sizes)
            case _:
                return 0

    def _of_call(self, call: Call, sizes: dict[PrimVar, int]) -> _Sum:
        match call.op:
            case GlobalVar(name=name):
                return self._of_global(name, call.args, call, sizes)
            case Op(name=name) | ExternFunc(name=name) if name in _KERNEL_CALLS:
                kernel, *rest = call.args
                if isinstance(kernel, GlobalVar):
                    return self._of_global(kernel.name, tuple(rest), call, sizes)
                return _Sum(unknown=Counter({"a kernel that is a value": 1}))
            case Op(name=name) if name.startswith(_NO_WORK) or name in _NO_WORK_NAMES:
                return _Sum()
            case Op(name="relax.call_dps_packed" | "relax.call_pure_packed" | "relax.call_builtin_with_ctx"):
                return self._of_packed(call.args[0], call, sizes)
            case Op(name=name):
                found = self._of_unknown("operators that are no kernels yet", call, sizes)
                found.operator_calls = 1
                return found
            case ExternFunc():
                return self._of_packed(call.op, call, sizes)
            case _:
                return _Sum(unknown=Counter({_CLOSURE: 1}))

    def _of_packed(self, callee: Expr, call: Call, sizes: Sizes) -> _Sum:
        match callee:
            case ExternFunc(name="vm.builtin.invoke_closure"):
                return _Sum(unknown=Counter({_CLOSURE: 1}))
            case ExternFunc(name=name) if name.startswith(_NO_WORK):
                return _Sum()
            case ExternFunc(name=name):
                return self._of_unknown(f"the work of `{name}`", call, sizes)
            case _:
                return self._of_unknown("the work of a packed function that is a value", call, sizes)

    def _of_unknown(self, words: str, call: Call, sizes: Sizes) -> _Sum:
        found = _Sum(unknown=Counter({words: 1}))
        self._move(found, call.args, call, sizes)
        return found

    def _of_global(self, name: str, args: tuple[Expr, ...], call: Call, sizes: dict[PrimVar, int]) -> _Sum:
        match self._functions.get(name):
            case Function() as function:
                inner: dict[PrimVar, int] = {}
                for param, arg in zip(function.params, args, strict=False):
                    declared, given = param.annotation, self._type_of.get(arg)
                    if declared is not None and given is not None:
                        _bind_type(declared, given, inner, sizes)
                return self.of_function(name, function, inner)
            case PrimFunc() as kernel if attr(kernel.attrs, "tirx.is_host_func") is not None:
                # It computes sizes.
                return _Sum()
            case PrimFunc() as kernel:
                return self._of_kernel(name, kernel, args, call, sizes)
            case _:
                return self._of_unknown(f"the work of `{name}`", call, sizes)

    def _of_kernel(self, name: str, kernel: PrimFunc, args: tuple[Expr, ...], call: Call, sizes: Sizes) -> _Sum:
        found = _Sum(launches=1, kernels={name})
        self._move(found, args, call, sizes)
        tensors = [item for arg in args if not isinstance(arg, ShapeExpr) for item in self._arguments(arg, sizes)]
        results = list(self._shapes(self._type_of.get(call), sizes)) if isinstance(call.op, Op) else []
        scalars = [item for arg in args if isinstance(arg, ShapeExpr) for item in self._arguments(arg, sizes)]
        try:
            found.operations = operations(kernel, [*tensors, *results, *scalars])
        except UnknownCostError as error:
            found.unknown[f"`{name}`: {error}"] += 1
        return found

    def _arguments(self, arg: Expr, sizes: Sizes) -> Iterator[Argument]:
        match arg:
            case Tuple(fields=fields):
                for item in fields:
                    yield from self._arguments(item, sizes)
            case ShapeExpr(values=values):
                yield from (_known(part, sizes) for part in values)
            case PrimValue(value=value):
                yield _known(value, sizes)
            case _:
                yield from self._shapes(self._type_of.get(arg), sizes)

    def _shapes(self, type_: Type | None, sizes: Sizes) -> Iterator[Argument]:
        match type_:
            case TupleType(fields=fields):
                for item in fields:
                    yield from self._shapes(item, sizes)
            case TensorType(shape=tuple() as dims):
                found = [_known(dim, sizes) for dim in dims]
                yield tuple(item for item in found if item is not None) if None not in found else None
            case _:
                yield None

    def _move(self, found: _Sum, args: tuple[Expr, ...], call: Call, sizes: Sizes) -> None:
        """Add the bytes of the arguments, each once, and of the results."""
        parts = [field for arg in args for field in (arg.fields if isinstance(arg, Tuple) else (arg,))]
        types = [self._type_of.get(part) for part in dict.fromkeys(parts)]
        if not isinstance(call.op, GlobalVar):
            types.append(self._type_of.get(call))
        for type_ in types:
            try:
                found.moved += self._bytes(type_, sizes)
            except UnknownCostError as error:
                found.unknown[f"bytes: {error}"] += 1

    def _bytes(self, type_: Type | None, sizes: Sizes) -> int:
        match type_:
            case TupleType(fields=fields):
                return sum(self._bytes(item, sizes) for item in fields)
            case TensorType(shape=tuple() as dims, dtype=str(dtype)):
                count = prod(size_of(dim, sizes, "the size of a tensor") for dim in dims)
                return -(-count * bits_of(dtype) // 8)
            case TensorType():
                raise UnknownCostError("the size of a tensor is not known before the run")
            case _:
                return 0


def _known(expr: Node, sizes: Sizes) -> int | None:
    try:
        return size_of(expr, sizes, "")  # pyright: ignore[reportArgumentType]  # a dimension is a scalar expression
    except UnknownCostError:
        return None


def _bind_type(declared: Type, given: Type, sizes: dict[PrimVar, int], outer: Sizes | None = None) -> None:
    """Give the variables that are dimensions of `declared` the sizes of `given`, which `outer` tells."""
    match declared, given:
        case TensorType(shape=tuple() as dims), TensorType(shape=tuple() as known):
            for dim, size in zip(dims, known, strict=False):
                value = _known(size, sizes if outer is None else outer)
                if isinstance(dim, PrimVar) and value is not None:
                    sizes.setdefault(dim, value)
        case ShapeType(values=tuple() as dims), ShapeType(values=tuple() as known):
            _bind_type(TensorType(dims), TensorType(known), sizes, outer)
        case TupleType(fields=parts), TupleType(fields=found):
            for part, other in zip(parts, found, strict=False):
                _bind_type(part, other, sizes, outer)
        case _:
            pass


def _is_alias(value: Expr) -> bool:
    """Tell whether a value is memory that is there already."""
    match value:
        case Var() | Tuple() | TupleGetItem():
            return True
        case Call(op=Op(name=name)) | Call(op=ExternFunc(name=name)):
            return name in _VIEWS
        case _:
            return False


def _peak(bindings: list[Binding], inner_peaks: list[int], lives: _Lives) -> int:
    """Return the most that is held at once while the bindings are evaluated in order."""
    freed: dict[int, int] = {}
    for owner, size in lives.bytes_of.items():
        freed[lives.last_use[owner]] = freed.get(lives.last_use[owner], 0) + size
    held = peak = 0
    for number, item in enumerate(bindings):
        peak = max(peak, held + inner_peaks[number])
        held += lives.bytes_of.get(item.var, 0)
        peak = max(peak, held)
        held -= freed.get(number, 0)
    return peak
