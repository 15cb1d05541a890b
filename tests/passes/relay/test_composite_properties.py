"""Composites in generated programs: whatever the patterns are, the value stays and every match is whole."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Function
from relax_core.ir.node import postorder
from tests.passes.relay.test_byoc_properties import BINARY, UNARY, Drawn, programs


@st.composite
def patterns(draw: st.DrawFn, depth: int = 3) -> str:
    """Draw a pattern over the operators of `programs`; a part may stand in two places."""
    lines = ["w0 = wildcard()", "w1 = wildcard()"]
    names = ["w0", "w1"]
    for number in range(draw(st.integers(1, depth))):
        parts = st.sampled_from((*names[-3:], "wildcard()"))
        if draw(st.booleans()):
            made = f"is_op('{draw(st.sampled_from(UNARY))}')({draw(parts)})"
        else:
            made = f"is_op('{draw(st.sampled_from(BINARY))}')({draw(parts)}, {draw(parts)})"
        if draw(st.booleans()):
            made = f"({made} | is_op('{draw(st.sampled_from(UNARY))}')({draw(parts)}))"
        lines.append(f"p{number} = {made}")
        names.append(f"p{number}")
    return "\n".join((*lines, names[-1]))


CHAIN = "w = wildcard()\nc = {0} | is_op('negative')(w)\nw.redirect_to(c | is_var())\nc"
RECURSIVE = st.sampled_from(
    tuple(CHAIN.format(item) for item in ("is_op('tanh')(w)", "is_op('add')(w, wildcard())", "is_op('add')(w, w)"))
)


@given(programs(lets=True), st.lists(st.one_of(patterns(), RECURSIVE), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_composites_keep_the_value(drawn: Drawn, texts: list[str]) -> None:
    tables = rc.Tables(patterns=tuple((f"a.p{k}", rc.pattern(text)) for k, text in enumerate(texts)))
    module = drawn.module
    (stage,) = rc.run_pipeline(module, "MergeComposite", tables=tables)
    assert stage.diagnostics == ()
    assert [item.render() for item in rc.check(stage.after)] == []
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((4, 4)).astype("float32") for _ in range(2))
    for old, new in zip(rc.evaluate(module, "main", x, y), rc.evaluate(stage.after, "main", x, y), strict=True):
        np.testing.assert_equal(new, old)
    functions = [node for node in postorder(stage.after["main"]) if isinstance(node, Function)]
    for function in functions[:-1]:
        assert attr(function.attrs, "Composite") in {f"a.p{k}" for k in range(len(texts))}
        assert all(param in set(postorder(function.body)) for param in function.params), "each parameter is used"
