"""Relax passes and those of apache-tvm of the same name: one program for each thing that they agree in."""

import pytest

import relax_core as rc
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, same_values

KERNELS = """
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32"), c: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("add"):
                v = T.axis.spatial(4, i)
                c[v] = a[v] + b[v]
    @T.prim_func(private=True, s_tir=True)
    def unused(a: T.Buffer((4,), "float32"), c: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("unused"):
                v = T.axis.spatial(4, i)
                c[v] = a[v] + T.float32(1)
"""
DESTINATIONS = """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = R.call_tir(cls.add, (x, y), out_ty=R.Tensor((4,), "float32"))
        b = R.call_dps_packed("custom_tile", (a,), out_ty=R.Tensor((4,), "float32"))
        return b
"""
CONSTANTS = """
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tuple(R.Tensor((), "float32"), R.Tensor((4,), "float32")):
        k = R.const(2.0, "float32")
        d = R.dtype("float32")
        u = (d, d)
        a = R.multiply(x, k)
        c = R.const(True, "bool")
        if c:
            r = R.add(a, k)
        else:
            r = R.add(k, a)
        return (k, r)
"""
SCALARS = """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tuple(R.Prim("int64"), R.Prim("int64")):
        n = T.int64()
        a = R.prim_value(n)
        b = R.prim_value(n * 2)
        return (a, b)
"""
OUTPUTS = """
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.add(x, x)
            b = R.exp(a)
            c = R.exp(b)
            R.output(a, b, c)
        with R.dataflow():
            d = R.add(c, x)
            R.output(d)
        return d
"""
NESTED_TUPLE = """
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        t = (x, (y, x), R.const(1.0, "float32"))
        a = t[1]
        b = a[0]
        c = t[2]
        d = R.add(b, c)
        return d
"""
UNUSED = """
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.negative(a)
            c = R.add(R.const(1.5, "float32"), R.const(1.0, "float32"))
            d = R.add(x, c)
            R.output(b, d)
        e = R.exp(b)
        return d
"""
PRIVATE = """
    @R.function(private=True)
    def pair(t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")), u: R.Tensor((4,), "float32")):
        a = t[0]
        b = R.exp(u)
        c = R.add(a, a)
        return c
    @R.function(private=True)
    def unreached(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.exp(x)
        return y
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        t = (x, y)
        dead = R.exp(y)
        p = cls.pair(t, dead)
        return p
"""
STORAGE = """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        s = R.memory.alloc_storage(
            R.shape([16]), virtual_device_index=0, storage_scope="global", dtype="float32"
        )
        t = R.memory.alloc_tensor(s, 0, R.shape([4]), dtype="float32")
        return t
"""
BLOCKS = """
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            b = R.exp(a)
            R.output(b)
        return b
"""
NESTED_FUNCTIONS = """
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        @R.function
        def one(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            @R.function
            def inner(b: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                c = R.add(b, x)
                return c
            @R.function
            def only(b: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                c = R.negative(b)
                return c
            d = inner(a)
            e = only(d)
            return e
        @R.function
        def two(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            @R.function
            def inner(b: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                c = R.exp(b)
                return c
            d = inner(a)
            return d
        @R.function
        def taken(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            b = R.abs(a)
            return b
        r = one(y)
        s = two(r)
        t = taken(s)
        return t
    @R.function
    def main_taken(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x
"""
RESULTS = """
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tuple(R.Tensor((4,), "float32"), R.Tuple(R.Tensor((4,), "float32"))):
        y = R.exp(x)
        return (y, (x,))
"""
SIZES_OF_WEIGHTS = """
    @R.function
    def main(
        x: R.Tensor((2, "k"), "float32"), c: R.Tensor((), "bool"), v: R.Tensor(("m",), "float32"),
        w: R.Tensor(("k", "m"), "float32"),
    ) -> R.Tensor((2, "m"), "float32"):
        R.func_attr({"num_input": 1})
        k, m = T.int64(), T.int64()
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.add(a, v)
            dead = R.exp(v)
            same = R.add(a, v)
            d = R.add(b, same)
            R.output(d)
        if c:
            r = R.add(d, v)
        else:
            r = R.multiply(d, v)
        return r
"""
SIZES_OF_BRANCHES = """
    @R.function
    def main(c: R.Tensor((), "bool"), v: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        if c:
            r = R.exp(v)
        else:
            r = R.negative(v)
        s = R.exp(r)
        return s
"""
BRANCHES = """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.add(x, x)
        t = (a, x)
        if c:
            b = R.add(x, x)
            d = R.exp(b)
            r = R.add(d, a)
        else:
            r = R.exp(a)
        e = t[0]
        s = R.add(r, e)
        return s
"""
PROGRAMS = {
    "reordering leaves no redundancy": ("AdjustMatmulOrder", BRANCHES),
    "folding leaves no redundancy": ("FoldBatchnormToConv2D", BRANCHES),
    "reshapes leave no redundancy": ("RemoveRedundantReshape", BRANCHES),
    "layouts leave no redundancy": ("OptimizeLayoutTransform", BRANCHES),
    "prim funcs that are told nothing are cleaned": ("AttachAttrLayoutFreeBuffers", UNUSED),
    "transformed functions have no local ones": ("LiftTransformParams", NESTED_FUNCTIONS),
    "weights of which the first gives a size": ("LazyGetInput", SIZES_OF_WEIGHTS),
    "sizes that only branches know": ("LazyGetInput", SIZES_OF_BRANCHES),
    "a result may be a tuple": ("Normalize", RESULTS),
    "nested functions are named": ("LambdaLift", NESTED_FUNCTIONS),
    "checks stand before a dataflow block": ("VMShapeLower", BLOCKS),
    "destinations have types": ("CallTIRRewrite", DESTINATIONS + KERNELS),
    "a constant is used in place": ("CanonicalizeBindings", CONSTANTS),
    "a dimension is used in place": ("CanonicalizeBindings", SCALARS),
    "an output that nothing uses is none": ("CanonicalizeBindings", OUTPUTS),
    "a field that is no variable stays a field": ("CanonicalizeBindings", NESTED_TUPLE),
    "renamed constants do not live": ("KillAfterLastUse", SCALARS),
    "unused bindings go with constants": ("FoldConstant", UNUSED),
    "constants outside of blocks are used in place": ("FoldConstant", CONSTANTS),
    "unused parameters go, bindings stay": ("RemoveUnusedParameters", PRIVATE + KERNELS),
    "what called is cleaned": ("InlinePrivateFunctions", PRIVATE),
    "fusion cleans": ("FuseTIR", PRIVATE + KERNELS),
    "fusion cleans without anything to fuse": ("FuseTIR", UNUSED),
    "code generation cleans": ("RunCodegen", PRIVATE + KERNELS),
    "storage counts bytes": ("LowerRuntimeBuiltin", STORAGE),
}


@pytest.mark.tvm
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_pass_gives_the_module_of_tvm(name: str) -> None:
    pass_name, text = PROGRAMS[name]
    agrees(text, getattr(relax.transform, pass_name)(), pass_name)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, (_, text) in PROGRAMS.items()
        if text not in (STORAGE, BLOCKS, SIZES_OF_WEIGHTS, SIZES_OF_BRANCHES)
    ],
)
def test_a_pass_keeps_the_values(name: str) -> None:
    pass_name, text = PROGRAMS[name]
    stage = passed(
        parse(text.replace('R.call_dps_packed("custom_tile", (a,)', "R.call_tir(cls.unused, (a,)")), pass_name
    )
    same_values(stage.before, stage.after)


def test_a_dataflow_block_in_which_something_is_checked_is_none_behind_it() -> None:
    text = BLOCKS.replace("b = R.exp(a)", 'b = R.match_cast(a, R.Tensor((n, 4), "float32"))')
    stage = passed(parse(text), "VMShapeLower")
    assert "R.dataflow" not in rc.script(stage.after)
    assert rc.structural_equal(rc.parse(rc.script(stage.after)), stage.after)
