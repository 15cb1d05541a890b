"""What a call costs at each stage, as the page, the command line and the API say it."""

from dataclasses import asdict
from pathlib import Path

import msgspec
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.engine.protocol import CostsOf
from relax_core.engine.replies import CostsView
from relax_core.engine.session import Session
from relax_core.passes.pipeline import run_pipeline
from tests.engine.asking import ask
from tests.engine.programs import sample

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
FUSED = "LegalizeOps, AnnotateTIROpPattern, FuseOps, FuseTIR, DeadCodeElimination"


def view_of(name: str, pipeline: str | None = None, **options: object) -> CostsView:
    return ask(Session(), CostsOf(msgspec.structs.replace(sample(name), pipeline=pipeline, **options)))


def test_a_stage_costs_what_its_module_does() -> None:
    view = view_of("relax/mlp.py", FUSED)
    stages = run_pipeline(rc.parse(SAMPLES.joinpath("relax/mlp.py").read_text(encoding="utf-8")), FUSED)
    assert [row.index for row in view.rows] == [0, *(n for n, stage in enumerate(stages, 1) if stage.is_changed)]
    for row in view.rows[1:]:
        found = asdict(rc.costs_of(stages[row.index - 1].after))
        assert {name: getattr(row, name) for name in found} == found
    by_name = {row.name: row for row in view.rows}
    assert by_name["LegalizeOps"].added == (("relax.call_tir", 5),)
    assert dict(by_name["LegalizeOps"].removed)["relax.matmul"] == 2
    assert by_name["FuseTIR"].launches < by_name["LegalizeOps"].launches


def test_sizes_are_those_that_were_given() -> None:
    small, large = (view_of("relax/symbolic_shapes.py", "LegalizeOps", sizes=(("n", n),)) for n in (2, 200))
    assert (small.sizes[0], large.sizes[0]) == (("n", 2), ("n", 200))
    assert large.rows[-1].operations > 50 * small.rows[-1].operations > 0


def test_relay_is_not_counted_and_says_so() -> None:
    view = view_of("relay/map_three_times.relay", "")
    assert [row.hindrance for row in view.rows] == ["costs are counted in Relax, and this is Relay"]


def test_a_pass_that_failed_is_a_row_without_figures() -> None:
    view = view_of("relax/mlp.py", "LegalizeOps, CallTIRRewrite, ToNonDataflow")
    assert [row.name for row in view.rows] == ["Source", "LegalizeOps", "CallTIRRewrite"]
    assert view.rows[-1].hindrance.startswith("the pass failed: CallTIRRewrite needs a module without dataflow blocks")
    assert view.rows[-1].cells() == ("2 CallTIRRewrite", *["-"] * 6)
    assert view.rows[1].cells() == ("1 LegalizeOps", "0", "5", "5", "1,596", "2,576", "512")
    # What operators move is known, what they compute is not.
    assert view.rows[0].cells() == ("0 Source", "5", "-", "-", "-", "2,576", "512")


def test_the_command_line_says_it(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["costs", str(SAMPLES / "relax" / "mlp.py"), "--passes", FUSED]
    assert main(command) == 0
    said = capsys.readouterr().out
    view = view_of("relax/mlp.py", FUSED)
    assert said.strip() == view.to_text()
    assert "+5 relax.call_tir, -2 relax.matmul" in said
    assert "not counted: operators that are no kernels yet (5)" in said
    assert main([*command, "--json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out, type=CostsView) == view


def test_a_prim_func_alone_has_costs() -> None:
    view = view_of("tir/matmul.py")
    assert view.rows[0].launches == 1
    assert view.rows[0].operations > 0
