"""Unification: types with holes, what the holes stand for, and problems that wait until a hole is filled.

A hole is a `TypeVar` that the solver made; the type variables of the program are rigid.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from relax_core.ir.expr import (
    OBJECT,
    AdtType,
    Dims,
    FuncType,
    ObjectType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeVar,
)
from relax_core.ir.node import Node
from relax_core.ir.prim import AnyDim, PrimExpr
from relax_core.ops.relay.dims import is_same
from relax_core.ops.relay.show import show_dim, show_dims

MAX_INSTANCE_DEPTH = 8
MAX_LEVELS = 150
"""Below so many levels, which only holes inside of holes can reach, a type is unknown."""

Attempt: TypeAlias = Callable[[], "TypeVar | None"]
"""Tries to solve a problem; returns the hole that it waits for, `None` when it is done."""


class ClashError(Exception):
    """Two types cannot be equal; `words` say which of their parts differ."""

    def __init__(self, a: Type, b: Type, words: str) -> None:
        super().__init__(words)
        self.a = a
        self.b = b
        self.words = words


@dataclass(frozen=True, slots=True)
class Hole:
    """What a hole is for: the node and the words that name it. A derived one follows from others."""

    node: Node | None
    words: str
    is_derived: bool


@dataclass(slots=True)
class Solver:
    """Holes and their types."""

    holes: dict[TypeVar, Hole] = field(default_factory=dict[TypeVar, Hole])
    filled: dict[TypeVar, Type] = field(default_factory=dict[TypeVar, Type])
    filled_at: dict[TypeVar, Node] = field(default_factory=dict[TypeVar, Node])
    waiting: dict[TypeVar, list[Attempt]] = field(default_factory=dict[TypeVar, "list[Attempt]"])
    ready: deque[Attempt] = field(default_factory=deque[Attempt])
    place: Node | None = None

    def hole(self, node: Node | None, words: str, *, is_derived: bool = False) -> TypeVar:
        """Make a type that is not known."""
        made = TypeVar("_")
        self.holes[made] = Hole(node, words, is_derived)
        return made

    def find(self, type_: Type) -> Type:
        """Return `type_`, or what stands in its place if it is a filled hole."""
        if not isinstance(type_, TypeVar):
            return type_
        path: list[TypeVar] = []
        while isinstance(type_, TypeVar) and type_ in self.filled:
            path.append(type_)
            type_ = self.filled[type_]
        for item in path[:-1]:
            self.filled[item] = type_
        return type_

    def open_hole(self, type_: Type) -> TypeVar | None:
        """Return the hole that `type_` is, if it is an open one."""
        found = self.find(type_)
        return found if isinstance(found, TypeVar) and found in self.holes else None

    def first_hole(self, type_: Type) -> TypeVar | None:
        """Return an open hole in `type_`, if there is one."""
        stack, seen = [type_], set[Type]()
        while stack:
            current = self.find(stack.pop())
            if isinstance(current, TypeVar):
                if current in self.holes:
                    return current
            elif not isinstance(current, TensorType) and current not in seen:
                seen.add(current)
                stack.extend(parts(current))
        return None

    def resolved(self, type_: Type) -> Type:
        """Return `type_` with filled holes replaced by their types."""
        return self._mapped(type_, {}, None, {})

    def substituted(self, type_: Type, values: Mapping[TypeVar, Type], depth: int = 0) -> Type:
        """Return `type_` with type variables replaced; an open hole is replaced when it is known."""
        return self._mapped(type_, values, depth, {})

    def _mapped(
        self, type_: Type, values: Mapping[TypeVar, Type], depth: int | None, memo: dict[Type, Type], level: int = 0
    ) -> Type:
        current = self.find(type_)
        if level > MAX_LEVELS:
            return OBJECT
        if isinstance(current, TensorType | ObjectType):
            return current
        if current in memo:
            return memo[current]

        def again(item: Type) -> Type:
            return self._mapped(item, values, depth, memo, level + 1)

        match current:
            case TypeVar() if current in values:
                made = values[current]
            case TypeVar() if depth is not None and current in self.holes:
                made = self._instance(current, values, depth)
            case _:
                made = rebuilt(current, again)
        memo[current] = made
        return made

    def _instance(self, source: TypeVar, values: Mapping[TypeVar, Type], depth: int) -> Type:
        """Return a hole for `source` with `values` put in, which follows when `source` is known."""
        if all(self.find(key) is self.find(value) for key, value in values.items()):
            return source
        origin = self.holes[source]
        target = self.hole(origin.node, origin.words, is_derived=True)

        def attempt() -> TypeVar | None:
            found = self.open_hole(source)
            if found is not None:
                return found
            if depth >= MAX_INSTANCE_DEPTH:
                raise ClashError(source, target, "the type would be infinite")
            self.unify(target, self.substituted(source, values, depth + 1))
            return None

        self.later(attempt)
        return target

    def later(self, attempt: Attempt) -> None:
        """Try to solve a problem at the next `settle`."""
        self.ready.append(attempt)

    def settle(self, report: Callable[[ClashError], None]) -> None:
        """Solve what waits until nothing more follows."""
        while self.ready:
            attempt = self.ready.popleft()
            try:
                blocked = attempt()
            except ClashError as error:
                report(error)
                blocked = None
            if blocked is not None:
                self.waiting.setdefault(blocked, []).append(attempt)

    def fill(self, hole: TypeVar, type_: Type) -> None:
        """Let a hole be `type_`, and wake what waited for it."""
        self.filled[hole] = type_
        if self.place is not None:
            self.filled_at[hole] = self.place
        self.ready.extend(self.waiting.pop(hole, ()))

    def unify(self, a: Type, b: Type) -> Type:
        """Make two types equal and return what they are; of a size that one of them leaves open nothing is known.

        Raises:
            ClashError: they cannot be equal.
        """
        left, right = self.find(a), self.find(b)
        if left is right:
            return left
        hole = self.open_hole(left) or self.open_hole(right)
        if hole is not None:
            return self._fill_checked(hole, right if hole is left else left)
        merged = self._merged(left, right)
        for source, found in ((a, left), (b, right)):
            if merged is not found and isinstance(source, TypeVar) and source in self.filled:
                self.filled[source] = merged
        return merged

    def _fill_checked(self, hole: TypeVar, type_: Type) -> Type:
        if isinstance(type_, TypeVar):
            other = self.holes.get(type_)
            if other is not None and other.is_derived and not self.holes[hole].is_derived:
                hole, type_ = type_, hole
        elif not isinstance(type_, TensorType) and self._occurs(hole, type_):
            raise ClashError(hole, type_, "the type would contain itself")
        self.fill(hole, type_)
        return type_

    def _occurs(self, hole: TypeVar, type_: Type) -> bool:
        stack, seen = [type_], set[Type]()
        while stack:
            current = self.find(stack.pop())
            if current is hole:
                return True
            if current not in seen and not isinstance(current, TensorType):
                seen.add(current)
                stack.extend(parts(current))
        return False

    def _merged(self, a: Type, b: Type) -> Type:
        match a, b:
            case ObjectType(), _:
                return b
            case _, ObjectType():
                return a
            case TensorType(), TensorType():
                return merged_tensors(a, b)
            case TupleType(fields=x), TupleType(fields=y):
                if len(x) != len(y):
                    raise ClashError(a, b, f"a tuple of {len(x)} is not one of {len(y)}")
                fields = self._merged_all(x, y)
                return a if fields is x else b if fields is y else TupleType(fields)
            case AdtType(name=x, args=p), AdtType(name=y, args=q):
                if x != y:
                    raise ClashError(a, b, f"{x} is not {y}")
                if len(p) != len(q):
                    return a
                args = self._merged_all(p, q)
                return a if args is p else b if args is q else AdtType(x, args)
            case RefType(value=x), RefType(value=y):
                value = self.unify(x, y)
                return a if value is x else b if value is y else RefType(value)
            case FuncType(), FuncType():
                return self._merged_functions(a, b)
            case _:
                raise ClashError(a, b, "")

    def _merged_all(self, a: tuple[Type, ...], b: tuple[Type, ...]) -> tuple[Type, ...]:
        merged = tuple(self.unify(x, y) for x, y in zip(a, b, strict=True))
        if all(item is self.find(x) for item, x in zip(merged, a, strict=True)):
            return a
        return b if all(item is self.find(y) for item, y in zip(merged, b, strict=True)) else merged

    def _merged_functions(self, a: FuncType, b: FuncType) -> Type:
        if a.params is None or b.params is None:
            self.unify(a.ret, b.ret)
            return b if a.params is None else a
        if len(a.type_params) == len(b.type_params):
            b = self._renamed(b, a.type_params)
        else:
            a, b = self.instantiated(a)[0], self.instantiated(b)[0]
        if a.params is None or b.params is None or len(a.params) != len(b.params):
            counts = f"{len(a.params or ())} parameters is not one of {len(b.params or ())}"
            raise ClashError(a, b, f"a function of {counts}")
        params, ret = self._merged_all(a.params, b.params), self.unify(a.ret, b.ret)
        return a if params is a.params and ret is self.find(a.ret) else replace(a, params=params, ret=ret)

    def _renamed(self, type_: FuncType, names: tuple[TypeVar, ...]) -> FuncType:
        if not names:
            return type_
        values = dict(zip(type_.type_params, names, strict=True))
        made = self.substituted(replace(type_, type_params=()), values)
        assert isinstance(made, FuncType), "a function type stays one"
        return made

    def instantiated(
        self, type_: FuncType, node: Node | None = None, what: str = ""
    ) -> tuple[FuncType, dict[TypeVar, Type]]:
        """Return a polymorphic function type with holes for its parameters, and the holes by parameter."""
        if not type_.type_params:
            return type_, {}
        words = f" of {what}" if what else ""
        values: dict[TypeVar, Type] = {
            item: self.hole(node, f"the type argument {item.name}{words}") for item in type_.type_params
        }
        made = self.substituted(replace(type_, type_params=()), values)
        assert isinstance(made, FuncType), "a function type stays one"
        return made, values


def parts(type_: Type) -> tuple[Type, ...]:
    """Return the types that `type_` is made of."""
    match type_:
        case TupleType(fields=fields):
            return fields
        case FuncType(params=params, ret=ret):
            return (*(params or ()), ret)
        case AdtType(args=args):
            return args
        case RefType(value=value):
            return (value,)
        case _:
            return ()


def rebuilt(type_: Type, change: Callable[[Type], Type]) -> Type:
    """Return `type_` with its parts changed; the same object if none was."""
    old = parts(type_)
    new = tuple(map(change, old))
    if all(x is y for x, y in zip(old, new, strict=True)):
        return type_
    match type_:
        case TupleType():
            return TupleType(new)
        case FuncType(params=params):
            return replace(type_, params=None if params is None else new[:-1], ret=new[-1])
        case AdtType(name=name):
            return AdtType(name, new)
        case RefType():
            return RefType(new[0])
        case _:
            return type_


def merged_tensors(a: TensorType, b: TensorType) -> TensorType:
    """Return the tensor type that is both; a size that one of them leaves open stays open.

    Raises:
        ClashError: the dtypes, the ranks or two sizes differ.
    """
    if a.dtype is not None and b.dtype is not None and a.dtype != b.dtype:
        raise ClashError(a, b, f"the dtype {a.dtype} is not {b.dtype}")
    if a.dims is None or b.dims is None:
        if a.dtype is not None and a.dims is not None:
            return a
        return b if b.dtype is not None and b.dims is not None else TensorType(a.dims or b.dims, a.dtype or b.dtype)
    if len(a.dims) != len(b.dims):
        raise ClashError(a, b, f"rank {len(a.dims)} is not {len(b.dims)}")
    dims: list[PrimExpr] = []
    for x, y in zip(a.dims, b.dims, strict=True):
        if isinstance(y, AnyDim):
            dims.append(y)
        elif is_same(x, y) is False:
            words = "" if len(a.dims) == 1 else f" in {show_dims(a.dims)} and {show_dims(b.dims)}"
            raise ClashError(a, b, f"the size {show_dim(x)} is not {show_dim(y)}{words}")
        else:
            dims.append(x)
    return _like_one(tuple(dims), a, b)


def _like_one(dims: Dims, a: TensorType, b: TensorType) -> TensorType:
    if a.dtype is not None and a.dims is not None and all(x is y for x, y in zip(dims, a.dims, strict=True)):
        return a
    if b.dtype is not None and b.dims is not None and all(x is y for x, y in zip(dims, b.dims, strict=True)):
        return b
    return TensorType(dims, a.dtype or b.dtype)
