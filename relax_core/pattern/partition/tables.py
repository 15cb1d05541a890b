"""The input of partitioning: composites to look for, and the operators that each target supports."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias, cast

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import Call, Expr
from relax_core.pattern.graph.context import PatternContext
from relax_core.pattern.graph.text import parse_graph, says_edges
from relax_core.pattern.language.nodes import Pattern, is_op, wildcard
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.language.text import parse_pattern
from relax_core.pattern.matching.facts import operator_name
from relax_core.pattern.matching.matcher import Match

Check: TypeAlias = Callable[[Match], bool]
Predicate: TypeAlias = Callable[[Call], bool]
Support: TypeAlias = "str | Collection[str] | Mapping[str, Predicate | None] | Predicate"
Taker: TypeAlias = "tuple[str, Predicate | None]"
"""A target and its predicate on calls of an operator; `None` accepts all."""
PatternEntry: TypeAlias = "tuple[str, Pattern] | tuple[str, Pattern, Check]"
GraphEntry: TypeAlias = tuple[str, PatternContext]

_NO_SUPPORT: Mapping[str, Support] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Patterns of composites, in the order of priority, and what targets support.

    A pattern's name is "target.what"; it may have a third part, a function that accepts or refuses a match.
    `supported` gives for each target one or several names of operators, or a mapping of names to predicates on the call
    (`None` accepts), or one predicate for all calls.
    """

    patterns: tuple[PatternEntry, ...] = ()
    supported: Mapping[str, Support] = field(default_factory=lambda: _NO_SUPPORT)
    graphs: tuple[GraphEntry, ...] = ()
    """Patterns of several bindings with their names: where they fit is shown, and no pass makes composites of them."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that occur, in order of appearance."""
        named = (target_of(entry[0]) for entry in (*self.patterns, *self.graphs))
        return tuple(dict.fromkeys((*self.supported, *named)))

    def supports(self, target: str, call: Call) -> bool:
        """Tell whether `target` takes a call of an operator."""
        return any(accepts is None or accepts(call) for _, accepts in self.takers(call.op, (target,)))

    def takers(self, op: Expr, targets: tuple[str, ...]) -> tuple[Taker, ...]:
        """Return those of `targets` that may take calls of an operator, in order, each with its predicate if any."""
        name = operator_name(op)
        found: list[Taker] = []
        if name is None:
            return ()
        for target in targets:
            entry = self.supported.get(target, ())
            if callable(entry):
                found.append((target, entry))
            elif name in _names(entry):
                predicates = cast("Mapping[str, Predicate | None]", entry if isinstance(entry, Mapping) else {})
                found.append((target, predicates.get(name)))
        return tuple(found)

    def single_operators(self) -> tuple[PatternEntry, ...]:
        """Return what targets support as patterns of one call each: `dnnl.add` matches any call of `add`."""
        found: list[PatternEntry] = []
        for target, entry in self.supported.items():
            if callable(entry):
                found.append((target, wildcard().any_args(), partial(_accepts, entry)))
                continue
            predicates = cast("Mapping[str, Predicate | None]", entry if isinstance(entry, Mapping) else {})
            for name in _names(cast("Collection[str]", entry)):
                pattern, accepts = is_op(name).any_args(), predicates.get(name)
                short = f"{target}.{name.removeprefix('relax.')}"
                found.append((short, pattern) if accepts is None else (short, pattern, partial(_accepts, accepts)))
        return tuple(found)

    def names(self, target: str, call: Call) -> bool:
        """Tell whether `target` lists the operator of `call`, whatever its predicate says of this call."""
        return operator_name(call.op) in _names(self.supported.get(target, ()))

    def to_json(self) -> str:
        """Return the tables as a file holds them; predicates have no text and are left out."""
        patterns = [[entry[0], show_pattern(entry[1])] for entry in self.patterns]
        patterns += [[name, graph.text] for name, graph in self.graphs]
        supported = {target: sorted(_names(entry)) for target, entry in self.supported.items()}
        return json.dumps({"patterns": patterns, "supported": supported}, indent=2)


NO_TABLES = Tables()
PATTERN_LIMIT = 10_000
"""How many patterns a file may have."""
_KEYS = frozenset(("title", "shows", "source", "patterns", "supported"))


def _names(entry: Support) -> tuple[str, ...]:
    if isinstance(entry, str):
        return (entry,)
    return () if callable(entry) else tuple(entry)


def _accepts(predicate: Predicate, match: Match) -> bool:
    return isinstance(match.root, Call) and predicate(match.root)


def target_of(name: str) -> str:
    """Return the target of a composite: what stands before the dot, the whole name if there is none."""
    return name.split(".")[0]


def read_tables(text: str, name: str = "table.json") -> Tables:
    """Read a table file: `{"patterns": [["dnnl.conv_relu", "is_op(...)"]], "supported": {"dnnl": ["nn.conv2d"]}}`.

    `title`, `shows` and `source` may say what it is. Several patterns may have one name; the first that fits is taken.
    A text with an edge, such as `a ^ b`, is a pattern of several bindings.

    Raises:
        CompileError: PT005 if it is no such file; an error of a pattern is at its place in the pattern's text.
    """
    try:
        data: Any = json.loads(text, object_pairs_hook=partial(_object, name))
    except ValueError as error:
        _fail(name, f"it is no JSON: {error}")
    except RecursionError:
        _fail(name, "it is nested too deeply")
    if not isinstance(data, dict):
        _fail(name, "it is no object")
    table = cast("dict[str, Any]", data)
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        _fail(name, f"it has no key {_shown(unknown[0])}")
    patterns, graphs = _patterns(table.get("patterns", []), name)
    return Tables(patterns, _supported(table.get("supported", {}), name), graphs)


def _object(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; duplicate keys, of which JSON would silently drop one, are an error."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        _fail(name, f"an object has the key {_shown(next(key for key in keys if keys.count(key) > 1))} twice")
    return found


def _patterns(data: Any, name: str) -> tuple[tuple[PatternEntry, ...], tuple[GraphEntry, ...]]:
    items = cast("list[Any]", data if isinstance(data, list) else _fail(name, "`patterns` is no list"))
    if len(items) > PATTERN_LIMIT:
        _fail(name, f"it has {len(items):,} patterns; at most {PATTERN_LIMIT:,} are looked for")
    entries: list[PatternEntry] = []
    graphs: list[GraphEntry] = []
    for item in items:
        match item:
            case [str(composite), str(pattern)]:
                _check_name(composite, f"the name of a composite {_shown(composite)}", name)
                if not target_of(composite):
                    _fail(name, f"the name of a composite {_shown(composite)} begins with no target")
                if says_edges(pattern):
                    graphs.append((composite, _graph(pattern, f"{name}: {composite}")))
                else:
                    entries.append((composite, parse_pattern(pattern, f"{name}: {composite}")))
            case _:
                _fail(name, f"an entry of `patterns` is a pair of strings, not {_shown(item)}")
    return tuple(entries), tuple(graphs)


def _graph(text: str, name: str) -> PatternContext:
    graph = parse_graph(text, name)
    graph.steps()
    return graph


def _supported(data: Any, name: str) -> Mapping[str, Support]:
    found: dict[str, Support] = {}
    for target, names in cast("dict[str, Any]", data if isinstance(data, dict) else {"": None}).items():
        if not target or not isinstance(names, list):
            _fail(name, "`supported` maps a target to a list of operators")
        _check_name(target, f"the target {_shown(target)}", name)
        if "." in target:
            _fail(name, f"the target {target} has a dot; a dot divides a target from the name of a composite")
        for item in cast("list[Any]", names):
            if not isinstance(item, str):
                _fail(name, f"an operator that {target} takes is named by a string, not {_shown(item)}")
            _check_name(item, f"the operator {_shown(item)}", name)
        found[target] = tuple(cast("list[str]", names))
    return MappingProxyType(found)


def _check_name(text: str, what: str, name: str) -> None:
    """Refuse names with signs that no text of a program can show, such as line breaks and halves of characters."""
    if not text.isprintable():
        _fail(name, f"{what} holds a sign that cannot be printed")


_SHOWN_LENGTH = 60


def _shown(value: object) -> str:
    """Return a part of a file for a message: a key as it stands if it can, anything else by its beginning."""
    if isinstance(value, str):
        text = value if value.isprintable() else ascii(value)
        return text if len(text) <= _SHOWN_LENGTH else f"{text[:_SHOWN_LENGTH]}..."
    try:
        return json.dumps(value)[:_SHOWN_LENGTH]
    except RecursionError:
        return type(value).__name__


def _fail(name: str, reason: str) -> NoReturn:
    hint = '{"patterns": [["dnnl.relu", "is_op(\'nn.relu\')(wildcard())"]], "supported": {"dnnl": ["nn.relu"]}}'
    raise CompileError((Diagnostic("PT005", f"{name} is no table: {reason}", hint=hint),))
