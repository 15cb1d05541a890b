"""How deep a line is nested is told from its marks, and never too low."""

import ast

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relax_core.frontend.tvmscript.depth import nested_levels

SLACK = 4
"""The statement, and what has no mark: a leaf, its context, and an index."""
LEAVES = ("x", "1", '"a, (b"', "-y", "not z", "x.a.b", "x[i, j]", "T.int64(4)", "()", "a, b", "lambda: x")


def wider(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(parts, parts)
    return st.one_of(
        st.builds("f({}, {})".format, parts, parts),
        st.builds("({}, {})".format, parts, parts),
        st.builds("f(key={})".format, parts),
        st.builds("x[{}:{}]".format, parts, parts),
        st.builds("({}) if ({}) else x".format, parts, parts),
        st.builds("[{} for i in {}]".format, parts, parts),
        st.builds("({}).attr".format, parts),
        st.builds("-({})".format, parts),
        st.builds('{{"k": ({})}}'.format, parts),
        *(pair.map(f" {op} ".join) for op in ("+", "*", "**", "==", "and", "or", "//", ">>")),
    )


EXPRESSIONS = st.recursive(st.sampled_from(LEAVES), wider, max_leaves=12)


def depth(node: ast.AST) -> int:
    """Count as the reader does: the left end of a chain is on the level of the chain."""
    found = 0
    for child in ast.iter_child_nodes(node):
        is_chain = isinstance(node, ast.BinOp) and child is node.left and isinstance(child, ast.BinOp)
        found = max(found, depth(child) + (not is_chain))
    return found


@settings(max_examples=400, deadline=None)
@given(text=EXPRESSIONS, statement=st.sampled_from(("{}", "y = {}", "assert {}", "assert x, ({})", "return {}")))
def test_a_line_is_no_deeper_than_its_marks_say(text: str, statement: str) -> None:
    line = statement.format(text)
    tree = parsed(line)
    assume(tree is not None)
    assert tree is None or depth(tree) <= nested_levels(line) + SLACK


def parsed(line: str) -> ast.stmt | None:
    try:
        function = ast.parse(f"def f():\n {line}").body[0]
    except SyntaxError:
        return None
    assert isinstance(function, ast.FunctionDef)
    return function.body[0]


def test_what_stands_side_by_side_is_not_nested() -> None:
    line = "assert " + ", ".join(f"f(a{number} + 1, b[{number}])" for number in range(100))
    assert nested_levels(line) < 12
    assert nested_levels("(" * 90 + "x" + ")" * 90) >= 90
    assert nested_levels("f(" + ", ".join(["a"] * 9)) == len("f(" + ", ".join(["a"] * 9))
    assert nested_levels('y = f"{' + "(" * 50 + "x" + ")" * 50 + '}"') > 100
