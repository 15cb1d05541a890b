"""Names for a text: unique in each function, and legal."""

import keyword
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Literal

from relax_core.frontend.tvmscript.scalar.prim_variables import PrimVariables
from relax_core.ir.expr import (
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    DataTypeImm,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Null,
    Op,
    PrimType,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    TensorType,
    Tuple,
    Type,
    Var,
    VarBinding,
)
from relax_core.ir.module import BaseFunc
from relax_core.ir.node import Node, children, preorder
from relax_core.ir.prim import (
    Binary,
    Cast,
    CommReducer,
    FloatImm,
    IntImm,
    Intrinsic,
    LetExpr,
    PointerVar,
    PrimExpr,
    PrimVar,
    StringImm,
)
from relax_core.ir.rewriting.substitute import free_symbols, type_nodes, types_in
from relax_core.ir.tir import (
    Allocate,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferRegion,
    BufferStore,
    DeclBuffer,
    For,
    IterVar,
    LaunchThread,
    LetStmt,
    PrimFunc,
    SeqStmt,
)

RESERVED = (
    "R", "T", "I", "relax", "tir", "tirx", "tvm", "cls", "np", "range", "float", "Tensor", "Shape", "Tuple", "Callable",
    "Object", "Any", "Prim", "DTensor", "TypeVar", "True", "False", "None", "_",
)  # fmt: skip


_NAMED = frozenset((Var, DataflowVar, GlobalVar, PrimVar, PointerVar))
_NAMELESS = frozenset((Op, Constant, IntImm, FloatImm, StringImm, DataTypeImm, ExternFunc, Null))
"""Leaves that say nothing about names; most nodes are such."""
_SCOPES = frozenset((For, LetStmt, IterVar, LaunchThread, Allocate, DeclBuffer, LetExpr, CommReducer))
"""What defines something for what is inside it (TIR)."""
_NOTED = frozenset((Call, Function, SeqExpr, If, MatchCast, Buffer))
"""What says something about names itself, besides its parts."""
_PARTS: Mapping[type[Node], Callable[[Any], tuple[Node, ...]]] = MappingProxyType(
    {
        Call: lambda call: (call.op, *call.args),
        Tuple: attrgetter("fields"),
        ShapeExpr: attrgetter("values"),
        BindingBlock: attrgetter("bindings"),
        DataflowBlock: attrgetter("bindings"),
        MatchCast: lambda cast: (cast.value,),
        For: lambda loop: (loop.var, loop.start, loop.extent, loop.body) if loop.step is None else children(loop),
        IterVar: lambda axis: (axis.var, axis.extent, axis.binding) if axis.start is None else children(axis),
        BufferParam: attrgetter("handle", "buffer"),
        Buffer: lambda buffer: children(buffer) if buffer.strides or buffer.elem_offset is not None else buffer.shape,
        Binary: attrgetter("a", "b"),
        Intrinsic: attrgetter("args"),
        Cast: lambda cast: (cast.value,),
        SeqStmt: attrgetter("stmts"),
        BufferLoad: lambda load: (load.buffer, *load.indices),
        BufferStore: lambda store: (store.buffer, *store.indices, store.value),
        BufferRegion: lambda region: (region.buffer, *region.starts, *region.extents),
    }
)
"""The children of the nodes that are most frequent, faster than `children` finds them; variables that a node defines
are none of them."""


@lru_cache(maxsize=4096)
def legal(name: str, otherwise: str = "v") -> str:
    """Return `name` as a Python identifier that is no keyword."""
    name = name if name.isascii() else unicodedata.normalize("NFKC", name)
    if not name.isidentifier():
        name = "".join(char if char.isidentifier() or (char.isalnum() and char.isascii()) else "_" for char in name)
        name = name if name.isidentifier() else f"{otherwise}{name}"
        name = unicodedata.normalize("NFKC", name)
    return f"{name}_" if keyword.iskeyword(name) else name


def taken_names(names: Iterable[str]) -> frozenset[str]:
    """Return what no variable of a module is called: the names of its functions, and those that stand for modules."""
    return frozenset((*RESERVED, *[legal(item) for item in names]))


class FunctionNames(dict[Node, str]):
    """The names of one function, none of them `taken`: variables, dimensions and buffers in the order of definition.

    `merged` tells which `scalars` have one name with the symbols that stand for them, see `Wording`.
    `symbols`, `buffers` and `casts` are in that order too; `scopes` are the nodes of TIR that define something.
    `is_straight` tells that no part of a Relax function but its body holds bindings.
    """

    def __init__(
        self, function: BaseFunc, taken: frozenset[str], merged: Literal["computed", "all", "none"] = "computed"
    ) -> None:
        super().__init__()
        # The names of a module are many and the same for all its functions: they are not copied.
        self._shared = taken
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}
        self._types_seen: set[Type] = set()
        self.symbols: dict[PrimVar, None] = {}
        self.uses_globals = False
        self.used: set[Node] = set()
        self.buffers: list[Buffer] = []
        self.scopes: list[Node] = []
        self.casts: list[MatchCast] = []
        self.is_straight = True
        self._hidden: frozenset[Node] = frozenset()
        if isinstance(function, PrimFunc):
            # A buffer in the signature hides the handle that it is passed by.
            self._hidden = frozenset([item.handle for item in function.buffers if item.is_inline])
        self._walk(function)
        self.scalars = frozenset[Var]()
        if isinstance(function, Function) and merged != "none":
            pairs = _scalars_with_symbols if merged == "all" else _computed_scalars
            self.scalars = frozenset(self._merged(pairs(function, self.casts)))

    def _merged(self, pairs: Iterable[tuple[Var, PrimVar]]) -> Iterable[Var]:
        """Give scalars the names of their symbols, which are declared no more, and yield the scalars."""
        for var, symbol in pairs:
            self[var] = self[symbol]
            self.symbols.pop(symbol, None)
            yield var

    def _walk(self, function: BaseFunc) -> None:
        """Collect what has a name, in the order of the text."""
        seen: set[Node] = set()
        # Telling by `type` what a node is narrows no type, and `cast` would take a call.
        stack: list[Iterator[Any]] = [iter((function,))]
        while stack:
            for node in stack[-1]:
                kind = node.__class__
                if kind is PrimValue:
                    node = node.value
                    kind = node.__class__
                if kind in _NAMELESS or node in self:
                    continue
                if kind is VarBinding:
                    # Most lines are such: they and their values are looked at in one step.
                    self._define(node.var)
                    node = node.value
                    kind = node.__class__
                if kind in _NAMED:
                    self._collect(node)
                    continue
                if node in seen:
                    continue
                seen.add(node)
                if kind is Call and not node.type_args:
                    pass
                elif kind in _SCOPES:
                    self.scopes.append(node)
                elif kind in _NOTED:
                    self._note(node, function)
                stack.append(iter(_PARTS.get(kind, children)(node)))
                break
            else:
                stack.pop()

    def _note(self, node: Node, function: BaseFunc) -> None:
        """Take note of what a node defines, and of the types that it holds."""
        match node:
            case Call(type_args=types):
                for type_ in types:
                    self._collect_type(type_)
            case Buffer(name=name):
                self.buffers.append(node)
                self[node] = self.fresh(name)
            case MatchCast(var=var, type=type_):
                self.casts.append(node)
                self._collect_type(type_)
                self._define(var)
            case Function(ret_type=type_):
                if type_ is not None:
                    self._collect_type(type_)
                self.is_straight = self.is_straight and node is function
            case _:
                self.is_straight = self.is_straight and node is function.body and isinstance(node, SeqExpr)

    def __missing__(self, node: Node) -> str:
        self._name(node, getattr(node, "name", "v"))
        return self[node]

    def fresh(self, hint: str) -> str:
        """Return a name that nothing has."""
        base = legal(hint)
        name = base
        if name in self._taken or name in self._shared:
            count = self._next.get(base, 1)
            while (name := f"{base}_{count}") in self._taken or name in self._shared:
                count += 1
            self._next[base] = count + 1
        self._taken.add(name)
        return name

    def is_discarded(self, var: Var) -> bool:
        """Tell whether the value of a variable called `_` is never used: it is printed as a bare statement."""
        return var.name == "_" and var not in self.used

    def _collect(self, node: Node) -> None:
        match node:
            case PrimVar(name=name):
                if node not in self._hidden:
                    self.symbols[node] = None
                    self[node] = self.fresh(name)
            case Var():
                self._define(node)
                if node.name == "_":
                    self.used.add(node)
            case GlobalVar():
                self.uses_globals = True
            case _:
                pass

    def _define(self, var: Var) -> None:
        """Give a variable its name, behind those in its type; one called `_` has none unless it is used."""
        if var.annotation is not None and var.annotation not in self._types_seen:
            self._collect_type(var.annotation)
        if var.name != "_" and var not in self:
            self[var] = self.fresh(var.name)

    def _collect_type(self, type_: Type) -> None:
        if type_ in self._types_seen:
            return
        self._types_seen.add(type_)
        dims = type_.dims if isinstance(type_, TensorType) else None
        for root in type_nodes(type_) if dims is None else dims:
            if type(root) is not IntImm and root not in self:
                self._collect_in_type(root)

    def _collect_in_type(self, root: PrimExpr | Var | Expr) -> None:
        for node in preorder(root):
            if isinstance(node, PrimVar):
                self.symbols.setdefault(node)
                self._name(node, node.name)
            elif isinstance(node, Var):
                self.used.add(node)

    def _name(self, node: Node, hint: str) -> None:
        if node in self:
            return
        if isinstance(node, Var) and hint == "_":
            hint = "v"
        self[node] = self.fresh(hint)


def _scalars_with_symbols(function: Function, casts: list[MatchCast]) -> list[tuple[Var, PrimVar]]:
    """Return the parameters and bindings that define the symbol which stands for them."""
    found: list[tuple[Var, PrimVar]] = []
    params = [param for item in preorder(function) if isinstance(item, Function) for param in item.params]
    earlier: set[PrimVar] = set()
    for var, type_ in (*((param, param.annotation) for param in params), *((item.var, item.type) for item in casts)):
        match type_:
            case PrimType(value=PrimVar() as symbol) if symbol not in earlier:
                found.append((var, symbol))
            case _:
                pass
        earlier.update(free_symbols(type_))
    return found


def _computed_scalars(function: Function, casts: list[MatchCast]) -> list[tuple[Var, PrimVar]]:
    """Return the parameters and bindings `a: T.int64` that are computed with: they and their symbols have one name.

    The reader makes the symbol of a scalar if its name stands in arithmetic or in a type; alone it is the variable.
    """
    if not casts and not any(isinstance(item.annotation, PrimType) for item in function.params):
        return []
    earlier: set[Node] = set()
    found: list[tuple[Var, PrimVar]] = []
    for param in function.params:
        match param.annotation:
            case PrimType(value=PrimVar() as symbol) if symbol not in earlier and symbol.name == param.name:
                found.append((param, symbol))
            case _:
                pass
        earlier.update(free_symbols(param.annotation))
    for symbol, of_symbol in _cast_scalars(casts).items():
        if len(of_symbol) == 1 and of_symbol[0].var.name == symbol.name and symbol not in earlier:
            found.append((of_symbol[0].var, symbol))
    found = _matched_by_name(function, found)
    computed = _computed(function) if found else frozenset[Node]()
    return [(var, symbol) for var, symbol in found if symbol in computed]


def _cast_scalars(casts: list[MatchCast]) -> dict[PrimVar, list[MatchCast]]:
    """Return the symbols that scalars are matched with, each with the bindings that match it."""
    found: dict[PrimVar, list[MatchCast]] = {}
    for item in casts:
        match item.type:
            case PrimType(value=PrimVar() as symbol):
                found.setdefault(symbol, []).append(item)
            case _:
                pass
    return found


def _matched_by_name(function: Function, found: list[tuple[Var, PrimVar]]) -> list[tuple[Var, PrimVar]]:
    """Leave out the bindings of values that have a symbol already: `b: T.int64 = a` gives such a one no other."""
    if not found:
        return found
    known = PrimVariables()
    symbolic: set[Var] = set()
    for item in preorder(function):
        match item:
            case MatchCast(var=var, value=value, type=type_):
                if isinstance(type_, PrimType) and known.unnamed(value, PrimType(type_.dtype)) is None:
                    symbolic.add(var)
                known.type_of[var] = type_
            case VarBinding(var=var, value=value):
                known.note(var, value)
            case _:
                pass
    return [(var, symbol) for var, symbol in found if var not in symbolic]


def _computed(function: Function) -> frozenset[Node]:
    """Return the symbols that stand in arithmetic or in types, and nowhere alone as a value."""
    bare: set[Node] = set()
    computed: set[Node] = set()
    for node in preorder(function):
        match node:
            case PrimValue(value=PrimVar() as symbol):
                bare.add(symbol)
            case PrimExpr() | ShapeExpr():
                computed.update(part for part in children(node) if isinstance(part, PrimVar))
            case _:
                pass
        for type_ in types_in(node):
            if not isinstance(type_, PrimType):
                computed.update(free_symbols(type_))
    return frozenset(computed - bare)
