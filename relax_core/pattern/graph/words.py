"""What came of looking for a pattern of several bindings, in words."""

from collections.abc import Mapping

from relax_core.ir.expr import Call, ExternFunc, GlobalVar, Var
from relax_core.pattern.graph.search import GraphMiss
from relax_core.pattern.language.nodes import Pattern
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.matching.facts import operator_name

_SHOWN_LENGTH = 60


def mapping_words(variable_of: Mapping[Pattern, Var], named: Mapping[str, Pattern]) -> str:
    """Say which variable each named pattern matches: `first = a, x = x`."""
    names = _names(named)
    return ", ".join(f"{names[item]} = {var.name}" for item, var in variable_of.items() if item in names)


def graph_miss_words(miss: GraphMiss, named: Mapping[str, Pattern]) -> str:
    """Say which pattern did not fit which variable and why, and which had been found before."""
    names = _names(named)
    pattern = names.get(miss.pattern) or _short(miss.pattern)
    if miss.variable is None:
        words = f"{pattern} is not found: {miss.reason}"
    elif miss.part is miss.pattern:
        words = f"{pattern} does not fit {miss.variable.name}: {_sentence(miss)}"
    else:
        words = f"{pattern} does not fit {miss.variable.name}: its part {_short(miss.part)} met {_met(miss)}"
    found = mapping_words(miss.variable_of, named)
    return f"{words}; found before: {found}" if found else words


def _names(named: Mapping[str, Pattern]) -> Mapping[Pattern, str]:
    # The last name stands in the text nearest to where it is used.
    return {item: name for name, item in named.items()}


def _sentence(miss: GraphMiss) -> str:
    starts = ("is ", "has ", "matches ", "takes ", "does ")
    return f"it {miss.reason}" if miss.reason.startswith(starts) else miss.reason


def _met(miss: GraphMiss) -> str:
    match miss.node:
        case Var(name=what) | GlobalVar(name=what) | ExternFunc(name=what):
            pass
        case Call(op=op):
            what = operator_name(op) or "a call"
        case node:
            what = (None if node is None else operator_name(node)) or "a value"
    return f"{what}, which {miss.reason}" if _sentence(miss) != miss.reason else f"{what}: {miss.reason}"


def _short(pattern: Pattern) -> str:
    text = show_pattern(pattern).splitlines()[-1]
    return f"`{text}`" if len(text) <= _SHOWN_LENGTH else f"`{text[:_SHOWN_LENGTH]}…`"
