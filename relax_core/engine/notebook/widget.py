"""The widget: the app's components in a notebook, fed through traits, with a form that needs no kernel beside it."""

import logging
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, cast, get_args

import anywidget
import msgspec
import traitlets

from relax_core.diagnostics import DiagnosedError
from relax_core.engine.components.commands import NO_COMMAND, Command
from relax_core.engine.documents.meanings import explanations
from relax_core.engine.notebook.screen import Part, PartName, Screen
from relax_core.engine.notebook.still import Still
from relax_core.engine.places import ROOT

_LOG: Final = logging.getLogger(__name__)


def script() -> str:
    """Return the built file of the components with their host.

    Raises:
        FileNotFoundError: it is not built, or beside an older one.
    """
    found = sorted((ROOT / "static").glob("notebook-*.js"))
    if len(found) != 1:
        raise FileNotFoundError(f"{len(found)} files static/notebook-*.js: run python tools/build_static.py")
    return Path(found[0]).read_text(encoding="utf-8")


class ComponentsWidget(anywidget.AnyWidget):
    """Shows the parts of a screen: a component's model is a trait of its name, what is said beside it is in `views`."""

    _esm = traitlets.Unicode().tag(sync=True)
    views = traitlets.Dict().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    graph = traitlets.Bytes().tag(sync=True)
    diff = traitlets.Bytes().tag(sync=True)
    stepper = traitlets.Bytes().tag(sync=True)

    def __init__(self, screen: Screen, still: Still) -> None:
        self._screen = screen
        self._still = still
        self._commands: dict[tuple[str, str], Command] = {}
        super().__init__(_esm=script(), **self._state())
        self.on_msg(self._on_message)  # pyright: ignore[reportUnknownMemberType]  # ipywidgets has no types

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget, and what stands for it where no kernel runs."""
        found = super()._repr_mimebundle_(**kwargs)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # its dicts have no types
        data, metadata = cast("tuple[dict[str, Any], dict[str, Any]]", found or ({}, {}))
        return {**data, **self._still.forms()}, metadata

    def __repr__(self) -> str:
        return repr(self._still)

    def _state(self) -> dict[str, object]:
        parts = self._screen.parts()
        models = {name: msgspec.json.encode(part.model) for name, part in parts.items()}
        views = {name: self._view(name, part, models[name]) for name, part in parts.items()}
        return {**models, "views": views, "note": self._screen.note}

    def _view(self, name: str, part: Part, model: bytes) -> dict[str, object]:
        sent: dict[str, object] = {}
        for command, wanted in part.commands.items():
            known = self._commands.get((name, command), NO_COMMAND).wanting(wanted)
            self._commands[name, command] = known
            sent[command] = (known.value, known.number)
        view = {**cast("dict[str, object]", msgspec.to_builtins(part.props)), **sent}
        return {"rev": blake2b(model, digest_size=8).hexdigest(), "view": view}

    def _on_message(self, _widget: object, content: Mapping[str, Any], _buffers: object) -> None:
        """Take what a component tells; a message that none of ours writes is dropped."""
        part, kind, value = (content.get(key) for key in ("part", "kind", "value"))
        if part not in get_args(PartName) or not isinstance(value, Mapping):
            return
        name, told = cast("PartName", part), cast("Mapping[str, object]", value)
        try:
            self._answer(name, str(kind), told)
        except msgspec.ValidationError:
            _LOG.warning("a widget was sent a message that none of its components writes")
        except DiagnosedError as error:
            self.note = "\n".join(item.render() for item in error.diagnostics)

    def _answer(self, part: PartName, kind: str, told: Mapping[str, object]) -> None:
        self._screen.note = ""
        if kind == "explain":
            names = msgspec.convert(told.get("names"), tuple[str, ...])
            self._screen.note = explanations(*names).to_text()
        else:
            for command, known in self._commands.items():
                if command[0] == part and command[1] in told:
                    self._commands[command] = known.showing(told[command[1]])
            self._screen.act(part, told)
        with self.hold_sync():
            for trait, new in self._state().items():
                setattr(self, trait, new)
