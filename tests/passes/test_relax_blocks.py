"""ConvertToDataflow and TopologicalSort: as apache-tvm has them, and what a run gives."""

import random

import pytest

import relax_core as rc
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks, same_values

MIXED = """
    @R.function(private=True)
    def helper(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        z = R.exp(x)
        return z
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        a = R.exp(x)
        b = R.exp(a)
        _ = R.print(a)
        d = R.exp(b)
        m = R.match_cast(d, R.Tensor((n, 4), "float32"))
        with R.dataflow():
            e = R.exp(m)
            f = R.exp(e)
            R.output(f)
        g = R.exp(f)
        g2 = g
        if c:
            h = R.exp(g2)
            i = R.negative(h)
        else:
            i = R.exp(g2)
        j = R.negative(i)
        t = (j, i)
        k = t[0]
        s = R.shape([n, 4])
        return (k, s)
"""
LOCAL = """
    @R.function(pure=False)
    def main(t: R.Tensor((4,), "float32"), c: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        @R.function
        def local(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            b = R.exp(a)
            d = R.exp(b)
            return d
        u = R.exp(t)
        m = R.match_cast(c, R.Tensor((n,), "float32"))
        h = R.exp(m)
        q = R.call_pure_packed("foo", h, ty_args=(R.Tensor((n,), "float32"),))
        v = R.call_packed("foo", h, ty_args=(R.Tensor((n,), "float32"),))
        w = local(t)
        w2 = R.exp(w)
        return (u, m, h, q, w2)
"""
TWO_BLOCKS = """
    @R.function
    def main(A: R.Tensor((), "float32"), B: R.Tensor((), "float32"), C: R.Tensor((), "float32")):
        z = R.exp(C)
        y = R.exp(B)
        with R.dataflow():
            v0 = R.add(y, A)
            v1 = R.exp(z)
            v2 = R.exp(y)
            v3 = R.exp(C)
            v4 = R.exp(A)
            R.output(v3, v0, v1, v2, v4)
        w = R.exp(v2)
        with R.dataflow():
            u = R.exp(v0)
            u2 = R.exp(v0)
            q = R.exp(C)
            R.output(u)
        return (v3, w, u, v1)
"""
SYMBOLS = """
    @R.function
    def main(a: R.Tensor(("n",), "float32"), b: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            c = R.match_cast(b, R.Tensor((m,), "float32"))
            d = R.exp(a)
            e = R.zeros(R.shape([m]), "float32")
            f = R.add(e, c)
            R.output(d, f)
        return (d, f)
"""
SORTS = [
    (order, direction) for order in ("depth-first", "breadth-first") for direction in ("from-inputs", "from-outputs")
]


def drawn(seed: int) -> str:
    """Write a block of random calls; some results are used nowhere."""
    chance = random.Random(seed)
    names, lines = ["A", "B", "C"], list[str]()
    for number in range(chance.randint(4, 9)):
        kind = chance.random()
        args = [chance.choice(names), chance.choice(names)]
        made = f"R.exp({args[0]})" if kind < 0.4 else f"R.add({args[0]}, {args[1]})"
        lines.append(f"v{number} = " + (f"R.exp(R.const({number}.0))" if kind < 0.1 else made))
        names.append(f"v{number}")
    outputs = chance.sample(names[3:], chance.randint(1, 4))
    rows = "\n            ".join([*lines, f"R.output({', '.join(outputs)})"])
    return f"""
    @R.function
    def main(A: R.Tensor((), "float32"), B: R.Tensor((), "float32"), C: R.Tensor((), "float32")):
        with R.dataflow():
            {rows}
        return ({", ".join(chance.sample(outputs, len(outputs)))},)
"""


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("text", [MIXED, LOCAL, SYMBOLS], ids=["mixed", "local", "symbols"])
def test_blocks_are_those_of_tvm(text: str, size: int) -> None:
    passes = f"ConvertToDataflow(min_size={size})"
    stage = agrees(text, relax.transform.ConvertToDataflow(size), passes)
    assert not rc.run_pipeline(stage.after, passes)[-1].is_changed
    if text is MIXED:
        same_values(stage.before, stage.after)


def test_what_stays_outside_is_told() -> None:
    stage = passed(parse(MIXED), "ConvertToDataflow")
    assert remarks(stage, "applied")[1:3] == [
        "2 bindings without side effects become one dataflow block",
        "6 bindings without side effects become one dataflow block",
    ]
    assert remarks(stage, "missed") == [
        "z stays: it is not among 2 bindings in a row without side effects",
        "_ stays: it may have a side effect",
        "i stays: a conditional stands outside of dataflow blocks",
        "gv1 stays: it is not among 2 bindings in a row without side effects",
    ]


@pytest.mark.parametrize(("order", "direction"), SORTS, ids=[" ".join(item) for item in SORTS])
def test_a_block_is_in_the_order_of_tvm(order: str, direction: str) -> None:
    theirs = relax.transform.TopologicalSort(order, direction)
    for text in (TWO_BLOCKS, MIXED, *map(drawn, range(12))):
        stage = agrees(text, theirs, f"TopologicalSort(order='{order}', direction='{direction}')")
        if text is TWO_BLOCKS:
            same_values(stage.before, stage.after)


@pytest.mark.parametrize(("order", "direction"), SORTS, ids=[" ".join(item) for item in SORTS])
def test_a_shape_stands_behind_the_cast_that_binds_its_dimensions(order: str, direction: str) -> None:
    stage = passed(parse(SYMBOLS), f"TopologicalSort(order='{order}', direction='{direction}')")
    lines = [line.split()[0].rstrip(":") for line in rc.script(stage.after).splitlines() if line.strip()]
    assert lines.index("c") < lines.index("e") < lines.index("f")


def test_an_order_of_another_name_is_refused() -> None:
    with pytest.raises(rc.CompileError, match="takes 'depth-first' or 'breadth-first' as order"):
        rc.run_pipeline(parse(MIXED), "TopologicalSort(order='random')")
