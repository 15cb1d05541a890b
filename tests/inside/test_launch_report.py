"""The access report of a launch: counts of each statement against the index arithmetic of NumPy, over all blocks."""

from pathlib import Path

import numpy as np
import pytest

import relax_core as rc
from relax_core.present.running.inside_models import LaunchReport, LaunchRow
from tests.simt.test_kernels import HEAD

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "gpu"
MIXED = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((96,), "float32"), B: T.Buffer((64,), "float16"), C: T.Buffer((24, 8), "float32")):
    bx = T.launch_thread("blockIdx.x", 3)
    tx = T.launch_thread("threadIdx.x", 32)
    if tx % 3 == 0:
        B[(bx * 16 + tx) % 64] = T.Cast("float16", A[bx * 32 + tx])
    for k in range(2):
        C[(bx * 32 + tx) // 4, T.Ramp(tx % 4 * 2, 1, 2)] = T.Broadcast(A[tx * k], 2)
"""


def report_of(text: str) -> LaunchReport:
    it = rc.threads(rc.parse(text, "kernel.py"))
    it.go("next 3")
    found = it.report()
    assert it.clock == 3
    return found


def row(report: LaunchReport, buffer: str, *, is_write: bool) -> LaunchRow:
    return next(item for item in report.rows if (item.buffer, item.is_write) == (buffer, is_write))


def test_counts_and_footprints_are_those_of_the_indices() -> None:
    report = report_of(HEAD + MIXED)
    bx, tx = (item.reshape(-1) for item in np.mgrid[0:3, 0:32])
    taken = tx % 3 == 0
    stored, (loaded, again) = row(report, "B", is_write=True), [item for item in report.rows if item.buffer == "A"]
    assert (stored.count, loaded.count) == (taken.sum(), taken.sum())
    assert stored.footprint == len(np.unique((bx * 16 + tx)[taken] % 64))
    assert loaded.footprint == len(np.unique((bx * 32 + tx)[taken]))
    assert (stored.asked_bytes, loaded.asked_bytes) == (2 * stored.count, 4 * loaded.count)
    wide = row(report, "C", is_write=True)
    assert (wide.count, wide.footprint) == (2 * 2 * 96, 2 * 96)
    assert (again.count, again.footprint) == (2 * 96, 32)
    assert again.line == wide.line > loaded.line == stored.line
    # One line reads every third element of A, and the other one the first 32.
    of_a = len(np.unique(np.concatenate([(bx * 32 + tx)[taken], np.arange(32)])))
    assert report.footprint_bytes == 4 * of_a + 2 * stored.footprint + 4 * wide.footprint


def test_what_moves_is_what_warps_ask_for_in_whole_sectors() -> None:
    stored = row(report_of(HEAD + MIXED), "B", is_write=True)
    asked = np.arange(0, 32, 3)
    sectors = len(np.unique(asked * 2 // 32))
    assert (stored.sectors, stored.used) == (sectors, pytest.approx(len(asked) * 2 / (32 * sectors)))
    assert stored.moved_bytes == pytest.approx(stored.asked_bytes / stored.used, abs=1)


def test_a_padding_takes_the_conflict_out_of_the_report() -> None:
    text = (SAMPLES / "transpose.py").read_text(encoding="utf-8")
    one, other = (
        row(report_of(item), "tile", is_write=False)
        for item in (text, text.replace("shared((32, 32)", "shared((32, 33)"))
    )
    assert (one.conflict, one.moved_bytes, one.footprint) == (32, 32 * one.asked_bytes, 1024)
    assert (other.conflict, other.moved_bytes, other.footprint) == (1, other.asked_bytes, 1024)


def test_shared_memory_of_many_blocks_counts_as_that_of_one() -> None:
    text = (SAMPLES / "tiled_matmul.py").read_text(encoding="utf-8")
    report, roof = report_of(text), rc.simulate(rc.parse(text, "m.py")).roofline()
    assert report.launches == ("4 blocks of 64 threads",)
    assert {item.footprint for item in report.rows if item.scope == "shared"} == {64}
    moved = sum(item.moved_bytes for item in report.rows if item.scope == "global")
    assert report.roofline.moved_bytes == roof.moved_bytes == moved


def test_a_machine_is_what_the_report_is_held_against() -> None:
    it = rc.threads(rc.parse((SAMPLES / "tiled_matmul.py").read_text(encoding="utf-8"), "m.py"))
    slow = it.report(rc.Machine("slow", 1e6, 1e12, 1e12)).roofline
    assert (slow.bound, slow.attainable, dict(slow.parts)["operations"]) == ("operations", 1e6, slow.operations / 1e6)
