"""What bounds a launch: operations and bytes counted from its text by hand, against a machine that is named."""

from pathlib import Path

import pytest

import relax_core as rc
from relax_core.cli import DIAGNOSED, main
from relax_core.diagnostics import RunError
from relax_core.simt.roofline import DEFAULT_MACHINE, Machine, machine_of

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "gpu"


def test_operations_and_bytes_of_a_matrix_product_in_tiles() -> None:
    found = rc.simulate(rc.parse((SAMPLES / "tiled_matmul.py").read_text(encoding="utf-8"), "m.py")).roofline()
    m, n, k, tile = 16, 16, 32, 8
    assert found.operations == 2 * m * n * k
    # Each block loads a stripe of both matrices once: as often as there are tiles along the other side.
    assert found.global_bytes == found.moved_bytes == 4 * (m * k * (n // tile) + k * n * (m // tile) + m * n)
    # Two stores and 2 * 8 loads of each thread in each of the 4 rounds.
    assert found.shared_bytes == 4 * m * n * (k // tile) * (2 + 2 * tile)
    assert found.machine is DEFAULT_MACHINE
    assert found.bound == "global memory"
    assert found.attainable == pytest.approx(found.intensity * DEFAULT_MACHINE.global_bytes)


def test_what_bounds_a_launch_depends_on_the_machine() -> None:
    found = rc.simulate(rc.parse((SAMPLES / "tiled_matmul.py").read_text(encoding="utf-8"), "m.py"))
    assert found.roofline(Machine("slow", 1e6, 1e12, 1e12)).bound == "operations"
    assert found.roofline(Machine("narrow", 1e15, 1e15, 1e3)).bound == "shared memory"


def test_a_bank_conflict_counts_as_often_as_the_bank_is_asked() -> None:
    text = (SAMPLES / "transpose.py").read_text(encoding="utf-8")
    padded = text.replace("T.alloc_shared((32, 32)", "T.alloc_shared((32, 33)")
    one, other = (rc.simulate(rc.parse(item, "t.py")).roofline() for item in (text, padded))
    assert one.shared_bytes == 4 * 32 * 32 * (1 + 32)
    assert other.shared_bytes == 4 * 32 * 32 * 2


def test_a_machine_is_given_in_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", str(SAMPLES / "tiled_matmul.py"), "--simulate", "--in-process", "--machine"]
    assert main([*run, "global=1e9, flops=1e12"]) == 0
    printed = capsys.readouterr().out
    assert "at most 1.778 GFLOP/s, 0.18% of the peak, at least 9.22 us, bound by global memory" in printed
    assert "(as given, shared of an A100 of 40 GB, as published: 1,000 GFLOP/s, 1 GB/s global," in printed
    assert main([*run, "flops=many"]) == DIAGNOSED
    assert "error[GP018]: `flops=many` is no number of a machine" in capsys.readouterr().err
    for text in ("flops=0", "clock=3", "global"):
        with pytest.raises(RunError):
            machine_of(text)
