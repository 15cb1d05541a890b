"""Macros are expanded where they are called; constants around a module are literals; old blocks are blocks."""

import pytest

from relax_core.frontend.parse import Parsed, parse_text
from relax_core.ir.equality import first_difference
from relax_core.printer.tvmscript import print_module

HEAD = "@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((8,), 'int32'), n: T.int32):\n"


def parsed(before: str, body: str) -> Parsed:
    return parse_text(before + HEAD + "".join(f"    {line}\n" for line in body.split("\n")), "macros.py")


# What stands before the function and in it; the body that it is equal to.
EQUAL: dict[str, tuple[str, str, str]] = {
    "a macro": ("@T.inline\ndef g(X, i):\n    X[i] = 3\n", "g(A, n + 1)", "A[n + 1] = 3"),
    "a macro with names of its own": (
        "@T.macro\ndef g(X, i):\n    n: T.let[T.int32] = i\n    X[n] = n\n",
        "g(A, n)\nA[1] = n",
        "k: T.let[T.int32] = n\nA[k] = k\nA[1] = n",
    ),
    "a macro with all kinds of parameters": (
        "@T.inline\ndef g(X, i, *more, scale=3, **by_name):\n    X[i] = scale + more[0] + by_name['z']\n",
        "g(A, n, n, z=n)\ng(A, 1, n, scale=4, z=7)",
        "A[n] = 3 + n + n\nA[1] = 4 + n + 7",
    ),
    "a macro that calls a macro": (
        "@T.inline\ndef h(X, i):\n    X[i] = 1\n@T.inline\ndef g(X, put, *more):\n    put(X, *more)\n",
        "g(A, h, 2)",
        "A[2] = 1",
    ),
    "a macro inside of the function": ("", "@T.inline\ndef g(i):\n    A[i] = n\ng(3)", "A[3] = n"),
    "a macro that looks names up where it is called": (
        "@T.macro(hygienic=False)\ndef g():\n    A[0] = n\n",
        "g()",
        "A[0] = n",
    ),
    "a macro with the axes of a block": (
        "@T.macro\ndef g(X, i):\n    v = T.axis.spatial(8, i)\n    X[v] = 1\n",
        "for i in range(8):\n    with T.sblock('b'):\n        g(A, i)",
        "for i in range(8):\n    with T.sblock('b'):\n        v = T.axis.spatial(8, i)\n        A[v] = 1",
    ),
    "what a macro declares lives on": (
        "@T.inline\ndef g(X):\n    C = T.alloc_buffer((4,), 'int32')\n    C[0] = X[0]\n",
        "g(A)\nA[1] = 2",
        "C = T.alloc_buffer((4,), 'int32')\nC[0] = A[0]\nA[1] = 2",
    ),
    "constants of the file": (
        "N = 4\nM = N * 2 - 1\nname = 'b'\n",
        "for i in range(N):\n    with T.sblock(name):\n        A[M] = N",
        "for i in range(4):\n    with T.sblock('b'):\n        A[7] = 4",
    ),
    "a name of the function hides the constant": (
        "N = 4\n",
        "for N in range(3):\n    A[N] = 1",
        "for N in range(3):\n    A[N] = 1",
    ),
    "a block of 2021": (
        "",
        "for i, j in T.grid(8, 4):\n    with T.block([8, T.reduce_axis(0, 4)], 'b') as [vi, vj]:\n"
        "        T.bind(vi, i)\n        T.bind(vj, j)\n        A[vi] = vj",
        "for i, j in T.grid(8, 4):\n    with T.block('b'):\n        vi, vj = T.axis.remap('SR', [i, j])\n"
        "        A[vi] = vj",
    ),
    "a block of 2021 without bindings": (
        "",
        "for k, i, j in T.grid(2, 8, 4):\n    with T.block([8, T.scan_axis(1, 4)]) as [vi, vj]:\n        A[vi] = vj",
        "for k, i, j in T.grid(2, 8, 4):\n    with T.block():\n        vi = T.axis.spatial(8, i)\n"
        "        vj = T.axis.scan((1, 4), j)\n        A[vi] = vj",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_it_is_equal_to_what_it_stands_for(name: str) -> None:
    before, body, meaning = EQUAL[name]
    short, long = parsed(before, body), parsed("", meaning)
    assert [item.render() for item in (*short.diagnostics, *long.diagnostics)] == []
    assert first_difference(short.modules[0], long.modules[0]) is None
    again = parse_text(print_module(short.modules[0]).text, "again.py")
    assert first_difference(short.modules[0], again.modules[0], strict=True) is None


MANY = "".join(f"@T.inline\ndef g{i}(X):\n    g{i + 1}(X)\n    g{i + 1}(X)\n" for i in range(40))


@pytest.mark.parametrize(
    ("before", "body", "found"),
    [
        ("@T.inline\ndef g(X):\n    g(X)\n", "g(A)", ["`g(X)`, a macro that calls itself"]),
        (MANY + "@T.inline\ndef g40(X):\n    X[0] = 1\n", "g0(A)", ["which makes more than 100000 statements"]),
        ("@T.inline\ndef g(X):\n    X[0] = 1\n", "g()", ["`g()`: `X` is missing"]),
        ("@T.inline\ndef g(X):\n    X[0] = 1\n", "g(A, 1)", ["`g(A, 1)`: too many arguments"]),
        ("@T.inline\ndef g(X):\n    X[0] = n\n", "g(A)", ["`n` is not defined"]),
        ("@T.inline\ndef g(X):\n    return X\n", "A[0] = g(n)", ["`g(n)`"]),
        ("@T.macro(1)\ndef g(X):\n    X[0] = 1\n", "g(A)", ["`@T.macro(1)`"]),
        ("", "if n > 2:\n    return\nA[0] = 1", ["`return` without a value"]),
        ("", "for i in T.grid(n, 2, kind=1):\n    A[0] = 1", ["`kind=` of a loop"]),
        ("", "for *i, *j in T.grid(n, 2):\n    A[0] = 1", ["2 ranges for 2 loop variables"]),
        ("", "a = T.meta_var((n, n))\nA[0] = a[2]", ["`a` stands for 2 things"]),
        ("", "A[0:n] = A[0:n]", ["the length of the slice `0:n` is not known"]),
    ],
)
def test_what_cannot_be_expanded_is_named(before: str, body: str, found: list[str]) -> None:
    errors = [item for item in parsed(before, body).diagnostics if item.severity == "error"]
    assert len(errors) == len(found), [item.render() for item in errors]
    assert all(words in item.message and item.span for words, item in zip(found, errors, strict=True))
