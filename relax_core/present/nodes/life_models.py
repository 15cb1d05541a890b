"""View models of the life of a part of a recorded program: what it became stage by stage, and what it stems from."""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import msgspec

from relax_core.present.models import Mark

Confidence: TypeAlias = Literal["sure", "likely", "guess"]
"""How well a link between two stages is founded; the stages themselves say nothing of origins."""

_WIDE: Final = 96
_SHOWN: Final = 12


class LifeLine(msgspec.Struct, frozen=True):
    """A part of a program in one stage, and how it is linked to what it was in the stage next to it.

    Parts are functions, parameters, bindings, blocks, loops, buffers and statements.
    """

    line: int
    """In the text of the stage."""
    text: str
    """That line without its indentation."""
    kind: str
    """What it is, such as `binding`, `prim func`, `block` or `loop`."""
    name: str = ""
    """Of the variable, function, block, loop or buffer; "" if it has none."""
    function: str = ""
    """The function that it is in, its own name for a function."""
    confidence: Confidence = "sure"
    """Of the link to the stage before, or for what the chosen part stems from to the stage behind."""
    why: str = ""
    """What the link rests on, such as `same name`."""
    weakest: Confidence = "sure"
    """The lowest confidence of all links that lead here from the chosen part."""


class LifeStage(msgspec.Struct, frozen=True):
    """What a part is in one form of the program."""

    position: int
    """Among all stages of the recording."""
    label: str
    """Number and pass, such as `005 LegalizeOps`."""
    lines: tuple[LifeLine, ...] = ()
    mark: Mark = "unchanged"
    """What the pass did to it; `removed` if nothing in this stage is matched to what it was before."""
    words: str = ""
    """Why there are no lines, if there are none."""


class NodeLife(msgspec.Struct, frozen=True):
    """The life of a part of a recorded program in all forms of the program, in order."""

    title: str
    """What is followed, such as `binding product of @main`; "" if no part of the program begins in the line."""
    position: int
    """Of the stage in which it was chosen."""
    line: int
    stages: tuple[LifeStage, ...] = ()
    words: tuple[str, ...] = ()
    """What else there is to say: where its life begins and where it ends."""

    def to_json(self) -> str:
        """Print the life as one object."""
        return msgspec.json.encode(self).decode()

    def to_text(self) -> str:
        """Print what the part is in each form of the program that changed it, with how it is known."""
        return "\n".join(self._rows())

    def _rows(self) -> Iterator[str]:
        yield self.title
        quiet = 0
        for stage in self.stages:
            if stage.mark == "unchanged" and stage.position != self.position:
                quiet += 1
                continue
            if quiet:
                yield f"  {'1 form' if quiet == 1 else f'{quiet} forms'} of the program: unchanged"
                quiet = 0
            yield f"  {stage.label}"
            yield from (f"    {_row(item)}" for item in stage.lines[:_SHOWN])
            if len(stage.lines) > _SHOWN:
                yield f"    and {len(stage.lines) - _SHOWN} more lines"
            if stage.words:
                yield f"    {stage.words}"
        if quiet:
            yield f"  {'1 form' if quiet == 1 else f'{quiet} forms'} of the program: unchanged"
        yield from (f"  {words}" for words in self.words)


def _row(item: LifeLine) -> str:
    text = item.text if len(item.text) <= _WIDE else f"{item.text[: _WIDE - 1]}…"
    reason = f"  ({item.confidence}: {item.why})" if item.why else ""
    return f"{item.line:>4}  {text}{reason}"
