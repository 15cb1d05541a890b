"""How kernels round, and whether they look for what nothing wrote, as options of a program."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from relax_core import VirtualMachine, build, parse
from relax_core.cli import main
from relax_core.jit.options import Mode
from tests.engine.programs import SAMPLES

UNWRITTEN = SAMPLES / "errors" / "jt_unwritten.py"
TANH = """from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1000,), "float32")) -> R.Tensor((1000,), "float32"):
        return R.tanh(x)
"""


@pytest.mark.parametrize("place", [(), ("--in-process",)], ids=["worker", "in process"])
def test_what_nothing_wrote_is_found_when_that_is_asked_for(
    place: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(UNWRITTEN), *place]) == 0
    assert main(["run", str(UNWRITTEN), "--find-uninitialised", *place]) == 1
    assert "JT020" in capsys.readouterr().err


@pytest.mark.parametrize("place", [(), ("--in-process",)], ids=["worker", "in process"])
def test_the_mode_of_a_run_decides_how_kernels_round(place: tuple[str, ...], tmp_path: Path) -> None:
    program, x = tmp_path / "tanh.py", np.linspace(-2, 2, 1000, dtype="float32")
    program.write_text(TANH, encoding="utf-8")
    np.savez(tmp_path / "in.npz", in_0=x)
    executable = build(parse(TANH))
    modes: tuple[Mode, ...] = ("exact", "bitwise")
    results: list[npt.NDArray[np.float32]] = []
    for mode in modes:
        out = tmp_path / f"{mode}.npz"
        given = ["--inputs", str(tmp_path / "in.npz"), "--outputs", str(out), "--mode", mode]
        assert main(["run", str(program), *given, *place]) == 0
        results.append(np.load(out)["out"])
        assert np.array_equal(results[-1], VirtualMachine(executable, mode=mode)["main"](x))
    assert np.array_equal(VirtualMachine(executable, without=("collapse",))["main"](x), results[0])
    exact, bitwise = results
    assert not np.array_equal(exact, bitwise)
    np.testing.assert_allclose(exact, np.tanh(x.astype("float64")), rtol=6e-8)
