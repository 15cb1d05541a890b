"""The year of a text's spelling, and what follows it: how stages are printed, and the default pipeline."""

from pathlib import Path

import pytest

from relax_core.engine.programs.spelling import guess_spelling
from relax_core.engine.protocol import Failure, Opt, PipelineOf, Program, RunOf, Script, StageOf
from relax_core.engine.session import Session
from relax_core.frontend.parse import parse_text
from relax_core.present.running.run_models import Run, Write
from relax_core.printer.spelling import Spelling
from relax_core.printer.tvmscript import print_module
from tests.engine.programs import SAMPLES, sample

SEEDS = sorted((SAMPLES / "seeds").glob("my_ir_module*.py"))


def _year(path: Path) -> str:
    suffix = path.stem.rsplit("_", 1)[-1]
    return suffix if suffix.isdecimal() else "2022"


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_the_year_of_a_seed_is_found(path: Path) -> None:
    assert guess_spelling(path.read_text(encoding="utf-8")) == _year(path)


@pytest.mark.parametrize("year", ["2022", "2023", "2026"])
@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_the_year_of_a_printed_text_is_found(path: Path, year: Spelling) -> None:
    module = parse_text(path.read_text(encoding="utf-8"), path.name).modules[0]
    assert guess_spelling(print_module(module, spelling=year).text) == year


@pytest.mark.parametrize(
    ("words", "year"),
    [
        ('def main(x: Tensor((2, 3), "float32")): pass', "2022"),
        ("lv: R.Shape = (n, m)", "2022"),
        ("y = relax.print(closure)", "2022"),
        ('gv = R.call_tir(f, [x], (n,), dtype="float32")', "2022"),
        ("def f() -> R.Object: pass", "2023"),
        ('with T.block("b"): vn = T.int64()', "2023"),
        ("def f() -> R.Any: pass", "2026"),
        ('n = TypeVar("n")', "2026"),
        ("y = R.add(x, x)", "2026"),
        ("y = R.add(x, x)  # not match_shape, nor out_sinfo", "2026"),
    ],
)
def test_a_mark_gives_the_year_away(words: str, year: str) -> None:
    assert guess_spelling(words) == year


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_stages_are_printed_in_the_spelling_of_the_text(path: Path) -> None:
    that = sample(f"seeds/{path.name}")
    reply = Session().request(Opt(that))
    assert not isinstance(reply, Failure)
    for stage in reply.stages:
        assert guess_spelling(stage.text) == _year(path), stage.name
        errors = [item for item in parse_text(stage.text, "again.py").diagnostics if item.severity == "error"]
        assert not errors, stage.name


def test_the_diff_leaves_out_the_header_and_the_download_keeps_it() -> None:
    session, that = Session(), sample("seeds/my_ir_module_2026.py")
    view = session.request(StageOf(that, 1))
    script = session.request(Script(that))
    assert not isinstance(view, Failure)
    assert not isinstance(script, Failure)
    assert view.after.text.startswith("# from ")
    assert script.text.startswith("# from ")
    first = view.diff.rows[0]
    for side in (first.before, first.after):
        assert side is not None
        assert not side.text.startswith("#")
    named = [row.after.node for row in view.diff.rows if row.after is not None and row.after.node]
    assert named


def _run(session: Session, that: Program) -> Run:
    reply = session.request(RunOf(that))
    assert isinstance(reply, Run), reply
    return reply


@pytest.mark.parametrize(
    ("path", "captured"), [("seeds/print_closure.py", []), ("seeds/print_closure2.py", ["x1"])], ids=lambda item: item
)
def test_a_program_of_2022_holds_its_closure_in_a_register(path: str, captured: list[str]) -> None:
    session = Session()
    pipeline = session.request(PipelineOf(sample(path)))
    assert not isinstance(pipeline, Failure)
    assert "LambdaLift(names='2022')" in pipeline.text
    run = _run(session, sample(path))
    changes = [change for event in run.events for change in event.changes]
    written = [change.value for change in changes if isinstance(change, Write)]
    closures = [found for number in written if (found := run.values[number].closure) is not None]
    assert [found.function for found in closures] == ["lifted_func_0"]
    assert [item.name for item in closures[0].captures] == captured
    assert run.output[0].text == "<closure>"


def test_a_later_program_keeps_the_pipeline_as_it_is() -> None:
    pipeline = Session().request(PipelineOf(sample("seeds/print_closure_2026.py")))
    assert not isinstance(pipeline, Failure)
    assert "LambdaLift," in pipeline.text
