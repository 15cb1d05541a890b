"""What every pass would make of a module, and which two can change places."""

from pathlib import Path

import msgspec
import pytest

import relax_core as rc
from relax_core.cli import main
from relax_core.diagnostics import CompileError
from relax_core.engine.programs.effects import pair_effects, pass_effects
from relax_core.engine.protocol import EffectsOf
from relax_core.engine.session import Session
from relax_core.ir.equality import structural_equal
from relax_core.passes.pipeline import run_pipeline
from tests.engine.asking import ask
from tests.engine.programs import sample

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
MLP = (SAMPLES / "relax" / "mlp.py").read_text(encoding="utf-8")
RELAY = (SAMPLES / "relay" / "map_three_times.relay").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [MLP, RELAY], ids=["relax", "relay"])
def test_what_is_said_of_a_pass_is_what_a_pipeline_of_it_does(text: str) -> None:
    module = rc.parse(text)
    found = list(pass_effects(module))
    assert len({item.effect for item in found}) >= 3
    for item in found:
        if item.effect == "needs options":
            with pytest.raises(CompileError, match=f"needs the options? {item.reason.replace(', ', ' and ')}"):
                run_pipeline(module, item.name)
            continue
        (stage,) = run_pipeline(module, item.name)
        match item.effect:
            case "changes":
                assert not structural_equal(stage.after, module)
                again = run_pipeline(stage.after, item.name)[-1] if item.is_idempotent is not None else None
                assert again is None or structural_equal(again.after, stage.after) == item.is_idempotent
            case "leaves":
                assert structural_equal(stage.after, module)
            case "breaks":
                (error, *_) = [fault for fault in rc.check(stage.after) if fault.severity == "error"]
                assert item.reason == f"{error.code}: {error.message}"
            case _:
                assert stage.is_failed
                assert item.reason.startswith(stage.diagnostics[0].code)


@pytest.mark.parametrize("text", [MLP, RELAY], ids=["relax", "relay"])
def test_what_is_said_of_a_pair_is_what_both_orders_do(text: str) -> None:
    module = rc.parse(text)
    pairs = list(pair_effects(list(pass_effects(module))))
    assert {"same", "different"} <= {pair.effect for pair in pairs}
    for pair in pairs:
        if pair.effect != "refused":
            one, other = (
                run_pipeline(module, names)[-1].after
                for names in (f"{pair.first}, {pair.second}", f"{pair.second}, {pair.first}")
            )
            assert structural_equal(one, other) == (pair.effect == "same"), pair


def test_passes_that_need_options_say_which() -> None:
    names = {item.name for item in pass_effects(rc.parse(MLP)) if item.effect == "needs options"}
    assert {"Split", "Fuse", "Bind", "ComputeInline"} <= names
    with pytest.raises(rc.CompileError, match=r"PS002.*Split needs the option loop"):
        run_pipeline(rc.parse(MLP), "Split(block='b')")
    with pytest.raises(rc.CompileError, match=r"PS002.*Split needs the options block and loop"):
        run_pipeline(rc.parse(MLP), "Split")


def test_the_page_and_the_command_line_say_it(capsys: pytest.CaptureFixture[str]) -> None:
    view = ask(Session(), EffectsOf(msgspec.structs.replace(sample("relax/mlp.py"), pipeline="LegalizeOps"), 1))
    assert view.stage == "LegalizeOps"
    row = {item.name: item for item in view.rows}
    assert (row["LegalizeOps"].effect, row["ToNonDataflow"].effect) == ("leaves", "changes")
    assert row["ToNonDataflow"].removed_count > 0
    assert row["CallTIRRewrite"].reason.startswith("PS003: ")
    assert main(["effects", str(SAMPLES / "relax" / "mlp.py"), "--passes", "LegalizeOps"]) == 0
    assert capsys.readouterr().out.strip() == view.to_text()
    count = sum(item.effect == "changes" for item in view.rows)
    head = f"{count} of {len(view.rows)} passes would change the module after LegalizeOps\n"
    assert view.to_text().startswith(head)
    assert "  VMShapeLower would leave it ill-formed: WF005: " in view.to_text()


def test_trying_can_be_cancelled() -> None:
    def stop(number: int, _count: int, _words: str) -> None:
        if number == 3:
            raise KeyboardInterrupt

    tried: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        tried.extend(item.name for item in pass_effects(rc.parse(MLP), progress=stop))
    assert len(list(tried)) <= 3
