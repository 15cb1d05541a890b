"""Structural equality up to renaming, with the first difference, and the hash that agrees with it."""

import ast
import dataclasses
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, cast

import numpy as np

from relax_core.ir.absent import reference_of
from relax_core.ir.expr import (
    AdtType,
    Constant,
    Function,
    FuncType,
    GlobalVar,
    MatchCast,
    ObjectType,
    PrimType,
    RefType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    TypeVar,
    Var,
    VarBinding,
)
from relax_core.ir.integer.prove import prove_equal
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.prim import FloatImm, PrimExpr, PrimVar, StringImm
from relax_core.ir.tir import Buffer, BufferParam, PrimFunc

Value: TypeAlias = object
_TYPES = (TensorType, ShapeType, PrimType, TupleType, FuncType, ObjectType, AdtType, TypeVar, RefType)
_BINDERS = (Var, PrimVar, Buffer, TypeVar)
_PLAIN = (str, int, bool, type(None))


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two programs differ.

    `path` leads from the root, such as `@main.body.blocks[0].bindings[2].value.args[1]`; `message` says both sides.
    """

    path: str
    message: str
    a: Value
    b: Value


_Path: TypeAlias = "tuple[_Path, str | int] | None"
"""The way from the root, its last step behind: a field, as `value`; a place in a tuple; a function, as `@main`."""


def _shown(path: _Path) -> str:
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(f"[{step}]" if isinstance(step, int) else step if step.startswith("@") else f".{step}")
    return "".join(reversed(steps)).removeprefix(".")


def structural_equal(a: Node, b: Node, *, strict: bool = False) -> bool:
    """Tell whether `a` and `b` are the same program up to the names of variables.

    Spans and module names take no part, nor does the order of a module's functions. The annotation of a variable that
    is let-bound or cast is a fact that inference finds again: it takes part only if `strict`.
    """
    return first_difference(a, b, strict=strict) is None


def first_difference(a: Node, b: Node, *, strict: bool = False) -> Difference | None:
    """Return the first difference of `a` and `b` in the order of the text, `None` if they are equal."""
    return _Comparison(strict=strict).run(a, b)


class _Comparison:
    """A walk over two programs at once, with a bijection between their variables."""

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.forward: dict[Value, Value] = {}
        self.backward: dict[Value, Value] = {}
        self.stack: list[tuple[_Path, Value, Value]] = []
        # Parts that two programs share among their own places are compared once: the bijection only grows.
        self.compared: set[tuple[int, int]] = set()

    def run(self, a: Node, b: Node) -> Difference | None:
        self.stack = [(None, a, b)]
        while self.stack:
            path, left, right = self.stack.pop()
            message = self.compare(path, left, right)
            if message is not None:
                return Difference(_shown(path), message, left, right)
        return None

    def compare(self, path: _Path, a: Value, b: Value) -> str | None:
        """Compare one pair, pushing the parts; return the words for a difference."""
        kind = type(a)
        if kind is not type(b):
            return f"{_words(a)} here, {_words(b)} there"
        if kind is tuple:
            return self.tuples(path, cast("tuple[Value, ...]", a), cast("tuple[Value, ...]", b))
        if kind in _PLAIN:
            return None if a == b else f"{a!r} here, {b!r} there"
        match a, b:
            case (IRModule(), IRModule()):
                return self.modules(path, a, b)
            case (GlobalVar(), GlobalVar()):
                return None if a.name == b.name else f"@{a.name} here, @{b.name} there"
            case (Constant(), Constant()):
                return None if _same_constant(a, b) else "the constants differ"
            case (FloatImm(), FloatImm()):
                is_same = a.dtype == b.dtype and np.float64(a.value).tobytes() == np.float64(b.value).tobytes()
                return None if is_same else f"{a.value} here, {b.value} there"
            case (StringImm(), StringImm()):
                is_same = a.value == b.value or (not self.strict and _same_mapping(a.value, b.value))
                return None if is_same else f"{a.value!r} here, {b.value!r} there"
            case _ if isinstance(a, _BINDERS):
                return self.binders(path, a, cast("Any", b))
            case _ if isinstance(a, (Node, *_TYPES)):
                pair = (id(a), id(b))
                if pair in self.compared:
                    return None
                self.compared.add(pair)
                return self.push_fields(path, a, b)
            case _:
                return None if a == b else f"{a!r} here, {b!r} there"

    def modules(self, path: _Path, a: IRModule, b: IRModule) -> str | None:
        if set(a.names) != set(b.names):
            only = sorted(set(a.names) ^ set(b.names))
            side = "here" if only[0] in a.names else "there"
            return f"@{only[0]} only {side}"
        pairs = [(item, b.find(item.var.name)) for item in a.definitions]
        for left, right in reversed(pairs):
            assert right is not None
            if left.function is right.function:
                # It has no free variables: what it means does not depend on where it stands.
                continue
            self.stack.append(((path, f"@{left.var.name}"), left.function, right.function))
        self.stack.append(((path, "attrs"), _sorted_attrs(a.attrs), _sorted_attrs(b.attrs)))
        self.stack.append(((path, "global_infos"), a.global_infos, b.global_infos))
        self.stack.append(((path, "type_data"), a.type_data, b.type_data))
        return None

    def tuples(self, path: _Path, a: tuple[Value, ...], b: tuple[Value, ...]) -> str | None:
        if len(a) != len(b):
            return f"{len(a)} items here, {len(b)} there"
        for index in reversed(range(len(a))):
            self.stack.append(((path, index), a[index], b[index]))
        return None

    def binders(self, path: _Path, a: Value, b: Value) -> str | None:
        """Compare variables: the first meeting pairs them, later ones must agree."""
        if a in self.forward or b in self.backward:
            is_paired = self.forward.get(a) is b and self.backward.get(b) is a
            return None if is_paired else f"{_words(a)} here, {_words(b)} there"
        self.forward[a] = b
        self.backward[b] = a
        return self.push_fields(path, a, b, skip=("name",))

    def push_fields(self, path: _Path, a: Value, b: Value, skip: tuple[str, ...] = ()) -> str | None:
        for name in reversed(_fields(type(a))):
            if name in skip:
                continue
            left, right = getattr(a, name), getattr(b, name)
            if name == "attrs" and (left or right):
                left, right = _sorted_attrs(left), _sorted_attrs(right)
            self.stack.append(((path, name), left, right))
        match a, b:
            case (VarBinding(), VarBinding()) | (MatchCast(), MatchCast()) if not self.strict:
                return self.let_variable(a.var, b.var)
            case _:
                return None

    def let_variable(self, a: Var, b: Var) -> str | None:
        """Pair the variables of two let bindings without their annotations."""
        if type(a) is not type(b):
            return f"{_words(a)} here, {_words(b)} there"
        if a not in self.forward and b not in self.backward:
            self.forward[a] = b
            self.backward[b] = a
        return None


@lru_cache(maxsize=256)
def _fields(cls: type[Any]) -> tuple[str, ...]:
    """Fields that take part in equality, binders first: a definition is met before its uses."""
    # What only says how the text writes a function takes no part.
    ignored = {"span", "is_inline"} if issubclass(cls, BufferParam) else {"span", "is_s_tir", "is_scalar"}
    names = [field.name for field in dataclasses.fields(cls) if field.name not in ignored]
    if issubclass(cls, PrimFunc):
        names = ["params", "buffers", *(name for name in names if name not in ("params", "buffers"))]
    return tuple(names)


def _sorted_attrs(attrs: Value) -> Value:
    return tuple(sorted(cast("tuple[tuple[str, Any], ...]", attrs), key=lambda item: item[0]))


def _same_mapping(a: str, b: str) -> bool:
    """Tell whether two texts are mappings of indices that differ in the names of the indices: `lambda i, j: (j, i)`."""
    if not (a.startswith("lambda ") and b.startswith("lambda ")):
        return False
    forms = [_without_names(text) for text in (a, b)]
    return forms[0] is not None and forms[0] == forms[1]


def _without_names(text: str) -> str | None:
    """Return a mapping of indices with its parameters numbered."""
    try:
        read = ast.parse(f"f({text})", mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return None
    mapping = next((item for item in ast.walk(read) if isinstance(item, ast.Lambda)), None)
    number = {item.arg: f"_{at}" for at, item in enumerate(mapping.args.args)} if mapping is not None else {}
    for item in ast.walk(read):
        match item:
            case ast.Name(id=name) if name in number:
                item.id = number[name]
            case ast.arg(arg=name) if name in number:
                item.arg = number[name]
            case _:
                pass
    return ast.dump(read)


def _same_constant(a: Constant, b: Constant) -> bool:
    """Tell whether two constants have the same elements; of those whose data is absent, whether they stand for one."""
    reference = reference_of(a)
    if reference is not None or reference_of(b) is not None:
        return reference == reference_of(b) and (a.data.dtype, a.data.shape) == (b.data.dtype, b.data.shape)
    return _same_array(a.data, b.data)


def _same_array(a: "np.ndarray[Any, Any]", b: "np.ndarray[Any, Any]") -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _words(value: Value) -> str:
    """Name a node for a message: its class, and its name if it has one."""
    name = getattr(value, "name", None)
    return f"{type(value).__name__} `{name}`" if isinstance(name, str) else type(value).__name__


def same_type(a: Type | None, b: Type | None) -> bool:
    """Tell whether two types are equal; dimensions, and scalars that wrap around, are equal if they provably are."""
    match a, b:
        case (TensorType(), TensorType()):
            return _same_shape(a.shape, b.shape) and (a.dtype, a.ndim, a.vdevice) == (b.dtype, b.ndim, b.vdevice)
        case (ShapeType(), ShapeType()):
            return _same_shape(a.values, b.values) and a.ndim == b.ndim
        case (PrimType(), PrimType()):
            values = (a.value, b.value)
            is_same = values[0] is values[1] or (None not in values and prove_equal(*cast("Any", values), wraps=True))
            return a.dtype == b.dtype and is_same
        case (TupleType(), TupleType()):
            return _same_types(a.fields, b.fields)
        case (FuncType(), FuncType()):
            has_params = a.params is not None and b.params is not None
            is_same = _same_types(a.params or (), b.params or ()) if has_params else a.params is b.params
            return is_same and same_type(a.ret, b.ret) and a.is_pure == b.is_pure
        case (AdtType(), AdtType()):
            return a.name == b.name and _same_types(a.args, b.args)
        case (RefType(), RefType()):
            return same_type(a.value, b.value)
        case (ObjectType(), ObjectType()):
            return True
        case _:
            return a is b


def _same_types(a: tuple[Type, ...], b: tuple[Type, ...]) -> bool:
    return len(a) == len(b) and all(same_type(x, y) for x, y in zip(a, b, strict=True))


def _same_shape(a: Value, b: Value) -> bool:
    if not (isinstance(a, tuple) and isinstance(b, tuple)):
        return a is b
    pairs = list(zip(cast("tuple[PrimExpr, ...]", a), cast("tuple[PrimExpr, ...]", b), strict=False))
    return len(cast("Any", a)) == len(cast("Any", b)) and all(prove_equal(x, y) for x, y in pairs)


def structural_hash(root: Node) -> str:
    """Return 32 hexadecimal digits that are the same for structurally equal nodes, in every process.

    Each node is hashed once, from the hashes of its parts, so shared nodes cost nothing.
    """
    order = _parts_first(root)
    numbers: dict[int, int] = {}
    for value, _ in reversed(order):
        if isinstance(value, _BINDERS):
            numbers[id(value)] = len(numbers)
    digests: dict[int, bytes] = {}
    for value, parts in order:
        digests[id(value)] = _digest(value, parts, numbers, digests)
    return digests[id(root)].hex()


def _parts_first(root: Node) -> list[tuple[Value, list[Value]]]:
    """List the nodes and types below `root` with their parts, each once, behind all of its parts."""
    seen: set[int] = set()
    order: list[tuple[Value, list[Value]]] = []
    stack: list[tuple[Value, list[Value] | None]] = [(root, None)]
    while stack:
        value, parts = stack.pop()
        if parts is not None:
            order.append((value, parts))
        elif id(value) not in seen:
            seen.add(id(value))
            parts = _parts(value)
            stack.append((value, parts))
            stack.extend([(part, None) for part in parts if isinstance(part, _HASHED)])
    return order


_HASHED = (Node, *_TYPES)


def _parts(value: Value) -> list[Value]:
    """The values in the fields of a node or a type, tuples opened, in the order of the fields."""
    match value:
        case IRModule():
            ordered = tuple(sorted(value.definitions, key=lambda item: item.var.name))
            fields: list[Value] = [ordered, value.type_data, _sorted_attrs(value.attrs), value.global_infos]
        case Definition():
            fields = [value.var.name, value.function]
        case GlobalVar():
            fields = ["@" + value.name]
        case Constant() if (reference := reference_of(value)) is not None:
            fields = [f"{value.data.dtype}{value.data.shape}", reference]
        case Constant():
            fields = [f"{value.data.dtype}{value.data.shape}", value.data.tobytes()]
        case FloatImm():
            fields = [value.dtype, np.float64(value.value).tobytes()]
        case _:
            skipped = ("name", "annotation") if isinstance(value, Var) else ("name",)
            names = _fields(type(value))
            kept = [name for name in names if name not in skipped] if isinstance(value, _BINDERS) else names
            fields = [_sorted_attrs(getattr(value, name)) if name == "attrs" else getattr(value, name) for name in kept]
            if isinstance(value, Function):
                # What a function takes is a part of it; what a variable of a binding is annotated with is inferred.
                fields.append(tuple(param.annotation for param in value.params))
    return _opened(fields)


def _opened(fields: list[Value]) -> list[Value]:
    result: list[Value] = []
    for item in fields:
        if isinstance(item, tuple):
            items = cast("tuple[Value, ...]", item)
            result.append(f"({len(items)}")
            result.extend(_opened(list(items)))
        else:
            result.append(item)
    return result


def _digest(value: Value, parts: list[Value], numbers: dict[int, int], digests: dict[int, bytes]) -> bytes:
    digest = hashlib.blake2b(type(value).__name__.encode(), digest_size=16)
    if isinstance(value, _BINDERS):
        digest.update(str(numbers[id(value)]).encode())
    for part in parts:
        if isinstance(part, _HASHED):
            digest.update(digests[id(part)])
        elif isinstance(part, bytes):
            digest.update(part)
        else:
            digest.update(f"{type(part).__name__}:{part!r}".encode())
        digest.update(b"\0")
    return digest.digest()
