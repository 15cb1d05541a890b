"""What a pass is, what it may do while it runs, and what is kept of a run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeVar

from relax_core.check.infer import infer
from relax_core.diagnostics import CompileError, Diagnostic, has_errors
from relax_core.ir.expr import Expr, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.rewrite import RewriteLog, Rule, rewrite
from relax_core.ir.substitute import substitute
from relax_core.ir.types import Type
from relax_core.pattern.tables import NO_TABLES, Tables
from relax_core.source import Span

N = TypeVar("N", bound=Node)

Dialect = Literal["relax", "relay", "tir", "any"]
RemarkKind = Literal["applied", "missed", "note"]


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a pass that has none."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a pass says about `node`: done, not done and why, or worth knowing. `number` counts from 0 in a run."""

    number: int
    node: Node
    kind: RemarkKind
    message: str
    because: tuple[Node, ...] = ()


class PassContext:
    """What a pass uses to change a module: every change is recorded in `log`.

    `history` are the logs of the passes that ran before; they lead a node back to the user's text. `tables` are
    the patterns of composites and what targets support.
    """

    def __init__(self, history: tuple[RewriteLog, ...] = (), tables: Tables = NO_TABLES) -> None:
        self.log = RewriteLog()
        self.tables = tables
        self.remarks: list[Remark] = []
        self.warnings: list[Diagnostic] = []
        self._history = history

    def rewrite(self, root: N, *rules: Rule) -> N:
        """Apply `rules` bottom-up to every node below `root`."""
        return rewrite(root, *rules, log=self.log)

    def derive(self, new: N, *from_: Node, rule: str = "") -> N:
        """Record that `new` was built from the nodes `from_`, and return it."""
        self.log.derive(new, from_, rule)
        return new

    def substitute(
        self, root: N, vars: Mapping[Var, Expr] | None = None, symbols: Mapping[PrimVar, PrimExpr] | None = None
    ) -> N:
        """Return `root` with variables and symbolic dimensions replaced, each rebuilt node led back to the old one."""
        new = substitute(root, vars, symbols)
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
        """Say something about `node`; `because` are the nodes that are the reason."""
        self.remarks.append(Remark(len(self.remarks), node, kind, message, because))

    def types(self, module: IRModule) -> Mapping[Node, Type]:
        """Return the type of every expression of `module`."""
        return infer(module).types

    def whole_log(self) -> RewriteLog:
        """Return one log that leads through this pass and those before it."""
        return RewriteLog.merged((*self._history, self.log))

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


Run = Callable[[IRModule, Any, PassContext], IRModule]


@dataclass(frozen=True, slots=True)
class Pass:
    """A transformation of modules.

    `options` is the frozen dataclass that `run` takes. `needs`, `gives` and `breaks` are names of properties of a
    module (`passes/properties.py`): what must hold before, what holds after, and what may no longer hold. `repairs`
    are the codes of errors that a module may have if this is the first pass that it goes through.
    `to_dialect` is the dialect of the result, if that is another than the pass's own.
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


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One pass of a pipeline that ran. If it failed, `after` is `before` and `diagnostics` say why."""

    index: int
    pass_name: str
    options: Any
    before: IRModule
    after: IRModule
    log: RewriteLog
    remarks: tuple[Remark, ...] = ()
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = field(default=())

    @property
    def is_changed(self) -> bool:
        """Tell whether the pass changed anything."""
        return self.after is not self.before

    @property
    def is_failed(self) -> bool:
        """Tell whether the pass stopped with an error."""
        return has_errors(self.diagnostics)
