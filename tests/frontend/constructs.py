"""One program with many constructs of Relax, and one of TIR, in freely mixed dialects."""

RELAX = '''\
from tvm.script import relax as RX, tir as TT

@tvm.script.ir_module
class Module:
    I.module_attrs({"k": 3, "nested": [1, 2.5, {"a": None}]})
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 1, "global")]})

    @R.function(private=True)
    def even_odd(x: R.Tensor((), "int64"), f: R.Callable((R.Tensor((), "bool"),), R.Any, True), g: R.Callable):
        @R.function
        def even(n: R.Tensor((), "int64")) -> R.Tensor((), "bool"):
            if n == R.const(0, "int64"):
                r = R.const(True, "bool")
            else:
                r = odd(n - R.const(1, "int64"))
            return r

        @R.function
        def odd(n: R.Tensor((), "int64")) -> R.Tensor((), "bool"):
            if n == R.const(0, "int64"):
                return R.const(False, "bool")
            else:
                m = n - R.const(1, "int64")
                return even(m)

        return f(even(x))

    @RX.function(pure=False)
    def main(
        x: Tensor((m, n), "float32"),
        y: R.Tensor[(n, m), "float32"],
        z: Tensor(None, _, ndim=2),
        s: R.Shape(["n", m]),
        p: R.Prim("int64"),
        q: R.Prim(value="n"),
        t: R.Tuple(R.Tensor, R.Object),
        c: R.Tensor((), "bool"),
        v: R.Tensor((2,), "float32", vdevice="cuda:1"),
        any,
    ) -> R.Tuple(R.Tensor(dtype="float32"), R.Object):
        R.func_attr({"num_input": 2, "relax.force_pure": True})
        """Not a statement."""
        R.match_shape(z, (a, b))
        w: R.Tensor((a, b)) = R.match_cast(z, R.Tensor((a, b)))
        first, second = t
        u = t[0]
        x += y if c else x
        d = -x * 2.0 < x // x
        h = R.prim_value(n * 2 + TT.min(n, m) - m % 3)
        i = R.const([[1, 2], [3, 4]], "int64")
        j = R.tuple(x, R.str("text"), R.dtype("float16"), R.null_value(), ())
        k = R.call_packed("f", x, 3, True, "s", alpha=2, sorted=[True], sinfo_args=[R.Tensor, R.Object])
        l = R.call_dps_packed("g", x, ((m,), (n, 2)), dtype=["float32", "int8"])
        o = R.call_tir_inplace(cls_kernel, (x, n), inplace_indices=[0], out_sinfo=[R.Tensor((m, n), "float32")])
        cls = Module
        e = R.make_closure(cls.even_odd, (x,))
        r = relax.invoke_closure(e, (x, y), type_args=(Tensor(None, "float32", ndim=2)))
        R.print(x, e, format="{} {}")
        R.assert_op(c, x, format="{}")
        if c:
            with R.dataflow():
                g1 = R.exp(x)
                g2 = R.exp(g1)
                R.output(g2)
            out = g2
        elif c:
            out = x
        else:
            out = R.match_cast(any, R.Tensor((m, n), "float32"))
        return (out, k)

    @T.prim_func
    def cls_kernel(A: T.Buffer[(4,), "float32"], n: T.int64):
        T.evaluate(0)
'''

TIR = """\
@T.prim_func(private=True)
def kernel(a: T.handle, B: T.Buffer(("n", "n * 2"), "float16"), k: T.int32, f: T.float32):
    T.func_attr({"global_symbol": "kernel", "tir.noalias": T.bool(True)})
    n = T.int64()
    A = T.match_buffer(a, (n, 4), "float16", strides=[s0, 1], elem_offset=off, scope="global", align=64)
    C = T.alloc_buffer((4, 4), "int32", scope="local")
    for i in T.serial(2, n, annotations={"pragma": 1}):
        for j in T.vectorized(4):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                vj = T.axis.S((0, 4), j)
                T.where(i < n and 0 <= j < 4)
                T.reads([A[vi, 0:4], B[vi:vi + 2, vj]])
                T.writes()
                T.block_attr({"a": "b"})
                D = T.alloc_buffer((1,))
                with T.init():
                    D[0] = 0
                x: T.float16 = A[vi, vj] * 2.0 + T.Cast("float16", k)
                y = T.if_then_else(k > 2, x, T.float16(1)) if not k == 1 else -x
                D[0] -= T.exp(f) + T.pow(f, 2) + T.max(f, 1) ** 2
                if T.isnan(D[0]) or k % 2 != 0:
                    B[vi, vj] = y.astype("float16")
                elif k == 3:
                    C[0, vj] = k << 2 | 1 & ~k
                else:
                    T.evaluate(T.sqrt(f))
    while C[0, 0] < 10:
        C[0, 0] += 1
    with T.grid(4) as m:
        C[m, 0] = T.Select(m > k, m, T.floordiv(m, 2)) + T.truncmod(m, 3) + T.ceildiv(k, 4)
    for t in T.thread_binding(4, thread="threadIdx.x"):
        for u in T.unroll(4):
            C[t, u] = T.cast(T.max_value("int8"), "int32")
    assert k < 5, "too large"
    z = k + 1
    z = z * 2
    C[0, 0] = z
"""
