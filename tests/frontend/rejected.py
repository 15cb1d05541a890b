"""Small programs that are no programs: each breaks one rule, and has to be rejected with a diagnostic."""

from collections.abc import Mapping
from types import MappingProxyType

H = "@I.ir_module\nclass Module:\n"


def f(
    body: str, params: str = 'x: R.Tensor((2, 3), "float32")', ret: str = "", flags: str = "", extra: str = ""
) -> str:
    """Make a module with the function `main`; `extra` are the lines of functions before it."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return f"{H}{extra}    @R.function{flags}\n    def main({params}){ret}:\n{lines}"


PRIM = """    @T.prim_func
    def k(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]

"""
REJECTED: Mapping[str, str] = MappingProxyType(
    {
        "undefined variable": f("return y"),
        "load through a pointer without a buffer": (
            '@T.prim_func\ndef k(p: T.handle("float32")):\n    T.evaluate(T.load("float32", p, 0))\n'
        ),
        "store through the pointer of a matrix": (
            '@T.prim_func\ndef k(A: T.Buffer((4, 4), "float32")):\n    T.store(A.data, 0, T.float32(1), True)\n'
        ),
        "undefined in a call": f("y = R.add(x, z)\nreturn y"),
        "variable of a block used behind it": f(
            "with R.dataflow():\n    a = R.exp(x)\n    b = R.exp(a)\n    R.output(b)\nreturn a"
        ),
        "variable of a branch used behind it": f(
            "if c:\n    a = R.exp(x)\n    y = a\nelse:\n    y = x\nreturn a",
            'x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")',
        ),
        "unknown operator": f("return R.matmull(x, x)"),
        "unknown global function": f("cls = Module\nreturn cls.g(x)"),
        "unknown type": f("return x", "x: R.Tensr((2, 3))"),
        "undefined dimension in the body": f('y: R.Tensor((n, 3), "float32") = x\nreturn y'),
        "undefined dimension in a shape": f("return R.reshape(x, R.shape([n, 3]))"),
        "too few arguments": f("return R.add(x)"),
        "too many arguments": f("return R.add(x, x, x)"),
        "unknown argument": f("return R.add(x, x, axis=1)"),
        "return missing": f("y = R.exp(x)", ret=' -> R.Tensor((2, 3), "float32")'),
        "two functions of a name": f("return x") + "    @R.function\n    def main(x: R.Tensor):\n        return x\n",
        "two parameters of a name": f("return x", "x: R.Tensor, x: R.Tensor"),
        "output of a variable from outside": f(
            "y = R.exp(x)\nwith R.dataflow():\n    a = R.exp(x)\n    R.output(a, y)\nreturn a"
        ),
        "no return": f("y = R.exp(x)"),
        "value that is not used": f("R.exp(x)\nreturn x"),
        "parameter without a type": f("y: R.Tensor((2, 3)) = x\nreturn y", "x"),
        "parameter without a type where nothing has one": f("return x", "x"),
        "output of an unknown name": f("with R.dataflow():\n    a = R.exp(x)\n    R.output(b)\nreturn x"),
        "output outside of a block": f("a = R.exp(x)\nR.output(a)\nreturn a"),
        "output in the middle of a block": f(
            "with R.dataflow():\n    a = R.exp(x)\n    R.output(a)\n    b = R.exp(a)\nreturn a"
        ),
        "nested dataflow": f(
            "with R.dataflow():\n    with R.dataflow():\n        a = R.exp(x)\n"
            "        R.output(a)\n    R.output(a)\nreturn a"
        ),
        "return in a dataflow block": f("with R.dataflow():\n    a = R.exp(x)\n    return a"),
        "conditional in a dataflow block": f(
            "with R.dataflow():\n    if c:\n        y = x\n    else:\n        y = R.exp(x)\n    R.output(y)\nreturn y",
            'x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")',
        ),
        "impure call in a dataflow block": f(
            'with R.dataflow():\n    a = R.call_packed("f", x, ty_args=R.Tensor)\n    R.output(a)\nreturn a',
            flags="(pure=False)",
        ),
        "print in a dataflow block": f(
            "with R.dataflow():\n    R.print(x)\n    a = R.exp(x)\n    R.output(a)\nreturn a", flags="(pure=False)"
        ),
        "impure call in a pure function": f('return R.call_packed("f", x, ty_args=R.Tensor)'),
        "impure callee in a pure function": f("cls = Module\nreturn cls.g(x)")
        + "    @R.function(pure=False)\n    def g(x: R.Tensor) -> R.Tensor:\n        R.print(x)\n        return x\n",
        "no else": f("if c:\n    y = x\nreturn y", 'x: R.Tensor, c: R.Tensor((), "bool")'),
        "branches of different names": f(
            "if c:\n    y = x\nelse:\n    z = x\nreturn y", 'x: R.Tensor, c: R.Tensor((), "bool")'
        ),
        "declared type contradicts the value": f('y: R.Tensor((3, 3), "float32") = R.exp(x)\nreturn y'),
        "declared dtype contradicts the value": f('y: R.Tensor((2, 3), "int32") = R.exp(x)\nreturn y'),
        "different shapes added": f(
            "return R.add(x, y)", 'x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 4), "float32")'
        ),
        "different dtypes added": f(
            "return R.add(x, y)", 'x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "int32")'
        ),
        "inner sizes of matmul": f("return R.matmul(x, x)"),
        "axis out of range": f("return R.sum(x, axis=[5])"),
        "permutation of wrong rank": f("return R.permute_dims(x, axes=[0, 1, 2])"),
        "reshape to another size": f("return R.reshape(x, R.shape([7]))"),
        "concat of different ranks": f(
            "return R.concat((x, y), axis=0)", 'x: R.Tensor((2, 3), "float32"), y: R.Tensor((3,), "float32")'
        ),
        "tensor where a tuple is wanted": f("return x[0]"),
        "field out of range": f("t = (x, x)\nreturn t[2]"),
        "a tuple added": f("t = (x, x)\nreturn R.add(t, x)"),
        "argument of a wrong shape": f("cls = Module\nreturn cls.g(x)")
        + '    @R.function\n    def g(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4)):\n        return x\n',
        "wrong number of arguments": f("cls = Module\nreturn cls.g(x, x)")
        + "    @R.function\n    def g(x: R.Tensor) -> R.Tensor:\n        return x\n",
        "call of a tensor": f("return x(x)"),
        "call_tir without a type": f("cls = Module\nreturn cls.k(x)\nreturn R.call_tir(cls.k, (x,))", extra=PRIM),
        "call_tir of a wrong shape": f(
            'cls = Module\nreturn R.call_tir(cls.k, (x,), out_ty=R.Tensor((3, 2), "float32"))', extra=PRIM
        ),
        "call_tir of a wrong dtype": f(
            'cls = Module\nreturn R.call_tir(cls.k, (x,), out_ty=R.Tensor((2, 3), "int8"))', extra=PRIM
        ),
        "call_tir with too few inputs": f(
            'cls = Module\nreturn R.call_tir(cls.k, (), out_ty=R.Tensor((2, 3), "float32"))', extra=PRIM
        ),
        "call_tir of a Relax function": f(
            'cls = Module\nreturn R.call_tir(cls.main, (x,), out_ty=R.Tensor((2, 3), "float32"))'
        ),
        "match_cast that always fails": f('y = R.match_cast(x, R.Tensor((4, 4), "float32"))\nreturn y'),
        "constant of unequal lists": f("return R.const([[1, 2], [3]])"),
        "constant out of range": f('return R.const(300, "uint8")'),
        "constant of a wrong dtype": f('return R.const(1, "float33")'),
        "rank against dimensions": f("return x", "x: R.Tensor((2, 3), ndim=3)"),
        "float dimension": f("return x", "x: R.Tensor((2.5, 3))"),
        "string where a type stands": f("return x", 'x: "a +"'),
        "for loop": f("for i in range(3):\n    x = R.exp(x)\nreturn x"),
        "while loop": f("while x:\n    x = R.exp(x)\nreturn x"),
        "assertion": f("assert x\nreturn x"),
        "deletion": f("del x\nreturn x"),
        "attribute as target": f("x.y = R.exp(x)\nreturn x"),
        "method that tensors have not": f("return x.reshapee(2)"),
        "two returns": f("return x\nreturn R.exp(x)"),
        "operator returned": f("y = R.add\nreturn y"),
        "operands on two devices": f(
            "return R.add(x, y)", 'x: R.Tensor((2, 3), "float32", "a:0"), y: R.Tensor((2, 3), "float32", "a:1")'
        ).replace(H, H + '    I.module_global_infos({"vdevice": [I.vdevice("a", 0), I.vdevice("a", 1)]})\n'),
        "star parameter": f("return x", "*x"),
        "function without decorator": H + "    def main(x):\n        return x\n",
        "statement in a module": f("return x") + "    y = 3\n",
        "unknown decorator": H + "    @R.functionn\n    def main(x: R.Tensor):\n        return x\n",
        "func_attr that is no dictionary": f("R.func_attr(3)\nreturn x"),
        "virtual device that is not there": f("return x", 'x: R.Tensor((2, 3), "float32", "cuda:9")'),
        "emit_te": f("return R.emit_te(x)"),
        "unknown NumPy maker": f("return R.const(np.random.rand(3))"),
        "broken syntax": f("y = R.add(x,\nreturn y"),
        "private function with a symbol": f('R.func_attr({"global_symbol": "main"})\nreturn x', flags="(private=True)"),
    }
)
WARNED: Mapping[str, str] = MappingProxyType(
    {
        "return in the middle": f("return x\ny = R.exp(x)"),
        "a condition that is no bool": f("if x:\n    y = x\nelse:\n    y = R.exp(x)\nreturn y"),
        "declared result contradicts the value": f("return x", ret=' -> R.Tensor((2, 4), "float32")'),
        "declared result of another kind": f("return x", ret=" -> R.Shape"),
        "default of a parameter": f("return x", "x: R.Tensor = 3"),
        "squeeze of another size": f("return R.squeeze(x, axis=[0])"),
        "dimensions that contradict each other": f(
            "return Module.f(x)", extra='    @R.function\n    def f(x: R.Tensor(("n", "n"))):\n        return x\n'
        ),
    }
)
"""What TVM reads and leaves to later passes or to the run: it opens with a warning."""
