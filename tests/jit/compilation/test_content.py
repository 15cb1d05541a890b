"""Prim funcs as bytes: equal for equal programs, different for all others, and made again into the same code."""

import json
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from relax_core.diagnostics import CompileError
from relax_core.frontend.parse import parse_text
from relax_core.ir.equality import structural_equal
from relax_core.ir.node import Node
from relax_core.ir.prim import FloatImm, PrimExpr, binary
from relax_core.ir.tir import PrimFunc
from relax_core.jit.compilation.content import nodes_of, rows_of
from relax_core.jit.compilation.metadata import KernelMetadata
from relax_core.jit.compilation.specialisation import Request, Specialisation
from relax_core.jit.compilation.target import Target
from relax_core.jit.lowering.known.symbols import shape_symbols
from relax_core.jit.options import KernelOptions
from relax_core.passes.pipeline import run_pipeline
from tests.jit.programs import Buffer, BufferStore, PrimVar, elementwise, for_each, integer, prim_func

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
TARGET = Target()
OPTIONS = KernelOptions(vector_bits=256, threads=2)
EXTENT = 5
OPERATORS = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 6, 8), "float32"), w: R.Tensor((8, 16), "float32"), c: R.Tensor((4, 3, 9, 9), "float32"),
             k: R.Tensor((8, 3, 3, 3), "float32"), at: R.Tensor((3,), "int64")):
        a = R.nn.softmax(R.matmul(x, w), axis=-1)
        b = R.permute_dims(R.nn.conv2d(c, k, padding=[1, 1]), [0, 2, 3, 1])
        d = R.take(R.sum(R.nn.gelu(x), axis=[1]), at, axis=0)
        e = R.cumsum(R.astype(R.nn.pad(x, [0, 0, 1, 1, 2, 2]), "float16"), axis=1)
        return a, b, d, e
"""


@lru_cache(1)
def corpus() -> Mapping[str, tuple[PrimFunc, Mapping[str, PrimFunc]]]:
    """Return prim funcs of the samples and of operators, each with those of its module."""
    found: dict[str, tuple[PrimFunc, Mapping[str, PrimFunc]]] = {}
    for path in sorted((SAMPLES / "tir").glob("*.py")):
        for module in parse_text(path.read_text(encoding="utf-8"), path.name).modules:
            functions = {var.name: function for var, function in module.prim_funcs}
            found.update((f"{path.name} {name}", (function, functions)) for name, function in functions.items())
    legalised = run_pipeline(parse_text(OPERATORS, "operators.py").modules[0], "LegalizeOps")[-1].after
    functions = {var.name: function for var, function in legalised.prim_funcs}
    found.update((name, (function, functions)) for name, function in functions.items())
    return found


def nowhere(node: Node) -> None:
    del node


def wanted(function: PrimFunc, functions: Mapping[str, PrimFunc], options: KernelOptions = OPTIONS) -> Specialisation:
    """Ask for `function` with `EXTENT` for all of its symbols."""
    return Specialisation(function, functions, options, tuple(EXTENT for _ in shape_symbols(function)))


def request_of(function: PrimFunc, functions: Mapping[str, PrimFunc] | None = None) -> Request:
    found = wanted(function, functions or {}).request()
    assert found is not None
    return found


def metadata_of(item: Specialisation) -> KernelMetadata | str:
    """Return what is known of the code, which holds a digest of it, or why there is none."""
    try:
        return item.metadata(item.lowered(nowhere), TARGET)
    except CompileError as error:
        return ", ".join(found.code for found in error.diagnostics)


def without_symbol(function: PrimFunc) -> PrimFunc:
    return replace(function, attrs=tuple(pair for pair in function.attrs if pair[0] != "global_symbol"))


VARIATIONS: dict[str, Callable[[Specialisation], Specialisation]] = {
    "exact": lambda item: item,
    "fast": lambda item: replace(item, options=replace(OPTIONS, mode="fast")),
    "that may overlap": lambda item: replace(item, are_distinct=False),
    "that finds what is not written": lambda item: replace(item, options=replace(OPTIONS, finds_uninitialised=True)),
}


@pytest.mark.parametrize("variation", VARIATIONS)
def test_what_is_made_again_is_lowered_to_the_same_code(variation: str) -> None:
    kinds: set[type] = set()
    for name, (function, functions) in corpus().items():
        given = VARIATIONS[variation](wanted(function, functions))
        request = given.request()
        assert request is not None, name
        again = request.specialisation()
        assert structural_equal(without_symbol(function), again.function), name
        assert again.request() == request, name
        assert (again.options, again.sizes, again.are_distinct) == (given.options, given.sizes, given.are_distinct)
        metadata = metadata_of(given)
        assert metadata == metadata_of(again), name
        kinds.add(type(metadata))
    assert KernelMetadata in kinds
    assert len(corpus()) > 15


def test_what_is_for_any_sizes_has_no_name() -> None:
    function = elementwise(lambda x: x, 1, ("float32",), "float32")
    assert Specialisation(function, {}, OPTIONS, None).request() is None


def renamed(text: str) -> PrimFunc:
    ((_, function),) = parse_text(text, "test").modules[0].prim_funcs
    return function


SCALE = """
@T.prim_func
def scale(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
    for i, j in T.grid(5, 7):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2) + A[vi, 0]
"""
OTHERS = {
    "a constant": ("T.float32(2)", "T.float32(3)"),
    "an index": ("A[vi, 0]", "A[vi, 1]"),
    "a variable in the place of another": ("A[vi, 0]", "A[vi, vj]"),
    "the sign of an operation": (" + ", " - "),
    "a buffer in the place of another": ("A[vi, 0]", "B[vi, 0]"),
    "a shape": ("(5, 7)", "(5, 8)"),
    "a dtype": ('B: T.Buffer((5, 7), "float32")', 'B: T.Buffer((5, 7), "float64")'),
    "the kind of an axis": ('"SS"', '"SR"'),
    "the order of loops": ("for i, j in", "for j, i in"),
    "an attribute": ("    for i", '    T.func_attr({"tir.noalias": True})\n    for i'),
}


def test_names_and_places_take_no_part() -> None:
    names = {"A": "Input", "B": "Output", "vi": "row", "vj": "column", "scale": "other"}
    text = SCALE
    for old, new in names.items():
        text = "".join(new if part == old else part for part in _words(text))
    assert "Output[row, column] = Input[row, column]" in text
    moved = "# A comment.\n" + text.replace("    for", '    T.func_attr({"global_symbol": "kernel"})\n    for')
    assert request_of(renamed(SCALE)) == request_of(renamed(moved))
    assert request_of(renamed(SCALE)).key(TARGET) == request_of(renamed(moved)).key(TARGET)


def _words(text: str) -> list[str]:
    """Cut a text into words and what stands between them."""
    parts: list[str] = [""]
    for letter in text:
        if not (letter.isidentifier() and parts[-1].isidentifier()):
            parts.append("")
        parts[-1] += letter
    return parts


@pytest.mark.parametrize("name", OTHERS)
def test_another_program_has_another_name(name: str) -> None:
    old, new = OTHERS[name]
    assert old in SCALE
    assert request_of(renamed(SCALE)) != request_of(renamed(SCALE.replace(old, new)))


def constant(value: float) -> PrimFunc:
    out = Buffer("Out", (integer(4),), "float64")
    at = PrimVar("i")
    return prim_func([out], for_each((at,), (integer(4),), BufferStore(out, (at,), FloatImm(value, "float64"))))


def test_numbers_are_told_apart_by_their_bits() -> None:
    values = (0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 5e-324, 1.0, 1.0 + 2**-52)
    assert len({request_of(constant(value)) for value in values}) == len(values)
    for value in values:
        (store,) = [item for item in nodes_of(rows_of([constant(value)])[0]) if isinstance(item, FloatImm)]
        assert math.copysign(1, store.value) == math.copysign(1, value)
        assert store.value == value or math.isnan(value)


def test_options_sizes_processor_and_version_are_part_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    function = elementwise(lambda x: binary("+", x, x), 2, ("float32",), "float32")
    plain = wanted(function, {})
    others = [
        replace(plain, sizes=(5, 6)),
        replace(plain, sizes=(6, 5)),
        replace(plain, are_distinct=False),
        replace(plain, outputs=frozenset({1})),
        replace(plain, outputs=frozenset({0, 1})),
        replace(plain, outputs=frozenset[int]()),
        *(
            replace(plain, options=replace(OPTIONS, **change))
            for change in (
                {"mode": "fast"},
                {"mode": "bitwise"},
                {"is_checked": False},
                {"finds_uninitialised": True},
                {"is_transformed": False},
                {"vector_bits": 512},
                {"threads": 1},
                {"without": ("tile",)},
            )
        ),
    ]
    keys = [request.key(TARGET) for item in (plain, *others) if (request := item.request()) is not None]
    assert len(set(keys)) == len(keys) == 1 + len(others)
    elsewhere = Target()
    elsewhere.description += " of another processor"
    request = plain.request()
    assert request is not None
    assert request.key(elsewhere) not in keys
    monkeypatch.setattr("relax_core.jit.compilation.specialisation.lowering_version", lambda: "another")
    assert request.key(TARGET) not in keys


def test_shared_parts_stay_shared() -> None:
    function = elementwise(_doubled_often, 1, ("int64",), "int64")
    content = request_of(function).content
    assert len(content) < 6000
    assert request_of(function).specialisation().request() == request_of(function)


def _doubled_often(value: PrimExpr) -> PrimExpr:
    for _ in range(64):
        value = binary("+", value, value)
    return value


def test_called_prim_funcs_are_part_of_the_program() -> None:
    text = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def inner(A: T.handle("float32")):
        X = T.match_buffer(A, (4,))
        X[0] = X[0] + T.float32({value})
    @T.prim_func
    def outer(A: T.Buffer((4,), "float32")):
        Module.inner(A.data)
    @T.prim_func
    def apart(A: T.Buffer((4,), "float32")):
        A[0] = T.float32({apart})
"""

    def outer(value: int, apart: int) -> Request:
        module = parse_text(text.format(value=value, apart=apart), "test").modules[0]
        functions = {var.name: function for var, function in module.prim_funcs}
        return request_of(functions["outer"], functions)

    assert outer(1, 1) == outer(1, 2) != outer(2, 1)
    again = outer(1, 1).specialisation()
    assert metadata_of(again) == metadata_of(outer(1, 2).specialisation()) != metadata_of(outer(2, 1).specialisation())
    assert isinstance(metadata_of(again), KernelMetadata)


def test_what_is_no_kernel_is_refused() -> None:
    content = request_of(renamed(SCALE)).content
    value = json.loads(content)
    rows = len(value[-1])
    wrong = [b"", b"[]", b"{}", b"7", b"\xff", content[:-1], content + b"]"]
    wrong += [json.dumps([*value[:-2], [root], value[-1]]).encode() for root in (-1, 0, rows, 1.5, "0", None, [0])]
    for row in (["Nothing"], [], ["PrimVar"], ["Binary", "+", rows, 0, "int64"], ["Binary", "+", True, 0, "int64"], 5):
        wrong.append(json.dumps([*value[:-1], [row, *value[-1]]]).encode())
    for item in wrong:
        with pytest.raises(ValueError, match=r"."):
            Request(item).specialisation()
    chance = random.Random(0)
    for _ in range(300):
        place = chance.randrange(len(content))
        changed = content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]
        try:
            Request(changed).specialisation()
        except ValueError:
            continue
        assert changed == content or Request(changed).key(TARGET) != Request(content).key(TARGET)
