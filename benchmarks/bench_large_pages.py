"""The Passes page on a decoder of 4 and of 32 layers: seconds of the worker from one stage to the next."""

from collections import defaultdict
from importlib import import_module
from time import process_time
from typing import Any, Final

from benchmarks.table import Row, Table
from relax_core.engine.process.worker import tune_collector
from relax_core.engine.protocol import CompareGraph, Failure, Open, PipelineOf, Program, Request, StageOf
from relax_core.engine.session import Session

LAYERS: Final = (4, 32)
WIDTH, HEADS, VOCABULARY = 16, 2, 32
SAMPLE_COUNT = 2
GOAL_SECONDS = 1.0
PARTS: Final = ("text", "graph")
"""What is asked for one behind the other: a page shows the text while the graph is drawn."""


def run() -> Table:
    """Walk through the stages that change something, as a user does who clicks on the next one."""
    decoder = import_module("benchmarks.relax_models").transformer
    tune_collector()
    times: dict[tuple[int, str], list[float]] = defaultdict(list)
    for layers in LAYERS:
        text: str = decoder(layers, WIDTH, HEADS, VOCABULARY).script(show_meta=True)
        for _ in range(SAMPLE_COUNT):
            for name, seconds in _walk(text):
                times[layers, name].append(seconds)
    rows = tuple(Row(f"{layers} layers: {name}", tuple(found)) for (layers, name), found in times.items())
    notes = [
        _note(what, [row for row in rows if row.name.startswith(f"{LAYERS[-1]} layers: {what} of ")]) for what in PARTS
    ]
    return Table("Large modules in the pages, seconds of the worker", rows, "\n".join(notes))


def _note(what: str, stages: list[Row]) -> str:
    quick = sum(row.median_seconds < GOAL_SECONDS for row in stages)
    slowest = max(stages, key=lambda row: row.median_seconds)
    return (
        f"{what}: {quick} of {len(stages)} stages of {LAYERS[-1]} layers in less than {GOAL_SECONDS:g} s; "
        f"the slowest is {slowest.name.rpartition(' ')[2]} with {slowest.median_seconds:.2f} s."
    )


def _walk(text: str) -> list[tuple[str, float]]:
    session = Session()
    that = Program(name="decoder.py", text=text)
    found = [("source", _asked(session, Open(that))[1])]
    stages, seconds = _asked(session, PipelineOf(that))
    found.append(("passes", seconds))
    for stage in stages.stages:
        if stage.is_changed:
            for what, message in zip(PARTS, (StageOf(that, stage.index), CompareGraph(that, stage.index)), strict=True):
                found.append((f"{what} of {stage.index} {stage.name}", _asked(session, message)[1]))
    return found


def _asked(session: Session, message: Request[Any]) -> tuple[Any, float]:
    """Return the reply and the seconds of the processor that it took."""
    start = process_time()
    reply = session.request(message)
    if isinstance(reply, Failure):
        raise RuntimeError(f"{reply.title}: {reply.message}")
    return reply, process_time() - start
