"""Passes, the context that they run in, and the stages that are kept of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NoReturn, TypeVar

from relax_core.analysis.regions import Values, open_values
from relax_core.check.infer import infer
from relax_core.check.inference import TypesWhenRead
from relax_core.diagnostics import CompileError, Diagnostic, has_errors
from relax_core.ir.expr import Expr, Function, Type, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewriting.rewrite import Replacement, RewriteLog, Rule, Takes, rewrite, rule_name
from relax_core.ir.rewriting.substitute import substitute
from relax_core.passes.remarks import Finder, Remark, RemarkKind, Remarks, UnnumberedRemark, summed_up
from relax_core.pattern.partition.tables import NO_TABLES, Tables
from relax_core.source import Span

N = TypeVar("N", bound=Node)

Dialect = Literal["relax", "relay", "tir", "any"]


ABSENT_DATA = "WF025"
"""The code of constants whose data the text lacks."""
NO_TYPES: Mapping[Node, Type] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a pass that has none."""


class PassContext:
    """The interface through which a pass changes a module, so that every change is recorded in `log`.

    `before` are the stages so far; their logs lead a node back to the user's text. `tables` are the patterns of
    composites and the operators that targets support. With `takes` only some applications of rules are made.
    """

    def __init__(
        self, before: "tuple[Stage, ...]" = (), tables: Tables = NO_TABLES, takes: Takes | None = None
    ) -> None:
        self.log = RewriteLog(takes)
        self.tables = tables
        self.remarks = Remarks()
        self.warnings: list[Diagnostic] = []
        self.kept_types: Mapping[Node, Type] = NO_TYPES
        self.kept_orders: dict[Function, Values] = {}
        self._before = before

    def rewrite(self, root: N, *rules: Rule, kinds: tuple[type[Node], ...] = ()) -> N:
        """Apply `rules` bottom-up to every node below `root`, or to those of `kinds` alone, as `rewrite` says."""
        return rewrite(root, *rules, log=self.log, kinds=kinds)

    def derive(self, new: N, *from_: Node, rule: str = "") -> N:
        """Record that `new` was built from the nodes `from_`, and return it."""
        self.log.derive(new, from_, rule)
        return new

    def substitute(
        self,
        root: N,
        vars: Mapping[Var, Expr] | None = None,
        symbols: Mapping[PrimVar, PrimExpr] | None = None,
        settle: Callable[[PrimExpr], PrimExpr] | None = None,
    ) -> N:
        """Return `root` with variables and symbolic dimensions replaced; rebuilt nodes have the old ones as origins.

        `settle` is asked what becomes of a dimension in which something was replaced.
        """
        new = substitute(root, vars, symbols, settle)
        stack: list[tuple[Node, Node]] = [(root, new)]
        seen: set[Node] = set()
        while stack:
            old_part, new_part = stack.pop()
            if new_part is old_part or new_part in seen or type(new_part) is not type(old_part):
                continue
            seen.add(new_part)
            self.log.rebuilt(old_part, new_part)
            pairs = zip(children(old_part), children(new_part), strict=False)
            stack.extend(pairs)
        return new

    def remark(self, node: Node, kind: RemarkKind, message: str, because: tuple[Node, ...] = ()) -> None:
        """Make a remark about `node`; `because` are the nodes that are the reason."""
        self.remarks.add(UnnumberedRemark(node, kind, message, because))

    def remark_on_reading(self, find: Finder) -> None:
        """Defer remarks whose reasons cost an analysis: `find` is called when the remarks are first read."""
        self.remarks.add(find)

    def remark_replacements(self, rule: Rule | str, words: Callable[[Replacement], str]) -> None:
        """Say what was done at each place where `rule` applied, in `words`, which are asked for when somebody reads.

        So a remark is made of what was done only, also where applications are left out. What would be said in the same
        words is said once, of the first place; the others are its reasons.
        """
        name = rule if isinstance(rule, str) else rule_name(rule)

        def find() -> Iterator[UnnumberedRemark]:
            places = ((item.before, words(item)) for item in self.log.replacements if item.rule == name)
            return summed_up(places, "applied")

        self.remark_on_reading(find)

    def types(self, module: IRModule) -> Mapping[Node, Type]:
        """Return the type of every expression of `module`."""
        return self._inferred(module)

    def types_when_read(self, module: IRModule) -> Mapping[Node, Type]:
        """Return the type of every expression of `module`, inferred when one is first asked for."""
        return TypesWhenRead(lambda: self._inferred(module))

    def types_of_values(self, module: IRModule) -> dict[Node, Type]:
        """Return the types of the values of `module`: kept by the pass before, or else inferred.

        A pass can keep types without inference, because a node that replaces another of the same value has its type.
        Annotations may be missing, which have the type of what they enclose, and so may literals of composite
        functions, which flow nowhere.
        """
        last = self._before[-1] if self._before else None
        is_known = last is not None and last.after is module and last.kept_types
        return dict(last.kept_types if last is not None and is_known else self._inferred(module))

    def _inferred(self, module: IRModule) -> Mapping[Node, Type]:
        return infer(module, (stage.before for stage in reversed(self._before))).types

    def values_in(self, function: Function) -> Values:
        """Return the `open_values` of a function: kept by the pass that made it, or else computed."""
        found = next((item.kept_orders[function] for item in self._before[-1:] if function in item.kept_orders), None)
        return open_values(function) if found is None else found

    def keep_values(self, order: Values) -> Function:
        """Keep the `open_values` of a function that the pass made, and return it: it is the last of them."""
        function = next(reversed(order))
        assert isinstance(function, Function), "a function comes behind all that is in it"
        self.kept_orders[function] = order
        return function

    def whole_log(self) -> RewriteLog:
        """Return one log that leads through this pass and those before it."""
        return RewriteLog.merged((*(stage.log for stage in self._before), self.log))

    def locate(self, node: Node) -> Span | None:
        """Return the place in the user's text that `node` stems from."""
        return self.whole_log().locate(node)

    def warn(self, code: str, message: str, node: Node, hint: str = "") -> None:
        """Add a warning at `node` to the diagnostics of the stage; the pass goes on."""
        self.warnings.append(Diagnostic(code, message, self.locate(node), hint, "warning"))

    def fail(self, code: str, message: str, node: Node, hint: str = "") -> NoReturn:
        """Stop the pass with a diagnostic at `node`.

        Raises:
            CompileError: always.
        """
        raise CompileError((Diagnostic(code, message, self.locate(node), hint),))


def keep_type(types: dict[Node, Type], old: Node, new: Node) -> None:
    """Give `new`, which replaces `old`, its type."""
    type_ = types.get(old)
    if type_ is not None:
        types[new] = type_


def keep_types(types: dict[Node, Type], olds: Iterable[Node], news: Iterable[Node]) -> None:
    """Give each of `news` the type of the node of `olds` that it replaces."""
    types.update([(new, types[old]) for old, new in zip(olds, news, strict=True) if old in types])


Run = Callable[[IRModule, Any, PassContext], IRModule]


@dataclass(frozen=True, slots=True)
class Pass:
    """A transformation of modules.

    `options` is the frozen dataclass that `run` takes. `needs`, `gives` and `breaks` are names of properties of a
    module (`passes/properties.py`): what must hold before, what holds after, and what may no longer hold. `repairs`
    are the codes of errors that a module may have if this is the first pass that it goes through.
    `to_dialect` is the dialect of the result, if that is another than the pass's own. `reads_data` tells whether the
    pass looks at the elements of constants; one that does not also accepts a module whose text lacks them.
    `sees_external` tells whether it is given the functions that RunCodegen handed to a backend.
    """

    name: str
    summary: str
    run: Run
    options: type[Any] = NoOptions
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    see: str = ""
    dialect: Dialect = "relax"
    repairs: tuple[str, ...] = ()
    to_dialect: Dialect | None = None
    reads_data: bool = True
    sees_external: bool = False

    @property
    def tolerates(self) -> tuple[str, ...]:
        """The codes of errors that a module may have before the pass."""
        return self.repairs if self.reads_data else (*self.repairs, ABSENT_DATA)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One pass that ran. If it failed, `after` is `before` and `diagnostics` say why.

    `rejected` is the ill-formed module that a failed pass left, if it left one. `kept_types` are types of values of
    `after`, and `kept_orders` the values of its functions in order, as far as the pass kept them valid. `again` runs
    the pass once more on `before`, with those applications of rules that it is told to take.
    """

    index: int
    pass_name: str
    options: Any
    before: IRModule
    after: IRModule
    log: RewriteLog
    remarks: Sequence[Remark] = ()
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = field(default=())
    kept_types: Mapping[Node, Type] = field(default_factory=lambda: NO_TYPES)
    kept_orders: Mapping[Function, Values] = field(default_factory=dict[Function, Values])
    rejected: IRModule | None = None
    again: "Callable[[Takes], Stage] | None" = None

    @property
    def is_changed(self) -> bool:
        """Tell whether the pass changed anything."""
        return self.after is not self.before

    @property
    def left_module(self) -> IRModule:
        """The module that the pass left: `rejected` where it could be checked, else `after`."""
        is_checked = len([item for item in self.diagnostics if item.severity == "error"]) > 1
        return self.rejected if self.rejected is not None and is_checked else self.after

    @property
    def is_failed(self) -> bool:
        """Tell whether the pass stopped with an error."""
        return has_errors(self.diagnostics)
