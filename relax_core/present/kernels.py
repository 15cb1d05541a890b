"""A kernel's forms side by side: lines numbered by part, remarks, range checks."""

from collections.abc import Mapping, Sequence

from relax_core.ir.node import Node, postorder
from relax_core.ir.notation.show import show_prim
from relax_core.ir.prim import PrimExpr, PrimVar
from relax_core.ir.tir import Block, BufferLoad, BufferStore, For, IfThenElse, LetStmt, PrimFunc, While
from relax_core.jit.compilation.debug_lines import Origin, PlacedLine
from relax_core.jit.kernel_views import KernelViews
from relax_core.jit.lowering.known.ranges import AccessFact
from relax_core.jit.transforms.registry import SUMMARIES
from relax_core.present.code import Language, tokenize
from relax_core.present.kernel_models import (
    AccessRow,
    CompilerRemark,
    KernelLine,
    KernelPart,
    KernelSize,
    KernelStep,
    KernelText,
    KernelView,
)
from relax_core.present.models import Tone
from relax_core.printer.printed import Printed

_COLOUR_COUNT = 6


class _Parts:
    """The parts of a kernel: one for each line of TIR, and one for the checks of its accesses."""

    def __init__(self, function: PrimFunc, printed: Printed, places: Sequence[Origin]) -> None:
        self._line_of = _lines_of(function, printed)
        self._text_of = {item.node: printed.text[item.start : item.end] for item in reversed(printed.ranges)}
        self._stores = {
            id(store) for block in postorder(function) if isinstance(block, Block) for store in _inits(block)
        }
        found: dict[tuple[int, bool], list[Node]] = {}
        for origin in places:
            key = self._key(origin)
            if key is not None:
                found.setdefault(key, []).append(origin.node)
        self._number_of = {key: number for number, key in enumerate(sorted(found), 1)}
        self.rows = tuple(self._part(key, found[key]) for key in self._number_of)

    def of(self, origin: Origin) -> int:
        """Return the number of the part that an origin is of, 0 if it is of none."""
        key = self._key(origin)
        return 0 if key is None else self._number_of.get(key, 0)

    def show_prim(self, node: BufferLoad | BufferStore) -> str:
        """Return a load or store as it is printed, with the names that variables have there."""
        shown = self._text_of.get(node, "")
        return shown if shown and "\n" not in shown else _statement(node)

    def access(self, node: BufferLoad | BufferStore) -> str:
        """Return the element that a load or store touches."""
        return self.show_prim(node).partition(" = ")[0] if isinstance(node, BufferStore) else self.show_prim(node)

    def at(self, line: int) -> tuple[int, ...]:
        """Return the numbers of the parts of a line of TIR."""
        return tuple(number for (place, _), number in self._number_of.items() if place == line)

    def _key(self, origin: Origin) -> tuple[int, bool] | None:
        match origin.node:
            case PrimFunc() | Block(iter_vars=()):
                return None
            case node:
                line = self._line_of.get(node)
                return None if line is None else (line, origin.is_check)

    def _part(self, key: tuple[int, bool], nodes: Sequence[Node]) -> KernelPart:
        line, is_check = key
        number = self._number_of[key]
        words = self._checks(nodes) if is_check else self._words(nodes)
        return KernelPart(number, words, line, f"cat{(number - 1) % _COLOUR_COUNT}")

    def _words(self, nodes: Sequence[Node]) -> str:
        loops = [self._text_of.get(node.var, node.var.name) for node in nodes if isinstance(node, For)]
        if loops:
            return f"Loop{'s' if len(loops) > 1 else ''} over {_listed(loops)}"
        node = nodes[-1]
        match node:
            case BufferStore() if id(node) in self._stores:
                return f"The reduction starts: {_code(self.show_prim(node))}"
            case BufferStore(buffer=buffer, value=value) if _reads(value, buffer):
                return f"Update: {_code(self.show_prim(node))}"
            case BufferStore():
                return f"Store: {_code(self.show_prim(node))}"
            case Block(name=name):
                return f"Block {_code(name)}" if name else "Variables of the block"
            case IfThenElse(condition=condition):
                return f"Choice: {_code(show_prim(condition))}"
            case While(condition=condition):
                return f"Loop while {_code(show_prim(condition))}"
            case LetStmt(var=var):
                return f"Value of {_code(var.name)}"
            case _:
                return f"Statement of {type(node).__name__}"

    def _checks(self, nodes: Sequence[Node]) -> str:
        accesses = [self.access(node) for node in nodes if isinstance(node, BufferLoad | BufferStore)]
        return f"Range check{'s' if len(accesses) > 1 else ''} of {_listed(accesses)}" if accesses else "Check"


def present_kernel(
    name: str,
    function: PrimFunc,
    printed: Printed,
    views: KernelViews,
    *,
    sizes: Mapping[PrimVar, int | None],
    processor: str,
) -> KernelView:
    """Present the forms of a kernel; `printed` is the text of `function`, `sizes` are its symbols.

    It is shown as if it were the only one of its program.
    """
    parts = _Parts(function, printed, views.places)
    numbers = [parts.of(origin) for origin in views.places]
    return KernelView(
        name,
        (name,),
        _tir(name, printed, parts),
        _generated("as lowered", views.lowered, numbers, "llvm"),
        _generated("optimised", views.optimised, numbers, "llvm"),
        _generated(processor, views.assembly, numbers, "asm"),
        parts.rows,
        tuple(dict.fromkeys(_remarks(views, parts))),
        tuple(dict.fromkeys(_access(fact, views, parts) for fact in views.facts)),
        tuple(KernelSize(symbol.name, -1 if value is None else value) for symbol, value in sizes.items()),
        views.seconds,
        processor,
        _steps(views),
    )


def remarks_text(view: KernelView) -> str:
    """Write what the compiler did to a kernel, and which accesses it checks, a line each."""
    line_of = {part.number: f"line {part.line}" for part in view.parts}
    done = (f"  {item.word:<11}{line_of.get(item.part, ''):<9}{item.words}" for item in view.remarks)
    accesses = (
        f"  {item.state:<11}{item.access}{f' is in range if {item.condition}' if item.condition else ''}"
        for item in view.accesses
    )
    text = "\n".join((f"{view.name} for {view.target}", *done, " accesses", *accesses))
    return text.replace("`", "")


def _tir(name: str, printed: Printed, parts: _Parts) -> KernelText:
    lines: list[KernelLine] = []
    for number, tokens in enumerate(tokenize(printed.text), 1):
        own, *others = (*parts.at(number), 0)
        lines.append(KernelLine(tokens, number, own, tuple(item for item in others if item)))
    return KernelText(name, tuple(lines), printed.text)


def _generated(title: str, lines: Sequence[PlacedLine], numbers: Sequence[int], language: Language) -> KernelText:
    text = "\n".join(line.text for line in lines)
    rows = zip(tokenize(text, language), lines, strict=True)
    shown = tuple(
        KernelLine(tokens, number, 0 if line.place is None else numbers[line.place])
        for number, (tokens, line) in enumerate(rows, 1)
    )
    return KernelText(title, shown, text, sum(_is_instruction(line.text) for line in lines))


def _is_instruction(line: str) -> bool:
    return line.startswith((" ", "\t")) and not line.lstrip().startswith((".", ";", "#")) and bool(line.strip())


def _remarks(views: KernelViews, parts: _Parts) -> list[CompilerRemark]:
    found: list[CompilerRemark] = []
    for remark in views.remarks:
        tone: Tone = "ok" if remark.kind == "applied" else "warning"
        words = f"{remark.transform.capitalize()}: {remark.reason}"
        found.append(CompilerRemark(tone, remark.kind, words, parts.of(Origin(remark.node))))
    kept = [fact for fact in views.facts if fact.node in views.checked]
    if kept:
        words = f"{_listed([parts.access(fact.node) for fact in kept])} compared at run time"
        found.append(CompilerRemark("warning", "kept", words, parts.of(Origin(kept[0].node, is_check=True))))
    elif views.facts:
        found.append(CompilerRemark("ok", "proven", "No access needs a check at run time."))
    for said in views.vectoriser:
        words = said.text[:1].upper() + said.text[1:]
        tone = "ok" if said.is_applied else "warning"
        word = "vectorised" if said.is_applied else "missed"
        found.append(CompilerRemark(tone, word, words, parts.of(views.places[said.place])))
    return found


def _steps(views: KernelViews) -> tuple[KernelStep, ...]:
    """Return the transformations that took part, and those that are switched off, in the order of the compiler."""
    applied = {remark.transform for remark in views.remarks if remark.kind == "applied"}
    return tuple(
        KernelStep(name, summary, name in views.without)
        for name, summary in SUMMARIES.items()
        if name in applied or name in views.without
    )


def _access(fact: AccessFact, views: KernelViews, parts: _Parts) -> AccessRow:
    part = parts.of(Origin(fact.node, is_check=True)) if fact.node in views.checked else 0
    text = parts.access(fact.node)
    if fact.proven:
        return AccessRow(text, "", "always", part)
    return AccessRow(text, fact.condition, "checked" if fact.node in views.checked else "proven", part)


def _lines_of(function: PrimFunc, printed: Printed) -> dict[Node, int]:
    """Return the line where each node of `function` starts; nodes that are not printed have their parent's."""
    starts = [0]
    for position, character in enumerate(printed.text):
        if character == "\n":
            starts.append(position + 1)
    found: dict[Node, int] = {}
    for item in printed.ranges:
        found.setdefault(item.node, _line(starts, item.start))
    for node in postorder(function):
        if node not in found and isinstance(node, BufferLoad | BufferStore | For):
            inside = [found[child] for child in postorder(node) if child in found]
            if inside:
                found[node] = min(inside)
    return found


def _line(starts: Sequence[int], offset: int) -> int:
    low, high = 0, len(starts)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if starts[middle] <= offset else (low, middle)
    return low + 1


def _inits(block: Block) -> list[Node]:
    return [] if block.init is None else [item for item in postorder(block.init) if isinstance(item, BufferStore)]


def _reads(value: PrimExpr, buffer: Node) -> bool:
    return any(isinstance(item, BufferLoad) and item.buffer is buffer for item in postorder(value))


def _statement(node: BufferLoad | BufferStore) -> str:
    element = f"{node.buffer.name}[{', '.join(show_prim(index) for index in node.indices)}]"
    return f"{element} = {show_prim(node.value)}" if isinstance(node, BufferStore) else element


def _code(text: str) -> str:
    return f"`{text.replace('`', '')}`"


def _listed(names: Sequence[str]) -> str:
    shown = [_code(name) for name in dict.fromkeys(names)]
    return " and ".join((", ".join(shown[:-1]), shown[-1])) if len(shown) > 1 else "".join(shown)
