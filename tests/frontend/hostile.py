"""Hostile texts: each is read to its end, within limits, and answered with a module or with diagnostics."""

from collections.abc import Mapping
from types import MappingProxyType

H = "@I.ir_module\nclass Module:\n"
X = 'x: R.Tensor((2, 3), "float32")'


def main(body: str, params: str = X, ret: str = "", decorator: str = "@R.function") -> str:
    """Make a module with one Relax function."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return f"{H}    {decorator}\n    def main({params}){ret}:\n{lines}"


def tensor(shape: str, dtype: str = '"float32"') -> str:
    """Make a module whose parameter has the given shape and dtype, as they are written."""
    return main("return R.exp(x)", f"x: R.Tensor({shape}, {dtype})")


def prim(body: str, params: str = 'a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")') -> str:
    """Make a module with one prim func."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return f"{H}    @T.prim_func\n    def f({params}):\n{lines}"


def relay(body: str, params: str = "%x: Tensor[(2, 3), float32]") -> str:
    """Make a Relay text with one function."""
    return f'#[version = "0.0.5"]\ndef @main({params}) {{ {body} }}\n'


ONES = ", ".join(["1"] * 1000)
LONG = "x" * 1_000_000
WORDS = (
    "int32",
    "float32",
    "float99",
    "int0",
    "int-1",
    "uint1",
    "bool",
    "float32x4",
    "float32x0",
    "float32x99999999999",
    *("bfloat16", "float8_e4m3fn", "e4m3", "object", "str", "U10", "M8[ns]", "void", "", " ", "handle", "`", "\\\\"),
    *("int32x-4", "complex64", "float32\\n", "\\0", "\\ud800", "é", "i4", "<f4", "f,f", "int99999999999999999999"),
)

HOSTILE: Mapping[str, str] = MappingProxyType(
    {
        # Characters
        "a surrogate in the text": "\ud800",
        "a surrogate in a name": main("\udfff = x\nreturn x"),
        "a surrogate escaped in a string": main('return R.call_pure_packed("\\ud800", x, ty_args=R.Tensor((2, 3)))'),
        "a surrogate escaped in R.str": main('s = R.str("\\udc80")\nreturn s'),
        "a surrogate as a dimension": tensor('("\\ud800", 3)'),
        "a surrogate in an attribute": main('R.func_attr({"k": "\\ud800"})\nreturn x'),
        "a surrogate as the name of an attribute": main('R.func_attr({"\\ud800": 1})\nreturn x'),
        "a surrogate in a module attribute": H
        + '    I.module_attrs({"\\ud800": "\\udfff"})\n'
        + main("return x")[len(H) :],
        "a surrogate as a symbol": main('R.func_attr({"global_symbol": "\\ud800"})\nreturn x'),
        "a surrogate as a buffer": prim('c = T.alloc_buffer((4,), "\\ud800")\nb[0] = a[0]'),
        "a surrogate as a block": prim('with T.block("\\ud800"):\n    b[0] = a[0]'),
        "a surrogate as an intrinsic": prim('T.evaluate(T.call_extern("int32", "\\ud800", 1))'),
        "a surrogate in an assertion": prim('assert a[0] > 0, "\\ud800"\nb[0] = a[0]'),
        "a surrogate as a device": H
        + '    I.module_global_infos({"vdevice": [I.vdevice("\\ud800")]})\n'
        + main("return x")[len(H) :],
        "a surrogate as a TypeVar": 'n = TypeVar("\\ud800")\n' + main("return x"),
        "a surrogate in Relay": relay("%\ud800"),
        "a surrogate in a Relay string": relay('nn.conv2d(%x, %x, data_layout="\ud800")'),
        "a NUL": main("return x\0"),
        "a NUL escaped in a string": main('s = R.str("\\0")\nreturn s'),
        "a byte order mark": "\ufeff" + main("return x"),
        "a byte order mark inside": main("return \ufeffx"),
        "line ends of Windows": main("return x").replace("\n", "\r\n"),
        "line ends of old": main("return x").replace("\n", "\r"),
        "unicode line ends": main("return x").replace("\n", "\u2028"),
        "tabs": main("return x").replace("    ", "\t"),
        "mixed tabs": main("return x").replace("        ", "\t"),
        "form feeds": main("\freturn x"),
        "a name of many scripts": main("ﬁ = x\nfi = R.exp(ﬁ)\nreturn fi"),
        "bidirectional marks": main("y = x  # \u202e\nreturn y"),
        # Size and depth
        "deep brackets": main("return " + "(" * 100_000 + "x" + ")" * 100_000),
        "deep lists": main("return " + "[" * 5_000 + "x" + "]" * 5_000),
        "deep calls": main("return " + "R.exp(" * 3_000 + "x" + ")" * 3_000),
        "deep minus": main("return " + "-" * 20_000 + "x"),
        "deep not": prim("b[0] = " + "not " * 20_000 + "a[0]"),
        "deep powers": main("return " + "x ** " * 5_000 + "x"),
        "deep attributes": main("return x" + ".a" * 20_000),
        "deep subscripts": main("return x" + "[0]" * 20_000),
        "deep lambdas": main("return " + "lambda: " * 5_000 + "x"),
        "deep conditionals": main("return " + "x if x else " * 3_000 + "x"),
        "deep blocks": main("\n".join("    " * k + "if x:" for k in range(90)) + "\n" + "    " * 90 + "y = x"),
        "deep types": main("return x", "x: " + "R.Tuple(" * 3_000 + "R.Any" + ")" * 3_000),
        "a long sum": main("return " + " + ".join(["x"] * 20_000)),
        "a long line": main(f"{LONG} = x\nreturn {LONG}"),
        "a long string": main(f's = R.str("{LONG}")\nreturn s'),
        "a long comment": "#" + LONG + "\n" + main("return x"),
        "many lines of nothing": "\n" * 1_000_000,
        "many semicolons": main("return x") + ";" * 10_000,
        "deep Relay": relay("(" * 100_000 + "%x" + ")" * 100_000),
        "deep Relay calls": relay("abs(" * 20_000 + "%x" + ")" * 20_000),
        "deep Relay types": relay("%x", "%x: " + "(" * 20_000 + "int32" + ")" * 20_000),
        "a huge int": main(f"return R.const({'9' * 5_000})"),
        "an int over 64 bits": main(f"return R.prim_value({2**64})"),
        "a huge float": main("return R.const(1e999)"),
        "a huge shift": prim("b[0] = T.float32(1 << 100000)"),
        "a huge power": main("return R.prim_value(9 ** 9 ** 9)"),
        "a huge vector": prim("b[T.ramp(0, 1, 99999999999)] = T.broadcast(T.float32(0), 99999999999)"),
        "a huge loop": prim("for i in range(9223372036854775807):\n    b[0] = a[0]"),
        # Shapes
        "a thousand dims": tensor(f"({ONES})"),
        "sixty-five dims": tensor(f"({', '.join(['1'] * 65)})"),
        "more elements than int64": tensor("(4611686018427387904, 4, 4)"),
        "a dim over int64": tensor("(9223372036854775808,)"),
        "a negative dim": tensor("(-1, 3)"),
        "a negative symbolic dim": main("return x", 'x: R.Tensor(("n", "n - 9"), "float32")'),
        "a dim of zero by zero": main("return x", 'x: R.Tensor(("n", "n // 0"), "float32")'),
        "a dim of a float": tensor("(1.5,)"),
        "a dim of a bool": tensor("(True,)"),
        "a dim of a string": tensor('("2 + ",)'),
        "a dim of a call": tensor('("__import__(1)",)'),
        "a constant of a thousand dims": main("return R.const(" + "[" * 1000 + "1" + "]" * 1000 + ")"),
        "a constant of another size": main('return R.const([1, 2], "float32", shape=(3,))'),
        "a constant of an endless shape": main('return R.const([], "float32", shape=(0, 9223372036854775807, 99))'),
        "zeros of a thousand dims": main(f'return R.zeros(R.shape([{ONES}]), "float32")'),
        "ones of endless size": main('return R.ones(R.shape([9223372036854775807, 8]), "float32")'),
        "a reshape to a thousand dims": main(f"return R.reshape(x, R.shape([6, {ONES}]))"),
        "a thousand axes": main("return R.expand_dims(x, axis=[" + ", ".join(map(str, range(1000))) + "])"),
        "a buffer of a thousand dims": prim(
            "b[0] = T.float32(0)", f'a: T.Buffer(({ONES}), "float32"), b: T.Buffer((4,), "float32")'
        ),
        "a buffer of negative size": prim('c = T.alloc_buffer((-4,), "float32")\nb[0] = c[0]'),
        "a buffer of endless size": prim('c = T.alloc_buffer((4611686018427387904, 4), "float32")\nb[0] = c[0]'),
        "an endless storage": main(
            's = R.memory.alloc_storage(R.shape([9223372036854775807]), 0, R.str("global"), R.dtype("int8"))\nreturn x',
            decorator="@R.function(pure=False)",
        ),
        "a thousand Relay dims": relay("%x", f"%x: Tensor[({ONES}), float32]"),
        "a Relay dim over int64": relay("%x", "%x: Tensor[(99999999999999999999,), float32]"),
        "a negative Relay dim": relay("%x", "%x: Tensor[(-1,), float32]"),
        "a Relay placeholder of endless size": relay(
            "meta[relay.Constant][0] /* ty=Tensor[(9223372036854775807, 9), float32] */"
        ),
        "a Relay placeholder of a thousand dims": relay(f"meta[relay.Constant][0] /* ty=Tensor[({ONES}), float32] */"),
        # Python that is no TVMScript
        "decorators": H + "    @R.function\n    @staticmethod\n    def main(x): return x\n",
        "a decorator of nothing": H + "    @(lambda f: f)\n    def main(x): return x\n",
        "a walrus": main("return (y := x)"),
        "a lambda": main("f = lambda a: a\nreturn f(x)"),
        "star arguments": main("return R.add(*x)"),
        "double star arguments": main("return R.add(**x)"),
        "star parameters": main("return x", "*x"),
        "parameters by name": main("return x", "x, /, y, *, z, **w"),
        "an f-string": main('return R.call_pure_packed(f"{x}", x)'),
        "a match": main("match x:\n    case _:\n        return x"),
        "async": H + "    @R.function\n    async def main(x):\n        await x\n",
        "async for": prim("async for i in range(4):\n    b[i] = a[i]"),
        "a generator": main("yield x"),
        "a comprehension": main("return [y for y in x]"),
        "try": main("try:\n    y = x\nfinally:\n    return x"),
        "raise": main("raise x"),
        "del": main("del x\nreturn x"),
        "global": main("global x\nreturn x"),
        "with of anything": main("with open('x') as f:\n    return x"),
        "a while loop in Relax": main("while True:\n    y = x\nreturn x"),
        "a class inside": main("class A: pass\nreturn x"),
        "a type alias": main("type A = int\nreturn x"),
        "type parameters": H + "    @R.function\n    def main[T](x): return x\n",
        "a base class": "@I.ir_module\nclass Module(Base, metaclass=X):\n" + main("return x")[len(H) :],
        "an import inside": main("import os\nreturn x"),
        "an import in a module": H + "    import os\n" + main("return x")[len(H) :],
        "an import in a prim func": prim("import os\nb[0] = a[0]"),
        "an ellipsis": main("..."),
        "bytes": main('return R.const(b"abc")'),
        "a complex number": main("return R.const(1j)"),
        "assignment to an attribute": main("x.y = x\nreturn x"),
        "assignment to many": main("a = b = x\nreturn a"),
        "starred targets": main("a, *b = x\nreturn a"),
        "an annotation alone": main("y: R.Any\nreturn y"),
        # Names and recursion
        "a function twice": H + main("return x")[len(H) :] * 2,
        "a parameter twice": main("return x", f"{X}, {X}"),
        "two modules of one name": main("return x") * 2,
        "a function that calls itself": main("cls = Module\nreturn cls.main(x)"),
        "a function that is itself": main("cls = Module\nreturn cls.main"),
        "a prim func that calls itself": H
        + '    @T.prim_func\n    def f(a: T.Buffer((4,), "float32")):\n        Module.f(a.data)\n',
        "a dimension of itself": main("return x", 'x: R.Tensor(("n * n",), "float32")'),
        "names of keywords": main("None = x\nreturn x"),
        "dunder names": main("__class__ = x\nreturn __class__"),
        "a module called R": main("return x").replace("Module", "R"),
        "a function called R": main("return x").replace("main", "R"),
        "a variable called R": main("R = x\nreturn R.exp(x)"),
        "a Relay type of itself": "type A { B(A), }\ndef @main(%x: A) { match (%x) { B(%y) => @main(%y), } }",
        "a Relay type of growing size": "type A[T] { B(A[(T, T)]), C, }\n"
        "def @main(%x: A[int32]) { match (%x) { B(%y) => 1, C => 2, } }",
        "a Relay let of itself": relay("let %f = fn (%y) { %f(%y) }; %f(%x)"),
        "a Relay function of itself": relay("let %f = fn (%y) { %y(%y) }; %f(%f)"),
        # Half files and strings
        "an unterminated string": main('return R.str("abc'),
        "an unterminated long string": main('return R.str("""abc'),
        "a half file": main("return x")[: len(H) + 20],
        "a backslash at the end": main("return x \\"),
        "only a head": H,
        "nothing": "",
        "only a decorator": "@I.ir_module",
        "half a table": 'metadata = tvm.ir.load_json("{")\n'
        + main('return R.add(x, metadata["relax.expr.Constant"][0])'),
        "a table of another kind": 'metadata = tvm.ir.load_json(\'{"nodes": [{"type": ""}], "root_index": 0}\')\n'
        + main("return x"),
        "a table without end": "metadata = tvm.ir.load_json('" + "[" * 100_000 + "')\n" + main("return x"),
        "a negative entry of a table": main('return R.add(x, metadata["relax.expr.Constant"][-1])'),
        "half a Relay file": relay("let %y = abs(%x); ")[:-4],
        "half a Relay string": relay('"abc'),
        "half a Relay comment": relay("/* abc"),
        "Relay garbage": '#[version = "0.0.5"]\n%%% @@ [[[ <<< ~ $ ? \\',
        "a Relay version of garbage": '#[version = "' + "9" * 100_000 + '"]\ndef @main() { 1 }',
        "Relay metadata of garbage": relay("%x") + "#[metadata]\n" + "[" * 100_000,
        "Relay metadata of a negative tensor": relay("meta[relay.Constant][0]")
        + '#[metadata]\n{"root": 1, "nodes": [{"type_key": ""}, '
        '{"type_key": "Map", "keys": ["relay.Constant"], "data": [2]}, '
        '{"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "-1"}}], '
        '"b64ndarrays": ["AAAA"]}',
        "a Relay number of garbage": relay("1" * 10_000),
        "a Relay float of garbage": relay("1e99999f"),
        "a Relay tuple index over int64": relay("%x.99999999999999999999"),
        **{f"the dtype {word!r}": tensor("(2, 3)", f'"{word}"') for word in WORDS},
        **{f"a constant of the dtype {word!r}": main(f'return R.const(1, "{word}")') for word in WORDS},
        **{
            f"a prim func of the dtype {word!r}": prim("T.evaluate(0)", f'a: T.Buffer((4,), "{word}")')
            for word in WORDS
        },
        **{f"a cast to the dtype {word!r}": main(f'return R.astype(x, "{word}")') for word in WORDS},
        **{f"a Relay cast to {word!r}": relay(f'cast(%x, dtype="{word}")') for word in WORDS},
    }
)
