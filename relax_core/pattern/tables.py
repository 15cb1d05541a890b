"""What partitioning is told: the composites to look for, and the operators that each target supports."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias, cast

from relax_core.diagnostics import CompileError, Diagnostic
from relax_core.ir.expr import Call, Expr
from relax_core.pattern.facts import operator_name
from relax_core.pattern.matcher import Match
from relax_core.pattern.nodes import Pattern
from relax_core.pattern.show import show_pattern
from relax_core.pattern.text import parse_pattern

Check: TypeAlias = Callable[[Match], bool]
Predicate: TypeAlias = Callable[[Call], bool]
Support: TypeAlias = "str | Collection[str] | Mapping[str, Predicate | None] | Predicate"
Taker: TypeAlias = "tuple[str, Predicate | None]"
"""A target with what it says of a call, `None` if it takes all calls of the operator."""
PatternEntry: TypeAlias = "tuple[str, Pattern] | tuple[str, Pattern, Check]"

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

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that occur, in order of appearance."""
        return tuple(dict.fromkeys((*self.supported, *(target_of(entry[0]) for entry in self.patterns))))

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

    def names(self, target: str, call: Call) -> bool:
        """Tell whether `target` lists the operator of `call`, whatever its predicate says of this call."""
        return operator_name(call.op) in _names(self.supported.get(target, ()))

    def to_json(self) -> str:
        """Return the tables as a file holds them; predicates have no text and are left out."""
        patterns = [[entry[0], show_pattern(entry[1])] for entry in self.patterns]
        supported = {target: sorted(_names(entry)) for target, entry in self.supported.items()}
        return json.dumps({"patterns": patterns, "supported": supported}, indent=2)


NO_TABLES = Tables()
_KEYS = frozenset(("title", "shows", "source", "patterns", "supported"))


def _names(entry: Support) -> tuple[str, ...]:
    if isinstance(entry, str):
        return (entry,)
    return () if callable(entry) else tuple(entry)


def target_of(name: str) -> str:
    """Return the target of a composite: what stands before the dot, the whole name if there is none."""
    return name.split(".")[0]


def read_tables(text: str, name: str = "table.json") -> Tables:
    """Read a table file: `{"patterns": [["dnnl.conv_relu", "is_op(...)"]], "supported": {"dnnl": ["nn.conv2d"]}}`.

    `title`, `shows` and `source` may say what it is.

    Raises:
        CompileError: PT005 if it is no such file; an error of a pattern is at its place in the pattern's text.
    """
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        _fail(name, f"it is no JSON: {error}")
    if not isinstance(data, dict):
        _fail(name, "it is no object")
    table = cast("dict[str, Any]", data)
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        _fail(name, f"it has no key {unknown[0]}")
    return Tables(_patterns(table.get("patterns", []), name), _supported(table.get("supported", {}), name))


def _patterns(data: Any, name: str) -> tuple[PatternEntry, ...]:
    entries: list[PatternEntry] = []
    for item in cast("list[Any]", data if isinstance(data, list) else _fail(name, "`patterns` is no list")):
        match item:
            case [str(composite), str(pattern)]:
                entries.append((composite, parse_pattern(pattern, f"{name}: {composite}")))
            case _:
                _fail(name, f"an entry of `patterns` is a pair of strings, not {json.dumps(item)[:60]}")
    return tuple(entries)


def _supported(data: Any, name: str) -> Mapping[str, Support]:
    found: dict[str, Support] = {}
    for target, names in cast("dict[str, Any]", data if isinstance(data, dict) else {"": None}).items():
        if not target or not isinstance(names, list):
            _fail(name, "`supported` maps a target to a list of operators")
        if "." in target:
            _fail(name, f"the target {target} has a dot; a dot divides a target from the name of a composite")
        found[target] = tuple(str(item) for item in cast("list[Any]", names))
    return MappingProxyType(found)


def _fail(name: str, reason: str) -> NoReturn:
    hint = '{"patterns": [["dnnl.relu", "is_op(\'nn.relu\')(wildcard())"]], "supported": {"dnnl": ["nn.relu"]}}'
    raise CompileError((Diagnostic("PT005", f"{name} is no table: {reason}", hint=hint),))
