"""Passes on the interfaces of functions: as apache-tvm has them, and what a run gives."""

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, in_tvm, passed, remarks, same_values

NESTED = """
    @R.function(private=True)
    def inner(p: R.Tensor((4,), "float32")):
        q = R.exp(p)
        return q
    @R.function(private=True)
    def helper(
        x: R.Tensor(("n",), "float32"),
        y: R.Tensor((4,), "float32"),
    ) -> R.Tuple(R.Tensor(("n",), "float32"), R.Tensor((4,), "float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            z = R.exp(x)
            R.output(z)
        w = z
        v = cls.inner(y)
        return (w, v)
    @R.function(private=True)
    def unused(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        return y
    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        with R.dataflow():
            h = cls.helper(x, x)
            h0 = h[0]
            i = cls.helper(h0, x)
            R.output(h, i)
        z = R.exp(x)
        k = cls.inner(z)
        return (h, i, k)
"""
RECURSIVE = """
    @R.function(private=True)
    def rec(
        x: R.Tensor((4,), "float32"),
        y: R.Tensor((6,), "float32"),
        c: R.Tensor((), "bool"),
    ) -> R.Tensor((4,), "float32"):
        cls = Module
        if c:
            r = cls.rec(x, y, c)
        else:
            r = x
        return r
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((6,), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        @R.function
        def local(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            b = Module.rec(a, y, c)
            return b
        h = cls.rec(x, y, c)
        k = local(h)
        return k
"""
BRANCHES = """
    @R.function(private=True)
    def g(x: R.Tensor((4,), "float32")):
        return x
    @R.function(private=True)
    def prim(x: R.Tensor((4,), "float32")):
        R.func_attr({"Primitive": 1})
        y = R.exp(x)
        return y
    @R.function(private=True)
    def value(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        return y
    @R.function(private=True)
    def br(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        if c:
            y = R.exp(x)
        else:
            y = x
        return y
    @R.function
    def main(t: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        b = t
        d = cls.g(t)
        p = cls.prim(d)
        q = cls.br(p, c)
        if c:
            z = cls.prim(q)
        else:
            z = q
        return (b, d, p, q, z)
"""
UNUSED = """
    @R.function(private=True)
    def helper(
        x: R.Tensor(("n",), "float32"),
        y: R.Tensor(("m",), "float32"),
        u: R.Tensor((4,), "float32"),
        s: R.Tensor(("k",), "float32"),
    ):
        n = T.int64(); m = T.int64(); k = T.int64()
        z = R.exp(x)
        w = R.zeros(R.shape([m, m]), "float32")
        return (z, w)
    @R.function(private=True)
    def none(u: R.Tensor((4,), "float32")):
        return R.const(1.0, "float32")
    @R.function(private=True)
    def value(u: R.Tensor((4,), "float32"), v: R.Tensor((4,), "float32")):
        return u
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((6,), "float32")):
        cls = Module
        h = cls.helper(x, y, x, y)
        o = cls.none(x)
        q = cls.value(x, x)
        return (h, o, q)
"""
FIELDS = """
    @R.function(private=True)
    def three(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = R.negative(x)
        c = R.abs(x)
        return (a, b, c)
    @R.function(private=True)
    def whole(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = R.negative(x)
        return (a, b)
    @R.function(private=True)
    def one(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = R.negative(x)
        return (a, b)
    @R.function(private=True)
    def zero(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = R.negative(x)
        return (a, b)
    @R.function(private=True)
    def viavar(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        b = R.negative(x)
        t = (a, b)
        return t
    @R.function(private=True)
    def viaparam(x: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        return x
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        t = cls.three(x)
        t2 = cls.three(x)
        a = t[2]
        b = t2[0]
        w = cls.whole(x)
        w0 = w[0]
        o = cls.one(x)
        o1 = o[0]
        z = cls.zero(x)
        v = cls.viavar(x)
        v1 = v[1]
        p = cls.viaparam((x, x))
        p1 = p[1]
        return (a, b, w, w0, o1, v1, p1)
"""
IMPURE = """
    @R.function(private=True, pure=False)
    def f(x: R.Tensor((4,), "float32")) -> R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")):
        a = R.exp(x)
        _ = R.print(a)
        return (a, x)
    @R.function(private=True, pure=False)
    def nontuple(x: R.Tensor((4,), "float32")):
        a = R.exp(x)
        _ = R.print(a)
        return a
    @R.function(private=True)
    def r(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        if c:
            t = (x, R.exp(x))
        else:
            t = (R.exp(x), x)
        return t
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        cls = Module
        h = cls.f(x)
        h0 = h[1]
        o = cls.nontuple(x)
        u = cls.r(x, c)
        u0 = u[0]
        return (u0, h0)
"""
TUPLES = """
    @R.function(private=True)
    def f(
        x: R.Tuple(R.Tensor((4,), "float32"), R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))),
        y: R.Tensor((4,), "float32"),
    ):
        x0 = x[0]
        x1 = x[1]
        x11 = x1[1]
        z = R.add(x0, x11)
        return R.add(z, y)
    @R.function(private=True)
    def g(x: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        return x
    @R.function(private=True)
    def e(x: R.Tuple(), y: R.Tensor((4,), "float32")):
        return y
    @R.function
    def main(x: R.Tensor((4,), "float32"), t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        cls = Module
        u = (x, t)
        a = cls.f(u, x)
        b = cls.g((x, x))
        c = cls.g(t)
        d = cls.e(R.tuple(), x)
        return (a, b, c, d)
"""
DEEP = """
    @R.function(private=True)
    def f(x: R.Tuple(R.Tensor((4,), "float32"), R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")))):
        x1 = x[1]
        x11 = x1[1]
        return x11
    @R.function
    def main(
        x: R.Tensor((4,), "float32"),
        t: R.Tuple(R.Tensor((4,), "float32"), R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))),
    ):
        cls = Module
        dead = R.exp(x)
        a = cls.f(t)
        return a
"""
IN_BLOCK = """
    @R.function(private=True)
    def g(x: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        y = x[1]
        return y
    @R.function
    def main(t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        cls = Module
        b = t
        d = cls.g(t)
        with R.dataflow():
            q = cls.g(t)
            p = R.exp(q)
            R.output(p)
        return (b, d, p)
"""
SYMBOLS = """
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32")):
        return R.exp(x)
    @R.function
    def g(x: R.Tensor((4,), "float32")):
        R.func_attr({"global_symbol": "f"})
        cls = Module
        return cls.f(x)
    @T.prim_func(private=True)
    def k(a: T.handle):
        T.func_attr({"tir.noalias": True})
        A = T.match_buffer(a, (4,), "float32")
        for i in range(4):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                A[vi] = T.float32(1.0)
"""
CHAIN = """
    @R.function(private=True)
    def g(x: R.Tensor((4,), "float32")):
        return x
    @R.function(private=True)
    def g1(x: R.Tensor((4,), "float32")):
        cls = Module
        return cls.g(x)
    @R.function
    def f1(x: R.Tensor((4,), "float32")):
        R.func_attr({"global_symbol": "g"})
        cls = Module
        return cls.g1(x)
    @R.function
    def f2(x: R.Tensor((4,), "float32")):
        R.func_attr({"global_symbol": "f1"})
        cls = Module
        y = cls.f1(x)
        return y
"""
ESCAPING = """
    @R.function(private=True)
    def f(x: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")), y: R.Tensor((4,), "float32")):
        x1 = x[1]
        return (x1, x1)
    @R.function
    def main(t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")), y: R.Tensor((4,), "float32")):
        cls = Module
        g = cls.f
        b = g(t, y)
        d = cls.f(t, y)
        d0 = d[0]
        return (b, d0)
"""
CASES = {
    "InlinePrivateFunctions": (NESTED, BRANCHES),
    "RemoveUnusedParameters": (UNUSED, RECURSIVE),
    "RemoveUnusedOutputs": (FIELDS, IMPURE),
    "ExpandTupleArguments": (TUPLES, DEEP, IN_BLOCK),
}
PAIRS = [(name, text) for name, texts in CASES.items() for text in texts]
KEPT = {
    "InlinePrivateFunctions": "@f is not inlined: it is used as a value",
    "RemoveUnusedParameters": "@f keeps its parameters: it is used as a value",
    "RemoveUnusedOutputs": "@f keeps its results: it is used as a value",
    "ExpandTupleArguments": "@f keeps its tuples: it is used as a value",
}


@pytest.mark.parametrize(("name", "text"), PAIRS, ids=[f"{name} {number}" for number, (name, _) in enumerate(PAIRS)])
def test_interfaces_are_those_of_tvm(name: str, text: str) -> None:
    stage = agrees(text, getattr(relax.transform, name)(), name)
    assert stage.is_changed == (text is not RECURSIVE)
    assert not rc.run_pipeline(stage.after, name)[-1].is_changed
    if text is not RECURSIVE:
        same_values(stage.before, stage.after)


@pytest.mark.parametrize("text", [SYMBOLS, CHAIN], ids=["conflict", "chain"])
def test_names_are_those_of_tvm(text: str) -> None:
    module = in_tvm(text, is_checked=False)
    stage = passed(rc.parse(module.script()), "NormalizeGlobalVar")
    theirs = rc.parse(relax.transform.NormalizeGlobalVar()(module).script())
    assert first_difference(stage.after, theirs) is None


def test_two_functions_of_one_symbol_are_refused() -> None:
    text = """
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        R.func_attr({"global_symbol": "g"})
        return x
    @R.function
    def g(x: R.Tensor((4,), "float32")):
        return x
"""
    (stage,) = rc.run_pipeline(parse(text), "NormalizeGlobalVar")
    assert [item.message for item in stage.diagnostics] == ["two public functions have the global_symbol g"]


@pytest.mark.parametrize("name", KEPT)
def test_a_function_that_is_a_value_keeps_its_interface(name: str) -> None:
    # TVM changes it, and leaves callers that pass or take too much.
    stage = passed(parse(ESCAPING), name)
    assert KEPT[name] in remarks(stage, "missed")
    same_values(stage.before, stage.after)


def test_a_call_with_an_effect_stays_if_nothing_takes_its_results() -> None:
    stage = passed(parse(IMPURE.replace("h0 = h[1]", "h0 = x")), "RemoveUnusedOutputs")
    assert "= cls.f(x)" in rc.script(stage.after) or "cls.f(x)" in rc.script(stage.after)
    same_values(stage.before, stage.after)


def test_a_parameter_stays_that_gives_a_dimension_no_caller_knows() -> None:
    # TVM stops with "key is not in Map".
    text = """
    @R.function(private=True)
    def f(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        m = T.int64()
        return R.zeros(R.shape([n, m]), "float32")
    @R.function
    def main(u: R.Tensor(ndim=2, dtype="float32"), y: R.Tensor((3,), "float32")):
        cls = Module
        return cls.f(u, y)
"""
    stage = passed(parse(text), "RemoveUnusedParameters")
    assert remarks(stage, "missed") == ["@f keeps x: a caller does not know its dimension m"]
    assert remarks(stage, "applied")[1] == "@f loses the parameter y: nothing uses it"


@pytest.mark.parametrize("given", ['"m", "n"', '"n", "m"'])
@pytest.mark.parametrize("used", ["m, n", "n, m"])
def test_the_dimension_that_is_used_last_is_the_first_parameter(given: str, used: str) -> None:
    # In TVM the order of more than two is another one in every process.
    text = f"""
    @R.function(private=True)
    def helper(x: R.Tensor(({given}), "float32")):
        m = T.int64(); n = T.int64()
        w = R.zeros(R.shape([{used}]), "float32")
        return w
    @R.function
    def main(x: R.Tensor((4, 2), "float32")):
        cls = Module
        h = cls.helper(x)
        return h
"""
    stage = agrees(text, relax.transform.RemoveUnusedParameters(), "RemoveUnusedParameters")
    same_values(stage.before, stage.after)


def test_what_a_parameter_checks_is_checked_where_it_is_inlined() -> None:
    text = """
    @R.function(private=True)
    def f(x: R.Tensor(("n", 3), "float32")):
        n = T.int64()
        return R.zeros(R.shape([n]), "float32")
    @R.function
    def main(u: R.Tensor(ndim=2, dtype="float32")):
        cls = Module
        return cls.f(u)
"""
    stage = passed(parse(text), "InlinePrivateFunctions")
    assert 'R.match_cast(u, R.Tensor((n, 3), dtype="float32"))' in rc.script(stage.after)


NAMELESS = """
    @T.prim_func(private=True, s_tir=True)
    def k(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"own": 1})
        return R.call_tir(Module.k, (x,), R.Tensor((4,), "float32"))
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return Module.f(x)
"""


def test_functions_get_their_names_as_in_tvm() -> None:
    stage = agrees(NAMELESS, relax.transform.AttachGlobalSymbol(), "AttachGlobalSymbol")
    assert remarks(stage, "applied") == ["@k can be called by its name", "@f can be called by its name"]


def test_a_private_function_runs_by_its_name() -> None:
    module = rc.parse(in_tvm(NAMELESS).script())
    given = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(rc.VirtualMachine(rc.build(module))["f"](given), given)


def test_the_name_of_a_function_may_stand_in_its_attributes() -> None:
    text = NAMELESS.replace('{"own": 1}', '{"own": 1, "global_symbol": "f"}').replace(
        "function(private=True)", "function"
    )
    plain = text.replace(', "global_symbol": "f"', "")
    assert first_difference(rc.parse(in_tvm(text).script()), rc.parse(in_tvm(plain).script())) is None
    head = "from tvm.script import ir as I, relax as R, tirx as T\n@I.ir_module(s_tir=True)\nclass Module:\n"
    assert first_difference(rc.parse(head + text), rc.parse(head + plain)) is None
