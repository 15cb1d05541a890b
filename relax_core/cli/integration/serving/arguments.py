"""The requests that there are, made from the parser of the command line: each option is a member of a JSON object."""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, cast

import msgspec
from msgspec import UNSET, UnsetType

from relax_core.cli.changes import named_file
from relax_core.cli.integration.completion import FILES
from relax_core.cli.integration.serving.exchange import NAME, File, FileName

_JSON: Final = "json"
_LEFT_OUT: Final = frozenset(("help", "pass_file", "in_process", "is_repeated"))
"""They name Python code of the one who runs the server, drop its limits, or never end."""
_NOT_SERVED: Final = frozenset(("batch",))
"""They read folders, start workers of their own, or reach other machines."""
_NOT_PYTHON: Final = "^[A-Za-z0-9_.:-]+=(zeros|recorded)$"
_MOST: Final = 1000
"""Values of one option."""


class BadRequestError(Exception):
    """A request that no command is carried out for; the message says why."""


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """A command, and the type of the object that asks for it."""

    name: str
    summary: str
    type: type[msgspec.Struct]
    actions: Mapping[str, argparse.Action]
    """By the names of the members."""
    groups: tuple[tuple[str, ...], ...]
    """Members of which one at most may be given."""

    def arguments(self, content: bytes) -> tuple[tuple[str, ...], dict[str, File]]:
        """Read the body of a request: return the arguments of the command line, and the files that are sent along.

        Raises:
            BadRequestError: it is not as its description says, or names a file that cannot be sent along.
        """
        try:
            read = msgspec.json.decode(content, type=self.type)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequestError(str(error)) from None
        given = {name: value for name, value in _members(read) if value is not UNSET}
        files = cast("dict[str, File]", given.pop("sent", {}))
        self._refuse_both(given)
        _refuse_paths(given)
        options: list[str] = [self.name]
        places: list[str] = []
        for name, value in given.items():
            action = self.actions[name]
            if action.option_strings:
                options += _option(action, value)
            else:
                places += map(str, cast("list[object]", value)) if isinstance(value, list) else [str(value)]
        options += ["--json"] if self._is_json(given) else []
        return (*options, "--", *places) if places else tuple(options), files

    def _refuse_both(self, given: dict[str, Any]) -> None:
        for group in self.groups:
            found = [name for name in group if given.get(name, False) is not False]
            if len(found) > 1:
                raise BadRequestError(f"{' and '.join(found)} do not go together")

    def _is_json(self, given: dict[str, Any]) -> bool:
        """Tell whether objects are asked for: they are unless text is, or another form that excludes them."""
        others = [name for group in self.groups if _JSON in group for name in group if name != _JSON]
        return given.get(_JSON, not any(given.get(name) for name in others))


def requests_of(parser: argparse.ArgumentParser) -> tuple[CommandRequest, ...]:
    """Return the requests that the commands of a parser can be asked for: those on files that print JSON."""
    return tuple(
        _request(name, command, summary)
        for name, (command, summary) in _commands(parser)
        if name not in _NOT_SERVED and any(action.dest == _JSON for action in _actions(command))
    )


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, tuple[argparse.ArgumentParser, str]]]:
    for action in _actions(parser):
        choices: object = action.choices
        if isinstance(choices, dict):
            for name, made in cast("dict[str, argparse.ArgumentParser]", choices).items():
                yield name, (made, made.description or "")


def _actions(parser: argparse.ArgumentParser) -> Sequence[argparse.Action]:
    return parser._actions  # pyright: ignore[reportPrivateUsage]  # argparse has no other way


def _request(name: str, command: argparse.ArgumentParser, summary: str) -> CommandRequest:
    actions = {_member(action): action for action in _actions(command) if action.dest not in _LEFT_OUT}
    groups = tuple(
        tuple(_member(action) for action in group._group_actions)  # pyright: ignore[reportPrivateUsage]
        for group in command._mutually_exclusive_groups  # pyright: ignore[reportPrivateUsage]
    )
    required = [(f"{member}_", _type(action)) for member, action in actions.items() if action.required]
    optional = [
        (f"{member}_", _type(action) | UnsetType, UNSET) for member, action in actions.items() if not action.required
    ]
    sent = Annotated[dict[FileName, File], msgspec.Meta(description="the files that the command reads, by their names")]
    made = msgspec.defstruct(
        f"{name.capitalize()}Request",
        [*required, *optional, ("sent_", sent | UnsetType, UNSET)],
        rename=lambda field: field.removesuffix("_"),
        forbid_unknown_fields=True,
        kw_only=True,
    )
    return CommandRequest(name, summary, made, actions, groups)


def _member(action: argparse.Action) -> str:
    return action.option_strings[-1].removeprefix("--").replace("-", "_") if action.option_strings else action.dest


def _type(action: argparse.Action) -> Any:
    """Return the type of the value that an option takes."""
    told = (action.help or "").replace("%%", "%")
    if action.nargs == 0:
        about = "false: print text, not objects" if action.dest == _JSON else told
        return Annotated[bool, msgspec.Meta(description=about, extra_json_schema={"default": action.dest == _JSON})]
    one = _type_of_one(action)
    many = msgspec.Meta(min_length=1, max_length=_MOST, description=told)
    match action.nargs:
        case int(count):
            return Annotated[list[one], msgspec.Meta(min_length=count, max_length=count, description=told)]
        case "+":
            return Annotated[list[one], many]
        case _ if isinstance(action.default, list):
            return Annotated[list[one], many]
        case _:
            known = {} if action.default in (None, "") or action.required else {"default": action.default}
            return Annotated[one, msgspec.Meta(description=told, extra_json_schema=known)]


def _type_of_one(action: argparse.Action) -> Any:
    if action.dest in FILES:
        return FileName
    if action.dest == "stand_in":
        return Annotated[str, msgspec.Meta(pattern=_NOT_PYTHON)]
    if action.choices is not None:
        return Literal[tuple(action.choices)]
    return action.type if action.type in (int, float) else str


def _members(read: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    for field in msgspec.structs.fields(read):
        yield field.encode_name, getattr(read, field.name)


def _refuse_paths(given: dict[str, Any]) -> None:
    """Refuse a change that would read a file which was not sent along."""
    for text in given.get("set", ()):
        path = named_file(text)
        if path and re.fullmatch(NAME, path) is None:
            raise BadRequestError(f"{path} is no name of a file that is sent along")


def _option(action: argparse.Action, value: Any) -> list[str]:
    name = action.option_strings[-1]
    match value:
        case _ if action.dest == _JSON:
            return []
        case bool():
            return [name] if value else []
        case list() if isinstance(action.nargs, int):
            return [name, *map(str, cast("list[object]", value))]
        case list():
            return [f"{name}={item}" for item in cast("list[object]", value)]
        case _:
            return [f"{name}={value}"]
