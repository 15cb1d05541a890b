"""Remarks of a pass, in the order in which it makes them.

A remark whose reason costs an analysis is deferred: a `Finder` stands for it until the remarks are read.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, overload

from relax_core.ir.expr import Binding, Call, ExternFunc, Function, GlobalVar, If, Op, Tuple, TupleGetItem, Var
from relax_core.ir.module import Definition, IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.relay import Let, Match
from relax_core.ir.rewriting.rewrite import Replacement

RemarkKind = Literal["applied", "missed", "note"]


class UnnumberedRemark(NamedTuple):
    """A remark before its number is known: deferred remarks before it may turn out to be several."""

    node: Node
    kind: RemarkKind
    message: str
    because: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark of a pass about `node`, numbered from 0; `because` are the nodes that are the reason."""

    number: int
    node: Node
    kind: RemarkKind
    message: str
    because: tuple[Node, ...] = ()


def summed_up(places: Iterable[tuple[Node, str]], kind: RemarkKind) -> Iterator[UnnumberedRemark]:
    """Yield one remark for all places of which the same is said: about the first, with the others as its reasons."""
    nodes_of: dict[str, list[Node]] = {}
    for node, words in places:
        nodes_of.setdefault(words, []).append(node)
    for words, (first, *others) in nodes_of.items():
        count = f", in {len(others) + 1} places" if others else ""
        yield UnnumberedRemark(first, kind, words + count, tuple(others))


Finder: TypeAlias = Callable[[], Iterable[UnnumberedRemark]]
"""Computes deferred remarks. It may run long after the pass, which is sound because nodes never change."""


def value_name(value: Node) -> str:
    """Name a value or a binding in a remark."""
    match value:
        case Var(name=name) | Binding(var=Var(name=name)) | Let(var=Var(name=name)):
            return name
        case Call(op=Op(name=name)):
            return f"`{name.removeprefix('relax.')}`"
        case Call(op=GlobalVar(name=name)):
            return f"the call of @{name}"
        case Call(op=Var(name=name) | ExternFunc(name=name)):
            return f"the call of {name}"
        case Call():
            return "the call"
        case Tuple(fields=fields):
            return f"the tuple of {len(fields)}"
        case TupleGetItem(index=index):
            return f"field {index}"
        case If():
            return "the conditional"
        case Match():
            return "the match"
        case Function():
            return "the local function"
        case _:
            return f"the {type(value).__name__.lower()}"


def bound_values(
    before: IRModule, after: IRModule, replacements: Iterable[Replacement], rule: str
) -> Iterator[tuple[Definition, list[tuple[Node, Node]]]]:
    """Yield the definitions that were changed, each with the values that `rule` bound to variables, and these."""
    value_of = {item.after[0]: item.before for item in replacements if item.rule == rule}
    for old, new in zip(before.definitions, after.definitions, strict=True):
        if new is not old:
            vars_ = dict.fromkeys(item for item in preorder(new.function) if item in value_of)
            yield old, [(value_of[var], var) for var in vars_]


class Remarks(Sequence[Remark]):
    """The remarks of one run of a pass. Deferred ones are computed when the first remark is read, all at once."""

    def __init__(self) -> None:
        self._said: list[UnnumberedRemark | Finder] = []
        self._read: tuple[Remark, ...] | None = ()

    def add(self, said: UnnumberedRemark | Finder) -> None:
        """Add a remark, or one that is deferred."""
        self._said.append(said)
        self._read = None

    def _all(self) -> tuple[Remark, ...]:
        if self._read is None:
            said = [
                item for entry in self._said for item in ((entry,) if isinstance(entry, UnnumberedRemark) else entry())
            ]
            self._said = [*said]
            self._read = tuple(Remark(number, *item) for number, item in enumerate(said))
        return self._read

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, index: int) -> Remark: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Remark, ...]: ...
    def __getitem__(self, index: int | slice) -> Remark | tuple[Remark, ...]:
        return self._all()[index]
