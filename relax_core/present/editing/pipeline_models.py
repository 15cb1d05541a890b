"""A pipeline as a list: its passes with their options, and the passes that may be added."""

from typing import Literal

import msgspec

from relax_core.present.models import Problem

OptionKind = Literal["flag", "number", "text", "choice", "list", "literal"]
"""How an option is edited; `list` is one of names, `literal` anything else, written as in the pipeline."""


class PassOption(msgspec.Struct, frozen=True):
    """An option of a pass, from the table of its pass."""

    name: str
    kind: OptionKind
    default: str
    """As its field shows it."""
    choices: tuple[str, ...] = ()


class KnownPass(msgspec.Struct, frozen=True):
    """A pass that a pipeline may have."""

    name: str
    dialect: str
    summary: str
    options: tuple[PassOption, ...] = ()


class GivenOption(msgspec.Struct, frozen=True):
    """An option that a pipeline gives."""

    name: str
    shown: str
    """As its field shows it."""
    literal: str
    """As the pipeline has it."""


class GivenPass(msgspec.Struct, frozen=True):
    """A pass of a pipeline; `name` is as it is written there."""

    name: str
    known: int
    """The place of its pass among those that may be added."""
    given: tuple[GivenOption, ...] = ()


class PipelineForm(msgspec.Struct, frozen=True):
    """A pipeline as a list; with problems its text cannot be read, and the list is empty."""

    text: str
    steps: tuple[GivenPass, ...]
    passes: tuple[KnownPass, ...]
    problems: tuple[Problem, ...] = ()
