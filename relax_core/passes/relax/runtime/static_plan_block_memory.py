"""Let tensors that do not live at the same time share storage."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from relax_core.ir.attrs import AttrValue, attr
from relax_core.ir.expr import (
    Binding,
    BindingBlock,
    Call,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    MatchCast,
    Op,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    TupleType,
    Var,
    VarBinding,
)
from relax_core.ir.integer.interval import EVERYTHING, INFINITY, Interval
from relax_core.ir.integer.polynomial import Polynomial
from relax_core.ir.integer.prove import canonical_form, constant_value, simplify
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, nodes_in, postorder
from relax_core.ir.prim import Binary, IntImm, PrimExpr, PrimVar, binary, const
from relax_core.ir.rewriting.builder import Names, names_in
from relax_core.ir.rewriting.substitute import free_symbols, free_vars
from relax_core.passes.core import NoOptions, Pass, PassContext
from relax_core.passes.functions import change_functions
from relax_core.passes.relax.functions import dtype_argument, integer, operator_call, shape
from relax_core.passes.relax.runtime.lower_alloc_tensor import dtype_bytes

_FACTOR = 16
"""A storage is taken for a tensor that is this many times smaller or larger at most."""
_INTERVALS: Mapping[str, Callable[[Interval, Interval], Interval]] = MappingProxyType(
    {
        "+": Interval.plus,
        "-": lambda a, b: a.plus(b, -1),
        "*": Interval.times,
        "//": lambda a, b: a.floordiv(b) if b.low > 0 else EVERYTHING,
        "%": lambda a, b: a.floormod(b) if b.low > 0 else EVERYTHING,
        "max": lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
        "min": lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
    }
)
VIEWS = ("relax.reshape", "relax.memory.view", "relax.memory.ensure_zero_offset")
"""Operators whose result lies in the storage of their first argument."""


def run(module: IRModule, _options: NoOptions, ctx: PassContext) -> IRModule:
    """Turn `builtin.alloc_tensor` into tensors of a few storages, each used again when what lay in it is dead.

    A block is planned by itself. In TVM a branch takes the storage that the other branch allocates, which is not
    there when it runs (apache/tvm #20191). What outlives its block, and what is given to anything but a prim func
    or a packed function, keeps its own memory. A symbolic size takes storage of the size that `tir_var_upper_bound`
    allows, or of a size that is provably the same. Any other name of a tensor, one of a `match_cast` too, keeps it
    alive; so does the result of a packed function, which may be what it was given. TVM takes the memory of an
    argument again while such a result is in use. What nothing reads keeps its storage to itself, as in TVM.
    """
    prim_funcs = frozenset(var.name for var, _ in module.prim_funcs)

    def change(_: GlobalVar, function: Function) -> Function:
        names, bounds = names_in(function), _size_bounds(function)
        outer = _uses_outside(function)

        def plan(node: Node) -> Node | None:
            """Rule: tensors with memory of their own -> tensors of storages that they share."""
            if not isinstance(node, BindingBlock) or not any(map(_is_allocation, node.bindings)):
                return None
            tokens = _Lifetimes(node.bindings, prim_funcs, outer, ctx).tokens()
            return _planned(node, tokens, _Storages(names, bounds, ctx))

        return ctx.rewrite(function, plan, kinds=(BindingBlock, DataflowBlock))

    return change_functions(module, ctx, change)


def _is_allocation(binding: Binding) -> bool:
    match binding.value:
        case Call(op=Op(name="relax.builtin.alloc_tensor"), args=(ShapeExpr(), DataTypeImm(), *_)):
            return True
        case _:
            return False


def _uses_outside(function: Function) -> frozenset[Var]:
    """Return the variables that are used outside the block that binds them, or inside an expression of it."""
    found: set[Var] = set()
    for item in nodes_in(function):
        match item:
            case SeqExpr(blocks=blocks, body=body):
                found.update(free_vars(body))
                for block in blocks:
                    own = {binding.var for binding in block.bindings}
                    found.update(
                        var for binding in block.bindings for var in free_vars(binding.value) if var not in own
                    )
            case _:
                pass
    return frozenset(found)


def _size_bounds(function: Function) -> dict[PrimVar, Interval]:
    """Return what the attributes say of the sizes in the signature: each is at most a number, and at least another.

    `tir_var_upper_bound` and `tir_var_lower_bound` give numbers by name. A size is at least 0 if nothing else is said,
    so that `tir_non_negative_var` adds nothing.
    """
    upper, lower = (_numbers(attr(function.attrs, f"tir_var_{side}_bound")) for side in ("upper", "lower"))
    symbols = [symbol for param in function.params for symbol in free_symbols(param.annotation)]
    return {item: Interval(lower.get(item.name, 0), upper[item.name]) for item in symbols if item.name in upper}


def _numbers(given: AttrValue) -> dict[str, int]:
    """Return the numbers of an attribute that has them by names."""
    found: dict[str, int] = {}
    for item in given if isinstance(given, tuple) else ():
        match item:
            case (str() as name, int() as value):
                found[name] = value
            case _:
                pass
    return found


@dataclass(eq=False, slots=True)
class _Token:
    """A tensor that a block allocates: where it was last used, and why it must keep its memory, if it must."""

    binding: VarBinding
    last: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _OneOf:
    """What may be any of some tensors of the block, or hold them."""

    tokens: tuple[_Token, ...]


Held: TypeAlias = "_Token | _OneOf | tuple[Held, ...] | None"
"""What a variable stands for: a tensor of the block, a tuple, or something else."""


@dataclass(slots=True)
class _Lifetimes:
    """Finds how long the tensors of a block live, through all names that they have."""

    bindings: tuple[Binding, ...]
    prim_funcs: frozenset[str]
    outer: frozenset[Var]
    ctx: PassContext
    held: dict[Var, Held] = field(default_factory=dict[Var, Held])
    found: dict[Binding, _Token] = field(default_factory=dict[Binding, _Token])

    def tokens(self) -> Mapping[Binding, _Token]:
        """Return the tensors of the block by their bindings."""
        for index, item in enumerate(self.bindings):
            for var in free_vars(item.value):
                for token in _tokens(self.held.get(var)):
                    token.last = index
            self.held[item.var] = self.value(item, index)
            if item.var in self.outer:
                self.keep(item.var, "it is used outside its block")
        for token in self.found.values():
            if token.reason:
                self.ctx.remark(token.binding, "missed", f"{token.binding.var.name} has its own memory: {token.reason}")
        return self.found

    def value(self, binding: Binding, index: int) -> Held:
        """Return what a binding stands for."""
        if isinstance(binding, VarBinding) and _is_allocation(binding):
            self.found[binding] = _Token(binding, index)
            return self.found[binding]
        if isinstance(binding, MatchCast):
            return self.of(binding.value)
        match binding.value:
            case Var() | Tuple() as same:
                return self.of(same)
            case TupleGetItem(tuple_value=value, index=place):
                whole = self.of(value)
                return whole[place] if isinstance(whole, tuple) and place < len(whole) else whole
            case Call(op=Op(name=name), args=(first, *_)) if name in VIEWS:
                return self.of(first)
            case Call(op=GlobalVar(name=name)) if name in self.prim_funcs:
                return None
            case Call(op=ExternFunc(), type_args=(TupleType(fields=()),)):
                return None
            case Call(op=ExternFunc()) as call:
                return _OneOf(tuple(token for var in free_vars(call) for token in _tokens(self.held.get(var))))
            case other:
                for var in free_vars(other):
                    self.keep(var, "it is given to something else than a prim func or a packed function")
                return None

    def of(self, value: Expr) -> Held:
        """Return what a value stands for."""
        if isinstance(value, Tuple):
            return tuple(map(self.of, value.fields))
        return self.held.get(value) if isinstance(value, Var) else None

    def keep(self, var: Var, reason: str) -> None:
        for token in _tokens(self.held.get(var)):
            token.reason = token.reason or reason


def _tokens(held: Held) -> Iterator[_Token]:
    match held:
        case _Token():
            yield held
        case _OneOf(tokens=tokens):
            yield from tokens
        case tuple():
            for item in held:
                yield from _tokens(item)
        case None:
            return


@dataclass(eq=False, slots=True)
class _Storage:
    """A storage of some size in bytes, which may still grow, and the tensors in it, in order."""

    key: tuple[str, ...]
    size: PrimExpr
    tensors: list[_Token] = field(default_factory=list[_Token])


@dataclass(slots=True)
class _Storages:
    """Gives tensors their storages, in the order of the program."""

    names: Names
    bounds: Mapping[PrimVar, Interval]
    ctx: PassContext
    free: list[_Storage] = field(default_factory=list[_Storage])
    of: dict[_Token, _Storage] = field(default_factory=dict[_Token, _Storage])
    forms: dict[PrimExpr, Polynomial[str]] = field(default_factory=dict["PrimExpr", "Polynomial[str]"])

    def take(self, token: _Token) -> None:
        """Find a storage for a tensor: one that is free, else a further one."""
        key, size = self.needs(token)
        storage = self.fitting(key, size)
        if storage is None:
            storage = _Storage(key, size)
        else:
            self.free.remove(storage)
            before = storage.tensors[-1].binding
            words = f"{token.binding.var.name} lies where {before.var.name} was"
            self.ctx.remark(token.binding, "applied", words, (before,))
        storage.tensors.append(token)
        self.of[token] = storage

    def needs(self, token: _Token) -> tuple[tuple[str, ...], PrimExpr]:
        """Return the kind of memory of a tensor, and its size in bytes."""
        dims, dtype, device, scope = _allocated(token)
        sizes = tuple(map(self.largest, dims.values))
        kind = tuple(str(getattr(getattr(item, "value", None), "value", item)) for item in (device, scope))
        return (*kind, dtype.value), _product(dtype_bytes(dtype.value), sizes)

    def largest(self, dim: PrimExpr) -> PrimExpr:
        """Return how large a dimension is at most, itself if nothing bounds it."""
        values: dict[Node, Interval] = {}
        for item in postorder(dim):
            values[item] = _interval(item, values, self.bounds)
        high = values[dim].high
        return const(high) if high < INFINITY else dim

    def fitting(self, key: tuple[str, ...], size: PrimExpr) -> _Storage | None:
        """Return the smallest storage that is large enough, or else the largest, which grows."""
        same = [item for item in self.free if item.key == key]
        wanted = constant_value(size)
        if wanted is None:
            form = self.form_of(size)
            return next((item for item in same if self.form_of(item.size) == form), None)
        sized = [(bytes_, item) for item in same if (bytes_ := constant_value(item.size)) is not None]
        enough = [item for item in sized if wanted <= item[0] <= wanted * _FACTOR]
        if enough:
            return min(enough, key=lambda item: item[0])[1]
        smaller = [item for item in sized if item[0] < wanted <= item[0] * _FACTOR]
        if not smaller:
            return None
        storage = max(reversed(smaller), key=lambda item: item[0])[1]
        storage.size = size
        return storage

    def form_of(self, size: PrimExpr) -> Polynomial[str]:
        """Return the canonical form of a size, which is the same for sizes that are provably equal."""
        if size not in self.forms:
            self.forms[size] = canonical_form(size)
        return self.forms[size]

    def give_back(self, tokens: Sequence[_Token]) -> None:
        """Free the storages of tensors that are dead."""
        self.free += (self.of[item] for item in tokens if item in self.of)


def _product(number: int, sizes: Sequence[PrimExpr]) -> PrimExpr:
    """Return a product with its numbers in front; one of variables alone keeps their order, as in TVM."""
    symbolic: PrimExpr | None = None
    for size in sizes:
        value = constant_value(size)
        if value is not None:
            number *= value
        else:
            symbolic = size if symbolic is None else binary("*", symbolic, size)
    if symbolic is None:
        return const(number)
    is_plain = all(isinstance(size, PrimVar | IntImm) for size in sizes)
    if number == 1:
        return symbolic if is_plain else simplify(symbolic)
    return binary("*", const(number), symbolic if is_plain else simplify(symbolic))


def _interval(item: Node, values: Mapping[Node, Interval], bounds: Mapping[PrimVar, Interval]) -> Interval:
    """Return the values that an expression may have, given those of its parts."""
    match item:
        case IntImm(value=value):
            return Interval(value, value)
        case PrimVar():
            return bounds.get(item, EVERYTHING)
        case Binary(op=op, a=a, b=b) if op in _INTERVALS and EVERYTHING not in (values[a], values[b]):
            return _INTERVALS[op](values[a], values[b])
        case _:
            return EVERYTHING


def _allocated(token: _Token) -> tuple[ShapeExpr, DataTypeImm, Expr, Expr]:
    match token.binding.value:
        case Call(args=(ShapeExpr() as dims, DataTypeImm() as dtype, device, scope)):
            return dims, dtype, device, scope
        case _:
            raise AssertionError("a token stands for a tensor that is allocated")


def _planned(block: BindingBlock, tokens: Mapping[Binding, _Token], storages: _Storages) -> BindingBlock | None:
    ending = defaultdict[int, list[_Token]](list)
    for token in tokens.values():
        is_read = tokens.get(block.bindings[token.last]) is not token
        if is_read and not token.reason:
            ending[token.last].append(token)
    for index, item in enumerate(block.bindings):
        token = tokens.get(item)
        if token is not None and not token.reason:
            storages.take(token)
        storages.give_back(ending[index])
    if not storages.of:
        return None
    vars: dict[_Storage, Var] = {}
    bindings: list[Binding] = []
    for item in block.bindings:
        token = tokens.get(item)
        storage = storages.of.get(token) if token is not None else None
        if token is None or storage is None:
            bindings.append(item)
            continue
        dims, dtype, device, scope = _allocated(token)
        if storage not in vars:
            kind = DataflowVar if isinstance(block, DataflowBlock) else Var
            vars[storage] = kind(storages.names.fresh("storage"))
            args = (shape((storage.size,)), device, scope, dtype_argument(dtype.value))
            made = VarBinding(vars[storage], operator_call("relax.memory.alloc_storage", *args))
            bindings.append(storages.ctx.derive(made, *(tensor.binding for tensor in storage.tensors)))
        value = operator_call("relax.memory.alloc_tensor", vars[storage], integer(0), dims, dtype, device)
        bindings.append(replace(token.binding, value=storages.ctx.derive(value, token.binding.value)))
        storages.ctx.log.rebuilt(token.binding, bindings[-1])
    return replace(block, bindings=tuple(bindings))


PASS = Pass(
    "StaticPlanBlockMemory",
    "Lets tensors of a block that do not live at the same time share storage.",
    run,
    needs=("normal form",),
    breaks=("runtime builtins",),
    see="tvm/src/relax/transform/static_plan_block_memory.cc",
)
