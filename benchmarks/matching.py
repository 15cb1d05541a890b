"""How well stages are matched that say nothing of their origins: `python -m benchmarks.matching`.

Each pass of this program records what it makes of what. Its stages are printed and read again, so that nothing of that
is left, and matched; the links that are found are compared with what was recorded. `--relay` does so for Relay.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Final

from relax_core.analysis.matching.modules import match_outlines
from relax_core.analysis.matching.outlines import outline_of
from relax_core.analysis.matching.parts import Outline, Part
from relax_core.diagnostics import CompileError
from relax_core.frontend.parse import parse_text
from relax_core.ir.dialect import dialect_of
from relax_core.ir.expr import BindingBlock, MatchCast, VarBinding
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, children
from relax_core.ir.relay import Let
from relax_core.passes.core import Stage
from relax_core.passes.pipeline import run_pipeline
from relax_core.printer.relay_text.module import print_relay
from relax_core.printer.tvmscript import print_module

SAMPLES: Final = Path(__file__).resolve().parent.parent / "samples"
RELAX: Final = ("relax", "seeds", "prim")
RELAX_PIPELINES: Final = (
    None,
    "Normalize, LambdaLift, CanonicalizeBindings, EliminateCommonSubexpr, FoldConstant, DeadCodeElimination, "
    "LegalizeOps, FuseOps, FuseTIR, DeadCodeElimination, ToNonDataflow, RemovePurityChecking, CallTIRRewrite, "
    "KillAfterLastUse, LowerAllocTensor, LowerRuntimeBuiltin, VMShapeLower, AttachGlobalSymbol",
    "LambdaLift, ElideClosureWrappers",
    "BoxPrims",
    "UnboxScalars",
    "RealizeVDevice",
)
RELAY_PIPELINES: Final = (
    None,
    "ToANormalForm, EliminateCommonSubexpr, FoldConstant, DeadCodeElimination",
    "SimplifyInference, FuseOps",
    "LambdaLift, Inline",
    "ToGraphNormalForm",
    "InferType, FuseOps, ToANormalForm, PlanDevices, ManifestAlloc, ManifestLifetimes",
    "ToBasicBlockNormalForm",
    "CanonicalizeOps",
    "FuseOps, DefuseOps",
    "EtaExpand",
    "InferType, Defunctionalization",
    "RemoveUnusedFunctions",
    "MergeComposite, AnnotateTarget(targets=['dnnl']), MergeCompilerRegions, PartitionGraph",
)


@dataclass(slots=True)
class Score:
    """How many links were recorded, found and wrong, of all parts and of those that the pass made anew.

    `untold` are links of parts of which nothing was recorded: they are neither right nor wrong.
    """

    stages: int = 0
    recorded: int = 0
    found: int = 0
    right: int = 0
    wrong: int = 0
    sure_wrong: int = 0
    untold: int = 0
    recorded_anew: int = 0
    right_anew: int = 0
    seconds: float = 0.0

    def add(self, other: "Score") -> None:
        """Add the counts of another score."""
        for name in Score.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def found_share(self) -> float:
        """The share of the recorded links that were found."""
        return self.right / self.recorded if self.recorded else 1.0

    @property
    def wrong_share(self) -> float:
        """The share of the found links that were not recorded."""
        return self.wrong / self.found if self.found else 0.0


@dataclass(slots=True)
class Scores:
    """Scores by pass."""

    of: dict[str, Score] = field(default_factory=lambda: defaultdict[str, Score](Score))

    @property
    def total(self) -> Score:
        """All passes together."""
        made = Score()
        for score in self.of.values():
            made.add(score)
        return made

    def to_text(self) -> str:
        """Print a row per pass, as a table of Markdown."""
        lines = [
            "| pass | stages | links | found | of parts made anew | wrong |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for name, score in (*sorted(self.of.items()), ("all", self.total)):
            anew = f"{score.right_anew / score.recorded_anew:.1%}" if score.recorded_anew else "-"
            lines.append(
                f"| {name} | {score.stages} | {score.recorded:,} | {score.found_share:.1%} | {anew} "
                f"| {score.wrong_share:.2%} |"
            )
        return "\n".join(lines)


def score_samples(folders: tuple[str, ...], pipelines: tuple[str | None, ...], every: int = 1) -> Scores:
    """Match the stages of all programs in folders of `samples/`, or of each `every`-th one."""
    scores = Scores()
    files = sorted(
        file for folder in folders for file in (SAMPLES / folder).iterdir() if file.suffix in (".py", ".relay")
    )
    for file in files[::every]:
        modules = parse_text(file.read_text(encoding="utf-8"), file.name).modules
        for passes in pipelines if modules else ():
            score_pipeline(modules[0], passes, scores)
    return scores


def score_pipeline(module: IRModule, passes: str | None, scores: Scores) -> None:
    """Match the stages of one program; a pipeline that refuses it is passed over."""
    try:
        stages = run_pipeline(module, passes)
    except CompileError:
        return
    for stage in stages:
        if stage.is_changed and not stage.is_failed:
            scores.of[stage.pass_name].add(score_stage(stage))


def score_stage(stage: Stage) -> Score:
    """Compare the links that are found between the texts of a stage with those that the pass recorded."""
    before, after = _outlines(stage.before), _outlines(stage.after)
    read_before, read_after = _read(stage.before, before), _read(stage.after, after)
    start = time.perf_counter()
    links = match_outlines({item.name: item for item in read_before}, {item.name: item for item in read_after})
    score = Score(stages=1, seconds=time.perf_counter() - start)
    made_of = dict(zip(_parts(read_before), _parts(before), strict=True))
    part_of = _part_of(before)
    for part, read in zip(_parts(after), _parts(read_after), strict=True):
        if not any(item.part_of.get(part.node) is part for item in after):
            continue
        told = {part_of[node] for node in stage.log.ancestry_of(_nodes(part)) if node in part_of}
        found = {made_of[link.before]: link for link in links.origins_of(read)}
        if not told:
            score.untold += len(found)
            continue
        score.recorded += len(told)
        score.found += len(found)
        score.right += len(told & found.keys())
        wrong = [found[item] for item in found.keys() - told]
        score.wrong += len(wrong)
        score.sure_wrong += sum(link.confidence == "sure" for link in wrong)
        if part.node not in part_of:
            score.recorded_anew += len(told)
            score.right_anew += len(told & found.keys())
    return score


def _outlines(module: IRModule) -> tuple[Outline, ...]:
    return tuple(outline_of(item) for item in module.definitions)


def _parts(outlines: tuple[Outline, ...]) -> Iterator[Part]:
    return (part for item in outlines for part in item.parts)


def _read(module: IRModule, outlines: tuple[Outline, ...]) -> tuple[Outline, ...]:
    """Return the parts of what a module is as a text; they must be the same, part by part."""
    text = print_relay(module).text if dialect_of(module) == "relay" else print_module(module).text
    modules = parse_text(text, "printed").modules
    found = _outlines(modules[0]) if modules else ()
    by_name = {item.name: item for item in found}
    ordered = tuple(by_name[item.name] for item in outlines if item.name in by_name)
    if all(a and b and a.kind == b.kind for a, b in zip_longest(_parts(outlines), _parts(ordered))):
        return ordered
    # A text may say less than the module; then the parts are made again, so that none is the same object.
    return _outlines(module)


def _part_of(outlines: tuple[Outline, ...]) -> Mapping[Node, Part]:
    """Return the innermost part that each node of a module belongs to."""
    found: dict[Node, Part] = {}
    for outline in outlines:
        for node, part in outline.part_of.items():
            found.setdefault(node, part)
        stack = [(outline.function.node, outline.function)]
        seen: set[Node] = set()
        while stack:
            node, part = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            part = outline.part_of.get(node, part)
            if not isinstance(node, BindingBlock):
                found.setdefault(node, part)
            stack += [(child, part) for child in children(node)]
    return found


def _nodes(part: Part) -> tuple[Node, ...]:
    """Return the nodes whose origins are those of a part: not of a value that another part has."""
    match part.node:
        case VarBinding(var=var, value=value) | Let(var=var, value=value):
            return (part.node, var) if part.operator == "=" else (part.node, var, value)
        case MatchCast(var=var):
            return part.node, var
        case _:
            return (part.node,)


def main() -> None:
    """Print the table."""
    is_relay = "--relay" in sys.argv[1:]
    scores = score_samples(("relay",), RELAY_PIPELINES) if is_relay else score_samples(RELAX, RELAX_PIPELINES)
    print(scores.to_text())
    total = scores.total
    print(
        f"\n{total.wrong} wrong links, {total.sure_wrong} of them called sure; {total.untold} of untold parts", end=""
    )
    print(f"; matching took {total.seconds:.2f} s")


if __name__ == "__main__":
    main()
