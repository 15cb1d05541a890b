"""The table of patterns that the Partition page works with: a sample's, or the user's edit of one."""

import json
import re
from functools import lru_cache
from typing import Any, cast

from relax_core.engine.samples import list_tables
from views.state.shared import ProgramState

_CALLED = re.compile(r"(?<![\w.])[\w.]++(?=\s*[(=])")
_MODULE = re.compile(r"\bR\.")
_WORDS = re.compile(r'is_op\(\\"([\w.]+)\\"|has_attr\(\{\\"([\w.]+)\\"|^\s+"([\w.]+)",?$', re.MULTILINE)


def table_names() -> tuple[str, ...]:
    """Return the names of the sample tables."""
    return tuple(name for name, _ in list_tables())


def table_name(chosen: ProgramState, program: str) -> str:
    """Return the name of the chosen table, by default that of the sample table that fits the program best."""
    names = table_names()
    if chosen.table in names:
        return chosen.table
    return max(names, key=lambda name: _fit(sample_table(name), program), default="")


def table_text(chosen: ProgramState, program: str) -> str:
    """Return the text of the table: the user's, or the sample's."""
    return chosen.table_text or sample_table(table_name(chosen, program))


def sample_table(name: str) -> str:
    """Return the text of a sample table, empty for an unknown name."""
    return dict(list_tables()).get(name, "")


def _fit(table: str, program: str) -> tuple[bool, int]:
    """Say whether a table is of the program's language, and count what it names and the program has."""
    words = {found[found.lastindex or 0].removeprefix("relax.") for found in _WORDS.finditer(table)}
    count = len(words & _called(program))
    return ("relax." in table) == (re.search(r"\bR\.\w", program) is not None), count


@lru_cache(maxsize=2)
def _called(program: str) -> frozenset[str]:
    """Return what a program calls or names as an attribute, with and without the name of TVMScript's module, `R`."""
    names = frozenset(_CALLED.findall(program))
    return names | {name[found.end() :] for name in names for found in _MODULE.finditer(name)}


def patterns_of(table: str) -> tuple[tuple[str, str], ...]:
    """Return name and text of each pattern; none if the text is no table."""
    found = _read(table).get("patterns")
    pairs = cast("list[Any]", found) if isinstance(found, list) else []
    return tuple((item[0], item[1]) for item in pairs if _is_pair(item))


def targets_of(table: str) -> tuple[str, ...]:
    """Return the targets that a table names, in order of appearance."""
    supported = _read(table).get("supported")
    named = tuple(cast("dict[str, Any]", supported)) if isinstance(supported, dict) else ()
    return tuple(dict.fromkeys((*named, *(name.split(".")[0] for name, _ in patterns_of(table)))))


def supported_of(table: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return for each target that a table names the operators that it takes besides the patterns."""
    supported = _read(table).get("supported")
    lists = cast("dict[str, Any]", supported) if isinstance(supported, dict) else {}
    return tuple((target, _words_of(lists.get(target))) for target in targets_of(table))


def with_pattern(table: str, place: int, name: str, pattern: str) -> str:
    """Return the table with another name and text for the pattern at `place`."""
    pairs = patterns_of(table)
    if not 0 <= place < len(pairs):
        return table
    return _with_patterns(table, (*pairs[:place], (name, pattern), *pairs[place + 1 :]))


def with_new_pattern(table: str, pattern: str) -> str:
    """Return the table with one more pattern, behind the others and under a name of its own."""
    pairs = patterns_of(table)
    target = next(iter(targets_of(table)), "target")
    known = {name for name, _ in pairs}
    numbers = ("", *map(str, range(2, len(pairs) + 3)))
    name = next(name for name in (f"{target}.pattern{number}" for number in numbers) if name not in known)
    return _with_patterns(table, (*pairs, (name, pattern)))


def without_pattern(table: str, place: int) -> str:
    """Return the table without the pattern at `place`."""
    pairs = patterns_of(table)
    return _with_patterns(table, (*pairs[:place], *pairs[place + 1 :])) if 0 <= place < len(pairs) else table


def with_operators(table: str, target: str, names: tuple[str, ...]) -> str:
    """Return the table in which `target` also supports the operators `names`."""
    taken = dict(supported_of(table)).get(target, ())
    return _with_supported(table, target, tuple(dict.fromkeys((*taken, *names))))


def without_operator(table: str, target: str, name: str) -> str:
    """Return the table in which `target` does not support the operator `name`."""
    taken = dict(supported_of(table)).get(target, ())
    return _with_supported(table, target, tuple(item for item in taken if item != name))


def _with_patterns(table: str, pairs: tuple[tuple[str, str], ...]) -> str:
    return json.dumps({**_read(table), "patterns": pairs}, indent=2)


def _with_supported(table: str, target: str, names: tuple[str, ...]) -> str:
    supported = {known: list(taken) for known, taken in supported_of(table) if taken or known == target}
    return json.dumps({**_read(table), "supported": {**supported, target: list(names)}}, indent=2)


def _read(table: str) -> dict[str, Any]:
    try:
        data: Any = json.loads(table)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", data) if isinstance(data, dict) else {}


def _words_of(names: Any) -> tuple[str, ...]:
    found = cast("list[Any]", names) if isinstance(names, list) else []
    return tuple(name for name in found if isinstance(name, str))


def _is_pair(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in cast("list[Any]", item))  # pyright: ignore[reportUnknownArgumentType]  # JSON
