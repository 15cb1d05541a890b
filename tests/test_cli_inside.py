"""`inside FILE`: stops, moves, counts, the report, JSON, and which kernel is meant."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from relax_core.cli import BAD_USAGE, DIAGNOSED, main
from tests.inside.stepping import MATMUL

SAMPLES = Path(__file__).resolve().parent.parent / "samples"
RUN = ["inside", str(SAMPLES / "tir" / "matmul.py"), "--sizes", "m=3,k=4,n=5", "--in-process"]


def test_a_stop_says_all_of_the_statement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--go", "i0=1, j0=2, r0=3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "`matmul`, statement 39 of 75, update of block matmul"
    assert lines[1] == "  loops   i0 = 1 (2 of 3); j0 = 2 (3 of 5); r0 = 3 (4 of 4)"
    assert lines[2] == "  axes    i = 1 (spatial); j = 2 (spatial); r = 3 (reduce)"
    assert lines[3].endswith("> C[i, j] = C[i, j] + A[i, r] * B[r, j]")
    assert [line.split("=")[0].strip() for line in lines[4:]] == [
        "read    C[1, 2]", "read    A[1, 3]", "read    B[3, 2]", "write   C[1, 2]"
    ]  # fmt: skip


def test_moves_are_made_one_after_the_other_and_steps_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--go", "i0=2", "--go", "next 2", "--steps", "2"]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("`")]
    assert [head.split(",")[1] for head in heads] == [" statement 52 of 75", " statement 53 of 75"]


def test_what_a_move_does_not_find_has_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--go", "nan"]) == DIAGNOSED
    assert capsys.readouterr().out.splitlines()[-1] == "there is no such statement: the run stays here"
    assert main([*RUN, "--go", "hop"]) == DIAGNOSED
    assert "error[TI003]: this is no move" in capsys.readouterr().err


def test_counts_of_a_buffer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--go", "i0=1, j0=1", "--go", "next 2", "--heat", "C"]) == 0
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "C[3, 5]: 57 touches of 7 elements", "  9 9 9 9 9", "  9 3 . . .", "  . . . . ."
    ]  # fmt: skip


def test_the_worker_gives_the_same_and_json_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    found: list[str] = []
    for options in (["--in-process"], []):
        assert main([*RUN[:-1], *options, "--go", "i0=1", "--heat", "A", "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        shown["stops"][0].pop("milliseconds")
        found.append(json.dumps(shown))
    assert found[0] == found[1]
    (stop,) = json.loads(found[0])["stops"]
    assert (stop["kernel"], stop["clock"], stop["total"], stop["phase"]) == ("matmul", 25, 75, "init")
    assert json.loads(found[0])["heat"]["touched"] == 4


def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--report"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "`matmul`"
    assert lines[1].split()[:5] == ["buffer", "line", "reads", "writes", "cells"]
    assert [line.split()[0] for line in lines[2:-2]] == ["C,", "C", "A", "B", "C"]
    assert lines[-2] == "120 operations, 188 B: 0.64 for each byte; 1,020 B without a cache"
    assert lines[-1].startswith("with data from memory at most ")
    assert re.search(r"bound by \w+; measured here: [\d.e+]+ GFLOP/s, [\d.e+]+ GB/s$", lines[-1])


def test_a_lone_prim_func_runs_on_given_arrays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, archive = tmp_path / "kernel.py", tmp_path / "in.npz"
    kernel.write_text(MATMUL, encoding="utf-8")
    np.savez(archive, in_0=np.full((4, 4), 2, "float32"), in_1=np.eye(4, dtype="float32"))
    assert main(["inside", str(kernel), "--inputs", str(archive), "--go", "end", "--go", "back", "--in-process"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "  write   C[3, 3] = 0 -> 2"


def test_a_kernel_that_fails_shows_where(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SAMPLES / "errors" / "jt_out_of_range.py")
    assert main(["inside", path, "--go", "end", "--in-process"]) == DIAGNOSED
    printed = capsys.readouterr().out
    assert "read    X[2]: out of range" in printed
    assert "error[JT010]" in printed


def test_the_kernel_of_an_operator_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SAMPLES / "relax" / "mlp.py")
    assert main(["inside", path, "--kernel", "matmul", "--go", "next", "--in-process"]) == 0
    assert capsys.readouterr().out.startswith("`matmul`, statement 1 of ")
    assert main(["inside", path, "--kernel", "none", "--in-process"]) == DIAGNOSED
    assert "error[TI004]: the kernel `none` is not called in this run" in capsys.readouterr().err
    assert main(["inside", path, "--time", "0", "--in-process"]) == DIAGNOSED
    assert "error[TI004]: no kernel is about to run at time 0" in capsys.readouterr().err


def test_the_report_of_a_launch(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["inside", str(SAMPLES / "gpu" / "transpose.py"), "--in-process", "--report"]
    assert main([*run, "--machine", "global=1e3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "`transpose`: 1 block of 256 threads"
    assert [" ".join(line.split()) for line in lines[2:6]] == [
        "A global 13 1,024 - 1,024 4,096 4,096 4 sectors, 100% used",
        "tile shared 13 - 1,024 1,024 4,096 4,096 no conflict",
        "tile shared 16 1,024 - 1,024 4,096 131,072 32-way conflict",
        "B global 16 - 1,024 1,024 4,096 4,096 4 sectors, 100% used",
    ]
    assert lines[6] == "8,192 B of global memory are touched"
    assert "at least 8.19 s, bound by global memory" in lines[-1]
    assert main([*run, "--machine", "clock=3"]) == DIAGNOSED
    assert "GP018" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--report", "--go", "next"], ["--kernel", "matmul", "--time", "3"]], ids=" ".join)
def test_what_does_not_go_together(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inside", RUN[1], *options]) == BAD_USAGE
    assert "do not go" in capsys.readouterr().err or "does not go" in capsys.readouterr().err


RACE = """# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    tx = T.launch_thread("threadIdx.x", 64)
    S = T.alloc_shared((64,), "float32")
    S[tx] = A[tx]
    B[tx] = S[63 - tx]
"""


def test_threads_of_a_launch_are_stepped_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tmp_path / "race.py"
    kernel.write_text(RACE, encoding="utf-8")
    run = ["inside", str(kernel), "--in-process", "--thread", "40"]
    assert main([*run, "--order", "turns", "--go", "race", "--heat", "S"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("`main`, statement 2 of 4\n")
    assert "  of      thread 0 of block 0, warp 0\n  threads 0-31 run line 8 now\n" in printed
    assert "  threads 32-63 are ready for line 8\n" in printed
    assert "error[GP001]: race on shared memory, `S`" in printed
    assert "S[64]: 64 touches of 64 elements" in printed
    assert main([*run, "--go", "end", "--json"]) == 0
    (stop,) = json.loads(capsys.readouterr().out)["stops"]
    assert (stop["is_ended"], stop["threads"]["here"]["states"], stop["threads"]["reported"]) == (
        True,
        "e" * 64,
        [1, 2, 3],
    )
    assert main([*run, "--block", "1"]) == DIAGNOSED
    assert "error[TI004]: there is no block 1: the launch has 1" in capsys.readouterr().err
    assert main([*run, "--machine", "global=1e9"]) == BAD_USAGE


def test_expressions_are_watched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    watches = ["--watch", "i0 * 10 + j0", "--watch", "written - C[i, j]", "--watch", "C[99, 0]"]
    assert main([*RUN, "--go", "i0=1, j0=2, r0=3", *watches]) == 0
    printed = capsys.readouterr().out
    assert "  watch   i0 * 10 + j0 = 12\n" in printed
    assert "  watch   C[99, 0] = nan\n" in printed
    product = next(line.split("= ")[1] for line in printed.splitlines() if "watch   written" in line)
    a, b = (float(line.split("= ")[1]) for line in printed.splitlines() if "read    A" in line or "read    B" in line)
    assert float(product) == pytest.approx(a * b, rel=1e-4)
    kernel = tmp_path / "race.py"
    kernel.write_text(RACE, encoding="utf-8")
    run = ["inside", str(kernel), "--in-process", "--thread", "40", "--go", "end", "--go", "back"]
    assert main([*run, "--watch", "tx + 1", "--watch", "S[tx] - A[tx]"]) == 0
    printed = capsys.readouterr().out
    assert "  watch   tx + 1 = 41\n  watch   S[tx] - A[tx] = 0\n" in printed
    assert main([*run, "--watch", "q"]) == DIAGNOSED
    assert "error[VM031]" in capsys.readouterr().err
