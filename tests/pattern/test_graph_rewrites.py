"""rewrite_call and rewrite_bindings: what they keep, and what they refuse."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relax_core as rc
from relax_core.diagnostics import CompileError
from relax_core.ir.expr import Binding, Call, Expr, Op, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import preorder
from relax_core.ir.rewriting.rewrite import RewriteLog
from tests.passes.byoc_programs import random_program
from tests.pattern.relax_programs import block_of, main, ours, program, values
from tests.pattern.relax_rewrites import ALONE, FORK, MERGED, THEN, our_bindings, our_calls

ADD = "a = wildcard()\nb = wildcard()\nis_op('relax.add')(a, b)"
RELU = "a = wildcard()\nis_op('relax.nn.relu')(a)"


def test_a_rewrite_keeps_the_value() -> None:
    module = ours(program("a = R.matmul(x, w); u = R.exp(y); b = R.matmul(x, u); c = R.add(a, b)", "c"))
    after = our_bindings(FORK, MERGED, module)
    assert len([name for name in values(after) if name not in values(module)]) == 2
    rng = np.random.default_rng(7)
    args = [rng.random((4, 4), "float32") for _ in range(3)] + [rng.random((1, 4), "float32")]
    np.testing.assert_allclose(rc.evaluate(after, "main", *args), rc.evaluate(module, "main", *args), rtol=1e-5)


def test_every_value_that_is_made_stems_from_those_that_it_replaces() -> None:
    log = RewriteLog()
    module = ours(program("a = R.matmul(x, w); b = R.matmul(x, y)", "a, b"))
    log.read(module)
    after = our_bindings(FORK, MERGED, module, log)
    known = set(preorder(module))
    olds = {values(module)[name] for name in "ab"}
    made = [item for item in block_of(after).bindings if item not in known]
    assert [item.var.name for item in made] == ["lv", "lv1", "a", "b"]
    assert all(olds & set(log.ancestry_of((item, item.value))) for item in made)
    assert {item.rule for item in log.replacements if item.before in olds} == {"rewrite_bindings"}

    module = ours(program("p = R.nn.relu(x)", "p"))
    log = RewriteLog()
    log.read(module)
    after = our_calls(RELU, "R.exp(R.tanh(a))", module, log)
    assert values(module)["p"] in log.ancestry(values(after)["p"])
    assert [item.rule for item in log.replacements if item.before is values(module)["p"]] == ["rewrite_call"]


def test_a_function_stands_for_its_module() -> None:
    module = ours(program("p = R.nn.relu(x); q = R.exp(p)", "q"))
    pattern = rc.is_op("relax.exp")(rc.wildcard())
    made = rc.rewrite_call(pattern, as_tanh, main(module))
    calls = (node for node in preorder(made) if isinstance(node, Call))
    assert [node.op.name for node in calls if isinstance(node.op, Op)] == ["relax.nn.relu", "relax.tanh"]
    context = rc.graph_pattern(THEN)
    assert rc.rewrite_bindings(context, nothing, main(module)) is main(module)
    assert rc.rewrite_call(pattern, nothing, module) is module


def as_tanh(value: Expr, _: rc.Match) -> Expr:
    assert isinstance(value, Call)
    return Call(Op("relax.tanh"), value.args)


def nothing(*_: object) -> Any:
    return None


def grown(value: Expr, _: rc.Match) -> Expr:
    return rc.expression("R.exp(R.exp(v))", v=value)


EFFECT = """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        p = R.nn.relu(x)
        f = R.call_packed("my.f", x, ty_args=R.Tensor((4, 4), "float32"))
        q = R.exp(p)
        s = R.add(f, x)
        return s
"""
BRANCHES = """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4, 4), "float32"):
        p = R.nn.relu(x)
        q = R.exp(p)
        if c:
            a = R.nn.relu(q)
            b = R.exp(a)
            r = b
        else:
            a = R.nn.relu(x)
            r = R.add(a, q)
        return r

    @R.function
    def other(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        with R.dataflow():
            p = R.nn.relu(x)
            q = R.exp(p)
            R.output(q)
        z = R.tanh(q)
        return z
"""


def test_a_value_with_an_effect_stays_where_what_used_it_goes() -> None:
    after = our_calls(ADD, "R.multiply(b, b)", rc.parse(EFFECT))
    text = rc.script(after)
    assert "my.f" in text
    assert "R.multiply(x, x)" in text
    # Nothing is matched through a variable where an effect may run in between, and such a block is not rewritten.
    through = "a = wildcard()\nis_op('relax.exp')(is_op('relax.nn.relu')(a))"
    module = rc.parse(EFFECT)
    assert our_calls(through, "R.tanh(a)", module) is module
    assert our_bindings(THEN, (("e_", "R.tanh(r)"),), module) is module


def test_what_only_a_replaced_value_needed_goes_however_far_behind() -> None:
    module = ours(program("t = R.tanh(x); u = R.abs(t); p = R.nn.relu(u); q = R.exp(p); s = R.sin(t)", "q, s"))
    zeros = "R.zeros(R.shape([4, 4]), 'float32')"
    for after in (
        our_bindings(THEN, (("e_", zeros),), module),
        our_calls("is_op('relax.exp')(wildcard())", zeros, module),
    ):
        assert [item.var.name for item in block_of(after).bindings] == ["t", "q", "s"]


def test_branches_and_every_function_are_rewritten() -> None:
    module = rc.parse(BRANCHES)
    after = our_bindings(THEN, (("e_", "R.tanh(r)"),), module)
    assert [rc.script(item).count("R.exp") for item in (module, after)] == [3, 0]
    assert rc.script(after).count("R.tanh") == 4
    calls = our_calls("a = wildcard()\nis_op('relax.exp')(is_op('relax.nn.relu')(a))", "R.sin(a)", module)
    assert rc.script(calls).count("R.sin") == 3
    x = np.linspace(-1, 1, 16, dtype="float32").reshape(4, 4)
    for flag in (True, False):
        p = np.maximum(x, 0)
        q = np.tanh(p)
        expected = np.tanh(np.maximum(q, 0)) if flag else p + q
        np.testing.assert_allclose(rc.evaluate(after, "main", x, np.array(flag)), expected, rtol=1e-6)


def test_what_a_callback_names_is_used_and_not_computed_again() -> None:
    module = ours(program("p = R.nn.relu(x); q = R.exp(p); s = R.tanh(x)", "q, s"))
    context = rc.graph_pattern(THEN)
    of = {item.var.name: item.var for item in preorder(main(module)) if isinstance(item, Binding)}

    def callback(found: Mapping[rc.Pattern, Var], bound: Mapping[Var, Expr]) -> Mapping[Var, Expr]:
        return {found[context.named["e"]]: rc.expression("R.add(a, R.sin(b))", a=bound[of["s"]], b=bound[of["p"]])}

    after = rc.rewrite_bindings(context, callback, module)
    assert list(values(after))[:4] == ["p", "lv", "s", "q"]
    assert rc.script(after).count("R.tanh") == 1


def test_what_a_callback_declines_is_looked_past() -> None:
    module = ours(program("a = R.matmul(x, w); b = R.matmul(x, y); c = R.matmul(x, w)", "a, b, c"))
    context = rc.graph_pattern(FORK)
    asked: list[tuple[str, str]] = []

    def callback(found: Mapping[rc.Pattern, Var], _: Mapping[Var, Expr]) -> Mapping[Var, Expr] | None:
        asked.append((found[context.named["m"]].name, found[context.named["n"]].name))
        return None

    assert rc.rewrite_bindings(context, callback, module) is module
    # The two products of the same weight are no match: each pattern has a variable of its own.
    assert asked == [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]


BROKEN: tuple[tuple[str, str, str, str], ...] = (
    ("no expression", "e", "3", "PT008"),
    ("another type", "e", "R.astype(r, 'float16')", "PT012"),
    ("another shape", "e", "R.reshape(r, (16,))", "PT012"),
    ("no such shapes", "e", "R.matmul(r, R.const([1.0, 2.0, 3.0], 'float32'))", "TY012"),
    ("itself", "r", "R.exp(e)", "PT013"),
    ("without end", "e", "R.exp(R.nn.relu(r))", "PT004"),
)


@pytest.mark.parametrize(("of", "text", "code"), [item[1:] for item in BROKEN], ids=[item[0] for item in BROKEN])
def test_a_callback_that_does_not_fit_is_told(of: str, text: str, code: str) -> None:
    module = ours(program("p = R.nn.relu(x); q = R.exp(p)", "q"))
    context = rc.graph_pattern(THEN)

    def callback(found: Mapping[rc.Pattern, Var], _: Mapping[Var, Expr]) -> Any:
        env = {name: found[item] for name, item in context.named.items() if item in found}
        return {env[of]: 3 if text == "3" else rc.expression(text, **env)}

    with pytest.raises(CompileError) as caught:
        rc.rewrite_bindings(context, callback, module)
    assert [item.code for item in caught.value.diagnostics] == [code]


def test_a_callback_that_raises_or_names_what_is_not_there_is_told() -> None:
    module = ours(program("p = R.nn.relu(x); q = R.exp(p)", "q"))
    context, pattern = rc.graph_pattern(THEN), rc.is_op("relax.exp")(rc.wildcard())

    stranger = Var("stranger", main(module).params[0].annotation)

    def raises(*_: object) -> Any:
        raise KeyError("k")

    def number(*_: object) -> Any:
        return 3

    def other(*_: object) -> Any:
        return {stranger: stranger}

    def unbound(found: Mapping[rc.Pattern, Var], _: Mapping[Var, Expr]) -> Any:
        return {found[context.named["e"]]: stranger}

    def itself(*_: object) -> Any:
        return stranger

    for callback, code in ((raises, "PT014"), (number, "PT008"), (other, "PT008"), (unbound, "PT015")):
        assert codes(partial(rc.rewrite_bindings, context, callback, module)) == [code]
    for callback, code in ((raises, "PT014"), (number, "PT008"), (itself, "PT015"), (grown, "PT004")):
        assert codes(partial(rc.rewrite_call, pattern, callback, module)) == [code]
    relay = rc.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(4), float32]) { exp(%x) }\n', "m.relay")
    assert codes(partial(rc.rewrite_call, pattern, raises, relay)) == ["PS010"]
    assert codes(partial(rc.rewrite_bindings, context, raises, relay)) == ["PS010"]


def codes(run: Callable[[], object]) -> list[str]:
    with pytest.raises(CompileError) as caught:
        run()
    return [item.code for item in caught.value.diagnostics]


def test_names_that_are_made_are_not_taken() -> None:
    module = ours(program("lv = R.nn.relu(x); lv1 = R.exp(lv); lv2 = R.nn.relu(lv1); q = R.exp(lv2)", "q"))
    after = our_bindings(THEN, (("e_", "R.sin(R.cos(r))"),), module)
    names = [item.var.name for item in preorder(main(after)) if isinstance(item, Binding)]
    assert len(set(names)) == len(names) == 7 - 1
    assert rc.structural_equal(rc.parse(rc.script(after)), after)


def chain(count: int) -> IRModule:
    steps = (f"v{k + 1} = R.{'exp' if k % 2 else 'nn.relu'}(v{k})" for k in range(count))
    text = program("; ".join(("v0 = R.tanh(x)", *steps)), f"v{count}")
    return rc.parse("from tvm.script import ir as I, relax as R\n" + text)


def test_ten_thousand_bindings_are_rewritten() -> None:
    module = chain(10_000)
    after = our_bindings(THEN, (("e_", "R.sin(R.cos(r))"),), module)
    assert len(values(after)) == 15_001
    after = our_bindings(THEN, (("e_", "r"),), module)
    assert [rc.script(after).count(name) for name in ("R.nn.relu", "R.exp")] == [5000, 0]
    after = our_calls("a = wildcard()\nis_op('relax.exp')(is_op('relax.nn.relu')(a))", "a", module)
    assert [rc.script(after).count(name) for name in ("R.nn.relu", "R.exp", "R.tanh")] == [0, 0, 1]


SIZES = """
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("k", 4), "float32"), y: R.Tensor("float32", ndim=2), z: R.Tensor((4, 4), "float32")):
        k, n = T.int64(), T.int64()
        with R.dataflow():
            p = R.nn.relu(z)
            q = R.exp(p)
            m = R.match_cast(y, R.Tensor((n, 4), "float32"))
            r = R.zeros(R.shape([n, 4]), "float32")
            s = R.sum(r)
            t = R.zeros(R.shape([k, 4]), "float32")
            u = R.add(m, r)
            R.output(q, s, t, u)
        return (q, s, t, u)
"""


def test_what_a_value_needs_is_moved_with_what_defines_its_sizes() -> None:
    module = rc.parse(SIZES)
    context = rc.graph_pattern(THEN)
    of = {item.var.name: item.var for item in preorder(main(module)) if isinstance(item, Binding)}
    made = "R.add(r, R.add(s, R.sum(t)))"

    def callback(found: Mapping[rc.Pattern, Var], _: Mapping[Var, Expr]) -> Mapping[Var, Expr]:
        r = found[context.named["r"]]
        return {found[context.named["e"]]: rc.expression(made, r=r, s=of["s"], t=of["t"])}

    after = rc.rewrite_bindings(context, callback, module)
    assert [item.var.name for item in block_of(after).bindings] == ["p", "t", "lv", "m", "r", "s", "lv1", "q", "u"]
    assert [item.render() for item in rc.check(after) if item.severity == "error"] == []
    x, y, z = np.ones((2, 4), "float32"), np.ones((3, 4), "float32"), np.ones((4, 4), "float32")
    found = rc.evaluate(after, "main", x, y, z)
    np.testing.assert_array_equal(found[0], z)  # pyright: ignore[reportArgumentType, reportIndexIssue]


CLOSURES = """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        p = R.nn.relu(x)

        @R.function
        def inner(y: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
            a = R.nn.relu(y)
            b = R.exp(a)
            c = R.add(b, p)
            return c

        q = R.exp(p)
        return q
"""


def test_a_local_function_uses_what_is_bound_around_it() -> None:
    module = rc.parse(CLOSURES)
    # What the local function uses counts among the users: only in it is the first of two used by nothing else.
    after = our_bindings(ALONE, (("e_", "R.tanh(r)"),), module)
    assert [rc.script(after).count(name) for name in ("R.exp", "R.tanh")] == [1, 1]
    both = our_bindings(THEN, (("e_", "R.tanh(r)"),), module)
    assert [rc.script(both).count(name) for name in ("R.exp", "R.tanh")] == [0, 2]
    assert [item.render() for item in rc.check(both) if item.severity == "error"] == []


ROWS = (
    ("cat", "R.concat((a, b), axis=0)"),
    ("mm", "R.matmul(cat, w)"),
    ("m_", "R.strided_slice(mm, axes=[0], begin=[0], end=[4])"),
    ("n_", "R.strided_slice(mm, axes=[0], begin=[4], end=[8])"),
)
SHARING = (
    "a = wildcard().has_shape((4, 4))\nb = wildcard().has_shape((4, 4))\nw = wildcard()\n"
    "m = is_op('relax.matmul')(a, w)\nn = is_op('relax.matmul')(b, w)"
)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 400))
def test_a_rewrite_of_any_program_keeps_its_value_or_is_told_that_it_cannot(seed: int) -> None:
    text = random_program(seed - seed % 2)
    module = rc.parse(f"from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:{text}")
    rng = np.random.default_rng(seed)
    args = [rng.uniform(-0.5, 0.5, (4, 4)).astype("float32") for _ in range(3)]
    wanted = rc.evaluate(module, "main", *args)
    made: list[IRModule] = []
    # A product may be needed for the one that it would be computed with.
    told = codes_of(lambda: made.append(our_bindings(SHARING, ROWS, module)))
    assert told in ([], ["PT013"])
    made.append(our_calls("a = wildcard()\nis_op('relax.nn.relu')(a)", "R.maximum(a, R.const(0, 'float32'))", module))
    made.append(
        our_calls("a = wildcard()\nb = wildcard()\nis_op('relax.subtract')(a, b)", "R.add(a, R.negative(b))", module)
    )
    for after in made:
        assert [item.render() for item in rc.check(after) if item.severity == "error"] == []
        assert rc.structural_equal(rc.parse(rc.script(after)), after)
        for found, expected in zip(_flat(rc.evaluate(after, "main", *args)), _flat(wanted), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def codes_of(run: Callable[[], object]) -> list[str]:
    try:
        run()
    except CompileError as error:
        return [item.code for item in error.diagnostics]
    return []


def _flat(value: Any) -> list[Any]:
    return [*value] if isinstance(value, tuple) else [value]  # pyright: ignore[reportUnknownArgumentType]  # arrays


def test_a_pass_of_ones_own_records_what_it_rewrites() -> None:
    context = rc.graph_pattern(THEN)
    argument = rc.wildcard()
    tanh_of = rc.is_op("relax.tanh")(argument)

    def callback(found: Mapping[rc.Pattern, Var], _: Mapping[Var, Expr]) -> Mapping[Var, Expr]:
        return {found[context.named["e"]]: rc.expression("R.tanh(r)", r=found[context.named["r"]])}

    def tanh(module: IRModule, ctx: rc.PassContext) -> IRModule:
        return rc.rewrite_bindings(context, callback, module, log=ctx.log)

    def of_cosine(_: Expr, found: rc.Match) -> Expr:
        return rc.expression("R.sin(R.cos(v))", v=found[argument])

    def sine(module: IRModule, ctx: rc.PassContext) -> IRModule:
        return rc.rewrite_call(tanh_of, of_cosine, module, log=ctx.log)

    module = ours(program("p = R.nn.relu(x); q = R.exp(p)", "q"))
    first, second = rc.run_pipeline(module, [tanh, sine])
    assert [item.message for stage in (first, second) for item in stage.diagnostics] == []
    q = values(second.after)["q"]
    assert values(first.after)["q"] in second.log.ancestry(q)
    assert values(module)["q"] in first.log.ancestry(values(first.after)["q"])
    assert [item.rule for item in first.log.replacements] == ["rewrite_bindings"]
    assert "rewrite_call" in [item.rule for item in second.log.replacements]


def test_where_memory_is_handled_explicitly_nothing_is_asked() -> None:
    passes = "LegalizeOps, ToNonDataflow, CallTIRRewrite, LowerAllocTensor"
    lowered = rc.run_pipeline(ours(program("p = R.nn.relu(x); q = R.exp(p)", "q")), passes)[-1].after
    assert "memory.alloc" in rc.script(lowered)

    def asked(*_: object) -> Any:
        raise AssertionError("a value may be another one by the time it is read")

    assert rc.rewrite_call(rc.wildcard().any_args(), asked, lowered) is lowered
    with rc.PatternContext() as context:
        rc.wildcard() ^ rc.wildcard()  # pyright: ignore[reportUnusedExpression]
    assert rc.rewrite_bindings(context, asked, lowered) is lowered
