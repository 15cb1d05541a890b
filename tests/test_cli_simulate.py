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
