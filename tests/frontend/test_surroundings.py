"""Programs inside of functions, loops and classes are read with what Python would give the names around them."""

import ast
from textwrap import indent

import pytest

from relax_core.frontend.parse import parse_text
from relax_core.frontend.tvmscript.literal.file_constants import constants_of
from relax_core.frontend.tvmscript.literal.python_values import evaluated
from relax_core.ir.equality import first_difference
from relax_core.ir.module import IRModule
from tests.counting import work_of

COPY = """
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer(({n}, 4), {dtype}), B: T.Buffer(({n}, 4), {dtype})):
        for i, j in T.grid({n}, 4):
            B[i, j] = {value}
"""
INSIDE = COPY.format(n="n", dtype="dtype", value="A[i, j]")
FILES = {
    "a test of several values": f"""
@pytest.mark.parametrize("n", [8, 16])
@pytest.mark.parametrize("dtype", [pytest.param("int8", id="small"), "int16"])
def test_copies(n, dtype):
{INSIDE}
""",
    "a test of pairs": f"""
@pytest.mark.parametrize(("n", "dtype"), ((8, "int8"), (16, "int16")))
def test_copies(n, dtype):
{INSIDE}
""",
    "pairs by names in one string": f"""
@pytest.mark.parametrize("n, dtype", [pytest.param(8, "int8", id="small"), (16, "int16")])
def test_copies(n, dtype):
{INSIDE}
""",
    "parameters of TVM's tests": f"""
n = tvm.testing.parameter(8, 16)
dtype, target = tvm.testing.parameters(("int8", "llvm"), ("int16", "llvm"))
def test_copies(n, dtype, target):
{INSIDE}
""",
    "defaults": f"""
def copies(n=8, *, dtype="int8"):
{INSIDE}
    return f
""",
    "a call": f"""
N = 4
def copies(n, dtype="int16"):
{INSIDE}
    return f
f = copies(2 * N, dtype="int" + "8")
g = copies(16)
""",
    "loops": f"""
def test_copies():
    for n, dtype in [(8, "int8"), (16, "int16")]:
        with tvm.target.Target("llvm"):
            if True:
{indent(INSIDE, " " * 12)}
""",
    "choices and parts": """
options = dict(n=8, dtypes={"small": "int8"})
shape = (options["n"], 4)
def test_copies():
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer(shape, options["dtypes"]["small"]), B: T.Buffer(shape, "int8" if True else "int16")):
        for i, j in T.grid(shape[0], 4):
            B[i, j] = A[i, j]
""",
    "a loop over what functions make": f"""
def test_copies():
    for place, (n, dtype) in enumerate(zip(range(8, 10), ["int8", "int16"])):
{indent(INSIDE, " " * 4)}
""",
    "a test of computed values": f"""
SIZES = [2 * size for size in (4, 5, 6) if size != 5]
@pytest.mark.parametrize("n", SIZES[::-1][1:] + [0] * 2)
def test_copies(n):
    is_small = len(SIZES) == 2 and n in SIZES
    dtype = "{{}}{{}}".format("int", n) if is_small else None
{INSIDE}
""",
    "the base of a file's tests": f"""
class Compare:
    transform = None
    def test(self):
        assert self.transform
class TestCopies(Compare):
{COPY.format(n=8, dtype='"int8"', value="A[i, j]")}
""",
}
FUNCTIONS = {
    "a function of one expression": (
        """
def place(i, j, step=4):
    "Where it lies."
    return i * step + j
twice = lambda x: x + x
""",
        "twice(A[place(i, j) // 4, place(i, j=j) % 4])",
        "A[(i * 4 + j) // 4, (i * 4 + j) % 4] + A[(i * 4 + j) // 4, (i * 4 + j) % 4]",
    ),
    "a function that names its parts": (
        """
def more(x):
    y = x + x
    z = y * y
    return z + x
""",
        "more(A[i, j])",
        "(A[i, j] + A[i, j]) * (A[i, j] + A[i, j]) + A[i, j]",
    ),
    "a function of functions": (
        "K = 3\nadded = lambda x: x + T.int8(K)\nmore = lambda x: added(added(x))\n",
        "more(A[i, j])",
        "A[i, j] + T.int8(3) + T.int8(3)",
    ),
}


VALUES = {
    "len((1, 2)) + sum((3, 4)) - min(1, 2)": 8,
    "int(math.prod((2, 4)) * math.sqrt(1.0))": 8,
    "max(sorted((8, 3))[-1], abs(-2))": 8,
    "{'a': (1, 8)}['a'][1] if not any((False, 0)) else 1": 8,
    "dict(a=8)['a'] or 1": 8,
    "2 ** 3 % 9": 8,
    "tuple(reversed((1, 8)))[0]": 8,
    "round(8.2)": 8,
}
REFUSED = ("2 ** 1000", "'x' * 10 ** 9", "1 // 0", "(1, 2)[5]", "open('f')", "len(8)", "'{0.__class__}'.format(1)")


def only(text: str) -> IRModule:
    parsed = parse_text(text, "test_file.py")
    assert [item.render() for item in parsed.diagnostics if item.severity != "note"] == []
    (module,) = parsed.modules
    return module


@pytest.mark.parametrize("name", FILES)
def test_a_program_is_read_with_the_first_values_of_names_around_it(name: str) -> None:
    expected = only("@I.ir_module\nclass Module:\n" + COPY.format(n=8, dtype='"int8"', value="A[i, j]"))
    assert first_difference(only(FILES[name]), expected) is None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_expression_are_written_out(name: str) -> None:
    around, used, written = FUNCTIONS[name]
    shapes = {"n": 8, "dtype": '"int8"'}
    expected = only("@I.ir_module\nclass Module:\n" + COPY.format(value=written, **shapes))
    assert first_difference(only(around + "if True:\n" + COPY.format(value=used, **shapes)), expected) is None


def test_a_function_that_would_write_out_too_much_is_not() -> None:
    lines = ["f0 = lambda x: x + x"] + [f"f{k + 1} = lambda x: f{k}(x) + f{k}(x)" for k in range(40)]
    text = "\n".join(lines) + "\nif True:\n" + COPY.format(n=8, dtype='"int8"', value="f40(A[i, j])")
    assert [item.code for item in parse_text(text, "m.py").diagnostics if item.severity == "error"] == ["PA009"]


def test_a_value_that_is_chosen_is_noted() -> None:
    notes = [item.message for item in parse_text(FILES["a test of pairs"], "m.py").diagnostics]
    assert notes == [
        "`n` stands for `8` here, the first of its values in the text",
        "`dtype` stands for `'int8'` here, the first of its values in the text",
    ]


@pytest.mark.parametrize("expression", VALUES)
def test_what_python_computes_is_computed(expression: str) -> None:
    around = f"n = {expression}\nif True:\n"
    inside = COPY.format(n="n", dtype='"int8"', value="A[i, j]")
    expected = only(
        "@I.ir_module\nclass Module:\n" + COPY.format(n=VALUES[expression], dtype='"int8"', value="A[i, j]")
    )
    assert first_difference(only(around + inside), expected) is None


@pytest.mark.parametrize("expression", REFUSED)
def test_what_has_no_value_or_a_large_one_is_not_computed(expression: str) -> None:
    text = f"n = {expression}\nif True:\n" + COPY.format(n="n[0]", dtype='"int8"', value="A[i, j]")
    assert [item for item in parse_text(text, "m.py").diagnostics if item.severity == "error"] != []


def test_tables_that_double_are_not_written_out() -> None:
    lines = ["t0 = (1, 2)", *(f"t{k + 1} = (t{k}, t{k})" for k in range(40))]
    text = "\n".join(lines) + "\nif True:\n" + COPY.format(n="len(t40)", dtype='"int8"', value="A[i, j]")
    assert [item for item in parse_text(text, "m.py").diagnostics if item.severity == "error"] != []


DOUBLED = "[(x, x) for x in " * 30 + "[1]" + "]" * 30


@pytest.mark.parametrize(
    "expression",
    [
        "(t, t)",
        "len(str((t,) * 2000))",
        "len(sum((t,) * 2000, ()))",
        "{1: (t,) * 2000}",
        "math.prod((9 ** 40,) * 2000)",
        "round(1, -10**8)",
        "sorted([tuple(range(2000)) for b in range(2000)])",
        DOUBLED,
        f"{DOUBLED} == {DOUBLED}",
        '"{}{}".format("x" * 2000, "x" * 2000)',
    ],
)
def test_what_would_take_all_memory_or_time_is_not_computed(expression: str) -> None:
    known = constants_of(ast.parse("t = (0,) * 1500").body)
    assert known
    assert evaluated(ast.parse(expression, mode="eval").body, known) is None


def test_the_work_grows_with_the_length_of_a_file_of_tests() -> None:
    def reading(count: int) -> int:
        text = "".join(
            f"""
def test_{k}(n=4):
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((n, 4), "float32")) -> R.Tensor((n, 4), "float32"):
            y = R.add(x, x)
            return y
    check(M)
"""
            for k in range(count)
        )
        return work_of(lambda: parse_text(text, "tests.py"))

    assert reading(160) / reading(20) <= 12
