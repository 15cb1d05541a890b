"""What a page replaced or removed is brought back by Undo: pipelines, rules, tables of patterns, changed values."""

import json

from streamlit.testing.v1 import AppTest

from relax_core.engine.programs.program import ChangeAt
from tests.views.pages import opened
from views.pages.passes.rewriting import EXAMPLES
from views.state.address import read_address
from views.state.selection import Selection, screen

MLP = screen(sample="relax/mlp.py")


def address(app: AppTest) -> Selection:
    assert not app.exception, [item.value for item in app.exception]
    return read_address(dict(app.query_params)).selection


def press(app: AppTest, key: str) -> AppTest:
    return app.button(key=key).click().run()


def offers(app: AppTest, key: str) -> bool:
    return any(button.key == key for button in app.button)


def test_each_pipeline_is_brought_back_with_the_stage_that_was_looked_at() -> None:
    first = MLP.changed(pipeline="Normalize, LegalizeOps", stage=2)
    app = opened("passes", first)
    assert not offers(app, "passes.pipeline.undo")
    passes = next(area for area in app.text_area if area.label == "Passes, in order")
    passes.set_value("LegalizeOps").run()
    press(app, "passes.apply")
    press(app, "passes.default")
    assert address(app).values()["pipeline"] == ""
    press(app, "passes.pipeline.undo")
    assert address(app).values()["pipeline"] == "LegalizeOps"
    press(app, "passes.pipeline.undo")
    assert address(app) == first
    assert not offers(app, "passes.pipeline.undo")


def test_another_sample_is_not_given_the_pipeline_of_the_one_before() -> None:
    app = press(opened("passes", MLP.changed(pipeline="LegalizeOps")), "passes.default")
    assert offers(app, "passes.pipeline.undo")
    app.selectbox(key="bar.sample").select("relax/loop.py").run()
    assert not offers(app, "passes.pipeline.undo")


def test_removed_rules_are_brought_back_with_their_stage() -> None:
    first = MLP.changed(pipeline="Normalize, ApplyRules(once=True), LegalizeOps", rule_text=EXAMPLES[0][1])
    app = press(opened("passes", first), "passes.rules.remove")
    assert address(app).values()["rule_text"] == ""
    assert address(press(app, "passes.rules.undo")) == first


def test_an_edit_of_a_table_is_brought_back() -> None:
    edited = screen(
        sample="relax/mlp.py", table_text=json.dumps({"patterns": [], "supported": {"mine": ["relax.add"]}})
    )
    app = press(opened("partition", edited), "partition.revert")
    assert address(app).values()["table_text"] == ""
    assert address(press(app, "partition.table.undo")) == edited


def test_values_that_were_taken_back_are_changed_again() -> None:
    app = opened("run", screen(sample="relax/loop.py", time=9))
    app.session_state["run.change"] = ChangeAt(9, "x = zeros()", 1)
    app.run()
    changed = address(app)
    press(app, "run.fork.drop")
    assert address(app).values()["changes"] == ""
    assert address(press(app, "run.changes.undo")) == changed
    assert address(press(app, "run.changes.undo")).values()["changes"] == ""
    assert not offers(app, "run.changes.undo")
