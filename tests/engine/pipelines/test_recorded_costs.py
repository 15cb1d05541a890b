"""What a call costs in each form of a recorded program."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

import relax_core as rc
from relax_core.cli.command_line import main
from relax_core.engine.debug.requests import RecordedCostsOf
from relax_core.engine.pipelines.parcel import parcel_of
from relax_core.engine.programs.program import Program
from relax_core.engine.protocol import Failure
from relax_core.engine.replies import CostsView
from relax_core.engine.session import Session
from relax_core.ir.tir import PrimFunc
from relax_core.printer.tvmscript import print_module
from tests.engine.pipelines.stage_texts import ADD, FOLDED, TWICE, UNREADABLE, after, dump

SYMBOLIC = """from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        y = R.multiply(R.add(x, x), x)
        return y
"""


def _stages(folder: Path) -> Path:
    """Write the stages of our own lowering, and behind them the prim funcs alone."""
    module = rc.parse(SYMBOLIC)
    stages = rc.run_pipeline(module, "Normalize, LegalizeOps, CallTIRRewrite, LowerAllocTensor, VMShapeLower")
    texts = {"000_(input)": SYMBOLIC}
    texts |= {f"{number:03d}_{item.pass_name}": print_module(item.after).text for number, item in enumerate(stages, 1)}
    legalized = stages[1].after
    kernels = tuple(item for item in legalized.definitions if isinstance(item.function, PrimFunc))
    texts["009_Kernels"] = print_module(replace(legalized, definitions=kernels)).text
    return dump(folder, **texts)


def _asked(*texts: tuple[str, str], sizes: tuple[tuple[str, int], ...] = ()) -> CostsView | Failure:
    parcel = parcel_of((("build.log", "".join(after(*item) for item in texts).encode()),))
    return Session().request(RecordedCostsOf(parcel, Program("", sizes=sizes)))


def test_each_form_is_counted_and_what_came_and_went_is_named() -> None:
    view = _asked(("First", ADD), ("Same", ADD), ("Second", TWICE))
    assert isinstance(view, CostsView)
    found = [(row.name, row.operator_calls, row.moved_bytes) for row in view.rows]
    assert found == [("First", 1, 48), ("Second", 1, 52)]
    assert (view.rows[1].added, view.rows[1].removed) == ((("relax.multiply", 1),), (("relax.add", 1),))


def test_a_form_that_cannot_be_read_says_why() -> None:
    view = _asked(("First", ADD), ("Cut", UNREADABLE), ("Second", TWICE))
    assert isinstance(view, CostsView)
    assert [bool(row.hindrance) for row in view.rows] == [False, True, False]
    assert view.rows[1].hindrance.startswith("PA")


def test_a_prim_func_alone_is_called_once() -> None:
    found = _asked(("Only", FOLDED.replace("tir_function", "kernel")))
    assert isinstance(found, CostsView)
    assert [(row.launches, row.hindrance) for row in found.rows] == [(1, "")]


def test_prim_funcs_alone_are_counted_with_the_calls_of_the_last_form_of_known_sizes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _stages(tmp_path / "stages")
    assert main(["costs", str(folder), "--sizes", "n=8", "--json"]) == 0
    said = capsys.readouterr()
    assert not said.err
    view = msgspec.json.decode(said.out, type=CostsView)
    rows = {row.name: row for row in view.rows}
    assert view.sizes == (("n", 8),)
    assert (rows["Kernels"].operations, rows["Kernels"].launches, rows["Kernels"].lower_bounds) == (64, 2, ())
    assert rows["VMShapeLower"].lower_bounds
    assert rows["Kernels"].moved_bytes == rows["LegalizeOps"].moved_bytes == 8 * 4 * 4 * 5
