"""Small programs for the tests of the passes, each about one thing."""

from collections.abc import Mapping
from types import MappingProxyType

from relax_core.diagnostics import CompileError, has_errors
from relax_core.frontend.parse import parse_text
from relax_core.ir.module import IRModule
from tests.passes.closure_programs import CLOSURES

HEAD = """
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T


@I.ir_module
class Module:
"""

NESTED_CALLS = """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return R.add(R.exp(x), R.multiply(x, R.negative(x)))
"""

DATAFLOW = """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = a
            t = (b, x)
            c = t[0]
            unused = R.negative(c)
            gv = R.add(c, x)
            R.output(gv)
        out = gv
        return out
"""

CASTS = """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(dtype="float32", ndim=2)):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        p = R.match_cast(x, R.Tensor((m,), "float32"))
        q = R.match_cast(y, R.Tensor((n, k), "float32"))
        s = R.match_cast(q, R.Tensor((n, k), "float32"))
        z = R.reshape(s, R.shape([m * k]))
        w = R.add(p, x)
        return (z, w)
"""

DEAD = """
    @R.function(private=True)
    def unreached(x: R.Tensor((2,), "float32")):
        y = R.exp(x)
        return y

    @R.function(private=True)
    def reached(x: R.Tensor((2,), "float32")):
        y = R.exp(x)
        return y

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        a = R.exp(x)
        b = R.negative(a)
        c = cls.reached(x)
        d = R.call_packed("custom_add", x, x, ty_args=R.Tensor((2,), "float32"))
        return c
"""

OPERATORS = """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")):
        a = R.matmul(x, w)
        b = R.nn.relu(a)
        c = R.nn.relu(R.add(b, b))
        return c

    @R.function
    def other(x: R.Tensor((3,), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
        a = R.exp(x)
        b = R.exp(y)
        return (a, b)
"""

LAID_OUT = """
    @T.prim_func(private=True, s_tir=True)
    def scaled(A: T.Buffer((8,), "float32"), W: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        W2 = T.sblock_alloc_buffer((2, 4))
        for i in T.grid(8):
            with T.sblock("W_rewrite"):
                vi = T.axis.spatial(8, i)
                T.sblock_attr({"meta_schedule.layout_rewrite_preproc": True})
                W2[vi // 4, vi % 4] = W[vi]
        for i in T.grid(8):
            with T.sblock("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = A[vi] * W2[vi // 4, vi % 4]
    @R.function
    def main(x: R.Tensor((8,), "float32"), w: R.Tensor((8,), "float32")):
        cls = Module
        y = R.call_tir(cls.scaled, (x, w), out_ty=R.Tensor((8,), "float32"))
        return y
"""
CALL_TIR = """
    @T.prim_func
    def twice(x: T.handle, y: T.handle):
        n = T.int64()
        A = T.match_buffer(x, (n,), "float32")
        B = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            B[i] = A[i] + A[i]

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        cls = Module
        n = T.int64()
        y = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((n,), "float32"))
        row = R.reshape(y, R.shape([1, n]))
        z = R.call_dps_packed("custom_tile", (row,), out_sinfo=R.Tensor((1, n * 2), "float32"))
        return z
"""

SCRATCH = """
    @T.prim_func(private=True, s_tir=True)
    def normalize(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
        with T.sblock("root"):
            E = T.sblock_alloc_buffer((4, 8), "float32")
            S = T.sblock_alloc_buffer((4,), "float32")
            P = T.sblock_alloc_buffer((9,), "float32")
            for i in range(4):
                for j in range(8):
                    with T.sblock("E"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        E[vi, vj] = T.exp(A[vi, vj])
                for j in range(8):
                    with T.sblock("S"):
                        vi, vj = T.axis.remap("SR", [i, j])
                        with T.init():
                            S[vi] = T.float32(0)
                        S[vi] = S[vi] + E[vi, vj]
                for j in range(8):
                    with T.sblock("P"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        if vi == 0 and vj == 0:
                            P[0] = T.float32(0)
                        P[vj + 1] = P[vj] + E[vi, vj]
                        C[vi, vj] = P[vj + 1] / S[vi]

    @R.function
    def main(x: R.Tensor((4, 8), "float32")) -> R.Tensor((4, 8), "float32"):
        cls = Module
        y = R.call_tir(cls.normalize, (x,), out_ty=R.Tensor((4, 8), "float32"))
        return y
"""

ROWS = """
    @T.prim_func(private=True, s_tir=True)
    def rows(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
        K = T.alloc_buffer((8,), "float32")
        for i in range(4):
            B = T.alloc_buffer((8,), "float32")
            D = T.alloc_buffer((8,), "float32")
            E = T.alloc_buffer((16,), "int32")
            F = T.alloc_buffer((1,), "float32")
            for j in range(8):
                B[j] = A[i, j] * T.float32(2)
            for j in range(8):
                D[j] = B[j] + T.float32(1)
            for j in range(16):
                E[j] = T.Cast("int32", D[j // 2])
            for j in range(8):
                if i == 0:
                    K[j] = D[7 - j]
            for j in range(8):
                F[0] = T.Cast("float32", E[j]) + K[j]
                C[i, j] = F[0]

    @R.function
    def main(x: R.Tensor((4, 8), "float32")) -> R.Tensor((4, 8), "float32"):
        cls = Module
        y = R.call_tir(cls.rows, (x,), out_ty=R.Tensor((4, 8), "float32"))
        return y
"""

SEVERAL_OUTPUTS = """
    @T.prim_func
    def split(A: T.Buffer((4,), "float32"), B: T.Buffer((2,), "float32"), C: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i]
            C[i] = A[i + 2]

    @T.prim_func
    def double(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i] + B[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        pair = R.call_tir(cls.split, (x,), out_ty=[R.Tensor((2,), "float32"), R.Tensor((2,), "float32")])
        a = pair[0]
        b = pair[1]
        c = R.call_tir_inplace(cls.double, (a, b), inplace_indices=[1], out_ty=[R.Tensor((2,), "float32")])
        return (a, c)
"""

SYMBOLIC = """
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), s: R.Shape(["n", 2]), y: R.Tensor(("n * m",), "float32")):
        n = T.int64()
        m = T.int64()
        j = T.int64()
        f = R.reshape(x, R.shape([n * m]))
        z = R.add(f, y)
        t = R.match_cast(z, R.Tensor((j,), "float32"))
        u = R.zeros(R.shape([j + 1, 2]), dtype="float32")
        return (t, u)
"""

SCALARS = """
    @R.function
    def main(p: R.Prim(value="n"), x: R.Tensor(("n", 2), "float32")):
        n = T.int64()
        z = R.zeros(R.shape([n + 1]), "float32")
        if R.prim_value(n < 4):
            r = R.reshape(x, R.shape([n * 2]))
        else:
            r = R.reshape(x, R.shape([2 * n]))
        return (z, r, R.prim_value(n * 2))
"""

GROWING_RECURSION = """
    @R.function
    def grow(x: R.Tensor(("n",), "float32"), k: R.Tensor((), "int64")) -> R.Tensor(ndim=1, dtype="float32"):
        cls = Module
        stop = R.less_equal(k, R.const(0, "int64"))
        if stop:
            r = x
        else:
            y = R.concat((x, R.ones(R.shape([1]), "float32")), axis=0)
            r = cls.grow(y, R.subtract(k, R.const(1, "int64")))
        return r

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        cls = Module
        return cls.grow(x, R.const(3, "int64"))
"""

CASTS_IN_BRANCHES = """
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"), c: R.Tensor((), "bool")):
        if c:
            m = T.int64()
            a = R.match_cast(x, R.Tensor((m,), "float32"))
            b = R.reshape(a, R.shape([m, 1]))
            y = R.sum(b)
        else:
            k = T.int64()
            a = R.match_cast(x, R.Tensor((k,), "float32"))
            b = R.zeros(R.shape([k * 2]), "float32")
            y = R.sum(b)
        return y
"""

BRANCHES = """
    @R.function
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")):
        a = R.exp(x)
        b = R.add(a, a)
        if c:
            d = R.negative(b)
            e = R.exp(d)
        else:
            e = R.add(b, x)
        f = R.multiply(e, e)
        return f
"""

REPEATED = """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            scale = R.multiply(R.const(2.0, "float32"), R.const(3.0, "float32"))
            a = R.matmul(x, w)
            b = R.multiply(a, scale)
            c = R.matmul(x, w)
            d = R.nn.relu(c)
            e = R.add(b, d)
            gv = R.sum(e, axis=[1])
            R.output(gv)
        return gv
"""

LIBRARIES = """
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.sin(b)
            d = R.add(b, c)
            R.output(d)
        return d
"""

LIBRARY_TABLE = (
    '{"patterns": [["t.mm_relu", '
    '"is_op(\\\\"relax.nn.relu\\\\")(is_op(\\\\"relax.matmul\\\\")(wildcard(), wildcard()))"], '
    '["t.add", "is_op(\\\\"relax.add\\\\")(wildcard(), wildcard())"]]}'
)
"""Patterns as an option of a pass, in the text of a pipeline."""

PROGRAMS: Mapping[str, str] = MappingProxyType(
    {
        **CLOSURES,
        "nested_calls": NESTED_CALLS,
        "dataflow": DATAFLOW,
        "casts": CASTS,
        "dead": DEAD,
        "operators": OPERATORS,
        "call_tir": CALL_TIR,
        "laid_out": LAID_OUT,
        "several_outputs": SEVERAL_OUTPUTS,
        "scratch": SCRATCH,
        "rows": ROWS,
        "symbolic": SYMBOLIC,
        "scalars": SCALARS,
        "growing_recursion": GROWING_RECURSION,
        "casts_in_branches": CASTS_IN_BRANCHES,
        "branches": BRANCHES,
        "repeated": REPEATED,
        "libraries": LIBRARIES,
    }
)


def parse(body: str, name: str = "test.py") -> IRModule:
    """Parse the body of a module class."""
    parsed = parse_text(HEAD + body, name)
    if has_errors(parsed.diagnostics):
        raise CompileError(parsed.diagnostics)
    return parsed.modules[0]


def program(name: str) -> IRModule:
    """Parse one of `PROGRAMS`."""
    return parse(PROGRAMS[name], f"{name}.py")
