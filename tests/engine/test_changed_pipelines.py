"""Of a pipeline that was changed only what follows the change runs again."""

import msgspec
import pytest

from relax_core.engine.protocol import Opt, PipelineOf, Program
from relax_core.engine.session import Session
from relax_core.passes import pipeline as pipelines
from relax_core.passes.core import Stage
from tests.engine.asking import ask
from tests.engine.programs import sample

FIRST = "Normalize, LegalizeOps, AnnotateTIROpPattern, FuseOps(max_depth=4), FuseTIR, ToNonDataflow"
TABLES = """{"patterns": [["dnnl.relu", "is_op('nn.relu')(wildcard())"]], "supported": {"dnnl": ["nn.relu"]}}"""
PROGRAM = msgspec.structs.replace(sample("relax/mlp.py"), pipeline=FIRST)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the passes that run."""
    names: list[str] = []
    run_step = pipelines.run_step

    def noted(step: pipelines.Step, *rest: object) -> Stage:
        names.append(step.pass_.name)
        return run_step(step, *rest)  # pyright: ignore[reportArgumentType]  # what it is given goes on

    monkeypatch.setattr(pipelines, "run_step", noted)
    return names


@pytest.mark.parametrize(
    ("pipeline", "again"),
    [
        (FIRST, []),
        (FIRST.removesuffix(", ToNonDataflow"), []),
        (FIRST.replace("max_depth=4", "max_depth=2"), ["FuseOps", "FuseTIR", "ToNonDataflow"]),
        (FIRST.replace(" FuseTIR,", ""), ["ToNonDataflow"]),
        (FIRST.replace("Normalize, ", ""), FIRST.replace("(max_depth=4)", "").split(", ")[1:]),
        ("Normalize, LegalizeOps, ToNonDataflow", ["ToNonDataflow"]),
    ],
    ids=["the same", "without the last", "an option", "without one", "without the first", "another behind"],
)
def test_what_stands_before_the_change_does_not_run_again(ran: list[str], pipeline: str, again: list[str]) -> None:
    session = Session()
    ask(session, PipelineOf(PROGRAM))
    # A space more is another program of the same passes.
    changed = msgspec.structs.replace(PROGRAM, pipeline=f"{pipeline} ")
    ran.clear()
    found = ask(session, Opt(changed))
    assert ran == again
    alone = ask(Session(), Opt(changed))
    assert [(item.name, item.text, item.rewrite_count) for item in found.stages] == [
        (item.name, item.text, item.rewrite_count) for item in alone.stages
    ]


@pytest.mark.parametrize("other", ["text", "tables"])
def test_another_program_shares_nothing(ran: list[str], other: str) -> None:
    session = Session()
    ask(session, PipelineOf(PROGRAM))
    changed: dict[str, Program] = {
        "text": msgspec.structs.replace(PROGRAM, text=PROGRAM.text + "\n"),
        "tables": msgspec.structs.replace(PROGRAM, tables=TABLES),
    }
    ran.clear()
    ask(session, PipelineOf(changed[other]))
    assert len(ran) == 6


def test_a_pass_that_failed_runs_again(ran: list[str]) -> None:
    session = Session()
    program = msgspec.structs.replace(PROGRAM, pipeline="Normalize, CallTIRRewrite, LegalizeOps")
    assert ask(session, PipelineOf(program)).stages[-1].is_failed
    ran.clear()
    longer = msgspec.structs.replace(program, pipeline="Normalize, CallTIRRewrite")
    assert ask(session, PipelineOf(longer)).stages[-1].is_failed
    assert ran == ["CallTIRRewrite"]


def test_only_the_first_passes_run_if_so_many_are_asked_for(ran: list[str]) -> None:
    session = Session()
    for count in (0, 2):
        found = ask(session, PipelineOf(msgspec.structs.replace(PROGRAM, pass_count=count)))
        assert [stage.name for stage in found.stages] == ["Source", "Normalize", "LegalizeOps"][: count + 1]
    assert ran == ["Normalize", "LegalizeOps"]
