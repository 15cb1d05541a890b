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
    (
        f"e = {call('exp')}\nr = {call('nn.relu')}\ne ^ r",
        (("r_", "R.tanh(e)"),),
        (("p = R.exp(x); q = R.nn.relu(p); s = R.nn.relu(p)", "q, s"),),
    ),
    (
        "x = wildcard()\ne = is_op('relax.exp')(x)\nt = is_op('relax.tanh')(x)",
        (("s", "R.sin(x)"), ("e_", "R.abs(s)"), ("t_", "R.negative(s)")),
        (
            ("a = R.exp(x); b = R.tanh(y); c = R.tanh(a)", "a, b, c"),
            ("u = R.add(x, y); a = R.exp(u); b = R.tanh(u); c = R.multiply(a, b)", "c"),
        ),
    ),
    (
        f"m = {call('matmul', 2)}\na = {call('add', 2)}\nr = {call('nn.relu')}\nm >> a >> r",
        (("r_", "R.exp(m)"),),
        (
            ("p = R.matmul(x, w); q = R.add(p, v); s = R.nn.relu(q)", "s"),
            ("p = R.matmul(x, w); q = R.add(p, v); s = R.nn.relu(q); z = R.exp(p)", "s, z"),
            ("p = R.matmul(x, w); q = R.add(p, v); s = R.nn.relu(q); z = R.exp(q)", "s, z"),
        ),
    ),
    (
        "a = wildcard(); b = wildcard(); c = wildcard(); x = wildcard()\n"
        + "\n".join(f"{name} = is_op('relax.matmul')(x, {of})" for name, of in zip("mno", "abc", strict=True)),
        (
            ("cat", "R.concat((a, b, c), axis=1)"),
            ("mm", "R.matmul(x, cat)"),
            *((f"{name}_", f"R.strided_slice(mm, axes=[1], begin=[{k}], end=[{k + 4}])")
              for name, k in (("m", 0), ("n", 4), ("o", 8))),
        ),
        (
            ("q = R.matmul(x, w); k = R.matmul(x, y); u = R.matmul(x, x)", "q, k, u"),
            ("h = R.exp(x); q = R.matmul(h, w); k = R.matmul(h, y); u = R.matmul(h, x); z = R.add(q, k);"
             "o = R.add(z, u)", "o"),
        ),
    ),
    (
        f"r = {call('nn.relu')}\na = {call('add', 2)}\nr.used_by(a, 1)",
        (("a_", "R.sin(r)"),),
        tuple((f"p = R.nn.relu(x); q = R.add({args})", "q") for args in ("y, p", "p, y", "p, p")),
    ),
    (
        f"s = {call('split')}\ng = is_tuple_get_item(s, 0)\ne = is_op('relax.exp')(g)",
        (("e_", "R.tanh(g)"),),
        (("s = R.split(x, 2, axis=0); a = s[0]; b = s[1]; c = R.exp(a); d = R.exp(b)", "c, d"),),
    ),
)  # fmt: skip
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
    (
        "a = wildcard()\nb = wildcard()\nc = wildcard()\nis_op('relax.add')(is_op('relax.matmul')(a, b), c)",
        "R.matmul(a, R.add(b, c))",
        (("p = R.matmul(x, w); q = R.add(p, y); r = R.exp(q)", "r"),),
    ),
    (
        "a = wildcard()\nb = wildcard()\nis_op('relax.multiply')(a, b) | is_op('relax.add')(a, b)",
        "R.subtract(a, b)",
        (("p = R.multiply(x, w); q = R.add(p, y)", "q"),),
    ),
    (
        "a = wildcard()\nis_op('relax.permute_dims')(is_op('relax.permute_dims')(a))",
        "a",
        (("p = R.permute_dims(x); q = R.permute_dims(p); r = R.add(q, y); s = R.permute_dims(r)", "s"),),
    ),
    (
        "t = wildcard()\nis_tuple_get_item(t, 0)",
        "t[1]",
        (("s = R.split(x, 2, axis=0); a = s[0]; b = s[1]; c = R.add(a, b)", "c"),),
    ),
    (
        "a = wildcard().has_dtype('float16')\nis_op('relax.exp')(a)",
        "a",
        (("p = R.astype(x, 'float16'); q = R.exp(p); r = R.exp(x)", "q, r"),),
    ),
    (
        "a = wildcard()\nis_op('relax.power')(a, is_const())",
        "R.multiply(a, a)",
        (('p = R.power(x, R.const(2.0, "float32")); q = R.power(p, y)', "q"),),
    ),
    (
        "a = wildcard()\nis_op('relax.add')(a, a)",
        'R.multiply(a, R.const(2.0, "float32"))',
        (("p = R.add(x, x); q = R.add(p, x); r = R.add(q, q)", "r"),),
    ),
    (
        "a = wildcard()\nis_op('relax.reshape')(is_op('relax.reshape')(a, wildcard()), wildcard())",
        "R.exp(a)",
        (("p = R.reshape(x, R.shape([16])); q = R.reshape(p, R.shape([4, 4]))", "q"),),
    ),
    ("a = is_var('x')\nis_op('relax.exp')(a)", "R.sin(a)", (("p = R.exp(x); q = R.exp(y)", "p, q"),)),
    (
        "a = wildcard()\nis_call_dps_packed('f', [a])",
        "R.exp(a)",
        (("p = R.call_dps_packed('f', (x,), out_ty=R.Tensor((4, 4), 'float32')); "
          "q = R.call_dps_packed('g', (p,), out_ty=R.Tensor((4, 4), 'float32'))", "q"),),
    ),
)  # fmt: skip
CALL_CASES = [(text, made, *item) for text, made, programs in CALLS for item in programs]


@pytest.mark.parametrize(("pattern", "made", "body", "outputs"), CALL_CASES)
def test_calls_become_what_they_become_in_apache_tvm(pattern: str, made: str, body: str, outputs: str) -> None:
    text = program(body, outputs)
    after = our_calls(pattern, made, ours(text))
    assert same(after, their_calls(pattern, made, text)), rc.script(after)
    assert [item.render() for item in rc.check(after) if item.severity == "error"] == []
