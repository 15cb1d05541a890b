"""Calls that are read from their words: the same modules, spans and diagnostics as when they are parsed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relax_core.frontend.parse import parse_text
from relax_core.frontend.tvmscript.plain.plain_types import abbreviate
from relax_core.frontend.tvmscript.relax import bindings, body
from relax_core.ops import OPS
from tests.frontend.test_plain_types import both_readings

F32 = 'R.Tensor((n, 4), dtype="float32")'
HEAD = f'@R.function\ndef f(x: {F32}, w: {F32}, s: R.Prim("int64"), t: R.Tuple({F32}, {F32})) -> {F32}:\n'
END = "    return lv\n"

PLAIN = (
    "R.add(x, w)",
    "R.nn.relu(x)",
    "R.nn.softmax(x, axis=-1)",
    'R.take(x, w, axis=0, mode="fast")',
    "R.permute_dims(x, axes=None)",
    "R.permute_dims(x, axes=[1, 0])",
    "R.permute_dims(x, [])",
    "R.split(x, indices_or_sections=2, axis=-1)",
    "R.sum(x, axis=[0, -1], keepdims=True)",
    "R.reshape(x, R.shape([4, n]))",
    'R.multiply(x, R.const(0.35355338454246521, "float32"))',
    'R.full(R.shape([n, 4]), R.const(-10000.0, "float32"), dtype="float32")',
    "R.nn.layer_norm(x, w, w, axes=[-1], epsilon=1.0000000000000001e-05, center=True, scale=False)",
    "R.dot(x, w)",
    'R.vm.alloc_tensor(w, 0, R.shape([n, 4]), R.dtype("float32"), 0)',
    'R.memory.alloc_tensor(w, 0, t, R.dtype("float32"), 0)',
)
OTHERS = {
    "a keyword of Python": "R.add(for, x)",
    "a keyword of Python by name": "R.add(x, in=x)",
    "an operator that is none": "R.ad(x, x)",
    "a form of its own": 'R.call_pure_packed("f", x)',
    "an assertion": 'R.assert_op(x, "words")',
    "a name that is not defined": "R.add(x, y)",
    "a name that is no tensor": "R.add(x, n)",
    "a tuple for a tensor": "R.add(t, x)",
    "a scalar for a tensor": "R.add(s, x)",
    "a number for a tensor": "R.add(x, 1)",
    "nothing for a tensor": "R.add(x, None)",
    "a word for a number": 'R.nn.softmax(x, axis="last")',
    "a fraction for an axis": "R.sum(x, axis=[1.5])",
    "a number for an axis": "R.sum(x, axis=1)",
    "a truth value for an axis": "R.sum(x, axis=True)",
    "a truth value in a list": "R.permute_dims(x, [True, 0])",
    "a list for a shape": "R.reshape(x, [4, 2])",
    "a number for a shape": "R.reshape(x, 4)",
    "an index that is a number": "R.take(x, 1, axis=0)",
    "an argument too many": "R.nn.relu(x, w)",
    "an argument too few": "R.add(x)",
    "no argument": "R.add()",
    "an argument twice by name": "R.nn.softmax(x, axis=1, axis=0)",
    "an argument by position and by name": "R.add(x, w, x2=x)",
    "an argument by no name": "R.nn.softmax(x, axes=1)",
    "a name before a position": "R.nn.softmax(axis=1, x)",
    "a type argument by name": "R.add(x, w, ty_args=x)",
    "an undefined dimension": "R.reshape(x, R.shape([k, 4]))",
    "a tensor for a dimension": "R.reshape(x, R.shape([x, 4]))",
    "a constant that does not fit": 'R.multiply(x, R.const(300, "int8"))',
    "a constant of no dtype": 'R.multiply(x, R.const(1, "flaot"))',
    "a constant of a dtype that numpy has not": 'R.multiply(x, R.const(1.5, "bfloat16"))',
    "a constant with dimensions": 'R.multiply(x, R.const([1.5], "float32"))',
    "a number with leading zeros": "R.nn.softmax(x, axis=01)",
    "a number with a letter": "R.nn.softmax(x, axis=1j)",
    "a number with a dot": "R.nn.layer_norm(x, w, w, axes=[-1], epsilon=1.)",
    "a very long number": f"R.nn.softmax(x, axis={'9' * 30})",
    "a number of 64 bits": f"R.nn.softmax(x, axis={10**18 - 1})",
    "a minus before a zero": "R.nn.layer_norm(x, w, w, axes=[-0], epsilon=-0.0)",
    "a string with an escape": 'R.take(x, w, axis=0, mode="fa\\nst")',
    "a string of other letters": 'R.take(x, w, axis=0, mode="fäst")',
    "a comma at the end": "R.add(x, w,)",
    "two on a line": f"R.add(x, w); b: {F32} = R.exp(x)",
    "a comment behind": "R.add(x, w)  # a sum",
    "arithmetic": "R.add(x, w) + x",
    "a dtype that is none": 'R.vm.alloc_tensor(w, 0, R.shape([n, 4]), R.dtype("flaot"), 0)',
    "a word": 'R.memory.alloc_storage(R.shape([64]), 0, R.str("global"), R.dtype("uint8"))',
    "a call of 2022": 'R.call_tir("f", (x,), (n, 4), dtype="float32")',
}


def text_of(value: str, before: str = "") -> str:
    return f"{HEAD}{before}    lv: {F32} = {value}\n{END}"


@pytest.mark.parametrize("value", PLAIN)
def test_a_plain_call_is_read_from_its_words(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert value in abbreviate(text_of(value)).words.values()
    read, parsed = both_readings(text_of(value))
    assert read == parsed
    monkeypatch.setattr(bindings, "written_out", _unused)
    assert len(parse_text(text_of(value), "text.py").modules) == 1


def _unused(*_: object) -> None:
    raise AssertionError("the call was parsed")


@pytest.mark.parametrize("value", OTHERS.values(), ids=OTHERS)
def test_another_call_reads_the_same(value: str) -> None:
    read, parsed = both_readings(text_of(value))
    assert read == parsed


@pytest.mark.parametrize(
    "before",
    [
        "    R = x\n",
        "    n = x\n",
        "    x = s\n",
        "    with R.dataflow():\n    ",
        "    if s:\n    ",
        "    m = s * 2\n",
        "    k = T.float32()\n",
    ],
)
@pytest.mark.parametrize("value", ["R.add(x, w)", "R.reshape(x, R.shape([n, 4]))", "R.reshape(x, R.shape([k, 4]))"])
def test_a_call_behind_other_statements_reads_the_same(before: str, value: str) -> None:
    read, parsed = both_readings(text_of(value, before))
    assert read == parsed


MODULE = f"""@I.ir_module
class Module:
    @T.prim_func(private=True)
    def g(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i]

    @R.function
    def f(x: {F32}, w: {F32}, s: R.Prim("int64")) -> {F32}:
{{}}        return x
"""
EFFECTS = {
    "a prim func": ("cls = Module", "cls.g(x, w)"),
    "without saying what cls is": ("cls.g(x, w)",),
    "another cls": ("cls = x", "cls.g(x, w)"),
    "a function that is none": ("cls.h(x, w)",),
    "a dimension": ("cls.g(x, n)",),
    "a scalar": ("cls.g(x, s)",),
    "a name that is not defined": ("cls.g(x, y)",),
    "a keyword of Python": ("cls.g(x, for)",),
    "no arguments": ("cls.g()",),
    "an end": ("R.vm.kill_object(x)", "R.memory.kill_tensor(w)", "R.memory.kill_storage(w)"),
    "an end of nothing": ("R.vm.kill_object()",),
    "an operator that is none": ("R.vm.kill(x)",),
    "a value that is not used": ("R.memory.ensure_zero_offset(x)",),
    "another R": ("R = x", "R.vm.kill_object(x)"),
    "a branch": ("if s:", "    cls.g(x, w)", "    y = x", "else:", "    y = w"),
    "a dataflow block": ("with R.dataflow():", "    cls.g(x, w)", "    y = x", "    R.output(y)"),
    "the type of a result": (
        f"y = R.call_tir(cls.g, (x,), out_ty={F32})",
        f"z = R.call_tir(cls.g, R.tuple(), out_sinfo={F32})",
    ),
    "the type of a result, with a scalar": (f"y = R.call_tir(cls.g, (x, n), out_ty={F32})",),
    "a scalar in the type of a result": ('y = R.call_tir(cls.g, (x,), out_ty=R.Tensor((s, 4), dtype="float32"))',),
    "the wrong type of a result": ('y = R.call_tir(cls.g, (x,), out_ty=R.Tensor((k, 4), dtype="float32"))',),
    "no dtype of a result": ('y = R.call_tir(cls.g, (x,), out_ty=R.Tensor((n, 4), dtype="flaot"))',),
    "the types of results": (f"y = R.call_tir(cls.g, (x,), out_ty=R.Tuple({F32}, {F32}))",),
}


@pytest.mark.parametrize("lines", EFFECTS.values(), ids=EFFECTS)
def test_calls_of_functions_and_of_the_machine_read_the_same(lines: tuple[str, ...]) -> None:
    text = MODULE.format("".join(f"        {line}\n" for line in lines))
    read, parsed = both_readings(text)
    assert read == parsed


def test_a_line_that_is_a_call_is_read_from_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (f"y = R.call_tir(cls.g, (x,), out_ty={F32})", "cls.g(x, w)", "R.vm.kill_object(x)")
    text = MODULE.format("".join(f"        {line}\n" for line in lines))
    assert {F32, *lines[1:]} <= set(abbreviate(text).words.values())
    monkeypatch.setattr(body, "written_out", _unused)
    assert len(parse_text(text * 20, "text.py").modules) == 20


ARGUMENTS = (
    "x", "w", "t", "s", "n", "y", "1", "-1", "0", "1.5", "1e-05", "None", "True", '"NCHW"', '"float32"', "[1, 2]", "[]",
    "R.shape([n, 4])", "R.shape([2])", "R.shape([])", 'R.const(1.5, "float32")', 'R.const(7, "int64")',
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_call_reads_the_same(data: st.DataObject) -> None:
    spec = data.draw(st.sampled_from(list(OPS.values())))
    arguments = st.sampled_from(ARGUMENTS)
    by_position = data.draw(st.lists(arguments, max_size=3))
    names = st.sampled_from([param.name for param in spec.params] or ["axis"])
    by_name = data.draw(st.lists(st.tuples(names, arguments), max_size=3))
    words = ", ".join([*by_position, *(f"{name}={value}" for name, value in by_name)])
    read, parsed = both_readings(text_of(f"R.{spec.short_name}({words})"))
    assert read == parsed
