"""What rewrites by patterns make, beside apache-tvm."""

import pytest

import relax_core as rc
from tests.pattern.relax_programs import call, ours, program
from tests.pattern.relax_rewrites import (
    ALONE,
    FORK,
    MERGED,
    PAIRS,
    THEN,
    TWICE,
    our_bindings,
    our_calls,
    same,
    their_bindings,
    their_calls,
)

# A graph, what is made of a match (a name with a bar is the value of the variable of that name), and programs.
BINDINGS: tuple[tuple[str, tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]], ...] = (
    (
        FORK,
        MERGED,
        (
            ("a = R.matmul(x, w); b = R.matmul(x, y)", "a, b"),
            ("a = R.matmul(x, w); b = R.matmul(x, y); c = R.matmul(w, x); d = R.matmul(w, y)", "a, b, c, d"),
            ("a = R.matmul(x, w); u = R.exp(y); b = R.matmul(x, u)", "a, b"),
            ("a = R.matmul(x, w); t = R.tanh(y); u = R.exp(t); b = R.matmul(x, u); c = R.add(a, b)", "c"),
            ("t = R.exp(x); a = R.matmul(t, w); b = R.matmul(t, y); c = R.add(a, b)", "c"),
            ("a = R.matmul(x, w); b = R.matmul(y, x)", "a, b"),
        ),
    ),
    (
        THEN,
        (("e_", "R.tanh(r)"),),
        ((PAIRS, "u"), (PAIRS, "q, u"), (PAIRS, "p, z, u"), ("p = R.nn.relu(x); q = R.tanh(p)", "q")),
    ),
    (THEN, (("e_", "R.sin(R.cos(r))"),), ((PAIRS, "u"), (PAIRS, "q, u"))),
    (THEN, (("e_", "R.add(R.cos(r), R.cos(r))"),), ((PAIRS, "u"), ("p = R.nn.relu(x); q = R.exp(p)", "p, q"))),
    (THEN, (("e_", "r"),), ((PAIRS, "u"), ("p = R.nn.relu(x); q = R.exp(p); z = R.add(q, p)", "z"))),
    (TWICE, (("e_", "r"),), (("p = R.nn.relu(x); q = R.nn.relu(p); s = R.nn.relu(q); t = R.exp(s)", "t"),)),
    (
        ALONE,
        (("e_", "R.tanh(r)"),),
        (("p = R.nn.relu(x); q = R.exp(p); s = R.nn.relu(q); t = R.exp(s); u = R.sin(s)", "t, u"), (PAIRS, "u")),
    ),
    (
        f"s = {call('add', 2)}\na = {call('exp')}\nb = {call('tanh')}\ns.fork_to(a, b)",
        (("t", "R.sin(s)"), ("a_", "R.abs(t)"), ("b_", "R.negative(t)")),
        (
            ("s = R.add(x, y); a = R.exp(s); b = R.tanh(s); c = R.multiply(a, b)", "c"),
            ("s = R.add(x, y); b = R.tanh(s); c = R.sin(b); a = R.exp(s); d = R.multiply(a, c)", "d"),
        ),
    ),
)
BINDING_CASES = [(graph, made, *item) for graph, made, programs in BINDINGS for item in programs]


@pytest.mark.parametrize(("graph", "made", "body", "outputs"), BINDING_CASES)
def test_bindings_become_what_they_become_in_apache_tvm(
    graph: str, made: tuple[tuple[str, str], ...], body: str, outputs: str
) -> None:
    text = program(body, outputs)
    module = ours(text)
    after = our_bindings(graph, made, module)
    assert same(after, their_bindings(graph, made, text)), rc.script(after)
    assert [item.render() for item in rc.check(after) if item.severity == "error"] == []


# A pattern with names for its parts, what a match becomes, and programs.
CALLS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    (
        "a = wildcard()\nb = wildcard()\nis_op('relax.add')(a, b)",
        "R.multiply(a, b)",
        (
            ("p = R.add(x, y); q = R.add(p, w)", "q"),
            ("p = R.add(x, x); q = R.add(p, p); r = R.exp(q)", "p, r"),
            ("p = R.subtract(x, y)", "p"),
        ),
    ),
    (
        "a = wildcard()\nis_op('relax.nn.relu')(is_op('relax.nn.relu')(a))",
        "R.nn.relu(a)",
        (
            ("p = R.nn.relu(x); q = R.nn.relu(p); r = R.nn.relu(q)", "r"),
            ("p = R.nn.relu(x); q = R.nn.relu(p); r = R.exp(p)", "q, r"),
        ),
    ),
    (
        "a = wildcard()\nis_op('relax.nn.relu')(a)",
        "a",
        (("p = R.nn.relu(x); q = R.nn.relu(p); r = R.exp(q)", "r"), ("p = R.nn.relu(x); r = R.exp(p)", "p, r")),
    ),
    (
        "a = wildcard()\nis_op('relax.exp')(a)",
        "R.add(R.tanh(a), R.sin(R.tanh(a)))",
        (("p = R.exp(x); q = R.exp(p)", "q"), ("p = R.add(x, y); q = R.exp(p); r = R.exp(y)", "q, r")),
    ),
    (
        "a = wildcard()\nis_op('relax.multiply')(a, is_const())",
        "R.add(a, a)",
        (('p = R.multiply(x, R.const(2.0, "float32")); q = R.multiply(p, y)', "q"),),
    ),
    (
        "a = wildcard()\n~is_op('relax.exp')(wildcard()) & is_op('relax.tanh')(a)",
        "R.sin(a)",
        (("p = R.tanh(x); q = R.exp(p); r = R.tanh(q)", "r"),),
    ),
)
CALL_CASES = [(text, made, *item) for text, made, programs in CALLS for item in programs]


@pytest.mark.parametrize(("pattern", "made", "body", "outputs"), CALL_CASES)
def test_calls_become_what_they_become_in_apache_tvm(pattern: str, made: str, body: str, outputs: str) -> None:
    text = program(body, outputs)
    after = our_calls(pattern, made, ours(text))
    assert same(after, their_calls(pattern, made, text)), rc.script(after)
    assert [item.render() for item in rc.check(after) if item.severity == "error"] == []
