"""The Partition page for Relax: the three passes as steps, and where the patterns of the table fit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from relax_core.check.infer import infer
from relax_core.diagnostics import plural
from relax_core.ir.attrs import attr
from relax_core.ir.expr import Binding, Call, DataflowBlock, Var
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.builder import normalize
from relax_core.ir.rewriting.rewrite import RewriteLog
from relax_core.passes.core import Stage
from relax_core.passes.external import is_external
from relax_core.passes.relax.byoc.composite_matches import REASONS, CompositeMatches
from relax_core.pattern.graph.context import PatternContext
from relax_core.pattern.graph.search import GraphMatch, GraphMiss
from relax_core.pattern.graph.words import graph_miss_words, mapping_words
from relax_core.pattern.language.show import show_pattern
from relax_core.pattern.matching.facts import split_attributes
from relax_core.pattern.matching.matcher import Match
from relax_core.pattern.matching.search import facts_of
from relax_core.pattern.partition.dataflow import BindingUnit, DataflowGroups
from relax_core.pattern.partition.groups import accept
from relax_core.pattern.partition.tables import GraphEntry, PatternEntry, Tables
from relax_core.present.problems import problems_of
from relax_core.present.regions.partition import alternative, miss_words, short
from relax_core.present.regions.partition_models import PartitionStage, PatternMatch, PatternRow, RegionMark
from relax_core.present.regions.relax_regions import IdOf, LineOf, node_name_of, open_relax_functions, region_calls

MATCH_LIMIT = 1000
"""How many matches of a pattern of several bindings are shown."""


def present_relax_stage(number: int, stage: Stage, id_of: IdOf) -> PartitionStage:
    """Present one of the three passes; `id_of` names the nodes of the module after it."""
    regions = region_calls(stage.after, infer(stage.after).types)
    marks = tuple(
        RegionMark(item.name, item.function, item.target, int(item.name.split()[-1]), (id_of(item.binding),), (), ())
        for item in regions
    )
    remarks = tuple(f"{item.kind}: {item.message}" for item in stage.remarks if item.kind != "note")
    problems = problems_of(stage.diagnostics)
    words = _summary(stage)
    return PartitionStage(
        number, stage.pass_name, stage.is_changed, words, marks, remarks, problems, seconds=stage.seconds
    )


def _summary(stage: Stage) -> str:
    functions = [function for _, function in stage.after.relax_functions]
    match stage.pass_name:
        case "FuseOpsByPattern":
            return plural(sum(attr(item.attrs, "Composite") is not None for item in functions), "composite")
        case "RunCodegen":
            return plural(sum(map(is_external, functions)), "external function")
        case _:
            return plural(sum(attr(item.attrs, "Codegen") is not None for item in functions), "region")


def relax_pattern_rows(module: IRModule, tables: Tables, id_of: IdOf, line_of: LineOf) -> tuple[PatternRow, ...]:
    """Return for each pattern of the table its matches in `module`, refusals, and the nearest miss if there is none.

    Those of several bindings stand behind the others.
    """
    log = RewriteLog()
    normal = normalize(module, log)
    nodes = (node for _, function in normal.relax_functions for node in preorder(function))
    binding_of = {node.var: node for node in nodes if isinstance(node, Binding)}
    place_of = {item: number for number, item in enumerate(binding_of.values())}
    inside = (node for _, function in open_relax_functions(normal) for node in preorder(function))
    blocks = tuple(node for node in inside if isinstance(node, DataflowBlock))
    finder = _RelaxFinder(normal, log, id_of, line_of, binding_of, place_of, blocks)
    return (*map(finder.row, tables.patterns), *map(finder.graph_row, tables.graphs))


@dataclass(frozen=True, slots=True)
class _RelaxFinder:
    """Looks in the A-normal form of a module; `log` leads from there to the module that is shown."""

    module: IRModule
    log: RewriteLog
    id_of: IdOf
    line_of: LineOf
    binding_of: Mapping[Var, Binding]
    place_of: Mapping[Binding, int]
    """Where each binding stands in the program."""
    blocks: tuple[DataflowBlock, ...]
    """The dataflow blocks of the functions that are of no target."""

    def row(self, entry: PatternEntry) -> PatternRow:
        """Present a pattern."""
        name, pattern, *check = entry
        facts = facts_of(self.module, pattern)
        found = [
            CompositeMatches(DataflowGroups(block), pattern, check[0] if check else accept, facts).find()
            for block in self.blocks
        ]
        places = [self.fit(unit, match) for item in found for unit, match in item.units.items()]
        count = len(places)
        places += (
            self.missed(refusal.root, REASONS[refusal.obstacle], refusal.because)
            for item in found
            for refusal in item.refusals
        )
        misses = tuple(chain.from_iterable(item.misses for item in found))
        best = max(misses, key=lambda item: item[1].matched_count, default=None)
        if not places and best is not None and best[1].matched_count > 0:
            places.append(self.missed(best[0], miss_words(best[1], facts), (best[1].node,)))
        return PatternRow(name, show_pattern(pattern), count, tuple(places))

    def graph_row(self, entry: GraphEntry) -> PatternRow:
        """Present a pattern of several bindings: its matches in dataflow blocks, which may overlap."""
        name, graph = entry
        searches = [graph.search(block, self.module) for block in self.blocks]
        found = list(islice(chain.from_iterable(search.matches() for search in searches), MATCH_LIMIT + 1))
        places = [self.graph_fit(graph, match) for match in found[:MATCH_LIMIT]]
        misses = [search.miss for search in searches if search.miss is not None]
        if len(found) > MATCH_LIMIT:
            places.append(PatternMatch(is_match=False, what="", reason="further matches are not counted"))
        elif not places and misses:
            places.append(self.graph_miss(graph, max(misses, key=lambda miss: miss.progress)))
        return PatternRow(name, graph.text, min(len(found), MATCH_LIMIT), tuple(places))

    def graph_fit(self, graph: PatternContext, match: GraphMatch) -> PatternMatch:
        """Present a match; its last binding is the root."""
        bindings = self.bindings(match.variable_of.values())
        return PatternMatch(
            is_match=True,
            what=self.what(bindings[0]) if bindings else "",
            arguments=mapping_words(match.variable_of, graph.named),
            nodes=self.ids((*bindings, *match.variable_of.values())),
            line=self.line(bindings[0]) if bindings else 0,
        )

    def graph_miss(self, graph: PatternContext, miss: GraphMiss) -> PatternMatch:
        """Present what came closest to a match."""
        met = () if miss.variable is None else (miss.variable,)
        bindings = (*self.bindings(met), *self.bindings(miss.variable_of.values()))
        return PatternMatch(
            is_match=False,
            what=self.what(bindings[0]) if bindings else "",
            reason=graph_miss_words(miss, graph.named),
            nodes=self.ids((*bindings, *met)),
            line=self.line(bindings[0]) if bindings else 0,
        )

    def bindings(self, variables: Iterable[Var]) -> tuple[Binding, ...]:
        """Return what binds variables, the last in the program first."""
        found = (item for var in variables if (item := self.binding_of.get(var)) is not None)
        return tuple(sorted(found, key=self.place_of.__getitem__, reverse=True))

    def what(self, binding: Binding) -> str:
        return node_name_of(binding.value) if isinstance(binding.value, Call) else binding.var.name

    def fit(self, unit: BindingUnit, match: Match) -> PatternMatch:
        """Present a match."""
        root = match.root
        arguments = ", ".join(map(short, split_attributes(root)[0])) if isinstance(root, Call) else ""
        return PatternMatch(
            is_match=True,
            what=node_name_of(root) if isinstance(root, Call) else "",
            arguments=arguments.replace("%", ""),
            alternative=alternative(match),
            nodes=self.ids(reversed(unit.bindings)),
            line=self.line(unit.bindings[-1]),
        )

    def missed(self, root: Binding, reason: str, because: Iterable[Node]) -> PatternMatch:
        """Present a miss."""
        return PatternMatch(
            is_match=False, what=self.what(root), reason=reason, nodes=self.ids((root, *because)), line=self.line(root)
        )

    def ids(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        found = (self.id_of(item) for node in nodes for item in self.shown(node))
        return tuple(dict.fromkeys(filter(None, found)))

    def line(self, node: Binding) -> int:
        lines = (self.line_of(item) for item in (*self.shown(node), *self.shown(node.value)))
        return next((line for line in lines if line), 0)

    def shown(self, node: Node) -> tuple[Node, ...]:
        """Return what a node of the normal form is in the module that is shown; of a variable, what binds it."""
        if isinstance(node, Var):
            node = self.binding_of.get(node, node)
        return (node, *self.log.ancestry(node))
