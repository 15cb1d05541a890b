"""Requests about a run inside a kernel: windows of statements, which call is meant, and buffers of every rank."""

from pathlib import Path

import numpy as np
import pytest

from relax_core.engine.debug.requests import HeatOf, InsideOf, InsideReportOf, KernelCall, ThreadsOf
from relax_core.engine.protocol import Failure, Program
from relax_core.engine.session import Session
from relax_core.present.running.inside_models import HeatView, InsideView
from tests.inside.stepping import MATMUL

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
CUBE = """# from tvm.script import tirx as T

@T.prim_func
def cube(A: T.Buffer((3, 4, 5), "float32"), B: T.Buffer((), "int32")):
    for i, j in T.grid(3, 4):
        A[i, j, (i + j) % 5] = T.float32(2)
    B[()] = 7
"""


@pytest.fixture
def session() -> Session:
    return Session()


def looked(session: Session, call: KernelCall, clock: int = 0, *moves: str, window: int = 0) -> InsideView:
    found = session.request(InsideOf(call, clock, moves, window))
    assert isinstance(found, InsideView), found
    return found


def counted(session: Session, request: HeatOf) -> HeatView:
    found = session.request(request)
    assert isinstance(found, HeatView), found
    return found


def test_a_window_tells_each_statement_as_it_is_told_alone(session: Session) -> None:
    call = KernelCall(Program(MATMUL, "m.py"))
    view = looked(session, call, 40, window=24)
    assert [stop.clock for stop in view.stops] == list(range(28, 53))
    assert (view.text, len(view.lines)) == ("", len(MATMUL.split("\n")))
    for stop in view.stops:
        alone = looked(session, call, stop.clock)
        assert (alone.line, alone.phase, alone.accesses) == (stop.line, stop.phase, stop.accesses)
        assert alone.sentence == stop.sentence
        around = [(item.value, item.start, item.end) for item in alone.loops if item.is_around]
        assert around == [place for place in stop.loops if place]
    assert [stop.clock for stop in looked(session, call, 79, window=8).stops] == [75, 76, 77, 78, 79]


def test_a_call_of_the_run_has_the_values_of_that_time(session: Session) -> None:
    program = Program((SAMPLES / "tir" / "matmul.py").read_text(encoding="utf-8"), "matmul.py")
    called = looked(session, KernelCall(program, time=10), 0, "end")
    named = looked(session, KernelCall(program, "matmul"), 0, "end")
    assert (called.kernel, called.total) == (named.kernel, named.total) == ("matmul", 32)
    values = counted(session, HeatOf(KernelCall(program, time=10), 32, "C", "value"))
    product = session.request(InsideOf(KernelCall(program, time=11), 0))
    assert isinstance(product, Failure)
    assert "no kernel is about to run at time 11" in product.message
    assert len(values.texts) == 8


def test_a_lone_kernel_is_shown_in_its_own_text(session: Session) -> None:
    view = looked(session, KernelCall(Program(MATMUL, "m.py")), 0, "line 10")
    assert view.text == MATMUL
    assert view.text[view.range_start : view.range_end].startswith("C[vi, vj] = ")
    assert [view.text[item.range_start : item.range_end] for item in view.accesses[:3]] == [
        "C[vi, vj]", "A[vi, vk]", "B[vk, vj]"
    ]  # fmt: skip


def test_two_axes_of_a_buffer_are_chosen(session: Session) -> None:
    call = KernelCall(Program(CUBE, "m.py"))
    cells = np.zeros((3, 4, 5), int)
    for i, j in np.ndindex(3, 4):
        cells[i, j, (i + j) % 5] = 1
    for axes, fixed in (((1, 2), (2, 0, 0)), ((0, 2), (0, 3, 0)), ((2, 0), (0, 1, 0))):
        found = counted(session, HeatOf(call, 12, "A", axes=axes, fixed=fixed))
        picked = cells[tuple(slice(None) if axis in axes else fixed[axis] for axis in range(3))]
        wanted = picked if axes[0] < axes[1] else picked.T
        assert [int(text or 0) for text in found.texts] == wanted.ravel().tolist()
        assert (found.rows, found.columns) == wanted.shape
        assert (found.touched, found.counted) == (12, 12)
    scalar = counted(session, HeatOf(call, 13, "B", "value"))
    assert (scalar.texts, scalar.shape) == (("7",), ())
    wrong = session.request(HeatOf(call, 0, "A", axes=(1, 1)))
    assert isinstance(wrong, Failure)
    assert isinstance(session.request(HeatOf(call, 0, "Q")), Failure)


def test_a_window_of_a_large_buffer_has_the_rest_in_small(session: Session) -> None:
    text = MATMUL.replace("(4, 4)", "(300, 300)").replace("grid(4, 4, 4)", "grid(300, 300, 2)")
    call = KernelCall(Program(text, "m.py"))
    found = counted(session, HeatOf(call, 300 * 3 * 200, "C", top=190, left=290, rows=20, columns=20))
    assert (found.rows, found.columns, found.row_count, found.column_count) == (20, 10, 300, 300)
    assert [int(step) for step in found.levels] == [5] * 100 + [0] * 100
    assert found.legend == ("1", "2", "3", "4", "5")
    small = np.array([int(step) for step in found.overview]).reshape(found.overview_rows, found.overview_columns)
    assert (small.max(axis=1) > 0).sum() == round(200 / 300 * found.overview_rows)


def test_ages_and_the_iteration_of_a_loop(session: Session) -> None:
    call = KernelCall(Program(MATMUL, "m.py"))
    ages = counted(session, HeatOf(call, 20, "A", "age"))
    assert [int(text or -1) for text in ages.texts[:4]] == [16, 17, 18, 19]
    row = counted(session, HeatOf(call, 33, "B", "count", "iteration", loop=1))
    # The third column of the second row so far: three products of it.
    assert [int(text or 0) for text in row.texts] == [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    line = counted(session, HeatOf(call, 80, "C", statement_line=9))
    assert {int(text) for text in line.texts} == {1}


def test_the_report_of_a_kernel_in_a_run(session: Session) -> None:
    program = Program((SAMPLES / "tir" / "row_softmax.py").read_text(encoding="utf-8"), "row_softmax.py")
    found = session.request(InsideReportOf(KernelCall(program)))
    assert not isinstance(found, Failure)
    assert {item.buffer for item in found.rows} == {"X", "largest", "total", "Y"}
    assert sum(item.count for item in found.rows if item.buffer == "Y") == 6


THREADS = """# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
    bx = T.launch_thread("blockIdx.x", 2)
    tx = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    S[tx] = A[bx * 64 + tx]
    T.tvm_storage_sync("shared")
    B[bx * 64 + tx] = S[63 - tx]
"""


def test_a_window_of_threads_tells_each_statement_as_it_is_told_alone(session: Session) -> None:
    call = KernelCall(Program(THREADS, "m.py"), threads=ThreadsOf(block=1, thread=40))
    view = looked(session, call, 3, window=16)
    assert [stop.clock for stop in view.stops] == list(range(6))
    for stop in view.stops:
        alone = looked(session, call, stop.clock)
        assert alone.threads is not None
        assert (alone.line, alone.accesses, alone.threads.here) == (stop.line, stop.accesses, stop.threads)
    assert view.stops[4].accesses[0].others == tuple(range(32, 63))
    assert looked(session, call, 5).accesses[1].cell == "B[104]"


def test_what_is_watched_is_told_at_each_statement_of_a_window(session: Session) -> None:
    call = KernelCall(Program(THREADS, "m.py"), threads=ThreadsOf(block=1, thread=40))
    view = session.request(InsideOf(call, 3, window=16, watches=("tx + 1", "S[63 - tx] * 0 + bx")))
    assert isinstance(view, InsideView)
    assert view.clock == 3
    # Thread 40 is in the second warp: of statements of the first one that of thread 0 is told.
    assert [stop.watched for stop in view.stops] == [(str(tx), "1") for tx in (1, 1, 41, 41, 1, 41)]
    assert view.watched == (("tx + 1", "41"), ("S[63 - tx] * 0 + bx", "1"))


def test_memory_of_a_block_is_shown_by_its_owners(session: Session) -> None:
    call = KernelCall(Program(THREADS, "m.py"), threads=ThreadsOf(order="backward"))
    owners = counted(session, HeatOf(call, 1, "S", "owner"))
    assert owners.texts == ("",) * 32 + tuple(map(str, range(32, 64)))
    assert owners.levels == "0" * 32 + "2" * 32
    assert owners.legend == ("warp 0", "warp 1")
    values = counted(session, HeatOf(call, 1, "S", "value"))
    assert values.texts[0] == "?"
    assert counted(session, HeatOf(call, 6, "S", "count")).texts == ("2",) * 64
    assert counted(session, HeatOf(call, 6, "S", "age")).texts[::63] == ("4", "5")
    assert isinstance(session.request(HeatOf(call, 0, "Q")), Failure)
    # Registers are a thread's own: their values are shown, whatever is asked for.
    text = THREADS.replace(
        "    S[tx] =", '    r = T.alloc_local((1,), "float32")\n    r[0] = T.float32(2)\n    S[tx] ='
    )
    registers = counted(session, HeatOf(KernelCall(Program(text, "m.py")), 1, "r", "owner"))
    assert registers.texts == ("2",) * 32 + ("?",) * 32
