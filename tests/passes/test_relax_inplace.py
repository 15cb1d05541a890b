"""DataflowUseInplaceCalls: which results are written into arguments, as in apache-tvm, and that values stay."""

import re

import pytest

import relax_core as rc
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import in_tvm, passed, remarks, same_values

NAME = "DataflowUseInplaceCalls"
PAIR = 'x: R.Tensor((2, 3), dtype="float32"), y: R.Tensor((1, 3), dtype="float32")'
CASES = {
    "a chain": (
        PAIR,
        "z = R.add(x, y); p = R.subtract(z, y); q = R.nn.relu(p); r = R.multiply(p, y); s = R.nn.silu(r); "
        "t = R.divide(s, s); u = R.add(q, t)",
    ),
    "parameters stay": (PAIR, "u = R.add(x, x)"),
    "a value that is read later": (PAIR, "z = R.add(x, y); p = R.nn.relu(z); u = R.add(p, z)"),
    "an output": (PAIR, "z = R.add(x, y); w = z; p = R.nn.relu(z); u = (p, w)"),
    "a view that is read later": (
        PAIR, "z = R.add(x, y); v = R.reshape(z, (3, 2)); p = R.nn.relu(z); w = R.nn.relu(v); u = (p, w)",
    ),
    "a field that is read later": (
        PAIR, "z = R.add(x, y); t = (z, z); a = t[0]; p = R.nn.relu(z); b = R.nn.silu(a); u = (p, b)",
    ),
    "another field": (
        PAIR, "z = R.add(x, y); v = R.add(x, x); t = (z, v); a = t[0]; p = R.nn.relu(a); b = t[1]; u = (p, b)",
    ),
    "another shape": (PAIR, "z = R.add(y, y); u = R.add(z, x)"),
    "two views of one": (
        PAIR, "z = R.add(x, y); a = R.reshape(z, (3, 2)); b = R.permute_dims(z); u = R.add(a, b)",
    ),
    "what a packed function may return": (
        PAIR,
        "z = R.add(x, y); a = R.call_pure_packed('f', z, ty_args=(R.Tensor((2, 3), dtype='float32'),)); "
        "p = R.nn.relu(z); b = R.nn.silu(a); u = (p, b)",
    ),
    "a symbolic size": (PAIR.replace("2, 3", "'n', 3"), "z = R.add(x, y); p = R.nn.relu(z); u = R.multiply(p, y)"),
    "a product of symbolic sizes": (
        PAIR.replace("2, 3", "'n', 'm'").replace("1, 3", "1, 'm'"),
        "n = T.int64(); m = T.int64(); z = R.add(x, y); p = R.reshape(z, R.shape([n * m])); u = R.nn.relu(p)",
    ),
}  # fmt: skip


def program(params: str, lines: str) -> str:
    body = "\n            ".join(line.strip() for line in (*lines.split(";"), "R.output(u)"))
    return f"""
    @R.function
    def main({params}):
        with R.dataflow():
            {body}
        return u
"""


def written(text: str) -> list[tuple[str, str]]:
    """Return the variables that a program writes into arguments, with the places of these."""
    lines = (line.strip() for line in text.splitlines() if "call_tir_inplace" in line)
    return [(line.split(":")[0].split(" ")[0], re.findall(r"inplace_indices=\[?(\d)", line)[0]) for line in lines]


@pytest.mark.parametrize("name", CASES)
def test_arguments_are_written_where_tvm_writes_them(name: str) -> None:
    module = in_tvm(program(*CASES[name]))
    stage = passed(rc.parse(module.script()), NAME)
    assert written(rc.script(stage.after)) == written(relax.transform.DataflowUseInplaceCalls()(module).script())


@pytest.mark.parametrize("name", [name for name in CASES if "packed" not in name])
def test_the_value_stays(name: str) -> None:
    before = parse(program(*CASES[name]))
    same_values(before, passed(before, NAME).after)


def test_a_constant_is_not_written() -> None:
    """apache-tvm writes into it, and the second run gives another value."""
    before = parse(program('x: R.Tensor((), dtype="float32")', "c = R.const(2.0); z = R.add(c, x); u = R.nn.relu(z)"))
    after = passed(before, NAME).after
    assert [var for var, _ in written(rc.script(after))] == ["u"]
    same_values(before, after)
    same_values(before, after)


def test_remarks_say_what_is_written_and_why_not() -> None:
    stage = passed(parse(program(*CASES["a value that is read later"])), NAME)
    assert remarks(stage, "applied") == ["u is written into z, which nothing reads behind it"]
    assert remarks(stage, "missed") == [
        "z needs memory of its own: x comes from outside the block",
        "p needs memory of its own: z is read later",
    ]
