"""View models of origins: what each line of a program becomes and stems from, and the life of one of its parts."""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from relax_core.present.models import Mark

_WIDE = 96
_SHOWN = 12

Confidence: TypeAlias = Literal["sure", "likely", "guess"]
"""How well a link between two stages is founded that say nothing of origins."""


class OriginLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of a layer; `lines` are those of the source that it stems from, `node` the id of its node, if it has one.

    In the bytecode `number` is that of the instruction.
    """

    number: int
    text: str
    lines: tuple[int, ...] = ()
    node: str = ""


class LineLink(msgspec.Struct, frozen=True):
    """How a line is known to stem from others where no pass told what it did: the weakest link on the way."""

    line: int
    confidence: Confidence
    why: str


class OriginLayer(msgspec.Struct, frozen=True):
    """One form of the program: the module after a pass, the bytecode, or one form of a kernel."""

    name: str
    """A pass; `bytecode`; `kernel NAME`, `llvm NAME` or `asm NAME`."""
    kind: Literal["stage", "bytecode", "kernel", "llvm", "asm"]
    lines: tuple[OriginLine, ...]
    stage: int = -1
    """The number of passes that ran, that of the stage in a recorded pipeline; -1 for what is no stage."""
    links: tuple[LineLink, ...] = ()
    """Of a recorded pipeline, whose stages are matched: how each of the lines that have origins is linked to them."""

    def of(self, line: int) -> tuple[OriginLine, ...]:
        """Return what a line of the source became here."""
        return tuple(item for item in self.lines if line in item.lines)

    def about(self, line: int) -> "OriginLayer":
        """Return the layer with only what a line of the source became."""
        lines = self.of(line)
        numbers = {item.number for item in lines}
        links = tuple(item for item in self.links if item.line in numbers)
        return msgspec.structs.replace(self, lines=lines, links=links)

    def to_json(self) -> str:
        """Print the layer as one object."""
        return msgspec.json.encode(self).decode()

    def to_text(self) -> str:
        """Print the layer with the source's lines at the left."""
        width = max((len(_numbers(item.lines)) for item in self.lines), default=0)
        return "\n".join(f"{_numbers(item.lines):>{width}} | {item.text}".rstrip() for item in self.lines)


class Origins(msgspec.Struct, frozen=True):
    """What every line of a source became, and where every resulting line stems from.

    Layers are in the order of compilation. Of a kernel, LLVM IR and machine code are only there if they were asked for.
    """

    name: str
    source: tuple[str, ...]
    layers: tuple[OriginLayer, ...]
    stage: int = 0
    """The number of the stage that is the source."""

    def layer(self, name: str) -> OriginLayer | None:
        """Return the last layer called `name`, with a prefix such as `tirx.` or without, or the stage of that number.

        A pass that changed nothing has no layer: its number means the stage before.
        """
        number = int(name) if name.isdecimal() else -1
        named = [item for item in self.layers if item.name == name or 0 <= item.stage <= number]
        named = named or [item for item in self.layers if item.name.endswith(f".{name}")]
        return named[-1] if named else None

    @property
    def is_matched(self) -> bool:
        """Tell whether the stages were matched, and no pass told what it did."""
        return any(layer.links for layer in self.layers)

    def became(self, line: int) -> tuple[tuple[OriginLayer, tuple[OriginLine, ...]], ...]:
        """Return the layers in which something stems from a line, with what it is."""
        found = ((item, item.of(line)) for item in self.layers)
        return tuple((layer, lines) for layer, lines in found if lines)

    def ended(self, line: int) -> str:
        """Return the pass after which nothing stems from a line, "" if it reaches bytecode or a kernel."""
        found = [layer for layer, _ in self.became(line)]
        if not found or found[-1].kind != "stage" or found[-1] is self.layers[-1]:
            return ""
        return self.layers[self.layers.index(found[-1]) + 1].name

    def to_json(self, line: int = 0) -> str:
        """Print an object per layer and line of the output, of `line` only what it became."""
        layers = (layer.about(line) if line else layer for layer in self.layers)
        return "\n".join(layer.to_json() for layer in layers if layer.lines)

    def to_text(self, line: int = 0) -> str:
        """Print what a line became, layer by layer; of all lines, the instructions and kernels."""
        return "\n".join(self._chain(line) if line else self._summary())

    def _summary(self) -> Iterator[str]:
        rows = [(number, self._came_to(number), text) for number, text in enumerate(self.source, 1)]
        kept = [row for row in rows if row[1]]
        width = min(max((len(words) for _, words, _ in kept), default=0), _WIDE)
        yield from (f"{number:>4}  {_cut(words, _WIDE):<{width}}  {text.strip()}" for number, words, text in kept)

    def _came_to(self, line: int) -> str:
        """Summarise what a line became: its instructions and kernels."""
        end = self.ended(line)
        if end:
            return self._ended(end)
        if self.is_matched:
            layer, lines = self.became(line)[-1] if self.became(line) else (self.layers[-1], ())
            numbers = [item.number for item in lines]
            return f"{layer.name}, line{'s' if len(numbers) > 1 else ''} {spans(numbers)}" if numbers else ""
        pcs = [item.number for layer, lines in self.became(line) if layer.kind == "bytecode" for item in lines]
        kernels = [layer.name for layer, _ in self.became(line) if layer.kind == "kernel"]
        words = [f"instruction{'s' if len(pcs) > 1 else ''} {spans(pcs)}"] if pcs else []
        return ", ".join((*words, *kernels))

    def _chain(self, line: int) -> Iterator[str]:
        yield f"{self.name}:{line}: {self.source[line - 1].strip()}"
        shown: set[str] = set()
        for layer, lines in self.became(line):
            texts = {item.text.strip() for item in lines}
            if layer.kind == "stage":
                lines = tuple(item for item in lines if item.text.strip() not in shown)
                shown = texts
            if not lines or layer.stage == self.stage:
                continue
            yield f"  {layer.name}"
            if layer.kind in ("llvm", "asm"):
                yield f"    {len(lines)} of {len(layer.lines)} lines: {spans([item.number for item in lines])}"
                continue
            why = {item.line: f"  ({item.confidence}: {item.why})" for item in layer.links if item.why}
            yield from (self._row(item, line) + why.get(item.number, "") for item in lines[:_SHOWN])
            if len(lines) > _SHOWN:
                yield f"    and {len(lines) - _SHOWN} more lines"
        end = self.ended(line)
        if end:
            yield f"  {self._ended(end)}"

    def _ended(self, name: str) -> str:
        return f"nothing in {name} is matched to it" if self.is_matched else _ended(name)

    def _row(self, item: OriginLine, line: int) -> str:
        others = [other for other in item.lines if other != line]
        words = f"  (with {'line' if len(others) == 1 else 'lines'} {spans(others)})" if others else ""
        return f"    {item.number:>4}  {_cut(item.text.strip(), _WIDE)}{words}"


def spans(numbers: Iterable[int]) -> str:
    """Write ascending numbers with runs as `3-7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _ended(name: str) -> str:
    return "no instruction" if name == "bytecode" else f"{name} leaves nothing of it"


def _numbers(lines: tuple[int, ...]) -> str:
    return spans(lines).replace(" ", "")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


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
            yield from (f"    {_life_row(item)}" for item in stage.lines[:_SHOWN])
            if len(stage.lines) > _SHOWN:
                yield f"    and {len(stage.lines) - _SHOWN} more lines"
            if stage.words:
                yield f"    {stage.words}"
        if quiet:
            yield f"  {'1 form' if quiet == 1 else f'{quiet} forms'} of the program: unchanged"
        yield from (f"  {words}" for words in self.words)


def _life_row(item: LifeLine) -> str:
    reason = f"  ({item.confidence}: {item.why})" if item.why else ""
    return f"{item.line:>4}  {_cut(item.text, _WIDE)}{reason}"
