"""What the kernel answers to the components of a notebook: the graph, the diff of stages, the stepper."""

from pathlib import Path
from typing import cast

import msgspec
import numpy as np
import pytest

import relax_core as rc
from relax_core.engine.api import notebooks
from relax_core.engine.components.diff import DiffProps
from relax_core.engine.components.stepper import StepperProps
from relax_core.engine.notebook.graphs import ModuleScreen
from relax_core.engine.notebook.recordings import RecordedScreen, RecordedSubject
from relax_core.engine.notebook.runs import RunScreen
from relax_core.engine.notebook.screen import Part, PartName, Screen
from relax_core.engine.notebook.stages import StagesScreen
from relax_core.engine.notebook.still import PAGE_BYTES, Still
from relax_core.engine.notebook.subject import of_module, of_run, of_stages, of_trace
from relax_core.engine.notebook.widget import ComponentsWidget
from relax_core.engine.programs.pass_files import PASSES_VARIABLE
from relax_core.ir.module import IRModule
from relax_core.present.models import Diff, Graph
from relax_core.present.running.run_models import Run
from tests.engine.programs import SAMPLES, SMALL

MLP = (SAMPLES / "relax" / "mlp.py").read_text(encoding="utf-8")


def part(screen: Screen, name: PartName) -> Part:
    return screen.parts()[name]


def did(screen: Screen, name: PartName, **action: object) -> Part | None:
    screen.act(name, action)
    return screen.parts().get(name)


@pytest.fixture
def run() -> RunScreen:
    return RunScreen(of_run(rc.record_run(rc.parse(SMALL, "m.py"), np.ones((2, 3), np.float32))))


def stepped(screen: RunScreen, **action: object) -> StepperProps:
    """Let the user do something at a time, and return what is said beside the run then."""
    made = did(screen, "stepper", **{"at": 0, "by": "binding", **action})
    assert made is not None
    return cast("StepperProps", made.props)


def test_a_module_is_its_graph_a_function_at_a_time() -> None:
    text = (SAMPLES / "relax" / "callback.py").read_text(encoding="utf-8")
    module = rc.parse(text, "callback.py")
    screen = ModuleScreen(of_module(module))
    tabs = [name for name, _ in part(screen, "graph").props.tabs]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]  # those of a graph
    assert tabs == list(module.names)
    for name in module.names:
        made = did(screen, "graph", kind="tab", command=name)
        assert made is not None
        assert cast("Graph", made.model).title == f"@{name}"


def test_weights_are_left_out_and_a_selection_stays() -> None:
    screen = ModuleScreen(of_module(rc.parse(MLP, "mlp.py")))
    before = cast("Graph", part(screen, "graph").model)
    node = next(item.node for item in before.nodes if item.node)
    did(screen, "graph", kind="select", node=node)
    made = did(screen, "graph", kind="command", command="weights")
    assert made is not None
    assert len(cast("Graph", made.model).nodes) < len(before.nodes)
    assert made.commands["node"] == node


def test_stages_are_those_of_the_host_passes_of_its_own_among_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more.py").write_text("")
    monkeypatch.setenv(PASSES_VARIABLE, str(tmp_path / "more.py"))
    ran: list[str] = []

    def mine(module: IRModule) -> IRModule:
        ran.append(module.name)
        return module

    stages = rc.run_pipeline(rc.parse(MLP, "mlp.py"), ["LegalizeOps", mine, "FuseOps"])
    screen = StagesScreen(of_stages(stages))
    props = cast("DiffProps", part(screen, "diff").props)
    assert [name.partition("(")[0] for _, name, _ in props.stages] == ["Source", "LegalizeOps", "mine", "FuseOps"]
    assert [tab for tab, _ in props.tabs] == ["both", "text", "graph", "structure", "rewrites", "remarks"]
    made = did(screen, "diff", kind="stage", stage=3)
    assert made is not None
    assert cast("Diff", made.model).after_title == "After · FuseOps"
    assert ran == ["Classifier"] or len(ran) == 1


def test_a_view_without_a_graph_has_none_and_a_rewrite_is_shown_on_its_own() -> None:
    screen = StagesScreen(of_stages(rc.run_pipeline(rc.parse(MLP, "mlp.py"), "LegalizeOps")))
    assert list(screen.parts()) == ["diff", "graph"]
    screen.act("diff", {"kind": "tab", "command": "structure"})
    assert list(screen.parts()) == ["diff"]
    assert cast("DiffProps", part(screen, "diff").props).structure is not None
    screen.act("diff", {"kind": "tab", "command": "rewrites"})
    made = did(screen, "diff", kind="rewrite", rewrite=1)
    assert made is not None
    single = cast("DiffProps", made.props).single
    assert single is not None
    assert single.number == 1


def test_a_run_is_the_one_that_was_recorded(run: RunScreen) -> None:
    model = cast("Run", part(run, "stepper").model)
    assert model.outcome == "returned"
    assert model.kernel_pcs == ()
    assert run.parts()["stepper"].commands == {"at": 0, "by": "binding", "breakpoints": ()}


def test_a_trace_alone_is_shown_with_the_text_of_its_module() -> None:
    recording = rc.record_run(rc.parse(SMALL, "m.py"), np.ones((2, 3), np.float32))
    model = cast("Run", part(RunScreen(of_trace(recording.trace)), "stepper").model)
    assert model.total == len(recording)
    assert any("y = R.add(x, x)" in "".join(token.text for token in line.tokens) for line in model.source)


def test_a_condition_is_evaluated_an_expression_watched_and_a_tensor_shown(run: RunScreen) -> None:
    total = cast("Run", part(run, "stepper").model).total
    assert stepped(run, kind="watch", names=["x[0, 0] + 1"]).watched is not None
    watched = stepped(run, kind="state", at=total).watched
    assert watched is not None
    assert watched.fault == ""
    props = stepped(run, kind="state", breakpoints=[{"line": 7, "condition": "x[0, 0] > 0"}])
    assert len(props.hits) == 1
    shown = stepped(run, kind="tensor", at=total - 1, tensor={"expression": "x"}).tensor
    assert shown is not None
    assert shown.fault == ""
    assert stepped(run, kind="tab", command="memory").memory is not None


def test_a_changed_value_makes_another_run_and_a_wrong_change_says_why(run: RunScreen) -> None:
    before = part(run, "stepper").model
    assert stepped(run, kind="change", text="x[0, 0] = 5.0").fault is None
    assert part(run, "stepper").model != before
    fault = stepped(run, kind="change", text="nothing = 5.0").fault
    assert fault is not None
    assert "nothing" in fault.problem.message


def test_what_an_instruction_does_is_explained(run: RunScreen) -> None:
    stepped(run, kind="explain", names=["call"], text="main calls add.")
    assert run.note.startswith("main calls add.\n\n")
    assert "call" in run.note.partition("\n\n")[2]


def test_a_message_that_no_component_writes_is_dropped() -> None:
    shown = rc.show(rc.parse(SMALL, "m.py"))
    assert isinstance(shown, ComponentsWidget)
    before = shown.views
    for content in (
        {},
        {"part": "graph", "kind": "action", "value": {"kind": "nothing"}},
        {"part": "_esm", "kind": "action", "value": {"kind": "select"}},
        {"part": "graph", "kind": "explain", "value": {"names": 3}},
    ):
        shown._on_message(None, content, None)  # pyright: ignore[reportPrivateUsage]  # what a browser sends
    assert shown.views == before
    hides = {"part": "graph", "kind": "action", "value": {"kind": "command", "command": "weights"}}
    shown._on_message(None, hides, None)  # pyright: ignore[reportPrivateUsage]
    assert shown.views != before


def test_an_echo_of_the_user_s_own_selection_is_not_sent_back() -> None:
    shown = rc.show(rc.parse(SMALL, "m.py"))
    assert isinstance(shown, ComponentsWidget)
    graph = msgspec.json.decode(shown.graph)
    node = next(item["node"] for item in graph["nodes"] if item["node"])
    value = {"kind": "select", "node": node, "side": "both"}
    before = shown.views["graph"]["view"]["node"]
    shown._on_message(None, {"part": "graph", "kind": "action", "value": value}, None)  # pyright: ignore[reportPrivateUsage]
    assert shown.views["graph"]["view"]["node"] == before


def test_a_widget_has_what_stands_for_it_without_a_kernel() -> None:
    shown = rc.show(rc.parse(SMALL, "m.py"))
    assert isinstance(shown, ComponentsWidget)
    data, _ = shown._repr_mimebundle_()  # pyright: ignore[reportPrivateUsage]  # what IPython asks for
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert data["text/plain"] == repr(shown) == SMALL


def test_without_anywidget_the_extra_is_named_and_the_rest_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "find_spec", lambda name: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    module = rc.parse(SMALL, "m.py")
    with pytest.raises(ModuleNotFoundError, match=r"relaxscope\[notebook\]"):
        rc.show(module)
    still = rc.show(module, live=False)
    assert isinstance(still, Still)
    assert "iframe" in still.forms()["text/html"]


def test_a_recorded_pipeline_is_its_forms_beside_each_other() -> None:
    subject = RecordedSubject(rc.open_pipeline(SAMPLES.parent / "tests" / "golden" / "pipelines" / "print_all.txt"))
    screen = RecordedScreen(subject)
    assert list(screen.parts()) == ["diff", "graph"]
    props = cast("DiffProps", part(screen, "diff").props)
    assert [name for _, name, _ in props.stages] == ["000 (input)", "005 LegalizeOps"]
    assert cast("Diff", part(screen, "diff").model).after_title == "B · 005 LegalizeOps"
    made = did(screen, "diff", kind="stage", stage=0)
    assert made is not None
    assert cast("Diff", made.model).is_unchanged
    did(screen, "diff", kind="stage", stage=1)
    did(screen, "diff", kind="tab", command="structure")
    assert cast("DiffProps", part(screen, "diff").props).structure is not None
    assert list(screen.parts()) == ["diff"]


def test_the_page_of_a_recording_is_bounded_and_says_what_it_leaves_out() -> None:
    subject = RecordedSubject(rc.open_pipeline(SAMPLES.parent / "tests" / "golden" / "pipelines" / "print_all.txt"))
    whole = subject.page(PAGE_BYTES)
    assert whole.count("<details") == len(subject.forms)
    part_of_it = subject.page(90_000)
    assert len(part_of_it.encode()) <= 90_000 < len(whole.encode())
    assert 'class="left"' in part_of_it


@pytest.mark.tvm
def test_a_module_of_tvm_and_a_recording_of_its_passes_are_shown_as_they_are(tmp_path: Path) -> None:
    from relax_core.engine.pipelines import record_tvm
    from tests.apache_tvm import from_source, relax

    module = from_source(MLP[MLP.index("@I.ir_module") :])
    shown = rc.show(module)
    assert isinstance(shown, ComponentsWidget)
    assert "R.nn.softmax" in repr(shown)
    with record_tvm.record(str(tmp_path / "trace")) as recorder:
        relax.transform.LegalizeOps()(module)
    recorded = rc.show(recorder)
    assert isinstance(recorded, ComponentsWidget)
    assert "LegalizeOps" in repr(recorded)
    assert list(recorded.views) == ["diff", "graph"]


def test_what_cannot_be_shown_is_named() -> None:
    with pytest.raises(TypeError, match="and no int"):
        rc.show(3)  # pyright: ignore[reportArgumentType]  # the mistake that is tested
    with pytest.raises(TypeError, match="and no list"):
        rc.show([])
