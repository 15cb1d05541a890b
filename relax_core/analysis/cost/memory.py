"""The memory of a sequence of bindings: what refers to which, and the most that is held at once.

What results and storages take is free behind the last use of whatever refers to it, as KillAfterLastUse sees to.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Final, TypeAlias

from relax_core.analysis.cost.calls import STORAGES, callee_of, is_view, name_of, own_results, places_in
from relax_core.analysis.cost.sizes import Sizes, UnknownCostError, size_of, type_bytes
from relax_core.ir.expr import (
    Binding,
    Call,
    DataTypeImm,
    Expr,
    If,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Type,
    Var,
)
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import bytes_of

Types: TypeAlias = Mapping[Node, Type]
_STORAGE: Final = "the size of a storage"


@dataclass(slots=True)
class HeldMemory:
    """The memory of one sequence; bindings are added in order."""

    type_of: Types
    count: int = 0
    """Bindings so far."""
    owners_of: dict[Node, frozenset[Var]] = field(default_factory=dict[Node, frozenset[Var]])
    """The bindings whose memory a variable may refer to."""
    bytes_of: dict[Var, int] = field(default_factory=dict[Var, int])
    last_use: dict[Var, int] = field(default_factory=dict[Var, int])
    inner_peaks: list[tuple[Var, int]] = field(default_factory=list[tuple[Var, int]])
    """Each variable, with what evaluating its value holds meanwhile."""

    def add(self, item: Binding, inner_peak: int, sizes: Sizes) -> None:
        """Add a binding.

        Raises:
            UnknownCostError: how much it allocates is not known; it counts as nothing.
        """
        number, self.count = self.count, self.count + 1
        self.inner_peaks.append((item.var, inner_peak))
        self.use(item.value, number)
        self.owners_of[item.var] = aliased = self._aliased(item.value)
        if _is_alias(item.value):
            return
        self.owners_of[item.var] = aliased | {item.var}
        self.bytes_of[item.var] = 0
        self.last_use[item.var] = number
        self.bytes_of[item.var] = self._allocated(item, sizes)

    def use(self, root: Node, at: int) -> None:
        """Note that `root` is evaluated by the binding of this number, the count of all for the result."""
        self.last_use.update(dict.fromkeys(self._owners(root), at))

    @property
    def peak(self) -> int:
        """The most bytes that are held at once."""
        freed: dict[int, int] = {}
        for owner, size in self.bytes_of.items():
            freed[self.last_use[owner]] = freed.get(self.last_use[owner], 0) + size
        held = peak = 0
        for number, (var, inner_peak) in enumerate(self.inner_peaks):
            peak = max(peak, held + inner_peak)
            held += self.bytes_of.get(var, 0)
            peak = max(peak, held)
            held -= freed.get(number, 0)
        return peak

    def _owners(self, root: Node) -> frozenset[Var]:
        return frozenset(owner for node in preorder(root) for owner in self.owners_of.get(node, ()))

    def _aliased(self, value: Expr) -> frozenset[Var]:
        """Return whose memory a value may be, besides its own."""
        match value:
            case Var() | Tuple() | TupleGetItem():
                return self._owners(value)
            case Call(args=(_, Tuple(fields=fields), *_)) if (places := places_in(value)) is not None:
                written = (fields[place] for place in places if 0 <= place < len(fields))
                return frozenset(owner for field in written for owner in self._owners(field))
            case Call():
                callee, args = callee_of(value)
                return self._owners(args[0]) if args and is_view(name_of(callee)) else frozenset()
            case _:
                return frozenset()

    def _allocated(self, item: Binding, sizes: Sizes) -> int:
        type_ = self.type_of.get(item.var) or self.type_of.get(item.value)
        match item.value:
            case Call() as call:
                callee, args = callee_of(call)
                if name_of(callee) in STORAGES:
                    return _storage_bytes(name_of(callee), args, sizes)
                return sum(type_bytes(part, sizes) for part in own_results(call, type_))
            case If():
                return type_bytes(type_, sizes)
            case _:
                return 0


def _is_alias(value: Expr) -> bool:
    """Tell whether a value allocates nothing."""
    return isinstance(value, Var | Tuple | TupleGetItem) or (
        isinstance(value, Call) and is_view(name_of(callee_of(value)[0]))
    )


def _storage_bytes(name: str, args: tuple[Expr, ...], sizes: Sizes) -> int:
    place = STORAGES[name]
    unit = args[place] if 0 <= place < len(args) else None
    dtype = unit.value if isinstance(unit, DataTypeImm) else "uint8"
    match args[0]:
        case ShapeExpr(values=values):
            return bytes_of(dtype, prod(size_of(part, sizes, _STORAGE) for part in values))
        case PrimValue(value=value):
            return bytes_of(dtype, size_of(value, sizes, _STORAGE))
        case _:
            raise UnknownCostError(f"{_STORAGE} is not known before the run")
