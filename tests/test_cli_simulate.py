"""`run FILE --simulate`: verdict, status, JSON, inputs, and what does not go together."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relax_core.cli import BAD_USAGE, DIAGNOSED, main

TABLE = Path(__file__).parent / "simt" / "kernels.toml"
KERNELS: dict[str, dict[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))


def written(folder: Path, name: str) -> str:
    path = folder / "kernel.py"
    path.write_text("# from tvm.script import tirx as T\n\n" + KERNELS[name]["text"], encoding="utf-8")
    return str(path)


def test_a_clean_kernel_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", written(tmp_path, "a tile that is turned around"), "--simulate", "--in-process"]) == 0
    printed = capsys.readouterr().out
    assert "`main` launched 2 blocks of 64 threads" in printed
    assert printed.splitlines()[-1].startswith("clean on these inputs: ")
    assert "race" not in printed


def test_a_race_ends_with_1_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", written(tmp_path, "the same without its barrier"), "--simulate"]) == DIAGNOSED
    printed = capsys.readouterr().out
    assert "kernel.py:9:23: error[GP001]: race on shared memory, `S`" in printed
    assert printed.splitlines()[-1] == "not clean: 1 finding on these inputs"


def test_json_has_the_findings_and_the_buffers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "shared memory that nothing wrote")
    assert main(["run", path, "--simulate", "--json", "--in-process"]) == DIAGNOSED
    found = json.loads(capsys.readouterr().out)
    assert (found["entry"], found["is_clean"]) == ("main", False)
    assert sorted(item["code"] for item in found["problems"]) == ["GP005", "GP005", "GP006"]
    assert [(item["name"], item["undefined"]) for item in found["written"]] == [("B", 2)]


def test_inputs_are_given_and_results_are_written(tmp_path: Path) -> None:
    path = written(tmp_path, "a histogram with atomic additions")
    np.savez(tmp_path / "in.npz", in_0=np.full(128, 3, np.int32), in_1=np.arange(8, dtype=np.int32))
    given = ["--inputs", str(tmp_path / "in.npz"), "--outputs", str(tmp_path / "out.npz")]
    assert main(["run", path, "--simulate", "--in-process", *given]) == 0
    with np.load(tmp_path / "out.npz") as found:
        (name,) = found.files
        assert found[name].tolist() == [0, 1, 2, 131, 4, 5, 6, 7]


def test_a_loop_that_is_bound_and_not_lowered_runs_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "a reduction over a loop that is bound to threads")
    assert main(["run", path, "--simulate", "--in-process"]) == 0
    assert "launches nothing" in capsys.readouterr().out.splitlines()[-1]


def test_another_kind_of_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "a tile that is turned around")
    assert main(["run", path, "--simulate", "--profile"]) == BAD_USAGE
    assert "--profile and --simulate do not go together" in capsys.readouterr().err


TWO = """# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def doubled(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        tx = T.launch_thread("threadIdx.x", 64)
        B[tx] = A[tx] * T.float32(2)

    @T.prim_func(s_tir=True)
    def turned(a: T.handle, B: T.Buffer((64,), "float32")):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        tx = T.launch_thread("threadIdx.x", 64)
        S = T.alloc_shared((64,), "float32")
        if tx < n:
            S[tx] = A[tx]
        T.tvm_storage_sync("shared")
        B[tx] = S[63 - tx]
"""


def test_without_an_entry_all_functions_that_launch_are_simulated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two.py"
    path.write_text(TWO, encoding="utf-8")
    given = ["run", str(path), "--simulate", "--in-process", "--json", "--outputs", str(tmp_path / "out.npz")]
    assert main([*given, "--sizes", "n=64"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["entry"], found["is_clean"]) == ("doubled, turned", True)
    assert found["launches"] == ["1 block of 64 threads by `doubled`", "1 block of 64 threads by `turned`"]
    assert [item["name"] for item in found["written"]] == ["doubled.B", "turned.B"]
    assert found["roofline"]["global_bytes"] == 2 * 64 * 8
    with np.load(tmp_path / "out.npz") as outputs:
        assert {*outputs.files} == {"out_0", "out_1"}
    # The second function alone is at fault.
    path.write_text(TWO.replace('        T.tvm_storage_sync("shared")\n', ""), encoding="utf-8")
    assert main([*given, "--sizes", "n=64"]) == DIAGNOSED
    found = json.loads(capsys.readouterr().out)
    assert {item["code"] for item in found["problems"]} == {"GP001"}
    assert main(["run", str(path), "--simulate", "--in-process", "--entry", "doubled"]) == 0
    assert main(["run", str(path), "--simulate", "--in-process", "--sizes", "m=3"]) != 0
    assert "no symbolic dimension `m`" in capsys.readouterr().err
