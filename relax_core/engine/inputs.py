"""Arguments for a run, generated from a seed or read from an archive; results to npz."""

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn, cast

import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.input_files import safetensors
from relax_core.engine.input_files.kinds import kind_of
from relax_core.engine.npy import read_npy, read_npz
from relax_core.ir.expr import (
    Binding,
    Call,
    Function,
    MatchCast,
    Op,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
    Var,
)
from relax_core.ir.integer.evaluate import NoValueError, evaluate
from relax_core.ir.node import Node, preorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import AnyDim, PrimExpr, PrimVar
from relax_core.ir.relay import Let
from relax_core.ir.rewriting.substitute import type_nodes
from relax_core.present.measures import bytes_text
from relax_core.present.words import type_text
from relax_core.vm.objects.values import AdtValue, DTypeValue, RefValue, ShapeValue, Snapshot, Value

FIRST_SIZE = 2
"""Size of the first symbolic dimension; the next ones are one larger each."""
_FROM_ZERO_ON: Final = frozenset(("sqrt", "rsqrt", "log", "log2", "log10", "power", "acosh"))
"""Operators that give NaN for numbers below 0; of `power` the base counts, and the exponent with it."""
_BYTES_LIMIT = 256 << 20
_NARROW: Final = ("bfloat16", "float8_", "float6_", "float4_")
"""What the names of dtypes begin with that are not NumPy's own."""
_MAX_SIZE = (1 << 63) - 1
_DEFAULT_SHAPE = (2, 3, 4, 5)


def symbol_sizes(function: Function, sizes: Mapping[str, int]) -> dict[PrimVar, int]:
    """Choose a size for each symbolic dimension of the parameters, in order of first appearance."""
    chosen: dict[PrimVar, int] = {}
    for type_ in argument_types(function).values():
        for root in type_nodes(type_):
            for node in preorder(root):
                if isinstance(node, PrimVar) and node not in chosen:
                    chosen[node] = sizes.get(node.name, FIRST_SIZE + len(chosen))
    return chosen


def argument_types(function: Function) -> dict[Var, Type]:
    """Return the type of each argument: the declared one, or what the body casts the parameter to.

    A parameter of unknown shape has the shape of the first `match_cast` on it; one without a type is a tensor.
    """
    type_of: dict[Var, Type] = {param: param.annotation or TensorType() for param in function.params}
    for node in preorder(function):
        if isinstance(node, MatchCast) and isinstance(node.value, Var) and node.value in type_of:
            type_of[node.value] = _made_precise(type_of[node.value], node.type)
    return type_of


def _made_precise(declared: Type, cast_to: Type) -> Type:
    match declared, cast_to:
        case TensorType(shape=None), TensorType(shape=tuple()) if declared.ndim in (None, cast_to.ndim):
            return replace(cast_to, dtype=declared.dtype or cast_to.dtype)
        case ShapeType(values=None), ShapeType(values=tuple()) if declared.ndim in (None, cast_to.ndim):
            return cast_to
        case _:
            return declared


def can_be_made_up(function: Function) -> bool:
    """Tell whether `generate` can make every argument: no parameter is a function or an opaque object."""
    stack = [param.annotation for param in function.params]
    while stack:
        match stack.pop():
            case TupleType(fields=fields):
                stack.extend(fields)
            case None | TensorType() | ShapeType() | PrimType():
                pass
            case _:
                return False
    return True


def generate(
    function: Function,
    seed: int,
    sizes: Mapping[str, int],
    *,
    is_signed: bool = False,
    below: int = 10,
    positive: frozenset[Var] = frozenset(),
) -> tuple[Any, ...]:
    """Generate one argument per parameter; equal seeds give equal arguments.

    Floats are from 0 to 1, or from -1 to 1 if `is_signed`, but for the parameters that are to be `positive`; integers
    are from 0 to 9, or `below` another number.

    Raises:
        RunError: EN002 for a type of which no value can be generated, EN003 if the arguments are too large, EN005 for a
            negative seed.
    """
    if seed < 0:
        _fail("EN005", f"{seed} is no seed", None, "take 0 or a larger number")
    size_of = symbol_sizes(function, sizes)
    names = tuple(dict.fromkeys(var.name for var in size_of))
    if unknown := next((name for name in sizes if name not in names), None):
        hint = f"its dimensions: {', '.join(names) or 'none'}"
        _fail("EN005", f"the function that runs has no symbolic dimension `{unknown}`", None, hint)
    signed = frozenset(function.params) - positive if is_signed else frozenset[Var]()
    maker = _Maker(np.random.default_rng(seed), size_of, signed, below)
    type_of = argument_types(function)
    for param, type_ in type_of.items():
        # Shapes come first, for they fix the symbolic dimensions in the types of other parameters.
        if isinstance(type_, ShapeType):
            maker.shape_of[param] = tuple(maker.make(type_, param))
    return tuple(
        maker.shape_of[param] if param in maker.shape_of else maker.make(type_, param)
        for param, type_ in type_of.items()
    )


def kept_positive(function: Function) -> frozenset[Var]:
    """Return the parameters whose values come to an operator that has none for numbers below 0, such as a logarithm.

    What is computed of them on the way is not looked at: `sqrt(x * x)` keeps `x` positive as well.
    """
    reached: set[Node] = set()
    # A value is bound before it is used, so that the uses of a variable are known when its binding is met.
    for node in reversed(tuple(preorder(function))):
        match node:
            case Call(op=Op(name=name), args=args) if name.removeprefix("relax.") in _FROM_ZERO_ON:
                reached.update(var for arg in args for var in preorder(arg) if isinstance(var, Var))
            case Binding(var=var, value=value) | Let(var=var, value=value) if var in reached:
                reached.update(item for item in preorder(value) if isinstance(item, Var))
            case _:
                pass
    return frozenset(param for param in function.params if param in reached)


class _Maker:
    def __init__(
        self, random: np.random.Generator, size_of: Mapping[PrimVar, int], signed: frozenset[Var], below: int
    ) -> None:
        self.shape_of: dict[Var, tuple[int, ...]] = {}
        self._random = random
        self._size_of = size_of
        self._signed = signed
        self._below = below
        self._bytes = 0

    def make(self, type_: Type, param: Var) -> Any:
        """Generate a value of `type_`, which is a part of the type of `param`."""
        match type_:
            case TensorType():
                return self._tensor(type_, param)
            case ShapeType(values=None, ndim=ndim):
                return _DEFAULT_SHAPE[: 2 if ndim is None else ndim]
            case ShapeType(values=tuple() as values):
                return tuple(self._size(value, param) for value in values)
            case PrimType(dtype="string"):
                return "text"
            case PrimType(dtype=dtype, value=value):
                return self._prim(dtype, value, param)
            case TupleType(fields=fields):
                return tuple(self.make(field, param) for field in fields)
            case _:
                words = type_text(type_)
                _fail("EN002", f"no value can be made up for `{param.name}` of type {words}", param, _ARCHIVE_HINT)

    def _tensor(self, type_: TensorType, param: Var) -> "np.ndarray[Any, Any]":
        match type_.shape:
            case tuple() as dims:
                shape = tuple(self._size(dim, param) for dim in dims)
            case Var() as var:
                shape = self.shape_of.get(var, _DEFAULT_SHAPE[:2])
            case None:
                shape = _DEFAULT_SHAPE[: 2 if type_.ndim is None else type_.ndim]
        dtype = _numpy_dtype(type_.dtype or "float32", param)
        size_bytes = dtype.itemsize
        for size in shape:
            size_bytes *= size
        self._bytes += size_bytes
        if self._bytes > _BYTES_LIMIT:
            limit = bytes_text(_BYTES_LIMIT)
            _fail(
                "EN003", f"the argument `{param.name}` needs {size_bytes:,} bytes, at most {limit} are made up", param
            )
        match dtype.kind:
            case "f" | "V":
                made = self._random.random(shape, dtype=np.float32)
                return (made * 2 - 1 if param in self._signed else made).astype(dtype)
            case "b":
                return self._random.random(shape) < 0.5
            case _:
                return self._random.integers(0, self._below, shape).astype(dtype)

    def _prim(self, dtype: str, value: PrimExpr | None, param: Var) -> bool | int | float:
        if value is not None:
            return self._size(value, param)
        if dtype == "bool":
            return bool(self._random.random() < 0.5)
        return float(self._random.random()) if "float" in dtype else int(self._random.integers(1, 5))

    def _size(self, dim: PrimExpr, param: Var) -> int:
        # All dimensions that a Relay type leaves open get one size, so that tensors of such types fit each other.
        try:
            size = FIRST_SIZE if isinstance(dim, AnyDim) else int(evaluate(dim, self._size_of))
        except NoValueError:
            message = f"`{show_prim(dim)}` of `{param.name}` has no value for these sizes"
            _fail("EN002", message, param, "choose other sizes")
        if size < 0:
            _fail("EN002", f"a dimension of `{param.name}` would be {size}", param, "choose other sizes")
        return size


_ARCHIVE_HINT = "give the arguments as an archive: run FILE --inputs in.npz"


def _fail(code: str, message: str, param: Var | None, hint: str = "") -> NoReturn:
    raise RunError((Diagnostic(code, message, param.span if param is not None else None, hint),))


def _numpy_dtype(name: str, param: Var) -> "np.dtype[Any]":
    try:
        return np.dtype(name)
    except TypeError:
        _fail("EN002", f"no value can be made up for `{param.name}`: NumPy has no dtype {name}", param)


def read_archive(archive: bytes, function: Function) -> tuple[Any, ...]:
    """Read `in_0`, `in_1_0`, ... for the parameters of `function`; see `prefixes_of` for other names.

    Raises:
        RunError: EN004 if the archive cannot be read or a member is missing or left over.
    """
    members = read_members(archive)
    used: set[str] = set()
    prefixes = prefixes_of(function, members)
    args = tuple(
        _member(prefix, param.annotation, members, used, param)
        for prefix, param in zip(prefixes, function.params, strict=True)
    )
    left = [name for name in members if name not in used]
    if left:
        _fail("EN004", f"the archive has {', '.join(left)}, which no parameter takes", None)
    return args


def prefixes_of(function: Function, members: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the members for each parameter begin with: `in_0`, the parameter's name, or NumPy's own `arr_0`.

    An archive uses one of them for all parameters; the first that any member has is taken.
    """
    count = len(function.params)
    numbered, unnamed = (tuple(f"{word}_{number}" for number in range(count)) for word in ("in", "arr"))
    names = tuple(param.name for param in function.params)
    for prefixes in (numbered, names if len(set(names)) == count else (), unnamed):
        if any(name == prefix or name.startswith(f"{prefix}_") for name in members for prefix in prefixes):
            return prefixes
    return numbered


def read_members(archive: bytes) -> "dict[str, np.ndarray[Any, Any]]":
    """Read the arrays of an npz archive or a safetensors file by name; that of a lone .npy file is `arr_0`.

    Raises:
        RunError: EN004 if it cannot be read, EN016 if its arrays are too large.
    """
    if not archive:
        _fail("EN004", "the archive of inputs is empty: it has no bytes at all", None, "save it again, or give none")
    match kind_of(archive):
        case "npz":
            return read_npz(archive)
        case "npy":
            return {"arr_0": read_npy(archive)}
        case "safetensors":
            return safetensors.read_safetensors(archive)
        case "picture" | "text":
            hint = "`numpy.savez(file, in_0=..., in_1=...)` writes an archive"
            _fail("EN004", "the inputs are no .npz archive, no .npy and no safetensors file", None, hint)


def _member(name: str, type_: Type | None, members: Mapping[str, Any], used: set[str], param: Var) -> Any:
    array = members.get(name)
    if array is None:
        fields: list[Any] = []
        declared = type_.fields if isinstance(type_, TupleType) else ()
        is_compound = not isinstance(type_, TensorType | PrimType | ShapeType)
        while is_compound and any(
            item == f"{name}_{len(fields)}" or item.startswith(f"{name}_{len(fields)}_") for item in members
        ):
            field = declared[len(fields)] if len(fields) < len(declared) else None
            fields.append(_member(f"{name}_{len(fields)}", field, members, used, param))
        if not fields and not (isinstance(type_, TupleType) and not type_.fields):
            _fail("EN004", f"the archive has no {name} for the parameter `{param.name}`", param)
        return tuple(fields)
    used.add(name)
    return _value(name, type_, array, param)


def value_of_member(name: str, param: Var, array: "np.ndarray[Any, Any]") -> Any:
    """Convert the member `name` of an archive to a value for `param`.

    Raises:
        RunError: EN030 if it has no such value.
    """
    return _value(name, param.annotation, array, param)


def _value(name: str, type_: Type | None, array: "np.ndarray[Any, Any]", param: Var) -> Any:
    """Convert a member to a value of `type_`; dtypes, ranks and sizes are left for the machine to check."""
    kind = array.dtype.kind
    match type_:
        case ShapeType():
            if kind not in "iu" or array.ndim > 1 or any(not 0 <= int(item) <= _MAX_SIZE for item in array.ravel()):
                _misfit(name, array, param, "a shape is a vector of sizes, integers from 0 on")
            return tuple(int(item) for item in array.ravel())
        case PrimType(dtype=dtype):
            if array.size != 1 or (kind in "US") != (dtype == "string"):
                _misfit(name, array, param, f"one value of {dtype}")
            return array.item()
        case TensorType():
            if kind in "USOMmc" or array.dtype.names is not None:
                _misfit(name, array, param, "a tensor holds numbers or truth values")
            # An archive has them as float32, see `_storable`.
            return array.astype(type_.dtype) if type_.dtype and type_.dtype.startswith(_NARROW) else array
        case _:
            if kind == "U" and array.ndim > 0:
                _misfit(name, array, param, "one string, or numbers")
            return array.item() if kind == "U" else array


def _misfit(name: str, array: "np.ndarray[Any, Any]", param: Var, wanted: str) -> NoReturn:
    words = "strings" if array.dtype.kind in "US" else array.dtype.name
    found = f"an array of {words} with the shape {array.shape}"
    _fail("EN030", f"{name} of the archive does not fit the parameter `{param.name}`: it is {found}", param, wanted)


def write_archive(result: Any) -> bytes:
    """Write a result as npz: `out`, or `out_0`, `out_1_0`, ... for tuples; closures and void are left out."""
    return write_members(dict(sorted(members_of("out", result).items())))


def write_members(members: "Mapping[str, np.ndarray[Any, Any]]") -> bytes:
    """Write named arrays as npz, in their order."""
    buffer = io.BytesIO()
    stored: dict[str, Any] = {name: _storable(array) for name, array in members.items()}
    np.savez(buffer, **stored)
    return buffer.getvalue()


def _storable(array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    # npz has no dtypes but NumPy's own; float32 represents every number of the narrow ones exactly.
    return array.astype(np.float32) if array.dtype.name.startswith(_NARROW) else array


def members_of(name: str, result: Any) -> "dict[str, np.ndarray[Any, Any]]":
    """Return the arrays of a value by name: `name`, or `name_0`, `name_1_0`, ... for the fields of tuples.

    A list is stored as its elements, other algebraic data as its fields and the constructor's name, `name_constructor`.
    """
    members: dict[str, np.ndarray[Any, Any]] = {}
    stack = [(name, result)]
    while stack:
        name, value = stack.pop()
        match value:
            case ShapeValue():
                members[name] = np.array(value, np.int64)
            case tuple():
                fields = cast("tuple[Any, ...]", value)
                stack.extend((f"{name}_{number}", item) for number, item in enumerate(fields))
            case AdtValue(name=constructor, fields=fields):
                items = _elements(value)
                if items is None:
                    members[f"{name}_constructor"] = np.array(constructor)
                stack.extend((f"{name}_{number}", item) for number, item in enumerate(items or fields))
            case RefValue(value=held):
                stack.append((name, held))
            case Snapshot(names=names, fields=fields):
                stack.extend((f"{name}_{part}", item) for part, item in zip(names, fields, strict=True))
            case DTypeValue(name=dtype):
                members[name] = np.array(dtype)
            case np.ndarray() | bool() | int() | float() | str() | np.generic():
                members[name] = np.asarray(value)
            case _:
                pass
    return members


def _elements(value: AdtValue) -> tuple[Value, ...] | None:
    """Return the elements of a list of the prelude; `None` for other data."""
    items: list[Value] = []
    while value.name == "Cons" and len(value.fields) == 2 and isinstance(rest := value.fields[1], AdtValue):
        items.append(value.fields[0])
        value = rest
    return tuple(items) if value.name == "Nil" else None
