"""Answers about the stages of a program: their list, texts, graphs and trees, and single nodes."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from relax_core.diagnostics import CompileError, DiagnosedError, Diagnostic
from relax_core.engine.debug.request_context import RequestContext
from relax_core.engine.programs.open_program import OpenProgram
from relax_core.engine.protocol import (
    Ast,
    CompareGraph,
    FilmOf,
    FoundInStages,
    GraphOf,
    Inspect,
    Opt,
    PipelineOf,
    Script,
    StageOf,
    StageStructureOf,
    StructureOf,
)
from relax_core.engine.replies import Appearances, Stages, StageView, Text
from relax_core.engine.screens import text_views
from relax_core.ir.expr import Type
from relax_core.ir.node import Node
from relax_core.present.code import printed_code, printed_text
from relax_core.present.diffs.diff import diff_pages
from relax_core.present.diffs.patch import patch_of
from relax_core.present.diffs.structure import StructureText, structure
from relax_core.present.drawings.drawing import Drawing
from relax_core.present.drawings.faults import NO_FAULTS
from relax_core.present.drawings.film import DrawnStage, draw_stage, film
from relax_core.present.drawings.flow import GraphContext
from relax_core.present.drawings.graph import (
    Openness,
    changed_functions,
    compare_graph,
    draw_relax,
    drawable,
    function_graph,
    module_graph,
)
from relax_core.present.models import Code, Film, Graph, Inspector, Pipeline, Structure
from relax_core.present.nodes.inspector import inspect
from relax_core.present.nodes.node_id import NodeId
from relax_core.present.pipeline import present_detail, present_pipeline
from relax_core.printer.ast import print_ast

_CHARACTERS: Final = range(60_000, 1_500_000)
"""So long is a text whose next stage is made ahead: a shorter one is shown at once, and a part of what a longer one
takes would keep another request waiting."""
_UNTYPED: Final[Mapping[Node, Type]] = MappingProxyType({})


def tree(message: Ast, context: RequestContext) -> Code:
    """Print the tree of nodes at a stage."""
    opened = context.opened_by(message.program)
    opened.source.require_sound(reads_data=False)
    reach(opened, message.stage, context)
    title = f"Tree of {opened.source.program.name}"
    module, index = opened.compilation.module_at(message.stage), opened.compilation.index(message.stage)
    return printed_code(print_ast(module), index, title)


def graph(message: GraphOf, context: RequestContext) -> Graph:
    """Draw a function, or the module, at a stage."""
    opened = context.opened_by(message.program)
    reach(opened, message.stage, context)
    facts = opened.facts(message.stage)
    if not message.has_types:
        facts = replace(facts, types=_UNTYPED)
    if not message.has_faults:
        facts = replace(facts, faults=NO_FAULTS)
    if not message.function:
        return module_graph(facts, message.opened, is_bare=message.is_bare)
    shown = frozenset(message.shown)
    return function_graph(message.function, facts, message.opened, shown, is_bare=message.is_bare)


def pipeline(message: PipelineOf, context: RequestContext) -> Pipeline:
    """Run the passes, and list the stages."""
    opened = context.opened_by(message.program)
    stages = opened.compilation.stages(context.report, context.is_cancelled)
    return present_pipeline(stages, lambda number: opened.compilation.printed(number).text, opened.source.pipeline)


def stage(message: StageOf, context: RequestContext) -> StageView:
    """Set the text of a stage beside the text before it."""
    number = message.stage
    opened = context.opened_by(message.program)
    reach(opened, number, context)
    after = opened.compilation.printed(number)
    previous = max(number - 1, 0)
    before = opened.compilation.printed(previous)
    known = opened.compilation.known_stages
    names = ("Source", *(item.pass_name for item in known))
    log = known[number - 1].log if number else text_views.NO_LOG
    is_refused = number > 0 and known[number - 1].left_module is not known[number - 1].after
    left = "Ill-formed after" if is_refused else "After"
    titles = (f"Before · {names[previous]}", f"{left} · {names[number]}") if number else (names[0], "")
    pages = opened.page(previous), opened.page(number)
    diff = diff_pages(replace(pages[0], title=titles[0]), replace(pages[1], title=titles[1]), log)
    code = printed_text(after, opened.compilation.index(number), names[number])
    if number == 0:
        return StageView(text_views.SOURCE_DETAIL, diff, code)
    show = opened.shower(number, previous)
    detail = present_detail(
        known[number - 1],
        opened.compilation.index(previous),
        opened.compilation.index(number),
        show,
        opened.compilation.line_of,
    )
    return StageView(detail, diff, code, patch_of(before.text, after.text, opened.source.program.name))


def found(message: FoundInStages, context: RequestContext) -> Appearances:
    """Look for a text in the source and in what each pass made that changed it."""
    opened = context.opened_by(message.program)
    stages = opened.compilation.stages(context.report, context.is_cancelled)
    numbers = (0, *(number for number, item in enumerate(stages, 1) if item.is_changed))
    names = ("Source", *(item.pass_name for item in stages))
    forms = ((number, names[number], opened.compilation.printed(number).text) for number in numbers)
    return text_views.appearances_in(message.text, forms)


def compare(message: CompareGraph, context: RequestContext) -> Graph:
    """Draw the module before and after a stage as one graph."""
    opened = context.opened_by(message.program)
    reach(opened, message.stage, context)
    previous = max(message.stage - 1, 0)
    log = opened.compilation.known_stages[message.stage - 1].log if message.stage else text_views.NO_LOG
    sides = opened.facts(previous), opened.facts(message.stage)

    def draw(facts: GraphContext, functions: tuple[str, ...]) -> Drawing:
        return opened.drawing(facts, functions, draw_relax)

    extent = Openness(message.opened, message.is_bare, frozenset(message.shown))
    return compare_graph(*sides, log, message.functions, extent, draw)


def next_stage(message: CompareGraph, context: RequestContext) -> Iterator[None]:
    """Make in parts what the next stage that changed something is shown with, behind the answer about a stage.

    A part is made whenever the next item is taken. What is made is kept where the answers look for it.
    """
    opened = context.opened_by(message.program)
    stages = opened.compilation.known_stages
    following = (number for number, item in enumerate(stages, 1) if item.is_changed and number > message.stage)
    number = next(following, None)
    if number is None or len(opened.compilation.printed(message.stage).text) not in _CHARACTERS:
        return
    for side in (number - 1, number):
        opened.compilation.index(side)
        yield
        opened.page(side)
        yield
    sides = opened.facts(number - 1), opened.facts(number)
    yield
    names = message.functions or changed_functions(*sides)
    for facts in sides:
        opened.drawing(facts, drawable(facts, names), draw_relax)
        yield


def structure_of_stage(message: StageStructureOf, context: RequestContext) -> Structure:
    """Compare the parts of the module before and after a stage, by what the pass recorded."""
    opened = context.opened_by(message.program)
    reach(opened, message.stage, context)

    def side(number: int) -> StructureText:
        compilation = opened.compilation
        return StructureText(compilation.module_at(number), compilation.line_of, compilation.index(number).id_of)

    log = opened.compilation.known_stages[message.stage - 1].log if message.stage else text_views.NO_LOG
    sides = side(max(message.stage - 1, 0)), side(message.stage)
    return opened.remembered(message, lambda: structure(*sides, log))


def structure_of_two(message: StructureOf, context: RequestContext) -> Structure:
    """Compare the parts of two modules."""
    sides: list[StructureText] = []
    for program in (message.program, message.other):
        source = context.opened_by(program).source
        errors = [item for item in source.parsed.diagnostics if item.severity == "error"]
        if errors:
            raise CompileError(errors)
        sides.append(StructureText(source.module))
    return structure(sides[0], sides[1])


def film_of(message: FilmOf, context: RequestContext) -> Film:
    """Draw the source and all stages as one film."""
    opened = context.opened_by(message.program)
    stages = opened.compilation.stages(context.report, context.is_cancelled)

    def drawn() -> Iterator[DrawnStage]:
        drawing = draw_stage(opened.facts(0))
        yield DrawnStage("Source", drawing, text_views.NO_LOG)
        for number, item in enumerate(stages, 1):
            if opened.compilation.module_at(number) is not opened.compilation.module_at(number - 1):
                drawing = draw_stage(opened.facts(number))
            yield DrawnStage(item.pass_name, drawing, item.log, "the pass failed" if item.is_failed else "")

    return opened.remembered(message, lambda: film(tuple(drawn()), opened.source.program.name))


def inspected(message: Inspect, context: RequestContext) -> Inspector:
    """Collect all that is known of a node."""
    opened = context.opened_by(message.program)
    id_ = NodeId.parse(message.node)
    if id_ is None:
        raise CompileError((Diagnostic("EN005", f"`{message.node}` is not the name of a node"),))
    reach(opened, id_.stage, context)
    node = opened.compilation.index(id_.stage).node_at(id_)
    if node is None:
        raise CompileError((Diagnostic("EN005", f"there is no node {message.node}; the text or the passes changed"),))
    if message.is_followed:
        _follow(opened, context)
    facts = opened.inspector_context(id_.stage)
    return inspect(node, facts if message.has_types else replace(facts, types=_UNTYPED))


def script(message: Script, context: RequestContext) -> Text:
    """Print the module as text."""
    return text_views.script(message, context.opened_by(message.program), context.report, context.is_cancelled)


def printed_stages(message: Opt, context: RequestContext) -> Stages:
    """Run the passes and print each stage."""
    opened = context.opened_by(message.program)
    return text_views.stages(opened, opened.compilation.stages(context.report, context.is_cancelled))


def reach(opened: OpenProgram, stage: int, context: RequestContext) -> None:
    """Run as much of the pipeline as is needed to have `stage`. The text is shown whatever is wrong with it."""
    if stage > 0:
        opened.source.require_sound()
        stages = opened.compilation.stages(context.report, context.is_cancelled)
        if stage > len(stages):
            opened.compilation.complete(context.report, context.is_cancelled)


def _follow(opened: OpenProgram, context: RequestContext) -> None:
    """Run the pipeline to the end if it does, so that the life of a node is known."""
    try:
        opened.compilation.executable(context.report, context.is_cancelled)
    except DiagnosedError:
        # The life then ends where the pipeline does; the Passes page says why.
        return
