"""The Partition page: the four passes as steps, what they say, and where the patterns of the table fit."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from relax_core.analysis.regions import DEFAULT, Regions, find_regions, is_begin, is_closed, is_end, open_postorder
from relax_core.diagnostics import plural
from relax_core.ir.absent import reference_of
from relax_core.ir.attrs import attr, has_attr
from relax_core.ir.expr import Call, Constant, Expr, Function, GlobalVar, Op, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, postorder
from relax_core.passes.core import Stage
from relax_core.pattern.language.nodes import AltPattern, AttrPattern, Pattern
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.matching.facts import MatchContext, split_attributes
from relax_core.pattern.matching.matcher import NO_FACTS, Match, Miss, explain
from relax_core.pattern.matching.search import facts_of
from relax_core.pattern.partition.apart import node_name
from relax_core.pattern.partition.groups import Refusal, accept, group
from relax_core.pattern.partition.tables import PatternEntry, Tables
from relax_core.present.problems import problems_of
from relax_core.present.regions.partition_models import PartitionStage, PatternMatch, PatternRow, RegionMark

IdOf = Callable[[Node], str]


@dataclass(frozen=True, slots=True)
class Cut:
    """Counts of regions, begins, ends and unmatched begins of a module, default regions of literals apart."""

    region_count: int
    begin_count: int
    end_count: int
    open_begin_count: int


def open_functions(module: IRModule) -> Iterator[tuple[str, Function]]:
    """Yield the functions that partitioning processes."""
    for item in module.definitions:
        if isinstance(item.function, Function) and not is_closed(item.function):
            yield item.var.name, item.function


def cut_of(module: IRModule) -> Cut:
    """Count the annotations of a module."""
    found = [(find_regions(function), function) for _, function in open_functions(module)]
    nodes = [node for _, function in found for node in open_postorder(function)]
    regions = [region for item, _ in found for region in item.all]
    return Cut(
        sum(1 for item in regions if item.target != DEFAULT and not item.is_open),
        sum(map(is_begin, nodes)),
        sum(map(is_end, nodes)),
        sum(len(item.begins) for item in regions if item.is_open),
    )


def present_stage(number: int, stage: Stage, id_of: IdOf) -> PartitionStage:
    """Present one of the four passes; `id_of` names the nodes of the module after it."""
    marks = tuple(
        mark for name, function in open_functions(stage.after) for mark in _marks(name, find_regions(function), id_of)
    )
    remarks = tuple(f"{item.kind}: {item.message}" for item in stage.remarks if item.kind != "note")
    problems = problems_of(stage.diagnostics)
    words = _summary(stage)
    return PartitionStage(
        number, stage.pass_name, stage.is_changed, words, marks, remarks, problems, seconds=stage.seconds
    )


def _summary(stage: Stage) -> str:
    match stage.pass_name:
        case "MergeComposite":
            nodes = (node for _, function in open_functions(stage.after) for node in postorder(function))
            return plural(sum(isinstance(n, Function) and has_attr(n.attrs, "Composite") for n in nodes), "composite")
        case "PartitionGraph":
            return plural(len(external_functions(stage.after)), "external function")
        case _:
            cut = cut_of(stage.after)
            counts = ((cut.region_count, "region"), (cut.begin_count, "begin"), (cut.end_count, "end"))
            return " · ".join(plural(count, noun) for count, noun in counts)


def external_functions(module: IRModule) -> tuple[str, ...]:
    """Return the names of the functions that PartitionGraph made."""
    return tuple(var.name for var, function in module.relax_functions if attr(function.attrs, "Compiler"))


def _marks(function: str, regions: Regions, id_of: IdOf) -> Iterator[RegionMark]:
    for item in regions.all:
        if item.target != DEFAULT or item.is_open:
            parts = (_ids(nodes, id_of) for nodes in (item.operators, item.begins, item.ends))
            name = f"{item.target} {item.number}"
            yield RegionMark(name, function, item.target, item.number, *parts, is_open=item.is_open)


def targets_of(stages: Iterable[PartitionStage]) -> tuple[str, ...]:
    """Return the targets of the regions, in the order of first appearance."""
    marks = (mark.target for stage in stages for mark in stage.regions)
    return tuple(dict.fromkeys(target for target in marks if target != DEFAULT))


def free_variables(module: IRModule) -> tuple[Var, ...]:
    """Return the variables that nothing binds, one of each name; the reported way to annotate lets leaves some."""
    nodes = [node for _, function in module.relax_functions for node in postorder(function)]
    bound = {part for node in nodes for part in _binds(node)}
    found: dict[str, Var] = {}
    for node in nodes:
        if isinstance(node, Var) and node not in bound:
            found.setdefault(node.name, node)
    return tuple(found.values())


def _binds(node: Node) -> tuple[Var, ...]:
    match node:
        case Function(params=params):
            return params
        case _:
            var = getattr(node, "var", None)
            return (var,) if isinstance(var, Var) else ()


def pattern_rows(
    module: IRModule, tables: Tables, id_of: IdOf, line_of: Callable[[Node], int]
) -> tuple[PatternRow, ...]:
    """Return for each pattern of the table its matches in `module`, refusals, and the nearest miss if there is none."""
    reason = "a pattern of several bindings is looked for in Relax"
    graphs = (
        PatternRow(name, graph.text, 0, (PatternMatch(is_match=False, what="", reason=reason),))
        for name, graph in tables.graphs
    )
    return (*(_Finder(module, id_of, line_of).row(entry) for entry in tables.patterns), *graphs)


@dataclass(frozen=True, slots=True)
class _Finder:
    module: IRModule
    id_of: IdOf
    line_of: Callable[[Node], int]

    def row(self, entry: PatternEntry) -> PatternRow:
        name, pattern, *check = entry
        facts = facts_of(self.module, pattern)
        places: list[PatternMatch] = []
        for _, function in open_functions(self.module):
            found = group(pattern, function, facts, check[0] if check else accept, into_functions=True)
            places += (self._fit(item.match, item.members) for item in reversed(found.groups))
            places += (self._refused(item) for item in reversed(found.refusals))
        count = sum(item.is_match for item in places)
        if not places and (miss := self._nearest(pattern, facts)) is not None:
            places.append(miss)
        return PatternRow(name, show_pattern(pattern), count, tuple(places))

    def _fit(self, match: Match, members: tuple[Expr, ...]) -> PatternMatch:
        root = match.root
        arguments = ", ".join(map(short, split_attributes(root)[0])) if isinstance(root, Call) else ""
        ids = tuple(dict.fromkeys((self.id_of(root), *_ids(members, self.id_of))))
        return PatternMatch(
            is_match=True,
            what=node_name(root),
            arguments=arguments,
            alternative=alternative(match),
            nodes=ids,
            line=self.line_of(root),
        )

    def _refused(self, item: Refusal) -> PatternMatch:
        root = item.match.root
        words = {
            "overlap": f"{node_name(item.node)} belongs to another match",
            "inner use": f"the value of {node_name(item.node)} is used outside of the match",
            "predicate": "the table's predicate refuses it",
            "nothing inside": "there is no call, tuple or other computation in it to put into a function",
            "capture": "its function would use a variable that is bound outside",
            "branch": "a value that only a branch or a function inside it computes would be computed always",
            "effect": "values with effects would be computed in another order",
        }
        ids = _ids((root, item.node, *item.because), self.id_of)
        return _missed(root, words[item.obstacle], ids, self.line_of(root))

    def _nearest(self, pattern: Pattern, facts: MatchContext) -> PatternMatch | None:
        misses = [
            (node, miss)
            for _, function in open_functions(self.module)
            for node in open_postorder(function)
            if isinstance(node, Expr) and (miss := explain(pattern, node, facts)) is not None
        ]
        best = max(misses, key=lambda item: item[1].matched_count, default=None)
        if best is None or best[1].matched_count == 0:
            return None
        node, miss = best
        ids = _ids((node, miss.node), self.id_of)
        return _missed(node, miss_words(miss), ids, self.line_of(node))


def miss_words(miss: Miss, facts: MatchContext = NO_FACTS) -> str:
    """Return which part of a pattern did not fit, where, and why; in Relax `facts` say what a variable stands for."""
    met = node_name(facts.value(miss.node))
    return f"{show_pattern(miss.part).splitlines()[-1]} did not match {met}: {miss.reason}"


def alternative(match: Match) -> str:
    """Return which alternative of the outermost choice matched: `4 of 6`."""
    pattern = match.pattern
    while isinstance(pattern, AttrPattern):
        pattern = pattern.pattern
    if not isinstance(pattern, AltPattern):
        return ""
    place = next((k for k, option in enumerate(pattern.options, 1) if option in match.node_of), 0)
    return f"{place} of {len(pattern.options)}"


def short(value: Expr) -> str:
    """Return an argument of a match in a word."""
    match value:
        case Var(name=name):
            return f"%{name}"
        case GlobalVar(name=name):
            return f"@{name}"
        case Constant() if (reference := reference_of(value)) is not None:
            return reference
        case Constant(data=data):
            return str(data.item()) if data.ndim == 0 else "literal"
        case Op(name=name):
            return name
        case _:
            return node_name(value)


def _ids(nodes: Iterable[Node], id_of: IdOf) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for node in nodes if (text := id_of(node))))


def _missed(node: Expr, reason: str, ids: tuple[str, ...], line: int) -> PatternMatch:
    return PatternMatch(is_match=False, what=node_name(node), reason=reason, nodes=ids, line=line)
