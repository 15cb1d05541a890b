"""Indices are computed in narrower integers as in apache-tvm, and only where no bit is lost."""

import pytest
from hypothesis import given, settings

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.ir.prim import Binary
from tests.apache_tvm import tirx
from tests.passes.tir_nests import SIDE, nests, numbers, output, same_where_written
from tests.passes.tir_programs import program
from tests.passes.wheel import in_tvm, passed, remarks, same_values

FLAT = "ConvertBlocksToOpaque, LowerOpaqueBlock, FlattenBuffer"
WIDE = "for i, j in T.grid(T.int64(6), T.int64(20)):\n    "
BODIES = {
    "indices": f"{WIDE}C[i, j] = A[i, j] * T.float32(2)",
    "sums and products": f"{WIDE}C[i, j] = A[(i * T.int64(7) + j) % T.int64(6), (j + i) // T.int64(2)]",
    "a condition": f"{WIDE}C[i, j] = T.if_then_else(i * T.int64(20) + j < T.int64(33), A[i, j], T.float32(1))",
    "an eager choice": f"{WIDE}C[i, T.Select(i < j, j, T.int64(0))] = A[i, j]",
    "a value": f"{WIDE}C[i, j] = T.Cast('float32', i * T.int64(100) - j)",
    "a value that does not fit": f"{WIDE}C[i, j] = T.Cast('float32', i * T.int64(20000000000) + j)",
    "one of two variables": f"{WIDE}C[i, j] = A[i, j] + T.Cast('float32', i * T.int64(20000000000))",
    "a sum of both": f"{WIDE}C[i, j] = T.Cast('float32', i * T.int64(20000000000)) + T.Cast('float32', i + j)",
    "an exact limit": f"{WIDE}C[i, j] = T.Cast('float32', i + T.int64(2147483642))",
    "one more than the limit": f"{WIDE}C[i, j] = T.Cast('float32', i + T.int64(2147483643))",
    "a shift": f"{WIDE}C[i, T.shift_right(j, T.int64(1))] = A[i, j]",
    "bits": f"{WIDE}C[i, T.bitwise_and(j, T.int64(7))] = A[i, j]",
    "a start": "for i in range(T.int64(2), T.int64(4)):\n    C[i, i] = A[i, T.int64(3)]",
    "a loop too long": "for i in range(T.int64(3000000000)):\n    C[i % T.int64(6), 0] = A[0, 0]",
    "a let": f"{WIDE}k: T.let[T.int64] = i + j\n    C[i, j] = A[k % T.int64(6), j]",
    "a wide let": f"{WIDE}k: T.let[T.int64] = i * T.int64(9000000000)\n    C[i, j] = T.Cast('float32', k)",
    "a shape": "B = T.decl_buffer((T.int64(6), T.int64(20)), 'float32', data=A.data)\n" + f"{WIDE}C[i, j] = B[i, j]",
    "an index from memory": (
        "B = T.alloc_buffer((T.int64(6),), 'int64')\n"
        f"{WIDE}B[i] = i\n    C[B[i], j] = A[B[i] + T.int64(0) * j, j]"
    ),
    "narrow already": "for i, j in T.grid(6, 20):\n    C[i, j] = A[i, j]",
}  # fmt: skip
KEPT = ("a value that does not fit", "a loop too long", "narrow already")


@pytest.mark.parametrize("name", BODIES)
def test_indices_are_narrowed_as_in_tvm(name: str) -> None:
    module = in_tvm(program(BODIES[name]))
    start = rc.parse(module.script())
    stage = passed(start, "NarrowDataType")
    expected = rc.parse(tirx.transform.NarrowDataType(32)(module).script())
    assert first_difference(stage.after, expected) is None, f"{rc.script(stage.after)}\n{rc.script(expected)}"
    assert stage.is_changed == (name not in KEPT)
    if name != "a loop too long":
        same_values(start, stage.after, rtol=0)


def test_what_is_computed_of_a_let_is_narrow_as_well() -> None:
    text = program(
        f"{WIDE}k: T.let[T.int64] = i + j\n    C[i, j] = A[k % T.int64(6), T.max(k - T.int64(6), T.int64(0))]"
    )
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = passed(start, "NarrowDataType")
    assert "C[i, j] = A[k % 6, T.max(k - 6, 0)]" in rc.script(stage.after)
    same_values(start, stage.after, rtol=0)


def test_remarks_say_which_variables_stay_and_why() -> None:
    start = rc.parse(f"@I.ir_module\nclass Module:\n{program(BODIES['one of two variables'])}")
    stage = passed(start, "NarrowDataType")
    assert remarks(stage, "applied") == ["j is computed in int32"]
    (missed,) = (item for item in stage.remarks if item.kind == "missed")
    assert missed.message == "i stays int64: a value that is computed of it is not proven to fit int32"
    assert [type(item) for item in missed.because] == [Binary]


SIXTEEN = {
    "32767 fits": ("i + 32762", True),
    "32768 does not": ("i + 32763", False),
    "-32768 fits": ("i - 32768", True),
    "-32769 does not": ("i - 32769", False),
    "a product inside that does not": ("i * 7000 // 7000", False),
    "a shift by more than there are bits": ("T.shift_right(i, 20)", True),
}


@pytest.mark.parametrize(("value", "is_narrow"), SIXTEEN.values(), ids=SIXTEEN)
def test_the_limits_are_those_of_the_dtype(value: str, is_narrow: bool) -> None:
    text = program(f"for i, j in T.grid(6, 20):\n    C[i, j] = A[i, j] + T.Cast('float32', {value})")
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    stage = passed(start, "NarrowDataType(target_bits=16)")
    assert ("i is computed in int16" in remarks(stage, "applied")) == is_narrow
    same_values(start, stage.after, rtol=0)


@settings(max_examples=40, deadline=None)
@given(nests())
def test_random_nests_compute_the_same_in_narrow_integers(body: str) -> None:
    text = program(body, f"({SIDE}, {SIDE})", SIDE, SIDE)
    start = rc.parse(f"@I.ir_module\nclass Module:\n{text}")
    after = passed(start, f"{FLAT}, NarrowDataType(target_bits=16)").after
    functions = [next(function for _, function in module.prim_funcs) for module in (start, after)]
    before, behind = (output(function, numbers()) for function in functions)
    same_where_written(before, behind)
