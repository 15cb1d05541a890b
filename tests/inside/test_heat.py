"""Counts of touches agree with the arithmetic of the indices, and the report with both."""

from itertools import product

import numpy as np
import pytest

import relax_core as rc
from relax_core.inside.heat import HeatCounter
from relax_core.inside.probes import Query
from tests.inside.stepping import INIT_LINE, MATMUL, UPDATE_LINE, stepper_of


def counter_of(text: str = MATMUL) -> HeatCounter:
    return HeatCounter(stepper_of(text, [np.ones((4, 4), "float32") for _ in range(3)]))


def whole(counter: HeatCounter, name: str, *, is_write: bool | None = None) -> np.ndarray:
    buffer = next(item for item in counter.stepper.layout.buffers if item.name == name)
    assert counter.stepper.total is not None
    return counter.count(counter.stepper.total).of(buffer, is_write=is_write)


def test_a_matmul_touches_each_cell_as_often_as_its_loops_say() -> None:
    counter = counter_of()
    assert (whole(counter, "A") == 4).all()
    assert (whole(counter, "B") == 4).all()
    assert (whole(counter, "C", is_write=False) == 4).all()
    assert (whole(counter, "C", is_write=True) == 5).all()
    assert counter.stepper.layout.sites[0].phase == "init"
    assert counter.count(80).runs.tolist() == [16, 64]


SCHEDULED = {
    "k split": (
        "for i, j, k0, k1 in T.grid(4, 4, 2, 2):",
        'vi, vj = T.axis.remap("SS", [i, j])\n            vk = T.axis.reduce(4, k0 * 2 + k1)',
    ),
    "k outermost": ("for k, i, j in T.grid(4, 4, 4):", 'vi, vj, vk = T.axis.remap("SSR", [i, j, k])'),
}


@pytest.mark.parametrize("name", SCHEDULED)
def test_a_schedule_touches_the_same_in_another_order(name: str) -> None:
    loops, axes = SCHEDULED[name]
    text = MATMUL.replace("for i, j, k in T.grid(4, 4, 4):", loops)
    text = text.replace('vi, vj, vk = T.axis.remap("SSR", [i, j, k])', axes)
    one, other = counter_of(), counter_of(text)
    for buffer, is_write in product("ABC", (False, True)):
        assert (whole(one, buffer, is_write=is_write) == whole(other, buffer, is_write=is_write)).all()
    positions = [item.count(80).last[2].tobytes() for item in (one, other)]
    assert (positions[0] != positions[1]) == (name == "k outermost")


def test_counts_up_to_a_statement_and_of_one_iteration() -> None:
    counter = counter_of()
    a, _, c = counter.stepper.layout.buffers
    # Two rows of C, and of the third the first cell but for its last update.
    heat = counter.count(2 * 20 + 4)
    assert heat.of(c, is_write=True).tolist() == [[5] * 4, [5] * 4, [4, 0, 0, 0], [0] * 4]
    assert heat.last[2].tolist()[2] == [43, -1, -1, -1]
    again = counter.count(2 * 20 + 5)
    assert again.of(c, is_write=True)[2, 0] == 5
    # What was counted to the end, or beyond, is not counted again.
    assert counter.count(1000).of(a).tolist() == counter.count(2000).of(a).tolist() == [[4] * 4] * 4
    row = counter.count(80, Query(wanted=((0, 2), (1, 3)), end=2))
    assert row.of(a).tolist() == [[0] * 4, [0] * 4, [1] * 4, [0] * 4]


def test_an_access_under_a_condition_counts_when_it_happens() -> None:
    text = """# from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((6,), "float32"), B: T.Buffer((6,), "float32")):
    for i in range(6):
        B[i] = T.if_then_else(i < 2, A[i], A[5]) + T.if_then_else(A[i] > 2.0 and B[0] > 0.0, A[3], A[4])
"""
    counter = HeatCounter(stepper_of(text, (np.arange(6, dtype="float32"), np.zeros(6, "float32"))))
    a, b = counter.stepper.layout.buffers
    heat = counter.count(6)
    # B[0] becomes 4, so that A[3] is taken for i of 3, 4 and 5.
    assert heat.of(a).tolist() == [2, 2, 1, 4, 4, 5]
    assert heat.of(b, is_write=False).tolist() == [3, 0, 0, 0, 0, 0]


def test_the_report_says_what_the_loops_say() -> None:
    report = rc.inside(rc.parse(MATMUL, "m.py")).report()
    rows = {(item.buffer, item.line, item.is_write): item for item in report.rows}
    assert len(rows) == len(report.rows) == 5
    assert rows["A", UPDATE_LINE, False].count == 64
    assert rows["A", UPDATE_LINE, False].stride == "1"
    assert rows["B", UPDATE_LINE, False].stride == "4"
    assert rows["C", UPDATE_LINE, True].stride == "0, same cell"
    assert rows["C", INIT_LINE, True].count == 16
    assert rows["A", UPDATE_LINE, False].per_loop == (("i", 4), ("j", 4), ("k", 1))
    assert rows["B", UPDATE_LINE, False].per_loop == (("i", 16), ("j", 4), ("k", 1))
    assert {item.footprint for item in report.rows} == {16}
    assert {item.lines for item in report.rows} == {1}
    # The next use of a cell of C is that of the next k: of A and B one each between, and none between load and store.
    assert rows["C", UPDATE_LINE, True].reuse == "2"
    assert rows["C", UPDATE_LINE, False].reuse == "0"
    assert (report.operations, report.footprint_bytes) == (128, 3 * 64)
    assert report.is_whole
