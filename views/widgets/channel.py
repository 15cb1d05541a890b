"""What every component's Python side shares: registering its built file, sending models, reading actions.

A payload is one line of JSON (revision of the model, view) and then the model's JSON. A value that both the page
and the component may change (the selection, the time) is a command: it is sent anew only when the page wants
something else than before and than the component shows, so an echo of the user's own action leaves the payload
as it was, and Streamlit does not send it again.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar, cast

import msgspec
import streamlit as st
from streamlit.components.v2 import component

from relax_core.engine.components.commands import NO_COMMAND, Command
from views.state.dialogs import ask_for_meaning

STATIC = Path(__file__).resolve().parents[2] / "static"
PANE_HEIGHT = "calc(100vh - 80px - var(--bar, 45px))"
"""Fills the window between the context bar and the status line."""

# A loader must be two lines: one line is taken for a path. The address is relative to the page, since the loader
# itself is a blob.
_LOADER = """export default async function (a) {{
return (await import(new URL("app/static/{file}", document.baseURI).href)).default(a); }}"""

_EARLIER_LIMIT = 8
_NAMES_LIMIT = 8

Model = TypeVar("Model", bound=msgspec.Struct)
Props = TypeVar("Props", bound=msgspec.Struct)
Action = TypeVar("Action")


class Asked(msgspec.Struct, frozen=True):
    """Names that a component shows and whose meaning is asked for; `text` is the sentence that uses them."""

    names: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a component got last: the model, and its JSON with what identifies that."""

    model: object
    fields: tuple[str, ...]
    body: bytes
    revision: str


@dataclass(frozen=True, slots=True)
class Channel(Generic[Model, Props, Action]):
    """A registered component: the model that it is given, what a page says beside that, and what its user does.

    `tools/typescript_models.py` writes these classes as TypeScript.
    """

    name: str
    model: type[Model]
    props: type[Props]
    action: type[Action]
    apart: type[msgspec.Struct] | None
    """A model that is sent apart from the rest, if there is one."""
    mount: Callable[..., Any]

    def show(
        self,
        key: str,
        model: Model,
        *,
        view: Props,
        commands: Mapping[str, object],
        mirrored: Mapping[str, object] | None = None,
        base: tuple[str, ...] | msgspec.Struct = (),
        on_action: Callable[[Action], None] | None = None,
    ) -> Action | None:
        """Show the component and return what its user did since the last run, None for nothing.

        `view` is what the page says beside the model: sent whole, and no reason to draw the model again.

        `on_action` is called before the script runs, with each action since it last was, in their order: when several
        follow each other quickly, the script runs for the last one only.
        A name in `commands` that is a field of the action is compared with what the component reported. Values in
        `mirrored` are commands whose value the model holds: only the number is sent. The fields in `base`, or those of
        `base` if it is a model, are sent apart from the rest, and not again while they stay as they are.
        """
        raw = _stored_action(key)
        fresh = raw if _is_fresh(key, raw) else None
        if raw is None:
            _forget_shown(key, (*commands, *(mirrored or {})))
        sent = {name: _command(key, name, wanted, fresh) for name, wanted in commands.items()}
        marks = {name: (None, _command(key, name, wanted, fresh)[1]) for name, wanted in (mirrored or {}).items()}
        fields = base if isinstance(base, tuple) else ()
        body = _sent(key, model, tuple(name for name in model.__struct_fields__ if name not in fields))
        below = _base(f"{key}.base", model, base)
        head = {"rev": body.revision, "view": {**msgspec.structs.asdict(view), **sent, **marks}}
        if below is not None:
            head["base"] = below.revision
        self.mount(
            key=key,
            data=msgspec.json.encode(head) + b"\n" + body.body,
            on_action_change=lambda: self._call(key, on_action),
            on_explain_change=lambda: _explain(key),
        )
        if below is not None:
            self.mount(key=f"{key}.below", data=b'{"gives":"%b"}\n%b' % (below.revision.encode(), below.body))
        return self._read(fresh)

    def _call(self, key: str, on_action: Callable[[Action], None] | None) -> None:
        if on_action is None:
            return
        for raw in _untold(key):
            # Streamlit may end this script wherever it says something to the browser: the next run tells the rest.
            st.session_state[f"{key}.told"] = _number(raw)
            action = self._read(raw)
            if action is not None:
                on_action(action)

    def _read(self, raw: Mapping[str, object] | None) -> Action | None:
        """Check what the browser sent; a message that no component of ours writes is dropped."""
        try:
            return None if raw is None else msgspec.convert(dict(raw), self.action)
        except msgspec.ValidationError:
            return None


def channel(
    name: str,
    model: type[Model],
    props: type[Props],
    action: type[Action],
    *,
    apart: type[msgspec.Struct] | None = None,
) -> Channel[Model, Props, Action]:
    """Register the built component `static/<name>-<hash>.js`.

    One that is not built, or beside which an older build lies, raises `FileNotFoundError` when it is shown. To declare
    it is no mistake: its types are written as TypeScript before it can be built.
    """
    found = sorted(STATIC.glob(f"{name}-*.js"))
    if len(found) != 1:
        return Channel(name, model, props, action, apart, _not_built(name, len(found)))
    return Channel(
        name, model, props, action, apart, component(f"relaxscope_{name}", js=_LOADER.format(file=found[0].name))
    )


def _not_built(name: str, count: int) -> Callable[..., NoReturn]:
    def mount(**_: object) -> NoReturn:
        raise FileNotFoundError(f"{count} files static/{name}-*.js: run python tools/build_static.py")

    return mount


def _sent(key: str, model: msgspec.Struct, fields: tuple[str, ...]) -> _Sent:
    """Return the JSON of some fields of a model, which is made once for a model."""
    known: _Sent | None = st.session_state.get(f"{key}.sent")
    if known is not None and known.model is model and known.fields == fields:
        return known
    body = msgspec.json.encode({name: getattr(model, name) for name in fields})
    sent = _Sent(model, fields, body, hashlib.blake2b(body, digest_size=8).hexdigest())
    st.session_state[f"{key}.sent"] = sent
    return sent


def _base(key: str, model: msgspec.Struct, base: tuple[str, ...] | msgspec.Struct) -> _Sent | None:
    if isinstance(base, msgspec.Struct):
        return _sent(key, base, base.__struct_fields__)
    return _sent(key, model, base) if base else None


def _explain(key: str) -> None:
    """Have explained what was asked about; a message that no component of ours writes is dropped."""
    try:
        asked = msgspec.convert(dict(_stored(key, "explain") or {}), Asked)
    except msgspec.ValidationError:
        return
    ask_for_meaning(*asked.names[:_NAMES_LIMIT], about=asked.text)


def _stored_action(key: str) -> Mapping[str, object] | None:
    return _stored(key, "action")


def _stored(key: str, name: str) -> Mapping[str, object] | None:
    state: object = st.session_state.get(key)
    value: object = state.get(name) if isinstance(state, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # session state is untyped
    return cast(Mapping[str, object], value) if isinstance(value, Mapping) else None


def _untold(key: str) -> tuple[Mapping[str, object], ...]:
    """Return the actions that were not told yet, the latest last; each is sent with some of those before it.

    To a session that has not heard of the component, which the browser may have begun anew, those are of no concern.
    """
    latest = _stored_action(key)
    if latest is None:
        return ()
    number = _number(latest)
    told = max(st.session_state.get(f"{key}.told", 0), st.session_state.get(f"{key}.seq", number - 1))
    earlier = [cast(Mapping[str, object], item) for item in _listed(latest.get("earlier")) if isinstance(item, Mapping)]
    return tuple(item for item in (*earlier, latest) if told < _number(item) <= number)


def _listed(value: object) -> list[object]:
    return cast(list[object], value)[-_EARLIER_LIMIT:] if isinstance(value, list) else []


def _number(raw: Mapping[str, object]) -> int:
    number = raw.get("seq", 0)
    return number if isinstance(number, int) else 0


def _is_fresh(key: str, raw: Mapping[str, object] | None) -> bool:
    number = 0 if raw is None else raw.get("seq", 0)
    is_fresh = number != st.session_state.get(f"{key}.seq", 0)
    st.session_state[f"{key}.seq"] = number
    return is_fresh and raw is not None


def _forget_shown(key: str, names: tuple[str, ...]) -> None:
    """Expect of a component that reported nothing, since it is there or there again, no more than it was sent."""
    for name in names:
        known: Command | None = st.session_state.get(f"{key}.{name}")
        if known is not None:
            st.session_state[f"{key}.{name}"] = Command(known.value, known.number, known.value, known.value)


def _command(key: str, name: str, wanted: object, fresh: Mapping[str, object] | None) -> tuple[object, int]:
    slot = f"{key}.{name}"
    known: Command = st.session_state.get(slot) or NO_COMMAND
    if fresh is not None and name in fresh:
        known = known.showing(fresh[name])
    known = known.wanting(wanted)
    st.session_state[slot] = known
    return known.value, known.number
