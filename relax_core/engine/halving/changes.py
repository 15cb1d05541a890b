"""The changes of a pass, each of which can be made without the others: functions, bindings, prim funcs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

from relax_core.bytecode.executable import Executable
from relax_core.engine.halving.bodies import ChangedBody, can_be_parted
from relax_core.engine.halving.minimise import Chosen
from relax_core.engine.halving.reply import Kind
from relax_core.ir.equality import structural_equal
from relax_core.ir.expr import Binding, GlobalVar
from relax_core.ir.module import BaseFunc, Definition, IRModule
from relax_core.ir.node import Node
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ir.tir import PrimFunc

_CUT: Final = 100


@dataclass(frozen=True, slots=True)
class TextLine:
    """Where something stands in the text of a stage, and its first line; no line if it has none there."""

    line: int = 0
    text: str = ""


Locate: TypeAlias = Callable[[Node], TextLine]


@dataclass(frozen=True, slots=True)
class Change:
    """A change: the function that it is in, and what stands there behind the pass and stood there before."""

    function: str
    after: TextLine = TextLine()
    before: TextLine = TextLine()


class Changes(Protocol):
    """What a pass changed, as a row of changes, and the module with some of them."""

    @property
    def kind(self) -> Kind: ...
    @property
    def items(self) -> tuple[Change, ...]: ...

    def build(self, chosen: Chosen) -> Executable:
        """Build the module with the changes `chosen`.

        Raises:
            DiagnosedError: it is ill-formed.
        """
        ...

    def finer(self, number: int) -> "Changes | None":
        """Return what one of the changes consists of, `None` if it has no parts."""
        ...


def spans(node: Node) -> TextLine:
    """Return where a node of a module stands that was read from its stage's text."""
    if node.span is None:
        return TextLine()
    line = node.span.line
    return TextLine(line, cut(node.span.source.line_text(line)))


def cut(line: str) -> str:
    """Return a line of a text, shortened."""
    line = line.strip()
    return line if len(line) <= _CUT else f"{line[: _CUT - 1]}…"


class ModuleChanges:
    """The functions that are others behind a pass. New functions are always there, since calls need them."""

    kind: Kind = "function"

    def __init__(
        self,
        before: IRModule,
        after: IRModule,
        build: Callable[[IRModule], Executable],
        locate: tuple[Locate, Locate] = (spans, spans),
    ) -> None:
        self._build, self._locate = build, locate
        known = {item.var.name: item for item in before.definitions}
        added = [item for item in after.definitions if item.var.name not in known]
        base = replace(before, attrs=after.attrs, global_infos=after.global_infos, is_checked=True)
        self._base = base.with_definitions(*added)
        self._global_of = {item.var.name: item.var for item in self._base.definitions}
        self._base = self._base.with_definitions(
            *(replace(item, function=self._moved(item.function)) for item in added)
        )
        self._pairs = tuple(
            (known[item.var.name], item)
            for item in after.definitions
            if item.var.name in known and not structural_equal(item.function, known[item.var.name].function)
        )

    @property
    def items(self) -> tuple[Change, ...]:
        """A change per function that is in both modules."""
        where_before, where = self._locate
        return tuple(
            Change(new.var.name, _head(where(new.function)), _head(where_before(old.function)))
            for old, new in self._pairs
        )

    def build(self, chosen: Chosen) -> Executable:
        """Build the module before with the functions `chosen` as they are behind the pass."""
        pairs = (self._pairs[number] for number in sorted(chosen))
        return self._made(replace(old, function=new.function) for old, new in pairs)

    def finer(self, number: int) -> "Changes | None":
        """Return the changed bindings of a Relax function."""
        old, new = self._pairs[number]
        if not can_be_parted(old, new):
            return None
        body = ChangedBody(old, new)

        def build(chosen: Chosen) -> Executable:
            return self._made((replace(old, function=body.with_changes(chosen)),))

        return _BindingChanges(body, new.var.name, build, self._locate)

    def _made(self, definitions: Iterable[Definition]) -> Executable:
        moved = (replace(item, function=self._moved(item.function)) for item in definitions)
        return self._build(self._base.with_definitions(*moved))

    def _moved(self, function: BaseFunc) -> BaseFunc:
        """Return a function with the globals of the module that it is put into, in place of those of the same name."""

        def own(node: Node) -> Node | None:
            return self._global_of.get(node.name) if isinstance(node, GlobalVar) else None

        return rewrite(function, own, log=RewriteLog())


def _head(place: TextLine) -> TextLine:
    """Return the place of a function: its text says no more than its name."""
    return TextLine(place.line)


class _BindingChanges:
    """The bindings of one function that are others behind a pass."""

    kind: Kind = "binding"

    def __init__(
        self,
        body: ChangedBody,
        function: str,
        build: Callable[[Chosen], Executable],
        locate: tuple[Locate, Locate],
    ) -> None:
        self._body, self._function, self._locate, self._build = body, function, locate, build

    @property
    def items(self) -> tuple[Change, ...]:
        """A change per binding that is another one, with those that came or went in front of it."""
        where_before, where = self._locate
        return tuple(
            Change(self._function, _shown(part.new, where), _shown(part.old, where_before))
            for part in self._body.changes
        )

    def build(self, chosen: Chosen) -> Executable:
        """Build the module before with some of the bindings as they are behind the pass."""
        return self._build(chosen)

    def finer(self, number: int) -> None:
        """Return `None`: a binding has no parts."""


def _shown(bindings: tuple[Binding, ...], where: Locate) -> TextLine:
    """Return the place that is shown for some bindings: the last, in front of which the others came, or no place."""
    return where(bindings[-1]) if bindings else TextLine()


class KernelChanges:
    """The prim funcs of a stage that has nothing else, as kernels of the last whole form."""

    kind: Kind = "function"

    def __init__(
        self,
        executable: Callable[[Mapping[str, PrimFunc]], Executable],
        before: Mapping[str, PrimFunc],
        after: Mapping[str, PrimFunc],
        names: tuple[str, ...],
    ) -> None:
        self._executable, self._before, self._after, self._names = executable, before, after, names

    @property
    def items(self) -> tuple[Change, ...]:
        """A change per prim func."""
        return tuple(
            Change(name, _head(spans(self._after[name])), _head(spans(self._before[name]))) for name in self._names
        )

    def build(self, chosen: Chosen) -> Executable:
        """Return the whole form with the prim funcs `chosen` as they are behind the pass."""
        names = (self._names[number] for number in chosen)
        return self._executable({**self._before, **{name: self._after[name] for name in names}})

    def finer(self, number: int) -> None:
        """Return `None`: statements of prim funcs are not exchanged."""
