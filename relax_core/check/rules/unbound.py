"""Values that are not there: variables without a value where they are used, and constants without data.

Each message leads to the place of the use and to the place where the value is given after all, if there is one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from relax_core.check.rules.visits import DefUses, UseProblem
from relax_core.diagnostics import Diagnostic
from relax_core.ir.absent import is_declared_only, reference_of
from relax_core.ir.expr import Binding, Call, Constant, Function, If, Var
from relax_core.ir.node import Node, children
from relax_core.source import Span

_NUMBERED = re.compile(r"_\d+$")
_WORDS: Mapping[UseProblem, str] = MappingProxyType(
    {
        "undefined": "is not defined",
        "too early": "is used before it is bound",
        "out of scope": "is used outside the block that binds it",
    }
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of an expression that limits where variables are visible."""

    owner: If | Function
    index: int


Path = tuple[_Part, ...]
"""The parts around a place, from the outside to the inside."""


def unbound(function: Function, facts: DefUses) -> Iterator[Diagnostic]:
    """Yield the variables of `function` that have no value where they are used, each once."""
    declared = [item.var for item in facts.definitions if is_declared_only(item.place)]
    wrong = [use for use in facts.wrong_uses if use.problem != "dataflow"]
    if not declared and not wrong:
        return
    places = _Places(function)
    for use in wrong:
        yield places.diagnostic("WF002", use.var, use.holder, _WORDS[use.problem])
    for var in declared:
        holder = places.first_use.get(var)
        if holder is not None:
            yield places.diagnostic("WF024", var, holder, "has no value here")


def without_data(function: Function, nodes: Iterable[Node]) -> Iterator[Diagnostic]:
    """Yield the references among the nodes of `function` to data that its text does not hold, each once."""
    found: dict[str, Span | None] = {}
    for node in nodes:
        reference = reference_of(node) if isinstance(node, Call | Constant) else None
        if reference is not None:
            span = node.span if node.span is not None else function.span
            first = found.setdefault(reference, span)
            if first is not None and span is not None and span.start < first.start:
                found[reference] = span
    yield from (_no_data(reference, span) for reference, span in found.items())


def _no_data(reference: str, span: Span | None) -> Diagnostic:
    """Say that the text lacks what `reference` refers to."""
    is_relay = reference.startswith("meta[")
    option = "astext(show_meta_data=True)" if is_relay else "script(show_meta=True)"
    message = f"the text does not hold the data of `{reference}`"
    return Diagnostic("WF025", message, span, f"print the module with {option}, or write the constant out")


class _Places:
    """Where a function binds and uses its variables."""

    def __init__(self, function: Function) -> None:
        self.first_use: dict[Var, Node] = {}
        self._function = function
        self._path_of: dict[Node, Path] = {}
        self._bindings: list[Binding] = []
        self._walk()

    def _walk(self) -> None:
        stack: list[tuple[Node, Path]] = [(self._function.body, ())]
        while stack:
            node, path = stack.pop()
            self._path_of[node] = path
            inner: list[tuple[Node, Path]] = []
            match node:
                case Binding():
                    self._bindings.append(node)
                    inner += [(item, path) for item in children(node) if item is not node.var]
                case If():
                    branches = enumerate((node.true_branch, node.false_branch))
                    inner += [(node.condition, path)]
                    inner += [(item, (*path, _Part(node, index))) for index, item in branches]
                case Function():
                    inner.append((node.body, (*path, _Part(node, 0))))
                case _:
                    inner += [(item, path) for item in children(node)]
            for item, _ in inner:
                if isinstance(item, Var):
                    self.first_use.setdefault(item, node)
            stack.extend(reversed([pair for pair in inner if not isinstance(pair[0], Var)]))

    def diagnostic(self, code: str, var: Var, holder: Node, words: str) -> Diagnostic:
        """Say that `var` has no value in `holder`, and where it is bound instead."""
        span = next((node.span for node in (holder, var, self._function) if node.span is not None), None)
        binding = self._other_binding(var)
        if binding is None:
            related = () if code == "WF002" or var.span is None else ((f"`{var.name}` is declared here", var.span),)
            return Diagnostic(
                code, f"`{var.name}` {words}", span, f"bind `{var.name}` before it is used", related=related
            )
        where, hint = self._where(self._path_of.get(holder, ()), self._path_of[binding], var.name)
        place = binding.var.span if binding.var.span is not None else binding.span
        related = () if place is None else ((f"`{binding.var.name}` is bound here", place),)
        return Diagnostic(code, f"`{var.name}` {words}: {where}", span, hint, related=related)

    def _other_binding(self, var: Var) -> Binding | None:
        """Return the binding that gives the value: of the variable itself, or of its name, which may be numbered."""
        given = [item for item in self._bindings if not is_declared_only(item)]
        own = [item for item in given if item.var is var]
        named = own or [item for item in given if item.var.name == var.name]
        base = _NUMBERED.sub("", var.name)
        return next(iter(named or [item for item in given if _NUMBERED.sub("", item.var.name) == base]), None)

    def _where(self, use: Path, binding: Path, name: str) -> tuple[str, str]:
        """Say where a binding stands as seen from a use, and what can be done."""
        for own, other in zip(use, binding, strict=False):
            if own.owner is other.owner and own.index != other.index:
                hint = f"bind `{name}` before the `if`"
                return f"only the other branch of the `if` {_line(own.owner)}binds it", hint
        inside = next((item.owner for index, item in enumerate(binding) if item not in use[index : index + 1]), None)
        match inside:
            case None:
                return "it is bound further on", f"move the binding of `{name}` before its use"
            case If():
                return f"only a branch of the `if` {_line(inside)}binds it", f"bind `{name}` before the `if`"
            case _:
                return "only the function inside binds it", f"return `{name}` from that function"


def _line(node: Node) -> str:
    return "" if node.span is None else f"in line {node.span.line} "
