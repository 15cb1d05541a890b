"""Types that are read from their words: the same modules, spans and diagnostics as when they are parsed."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.script_texts import bindings, mixed
from relax_core.frontend.parse import parse_text
from relax_core.frontend.tvmscript import recover
from relax_core.frontend.tvmscript.plain.plain_types import Abbreviated, abbreviate
from relax_core.source import Source, Span
from tests.frontend.seeds import SAMPLES
from tests.narrow import is_array, is_list, is_tuple

F32 = 'R.Tensor((n, 4), dtype="float32")'
FUNCTION = f"@R.function\ndef f(x: {F32}, y: R.Object) -> {F32}:\n"
BINDING = f"    a: {F32} = R.exp(x)\n"
END = "    return a\n"
PRIM_FUNC = '@T.prim_func\ndef p(A: T.Buffer((4,), "float32")):\n'


def nested(depth: int) -> str:
    headers = "".join(f"{' ' * column}if y:\n" for column in range(4, 4 + depth))
    return f"{headers}{' ' * (4 + depth)}a: {F32} = x\n"


TRICKS = {
    "an ordinary function": FUNCTION + BINDING + END,
    "a tuple": FUNCTION + f"    a: R.Tuple({F32}, {F32}) = (x, x)\n" + END,
    "a scalar in arithmetic": f'@R.function\ndef f(x: {F32}, n: R.Prim("int64")):\n    m = n * 2\n{BINDING}{END}',
    "a scalar as a dimension": f'@R.function\ndef f(x: {F32}, k: R.Prim("int64")):\n'
    + '    a: R.Tensor((k, 4), dtype="float32") = R.exp(x)\n'
    + END,
    "a name that is no dimension": FUNCTION + f'    a: R.Tensor((m, 4), dtype="float32") = R.exp(x)\n{BINDING}{END}',
    "a variable as a dimension": FUNCTION + '    a: R.Tensor((x,), dtype="float32") = R.exp(x)\n' + END,
    "a rank": FUNCTION + '    a: R.Tensor(dtype="float32", ndim=2) = R.exp(x)\n' + END,
    "ranks in a tuple": FUNCTION + f'    a: R.Tuple({F32}, R.Tensor(dtype="float32", ndim=0)) = (x, x)\n' + END,
    "a rank and no dtype": FUNCTION + '    a: R.Tensor(dtype="flaot", ndim=2) = R.exp(x)\n' + END,
    "a rank before the dtype": FUNCTION + '    a: R.Tensor(ndim=2, dtype="float32") = R.exp(x)\n' + END,
    "a scalar in the shape of a call": f'@R.function\ndef f(x: {F32}, k: R.Prim("int64")):\n'
    + f"    a: {F32} = R.reshape(x, R.shape([k, 4]))\n"
    + END,
    "no dtype": FUNCTION + '    a: R.Tensor((n,), dtype="void") = R.exp(x)\n    b: R.Tensor((n,), "flaot") = a\n' + END,
    "a keyword as a dimension": FUNCTION + '    a: R.Tensor((for,), dtype="float32") = R.exp(x)\n' + END,
    "None as a dimension": FUNCTION + '    a: R.Tensor((None,), dtype="float32") = R.exp(x)\n' + END,
    "a long number": FUNCTION + f'    a: R.Tensor(({"9" * 30},), dtype="float32") = R.exp(x)\n' + END,
    "a number that Python refuses": FUNCTION + '    a: R.Tensor((04, 4), dtype="float32") = R.exp(x)\n' + END,
    "behind else": FUNCTION + f"    if y:\n        b = x\n    else: {F32} = x\n" + BINDING + END,
    "in a bracket": FUNCTION + f"    b = R.add(\n    x: {F32} = x)\n" + BINDING + END,
    "in a long string": FUNCTION + f'    """\n{BINDING}    """\n' + BINDING + END,
    "in a string that goes on": FUNCTION + "    R.print(format='\\\n" + BINDING[:-1] + "')\n" + BINDING + END,
    "in a comment": FUNCTION + f"    # a: {F32} = x\n" + BINDING + END,
    "two on a line": FUNCTION + BINDING[:-1] + f"; b: {F32} = a\n" + END,
    "a type without a value": FUNCTION + f"    a: {F32}\n" + BINDING + END,
    "the name of the mark": FUNCTION + f"    b: {'_plain0'.ljust(len(F32), '_')} = x\n" + BINDING + END,
    "a file constant": "n = 16\n" + FUNCTION + BINDING + END,
    "another R": "from tvm.script import relax, tir as R\n@relax" + FUNCTION[2:] + BINDING.replace("n,", "2,") + END,
    "letters beyond ASCII": "# é\n" + FUNCTION + BINDING + END,
    "in a prim func": PRIM_FUNC + BINDING + "    A[0] = A[1]\n",
    "the parameter of a prim func": f"@T.prim_func\ndef p(x: {F32}) -> {F32}:\n    T.evaluate(0)\n",
    "around a module": "if True:\n" + BINDING + FUNCTION + BINDING + END,
    "in a class": "@I.ir_module\nclass Module:\n" + BINDING,
    "in a Python function": f"@I.ir_module\nclass Module:\n    @I.pyfunc\n    def f(x: {F32}):\n        pass\n",
    "a local function": FUNCTION
    + f"    @R.function\n    def g(x: {F32}) -> {F32}:\n        a: {F32} = R.exp(x)\n        return a\n"
    + f"    a: {F32} = g(x)\n"
    + END,
    "a literal for a parameter": FUNCTION + BINDING + END + f"@R.function\ndef g(x: {F32}):\n    return f(1, x)\n",
    "a dimension of another dtype": FUNCTION + '    k = T.float32()\n    a: R.Tensor((k,), "int8") = x\n' + END,
    "a dimension above the module": 'n = TypeVar("n", "int32")\n' + FUNCTION + BINDING + END,
    "parameters twice": f"@R.function\ndef f(x: {F32}, x: {F32}):\n{BINDING}{END}",
    "of 2022": "@R.function\ndef f(x: Tensor((n, 4), 'float32')):\n" + BINDING + END,
    **{
        f"{depth} blocks in each other": FUNCTION + nested(depth) + END
        for depth in (40, 70, 74, 75, 76, 77, 78, 79, 85)
    },
}
FILES = tuple(sorted(SAMPLES.rglob("*.py")))
WITH_PLAIN_TYPES = tuple(text for path in FILES if abbreviate(text := path.read_text(encoding="utf-8")).words) + tuple(
    TRICKS.values()
)


def facts(*roots: object) -> Iterator[object]:
    """List all that there is below `roots` in one order, and which of it is one object."""
    place_of: dict[int, int] = {}
    kept: list[object] = []
    stack: list[Any] = list(roots)
    while stack:
        item = stack.pop()
        match item:
            case Span(start=start, end=end):
                yield start, end
            case Source(text=text):
                yield text
            case _ if is_tuple(item) or is_list(item):
                yield len(item)
                stack.extend(item)
            case _ if is_array(item):
                yield item.dtype, item.shape, item.tobytes()
            case _ if is_dataclass(item) and id(item) in place_of:
                yield place_of[id(item)]
            case _ if is_dataclass(item):
                place_of[id(item)] = len(place_of)
                kept.append(item)
                yield type(item)
                stack.extend(getattr(item, field.name) for field in fields(item))
            case _:
                yield repr(item)


def both_readings(text: str) -> tuple[list[object], list[object]]:
    read = parse_text(text, "text.py")
    with patch.object(recover, "abbreviate", Abbreviated):
        parsed = parse_text(text, "text.py")
    return list(facts(read.modules, read.diagnostics)), list(facts(parsed.modules, parsed.diagnostics))


@pytest.mark.parametrize("text", TRICKS.values(), ids=TRICKS)
def test_a_text_reads_the_same(text: str) -> None:
    read, parsed = both_readings(text)
    assert read == parsed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_sample_reads_the_same(path: Path) -> None:
    read, parsed = both_readings(path.read_text(encoding="utf-8"))
    assert read == parsed


@pytest.mark.parametrize("text", [bindings(200), mixed(400)], ids=["bindings", "mixed lines"])
def test_a_long_text_reads_the_same(text: str) -> None:
    read, parsed = both_readings(text)
    assert read == parsed


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_damaged_text_reads_the_same(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(WITH_PLAIN_TYPES))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.one_of(st.just(len(text)), st.integers(start, min(len(text), start + 8))))
    words = st.sampled_from(
        ('"""', "'", "(", ")", "{", "\\\n", "\n", "lambda", f"    b: {F32} = x\n", "é", "n", "_plain")
    )
    made = text[:start] + data.draw(st.one_of(words, st.text(max_size=3))) + text[end:]
    read, parsed = both_readings(made)
    assert read == parsed


def test_every_plain_type_and_call_of_a_function_is_abbreviated() -> None:
    made = abbreviate(FUNCTION + BINDING + END)
    assert "R." not in made.text.replace("R.function", "").replace("R.Object", "")
    assert len(made.text) == len(FUNCTION + BINDING + END)
    assert list(made.words.values()) == [F32, "R.exp(x)"]


@pytest.mark.parametrize("what", ["in a long string", "in a string that goes on"])
def test_a_string_is_left_as_it_is(what: str) -> None:
    made = abbreviate(TRICKS[what])
    assert made.text.count("R.Tensor") == 3
    assert made.text.count("R.exp") == 1
    assert list(made.words.values()) == [F32, "R.exp(x)"]
