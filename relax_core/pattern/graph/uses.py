"""The variables of a binding block: what is bound to them, what uses them, and in which order they occur."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from relax_core.ir.expr import (
    BindingBlock,
    Call,
    Expr,
    ExternFunc,
    Function,
    GlobalVar,
    If,
    MatchCast,
    SeqExpr,
    Tuple,
    Var,
)
from relax_core.ir.node import Node, preorder
from relax_core.ir.prim import PrimVar
from relax_core.ir.rewriting.substitute import free_symbols
from relax_core.pattern.matching.binders import bound_by


class BlockUses:
    """Who uses whom among the bindings of a block, and its inputs: the variables that are bound elsewhere.

    The order is that of the first occurrences, in which the operands of a binding stand before its variable. A block
    may be changed; then an input keeps its place.
    """

    def __init__(self, block: BindingBlock, symbols: Iterable[PrimVar] = ()) -> None:
        """Look at a block in which `symbols` are known before it."""
        self.value_of: dict[Var, Expr] = {}
        self.operands_of: dict[Var, tuple[Expr, ...]] = {}
        self.users_of: dict[Var, dict[Var, None]] = {}
        self.order: list[Var] = []
        self.key_of: dict[Var, float] = {}
        """Numbers in the order of the variables."""
        self._first_uses: dict[Var, int] = {}
        self.refers_ahead = False
        """A local function uses one that is bound behind it."""
        self._unsorted: set[Var] = set()
        self._definer_of = _definers(block, symbols)
        for item in block.bindings:
            self._add(item.var, item.value, len(self.order))

    def users(self, var: Var) -> Iterable[Var]:
        """Return the variables of the block whose values use `var`, in order."""
        if var in self._unsorted:
            self._unsorted.discard(var)
            self.users_of[var] = dict.fromkeys(sorted(self.users_of[var], key=self.key_of.__getitem__))
        return self.users_of.get(var, ())

    def inputs(self, var: Var) -> list[Var]:
        """Return the variables that the value of `var` uses, in the order of their first uses."""
        return sorted(self.used(var), key=self._first_uses.__getitem__)

    def by_first_use(self) -> list[Var]:
        """Return all variables in the order of their first uses, in which TVM tries them; last what nothing uses."""
        return list(dict.fromkeys((*self._first_uses, *self.order)))

    def used(self, var: Var) -> list[Var]:
        """Return the variables that the value of `var` uses, in the order of its operands."""
        return list(dict.fromkeys(item for item in self.operands_of.get(var, ()) if isinstance(item, Var)))

    def needed(self, var: Var) -> list[Var]:
        """Return what has to be bound before `var`: the variables that it uses, and those that define its sizes."""
        if not self._definer_of:
            return self.used(var)
        sizes = (self._definer_of.get(symbol, var) for symbol in free_symbols(self.value_of[var]))
        return list(dict.fromkeys((*self.used(var), *(item for item in sizes if item is not var))))

    def place(self, var: Var) -> int:
        """Return where `var` stands in `order`."""
        return bisect_left(self.order, self.key_of[var], key=self.key_of.__getitem__)

    def change(self, var: Var, value: Expr) -> None:
        """Bind another value to a variable of the block."""
        for used in self.used(var):
            del self.users_of[used][var]
        self._bind(var, value, self.place(var))

    def insert(self, var: Var, value: Expr, before: Var) -> None:
        """Bind a value to a variable in front of another one."""
        self._add(var, value, self.place(before))

    def move(self, var: Var, before: Var) -> None:
        """Let a variable of the block be bound in front of another one."""
        del self.order[self.place(var)]
        self._place(var, self.place(before))
        self._unsorted.update(self.used(var))

    def _add(self, var: Var, value: Expr, place: int) -> None:
        before = self.order[place] if place < len(self.order) else None
        self._bind(var, value, place)
        if var in self.key_of:
            self.refers_ahead = True
        else:
            self._place(var, len(self.order) if before is None else self.place(before))

    def _bind(self, var: Var, value: Expr, place: int) -> None:
        """Note what a value uses; what does not occur yet is put at `place`."""
        self.value_of[var] = value
        # A local function that calls itself is bound before it is called.
        self.operands_of[var] = tuple(item for item in operands_in(value) if item is not var)
        is_last = place == len(self.order)
        for used in self.used(var):
            if used not in self.key_of:
                self._place(used, len(self.order) if is_last else place)
            self._first_uses.setdefault(used, len(self._first_uses))
            users = self.users_of.setdefault(used, {})
            users[var] = None
            if not is_last:
                self._unsorted.add(used)

    def _place(self, var: Var, place: int) -> None:
        """Put a variable in front of the one at `place`."""
        low = self.key_of[self.order[place - 1]] if place else -1.0
        high = self.key_of[self.order[place]] if place < len(self.order) else low + 2.0
        key = (low + high) / 2
        self.order.insert(place, var)
        self.key_of[var] = key
        if not low < key < high:
            self.key_of.update((item, float(number)) for number, item in enumerate(self.order))


def _definers(block: BindingBlock, symbols: Iterable[PrimVar]) -> Mapping[PrimVar, Var]:
    """Return by symbolic size the variable of the match_cast that defines it."""
    found: dict[PrimVar, Var] = {}
    if not any(isinstance(item, MatchCast) for item in block.bindings):
        return found
    known = set(symbols)
    for item in block.bindings:
        known.update(free_symbols(item.value))
        if isinstance(item, MatchCast):
            found.update(dict.fromkeys((symbol for symbol in free_symbols(item.type) if symbol not in known), item.var))
            known.update(found)
    return found


def operands_in(value: Expr) -> tuple[Expr, ...]:
    """Return what a value is computed from: the arguments of a call without the name of a function, tuples unfolded.

    Of a conditional or a function it is what it uses of the bindings around it.
    """
    if isinstance(value, If | Function | SeqExpr):
        return tuple(dict.fromkeys(_used_within(value)))
    found: list[Expr] = []
    stack: list[Expr] = [value]
    while stack:
        item = stack.pop()
        match item:
            case Call(op=op, args=args):
                stack += (*reversed(args), *([op] if isinstance(op, Var) else []))
            case Tuple(fields=fields):
                stack += reversed(fields)
            case GlobalVar() | ExternFunc():
                pass
            case If() | Function() | SeqExpr():
                found += dict.fromkeys(_used_within(item))
            case _:
                inner = [part for part in (getattr(item, name) for name in item.CHILDREN) if isinstance(part, Expr)]
                stack += reversed(inner)
                found += () if inner else (item,)
    return tuple(found)


def _used_within(scope: Node) -> Iterator[Var]:
    nodes = tuple(preorder(scope))
    bound = {var for node in nodes for var in bound_by(node)}
    yield from (node for node in nodes if isinstance(node, Var) and node not in bound)
