"""The passes that would change the module of a stage, and those of them whose order matters."""

from typing import Final

import streamlit as st

from relax_core.diagnostics import plural
from relax_core.engine.protocol import EffectsOf, Failure
from relax_core.engine.replies import EffectsView
from relax_core.present.escape import bold, literal
from views.pages.passes.state import PassesState
from views.pages.passes.verifying import passed_program
from views.shell.controls.sheet import sheet
from views.shell.failures import show_failure
from views.state.session import select, state
from views.worker.connection import ask, run_again

_AGAIN: Final = {True: "leaves it", False: "changes it again", None: "refuses it"}
_SIGNS: Final = {"same": "=", "different": "≠", "refused": "✕"}
_OTHERS: Final = {
    "leaves": "leave it as it is",
    "needs options": "need options",
    "refuses": "refuse it",
    "breaks": "would leave it ill-formed",
}
_HELP: Final = "Run every pass alone on the module of this stage, and each two that change it in both orders"


def show_effects(stage: int) -> None:
    """Offer to try every pass on the module of a stage, and show what came of it."""
    is_on = bool(state(PassesState).effects)
    if st.button("Hide what passes do" if is_on else "Try every pass", key="passes.effects", help=_HELP):
        select(effects=int(not is_on))
        run_again()
        st.rerun()
    if not is_on:
        return
    reply = ask(EffectsOf(passed_program(), stage))
    if isinstance(reply, Failure):
        show_failure(reply)
    else:
        _show(reply)


def _show(view: EffectsView) -> None:
    changing = [row for row in view.rows if row.effect == "changes"]
    counts = ((sum(row.effect == effect for row in view.rows), words) for effect, words in _OTHERS.items())
    st.markdown(bold(f"{len(changing)} of {len(view.rows)} passes would change the module after {view.stage}"))
    st.caption(literal("; ".join(f"{count} {words}" for count, words in counts if count)))
    if changing:
        rows = [
            {
                "pass": row.name,
                "added": row.added_count,
                "removed": row.removed_count,
                "a second time": _AGAIN[row.is_idempotent],
            }
            for row in changing
        ]
        sheet(rows, key="passes.effects.table", name="effects")
    if view.pairs:
        st.caption("Both orders of two passes: = the same module, ≠ another one, ✕ one refuses what the other made")
        sheet(_matrix(view), key="passes.effects.orders", name="orders")
    refusing = [row for row in view.rows if row.effect in ("refuses", "breaks")]
    if refusing:
        with st.expander(literal(f"Why not {plural(len(refusing), 'other')}")):
            reasons = [{"pass": row.name, "why not": row.reason} for row in refusing]
            sheet(reasons, key="passes.effects.reasons", name="why_not", prose=("why not",))


def _matrix(view: EffectsView) -> list[dict[str, str]]:
    names = [row.name for row in view.rows if row.effect == "changes"]
    sign_of = {(item.first, item.second): _SIGNS[item.effect] for item in view.pairs}
    return [
        {"pass": one, **{other: sign_of.get((one, other), sign_of.get((other, one), "·")) for other in names}}
        for one in names
    ]
