"""Macros of Relax are read in the place of their calls, as apache-tvm does."""

import pytest

import relax_core as rc
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import first_difference

HEAD = """@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
"""
DOUBLE = "@R.macro\ndef double(x):\n    z = R.add(x, x)\n    return R.multiply(z, x)\n"


def module_of(macros: str, body: str) -> str:
    return macros + HEAD + "".join(f"        {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize(
    ("macros", "body", "written_out"),
    [
        (DOUBLE, "a = double(q)\nreturn a", "z = R.add(q, q)\nm = R.multiply(z, q)\na = m\nreturn a"),
        (DOUBLE, "return double(q)", "z = R.add(q, q)\nm = R.multiply(z, q)\nreturn m"),
        (
            DOUBLE,
            "z = R.exp(q)\na = double(R.add(z, z))\nb = double(a)\nreturn R.add(b, z)",
            "z = R.exp(q)\ny = R.add(R.add(z, z), R.add(z, z))\nm = R.multiply(y, R.add(z, z))\na = m\n"
            "w = R.add(a, a)\nn = R.multiply(w, a)\nb = n\nreturn R.add(b, z)",
        ),
        (
            DOUBLE,
            "with R.dataflow():\n    a = double(q)\n    R.output(a)\nreturn a",
            "with R.dataflow():\n    z = R.add(q, q)\n    m = R.multiply(z, q)\n    a = m\n    R.output(a)\nreturn a",
        ),
        (
            DOUBLE + "@R.macro\ndef four(x):\n    y = double(x)\n    return double(y)\n",
            "a: R.Tensor((4,), 'float32') = four(q)\nreturn a",
            "z = R.add(q, q)\nm = R.multiply(z, q)\ny = m\nw = R.add(y, y)\nn = R.multiply(w, y)\n"
            "a: R.Tensor((4,), 'float32') = n\nreturn a",
        ),
        (
            "@R.macro(hygienic=False)\ndef more(k):\n    w = R.add(q, k)\n    return w\n",
            "a = more(q)\nreturn a",
            "w = R.add(q, q)\na = w\nreturn a",
        ),
        (
            "@R.macro\ndef made(dtype, y, k=2):\n"
            "    w = R.full((4,), R.const(k, dtype), dtype)\n    return R.add(w, y)\n",
            "a = made(y=q, dtype='float32')\nreturn a",
            "w = R.full((4,), R.const(2, 'float32'), 'float32')\nm = R.add(w, q)\na = m\nreturn a",
        ),
    ],
    ids=[
        "bound",
        "returned",
        "names of its own",
        "in dataflow",
        "a macro in a macro",
        "names of the caller",
        "literals",
    ],
)
def test_a_macro_is_what_it_writes(macros: str, body: str, written_out: str) -> None:
    parsed = parse_text(module_of(macros, body), "macros.py")
    assert parsed.diagnostics == ()
    (module,) = parsed.modules
    assert first_difference(module, rc.parse(module_of("", written_out))) is None
    assert rc.check(module) == ()


@pytest.mark.parametrize(
    ("macros", "body", "message"),
    [
        ("@R.macro\ndef f(x):\n    y = f(x)\n    return y\n", "a = f(q)\nreturn a", "a macro that calls itself"),
        ("@R.macro\ndef f(x):\n    y = R.add(x, x)\n", "a = f(q)\nreturn a", "the macro `f` returns nothing"),
        ("@R.macro\ndef f(*x):\n    return x[0]\n", "a = f(q)\nreturn a", "with `*` or `**` among its parameters"),
        (DOUBLE, "a = double()\nreturn a", "`x` is missing"),
        (DOUBLE, "a = double(q, q)\nreturn a", "too many arguments"),
        ("@R.macro\ndef f(x):\n    return R.add(x, q)\n", "a = f(q)\nreturn a", "`q` is not defined"),
        (
            "".join(f"@R.macro\ndef f{k}(x):\n    y = f{k + 1}(x)\n    return f{k + 1}(y)\n" for k in range(16))
            + "@R.macro\ndef f16(x):\n    return R.add(x, x)\n",
            "a = f0(q)\nreturn a",
            "which makes more than 10000 statements",
        ),
    ],
    ids=["itself", "no result", "several", "too few", "too many", "no name of the caller", "doubling"],
)
def test_what_a_macro_cannot_do_is_said_once(macros: str, body: str, message: str) -> None:
    found = parse_text(module_of(macros, body), "macros.py").diagnostics
    assert [message in item.message for item in found] == [True], found
