"""Edits that were dropped, by reverting them or by opening another sample, can be brought back."""

from tests.views.pages import opened
from views.state.address import read_address
from views.state.selection import screen


def test_edits_that_were_dropped_are_brought_back_as_they_were_looked_at() -> None:
    edited = screen(sample="relax/mlp.py", text="@R.function\ndef main():\n    return R.prim_value(7)\n", view="graph")
    app = opened("source", edited)
    assert not [button for button in app.button if button.key == "bar.undo"]
    app.button(key="bar.revert").click().run()
    assert "z" not in app.query_params
    app.button(key="bar.undo").click().run()
    assert read_address(dict(app.query_params)).selection == edited
    app.selectbox(key="bar.sample").select("relax/storage_reused.py").run()
    assert app.query_params["sample"] == "relax/storage_reused.py"
    app.button(key="bar.undo").click().run()
    assert read_address(dict(app.query_params)).selection == edited
