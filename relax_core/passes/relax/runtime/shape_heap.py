"""The shape heap of one function: which scalar expression lives in which slot, and the code that computes it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from relax_core.ir.attrs import attrs_of
from relax_core.ir.equality import structural_hash
from relax_core.ir.expr import (
    Call,
    Expr,
    Function,
    FuncType,
    MatchCast,
    PrimType,
    PrimValue,
    ShapeExpr,
    TupleType,
    Type,
)
from relax_core.ir.integer.prove import constant_value
from relax_core.ir.node import nodes_in, preorder
from relax_core.ir.prim import (
    Binary,
    BinaryKind,
    Cast,
    FloatImm,
    IntImm,
    Intrinsic,
    PrimExpr,
    PrimVar,
    StringImm,
    const,
    dtype_of,
    lanes_of,
)
from relax_core.ir.rewriting.substitute import replace_symbols, type_nodes
from relax_core.ir.tir import (
    HOST_FUNCTION,
    SCALAR_SLOTS,
    Buffer,
    BufferLoad,
    BufferParam,
    BufferStore,
    PrimFunc,
    Stmt,
    seq,
)
from relax_core.passes.relax.functions import integer

IMMEDIATE, STORE, SKIP, SLOT = 0, 1, 2, 3
MAKE_IMMEDIATE, MAKE_SLOT = 0, 1
_CHECKED: tuple[BinaryKind, ...] = ("/", "//", "%", "truncdiv", "truncmod", "<<", ">>")


@dataclass(slots=True)
class ShapeHeap:
    """The slots of a function in order of first occurrence. `known` are the slots that are set at this point."""

    slot_of: dict[object, int] = field(default_factory=dict[object, int])
    exprs: list[PrimExpr] = field(default_factory=list[PrimExpr])
    known: set[int] = field(default_factory=set[int])
    sizes: set[int] = field(default_factory=set[int])
    """Slots of what is a dimension somewhere; the others hold scalars, which wrap around in their dtype."""
    _key_of: dict[PrimExpr, object] = field(default_factory=dict[PrimExpr, object])

    def add(self, expr: PrimExpr, *, is_size: bool = True) -> None:
        """Give `expr` and then its variables slots, unless it is a constant."""
        if isinstance(expr, IntImm):
            return
        for part in (expr, *_variables(expr)):
            if constant_of(part) is None and (key := self._key(part)) not in self.slot_of:
                self.slot_of[key] = len(self.exprs)
                self.exprs.append(part)
        if is_size and constant_of(expr) is None:
            self.sizes.add(self.slot(expr))

    def slot(self, expr: PrimExpr) -> int:
        """Return the slot of `expr`."""
        return self.slot_of[self._key(expr)]

    def is_known(self, expr: PrimExpr) -> bool:
        """Tell whether the value of `expr` is in the heap at this point."""
        return self.slot_of.get(self._key(expr)) in self.known

    def check_codes(self, dims: Iterable[PrimExpr]) -> tuple[tuple[int, int], ...]:
        """Return a pair (code, operand) for each dimension that is matched; variables seen first are stored."""
        codes: list[tuple[int, int]] = []
        for dim in dims:
            value = constant_of(dim)
            if value is not None:
                codes.append((IMMEDIATE, value))
            elif self.is_known(dim):
                codes.append((SLOT, self.slot(dim)))
            elif isinstance(dim, PrimVar):
                codes.append((STORE, self.slot(dim)))
                self.known.add(self.slot(dim))
            else:
                codes.append((SKIP, 0))
        return tuple(codes)

    def make_codes(self, dims: Iterable[PrimExpr]) -> tuple[Expr, ...]:
        """Return the operands of `make_shape` for `dims`."""
        operands: list[Expr] = []
        for dim in dims:
            value = constant_of(dim)
            code = (MAKE_IMMEDIATE, value) if value is not None else (MAKE_SLOT, self.slot(dim))
            operands += [integer(item) for item in code]
        return tuple(operands)

    def computable(self, wanted: Iterable[PrimExpr] = ()) -> tuple[int, ...]:
        """Return the slots that are not set, but whose variables are; what can fail only if it is `wanted`."""
        needed = {self._key(expr) for expr in wanted}
        return tuple(
            index
            for index, expr in enumerate(self.exprs)
            if index not in self.known
            and not isinstance(expr, PrimVar)
            and (not _can_fail(expr) or self._key(expr) in needed)
            and all(self.is_known(item) for item in _variables(expr))
        )

    def unknown(self, expr: PrimExpr) -> tuple[PrimVar, ...]:
        """Return the variables of `expr` that have no value at this point."""
        return tuple(item for item in _variables(expr) if not self.is_known(item))

    def _key(self, expr: PrimExpr) -> object:
        """Return what is the same for expressions that are written alike, of the same variables."""
        key = self._key_of.get(expr)
        if key is None:
            key = self._key_of[expr] = structural_hash(expr), _variables(expr)
        return key

    def shape_function(self, slots: tuple[int, ...]) -> PrimFunc:
        """Return a prim func of the heap that computes `slots` from the variables' slots."""
        handle = PrimVar("H", "handle")
        heap = Buffer("H", (const(len(self.exprs)),), "int64")
        loads = {
            item: from_slot(BufferLoad(heap, (const(self.slot(item)),)), item.dtype)
            for index in slots
            for item in _variables(self.exprs[index])
        }
        stores: list[Stmt] = [
            BufferStore(heap, (const(index),), to_slot(replace_symbols(self.exprs[index], loads))) for index in slots
        ]
        attributes = attrs_of({HOST_FUNCTION: True})
        if scalars := tuple(index for index in slots if index not in self.sizes):
            attributes = (*attributes, (SCALAR_SLOTS, scalars))
        return PrimFunc((handle,), (BufferParam(handle, heap),), seq(stores), attributes, is_private=True)


def collect(function: Function, param_types: Iterable[Type]) -> ShapeHeap:
    """Return the heap for the symbolic expressions of types that are checked or given to calls, and of values.

    Slots are numbered as in TVM: parameters, body, result; the type arguments of a call come before its arguments. A
    scalar parameter has its slot where a dimension or a value first needs it.
    """
    heap = ShapeHeap()
    scalars = [item for item in param_types if isinstance(item, PrimType)]
    for type_ in param_types:
        if not isinstance(type_, PrimType):
            _add_type(heap, type_)
    for item in nodes_in(function.body):
        match item:
            case Call(type_args=types):
                for type_ in types:
                    _add_type(heap, type_)
            case ShapeExpr(values=values):
                for value in values:
                    heap.add(value)
            case PrimValue(value=value) if is_computed(item):
                heap.add(value, is_size=False)
            case MatchCast(type=type_):
                _add_type(heap, type_)
            case _:
                pass
    for type_ in (*([] if function.ret_type is None else [function.ret_type]), *scalars):
        _add_type(heap, type_)
    return heap


def _add_type(heap: ShapeHeap, type_: Type) -> None:
    """Add the dimensions of `type_`; those of a callable's signature are its own."""
    match type_:
        case TupleType(fields=fields):
            for item in fields:
                _add_type(heap, item)
        case FuncType():
            return
        case PrimType(value=PrimExpr() as value):
            heap.add(value, is_size=False)
        case _:
            for dim in type_nodes(type_):
                if isinstance(dim, PrimExpr):
                    heap.add(dim)


def is_in_slot(dtype: str) -> bool:
    """Tell whether a scalar of `dtype` can live in a slot."""
    is_number = dtype.startswith(("int", "uint", "bool")) or dtype in ("float16", "float32", "float64")
    return is_number and lanes_of(dtype) == 1


def is_computed(value: ShapeExpr | PrimValue) -> bool:
    """Tell whether `value` has to be computed when the program runs: it is no literal, and no shape of constants."""
    if isinstance(value, PrimValue):
        return not isinstance(value.value, IntImm | FloatImm | StringImm)
    return any(constant_of(dim) is None for dim in value.values)


def constant_of(expr: PrimExpr) -> int | None:
    """Return the value of an integer that is known; `None` if it is computed, and may wrap around or be converted."""
    if isinstance(expr, IntImm):
        return expr.value
    value = constant_value(expr)
    if value is None or dtype_of(expr) != "int64" or any(isinstance(part, Cast) for part in preorder(expr)):
        return None
    return value if -(1 << 63) <= value < 1 << 63 else None


def _can_fail(expr: PrimExpr) -> bool:
    """Tell whether computing `expr` may stop the program: by a divisor of 0, or a shift by too much."""
    return any(
        isinstance(part, Binary) and part.op in _CHECKED and not _is_safe(part.op, part.b) for part in preorder(expr)
    )


def _is_safe(op: BinaryKind, right: PrimExpr) -> bool:
    if not isinstance(right, IntImm):
        return isinstance(right, FloatImm) or "float" in dtype_of(right)
    return 0 <= right.value < 8 if op in ("<<", ">>") else right.value != 0


def _variables(expr: PrimExpr) -> tuple[PrimVar, ...]:
    return tuple(part for part in preorder(expr) if isinstance(part, PrimVar))


def from_slot(slot: PrimExpr, dtype: str) -> PrimExpr:
    """Return the scalar of `dtype` that a slot holds: a float as the bits of its float64, a truth value as 0 or 1."""
    match dtype:
        case "bool":
            return Binary("!=", slot, const(0), "bool")
        case name if "float" in name:
            return _as_dtype(Intrinsic("reinterpret", (slot,), "float64"), dtype)
        case _:
            return _as_dtype(slot, dtype)


def to_slot(value: PrimExpr) -> PrimExpr:
    """Return the int64 that holds a scalar in a slot."""
    if "float" in dtype_of(value):
        return Intrinsic("reinterpret", (_as_dtype(value, "float64"),), "int64")
    return _as_dtype(value, "int64")


def _as_dtype(expr: PrimExpr, dtype: str) -> PrimExpr:
    if isinstance(expr, IntImm):
        return const(expr.value, dtype)
    return expr if dtype_of(expr) == dtype else Cast(expr, dtype)
