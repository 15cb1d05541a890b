"""OptimizeLayoutTransform: what is transformed and transformed back, as in apache-tvm where that is right."""

import pytest

from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks, same_values

NAME = "OptimizeLayoutTransform"
KERNELS = """
    @T.prim_func(private=True, s_tir=True)
    def add(a: T.Buffer((4, 4), "float32"), b: T.Buffer((4, 4), "float32"), c: T.Buffer((4, 4), "float32")):
        T.func_attr({"operator_name": "relax.add"})
        for i, j in T.grid(4, 4):
            with T.sblock("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                c[vi, vj] = a[vi, vj] + b[vi, vj]
    @T.prim_func(private=True, s_tir=True)
    def relu(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32")):
        T.func_attr({"operator_name": "relax.relu"})
        for i in range(16):
            with T.sblock("relu"):
                vi = T.axis.spatial(16, i)
                b[vi] = T.max(a[vi], T.float32(0))
    @T.prim_func(private=True, s_tir=True)
    def remove_pad(a: T.Buffer((16,), "float32"), b: T.Buffer((14,), "float32")):
        T.func_attr({"operator_name": "remove_pad"})
        for i in range(14):
            with T.sblock("remove_pad"):
                vi = T.axis.spatial(14, i)
                b[vi] = a[vi]
"""
TILED = "R.layout_transform({}, index_map=lambda i: (i // 4, i % 4))"
FLAT = "R.layout_transform({}, index_map=lambda i, j: (i * 4 + j,))"
SWAPPED = "R.layout_transform({}, index_map=lambda i, j: (j, i))"
PADDED = "R.layout_transform({}, index_map=lambda i: (i % 16,))"
ADD = 'R.call_tir(cls.add, ({}, {}), out_ty=R.Tensor((4, 4), dtype="float32"))'
RELU = 'R.call_tir(cls.relu, ({},), out_ty=R.Tensor((16,), dtype="float32"))'
UNPAD = 'R.call_tir(cls.remove_pad, ({},), out_ty=R.Tensor((14,), dtype="float32"))'

ALIKE = {
    "one argument": (
        16,
        f"a = {TILED.format('x')}; b = {TILED.format('y')}; c = {ADD.format('a', 'b')}; d = {FLAT.format('c')}; "
        f"e = {TILED.format('d')}; f = {TILED.format('y')}; g = {ADD.format('f', 'e')}; gv = {FLAT.format('g')}",
    ),
    "both arguments": (
        16,
        f"a = {TILED.format('x')}; b = {TILED.format('y')}; c = {ADD.format('a', 'b')}; d = {ADD.format('b', 'b')}; "
        f"e = {FLAT.format('c')}; f = {FLAT.format('d')}; g = {TILED.format('e')}; h = {TILED.format('f')}; "
        f"k = {ADD.format('g', 'h')}; gv = {FLAT.format('k')}",
    ),
    "nothing between": (16, f"a = {TILED.format('x')}; b = {FLAT.format('a')}; gv = R.add(b, y)"),
    "another shape": (16, f"a = {TILED.format('x')}; b = {SWAPPED.format('a')}; gv = {FLAT.format('b')}"),
    "padding that is removed": (
        14,
        f"a = {PADDED.format('x')}; b = {RELU.format('a')}; c = {PADDED.format('b')}; d = {UNPAD.format('c')}; "
        f"e = {PADDED.format('d')}; f = {RELU.format('e')}; g = {PADDED.format('f')}; gv = {UNPAD.format('g')}",
    ),
}


def program(size: int, lines: str) -> str:
    body = "\n            ".join(line.strip() for line in (*lines.split(";"), "R.output(gv)"))
    return f"""{KERNELS}
    @R.function
    def main(x: R.Tensor(({size},), dtype="float32"), y: R.Tensor(({size},), dtype="float32")):
        cls = Module
        with R.dataflow():
            {body}
        return gv
"""


@pytest.mark.parametrize("name", ALIKE)
def test_transformations_that_take_each_other_back_go_as_in_tvm(name: str) -> None:
    agrees(program(*ALIKE[name]), relax.transform.OptimizeLayoutTransform(), NAME)


@pytest.mark.parametrize("name", ALIKE)
def test_the_value_stays(name: str) -> None:
    before = parse(program(*ALIKE[name]))
    same_values(before, passed(before, NAME).after)


def test_a_transposition_of_a_square_is_not_nothing() -> None:
    """apache-tvm drops both transformations, as the shapes agree."""
    lines = f"a = {TILED.format('x')}; b = {SWAPPED.format('a')}; c = {TILED.format('y')}; gv = {ADD.format('b', 'c')}"
    square = f"{lines.replace('gv =', 'd =')}; e = {SWAPPED.format('d')}; gv = {FLAT.format('e')}"
    before = parse(program(16, square))
    same_values(before, passed(before, NAME).after)
    rolled = "R.layout_transform({}, index_map=lambda i: ((i + 1) % 16,))"
    before = parse(program(16, f"a = {rolled.format('x')}; gv = {rolled.format('a')}"))
    stage = passed(before, NAME)
    same_values(before, stage.after)
    assert remarks(stage, "missed") == ["gv stays: it is not the inverse of the transformation before it"]


def test_padding_with_a_value_stays() -> None:
    padded = PADDED.replace("(i % 16,)", "(i % 16,), pad_value=1.0")
    lines = (
        f"a = {padded.format('x')}; b = {RELU.format('a')}; c = {PADDED.format('b')}; d = {UNPAD.format('c')}; gv = "
    )
    before = parse(program(14, lines + padded.format("d")))
    stage = passed(before, NAME)
    same_values(before, stage.after)
    assert remarks(stage, "missed") == ["gv stays: it pads with a value"]
