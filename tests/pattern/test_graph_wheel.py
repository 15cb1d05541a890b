"""Patterns of several bindings beside apache-tvm's: hits, misses, and which variable each pattern matches."""

import pytest

from tests.pattern.relax_programs import PATTERNS, PROGRAMS, our_mapping, program, their_mapping

GREEDY = "it takes the first user that fits one edge, and gives up where another edge then finds none"
LITERALS = "it does not count literals among the arguments"
LATE = "it compares shapes of the first match alone"
DISAGREEMENTS = {
    ("one weight for both", "a product of a product"): GREEDY,
    ("one weight for both", "three products"): GREEDY,
    ("a diamond", "three products"): GREEDY,
    ("a branch that leads on", "two branches"): GREEDY,
    ("the second argument", "a literal"): LITERALS,
    ("the first argument", "a literal"): LITERALS,
    ("one shape", "two shapes"): LATE,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_graph_matches_what_it_matches_in_apache_tvm(pattern: str, name: str) -> None:
    text = program(*PROGRAMS[name])
    found, expected = our_mapping(text, PATTERNS[pattern]), their_mapping(text, PATTERNS[pattern])
    if (pattern, name) in DISAGREEMENTS:
        assert found != expected, "they agree: the line in the table is to go"
    else:
        assert found == expected


def test_where_it_is_greedy_apache_tvm_misses_what_is_there() -> None:
    missed = [pair for pair, reason in DISAGREEMENTS.items() if reason in (GREEDY, LATE)]
    for pattern, name in missed:
        text = program(*PROGRAMS[name])
        assert their_mapping(text, PATTERNS[pattern]) is None
        assert our_mapping(text, PATTERNS[pattern]) is not None
