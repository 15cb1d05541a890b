"""Files for the parameters of a function, put together to one archive of inputs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final, NoReturn

import msgspec
import numpy as np

from relax_core.diagnostics import Diagnostic, RunError
from relax_core.engine.archives import escaped
from relax_core.engine.debug.replies import GivenInput, ReadInputs
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.debug.requests import InputFile, InputsOf
from relax_core.engine.input_files.images import Given, picture_array
from relax_core.engine.input_files.kinds import Kind, kind_of
from relax_core.engine.input_files.tokens import text_array
from relax_core.engine.inputs import (
    argument_types,
    generate,
    members_of,
    prefixes_of,
    read_archive,
    read_members,
    write_members,
)
from relax_core.engine.limits import MEGABYTE, REQUEST_BYTES
from relax_core.engine.npy import Array
from relax_core.engine.pipelines import recorded
from relax_core.ir.expr import Function, ShapeType, TensorType, TupleType, Type, Var
from relax_core.ir.prim import PrimVar
from relax_core.present.measures import bytes_text
from relax_core.present.words import type_text

ARCHIVE_LIMIT_BYTES: Final = REQUEST_BYTES - MEGABYTE
"""An archive goes to the worker with each request, which holds the program besides."""


def read_inputs(message: InputsOf, context: RequestContext) -> ReadInputs:
    """Read files for the function that runs; parameters for which there is none get made-up values.

    Raises:
        RunError: EN004, EN016, EN030, EN036 or EN037, at the parameter that a file is for.
        CompileError: PL001: the recording holds no form of a program.
    """
    program = msgspec.structs.replace(message.program, inputs=None)
    if message.recording is not None:
        program = recorded.first_program(context.recorded_by(message.recording), program)
    source = context.opened_by(program).source
    name, function = source.entry()
    files = _Files(function, argument_types(function), message.vocabulary)
    for item in message.files:
        files.take(item)
    files.make_up(message.program.seed, dict(message.program.sizes), is_signed=message.program.is_signed)
    content = write_members(files.members)
    if len(content) > ARCHIVE_LIMIT_BYTES:
        words = (
            f"the inputs take {bytes_text(len(content))} together, at most {bytes_text(ARCHIVE_LIMIT_BYTES)} are sent"
        )
        raise RunError((Diagnostic("EN016", words),))
    read_archive(content, function)
    return ReadInputs(name, content, tuple(files.rows()))


@dataclass(slots=True)
class _Files:
    """What has been read so far, under the names that an archive has."""

    function: Function
    types: Mapping[Var, Type]
    vocabulary: bytes
    members: dict[str, Array] = field(default_factory=dict[str, Array])
    _words_of: dict[Var, tuple[str, str]] = field(default_factory=dict[Var, tuple[str, str]])
    """By parameter: the file, and what was made of it."""

    def take(self, file: InputFile) -> None:
        """Read a file for one parameter, or an archive for several."""
        kind, title = kind_of(file.content), f"`{escaped(file.name)}`"
        if not file.content:
            _fail("EN004", f"{title} is empty: it has no bytes at all", None, "save it again, or give none")
        if kind in ("npz", "safetensors") and not file.param:
            self._take_archive(file)
            return
        param = self._param_for(file, kind, title)
        type_ = self.types[param]
        match kind:
            case "picture" if isinstance(type_, TensorType):
                given = picture_array(title, file.content, type_, param)
            case "text" if isinstance(type_, TensorType):
                given = text_array(title, file.content, self.vocabulary, type_, param)
            case "picture" | "text":
                words = f"{title} does not fit the parameter `{param.name}`, which is {type_text(type_)}"
                _fail("EN037", words, param, "pictures and texts become tensors")
            case "npy" | "npz" | "safetensors":
                given = _only_array(title, file.content, param)
        self.members[self._name_of(param)] = given.array
        self._words_of[param] = (file.name, given.words)

    def make_up(self, seed: int, sizes: Mapping[str, int], *, is_signed: bool) -> None:
        """Make up values of the parameters that have none, of the sizes that the others have."""
        missing = [param for param in self.function.params if param not in self._words_of]
        if not missing:
            return
        values = generate(self.function, seed, {**sizes, **self._sizes()}, is_signed=is_signed)
        value_of = dict(zip(self.function.params, values, strict=True))
        for param in missing:
            self.members |= _made_up(self._name_of(param), self.types[param], value_of[param])
            self._words_of[param] = ("", f"made up from seed {seed}")

    def rows(self) -> Iterator[GivenInput]:
        """Say of each parameter where its value is from."""
        for param, type_ in self.types.items():
            array = self.members.get(self._name_of(param))
            what = "" if array is None else f"{array.shape} {array.dtype}"
            yield GivenInput(param.name, type_text(type_), *self._words_of[param], what)

    def _name_of(self, param: Var) -> str:
        return f"in_{self.function.params.index(param)}"

    def _take_archive(self, file: InputFile) -> None:
        members = read_members(file.content)
        left = dict(members)
        for prefix, param in zip(prefixes_of(self.function, members), self.function.params, strict=True):
            for name in [item for item in left if item == prefix or item.startswith(f"{prefix}_")]:
                self.members[self._name_of(param) + name[len(prefix) :]] = left.pop(name)
                self._words_of[param] = (file.name, "")
        if left:
            names = ", ".join(f"`{escaped(name)}`" for name in left)
            takes = ", ".join(param.name for param in self.function.params)
            _fail(
                "EN004", f"`{escaped(file.name)}` has {names}, which no parameter takes", None, f"parameters: {takes}"
            )

    def _param_for(self, file: InputFile, kind: Kind, title: str) -> Var:
        """Return the parameter that is named, that the file is named after, or the first left that takes one."""
        named = {param.name: param for param in self.function.params}
        if file.param and file.param not in named:
            _fail("EN005", f"the function has no parameter `{file.param}`", None, f"parameters: {', '.join(named)}")
        stem = PurePath(file.name).stem
        left = (param for param in self.types if param not in self._words_of and _takes(self.types[param], kind))
        param = named.get(file.param or stem) or next(left, None)
        if param is None:
            what = {"text": "of integers", "picture": "of rank 2, 3 or 4"}.get(kind, "without a value")
            _fail("EN037", f"{title} is for no parameter: none that is left is a tensor {what}", None, _NAMING)
        return param

    def _sizes(self) -> dict[str, int]:
        """Return the sizes of symbolic dimensions that the given tensors have."""
        found: dict[str, int] = {}
        for param, type_ in self.types.items():
            array = self.members.get(self._name_of(param))
            dims = type_.shape if isinstance(type_, TensorType) and isinstance(type_.shape, tuple) else ()
            for dim, size in zip(dims, () if array is None else array.shape, strict=False):
                if isinstance(dim, PrimVar):
                    found.setdefault(dim.name, size)
        return found


_NAMING: Final = "a file with the name of a parameter, such as x.png, is for that one"


def _takes(type_: Type, kind: Kind) -> bool:
    if not isinstance(type_, TensorType):
        return False
    match kind:
        case "text":
            return "int" in (type_.dtype or "int64")
        case "picture":
            return type_.ndim in (None, 2, 3, 4) and type_.dtype != "bool"
        case _:
            return True


def _only_array(title: str, content: bytes, param: Var) -> Given:
    members = read_members(content)
    if len(members) != 1:
        _fail("EN037", f"{title} holds {len(members)} arrays, expected one for the parameter `{param.name}`", param)
    (array,) = members.values()
    return Given(array, "")


def _made_up(name: str, type_: Type, value: Any) -> dict[str, Array]:
    """Return the members of a made-up value, whose shapes are tuples of integers."""
    match type_:
        case ShapeType():
            return {name: np.array(value, np.int64)}
        case TupleType(fields=fields):
            members: dict[str, Array] = {}
            for number, (field_type, item) in enumerate(zip(fields, value, strict=True)):
                members |= _made_up(f"{name}_{number}", field_type, item)
            return members
        case _:
            return members_of(name, value)


def _fail(code: str, message: str, param: Var | None, hint: str = "") -> NoReturn:
    raise RunError((Diagnostic(code, message, param.span if param is not None else None, hint),))
