"""The Passes page on a decoder of 4 and of 32 layers: seconds of the worker from one stage to the next."""

from collections import defaultdict
from importlib import import_module
from time import process_time
from typing import Any, Final

from benchmarks.table import Row, Table
from relax_core.engine.protocol import CompareGraph, Failure, Open, PipelineOf, Program, Request, StageOf
from relax_core.engine.session import Session

LAYERS: Final = (4, 32)
WIDTH, HEADS, VOCABULARY = 16, 2, 32
SAMPLE_COUNT = 2
GOAL_SECONDS = 1.0


def run() -> Table:
    """Walk through the stages that change something, as a user does who clicks on the next one."""
    decoder = import_module("benchmarks.relax_models").transformer
    times: dict[tuple[int, str], list[float]] = defaultdict(list)
    for layers in LAYERS:
        text: str = decoder(layers, WIDTH, HEADS, VOCABULARY).script(show_meta=True)
        for _ in range(SAMPLE_COUNT):
            for name, seconds in _walk(text):
                times[layers, name].append(seconds)
    rows = tuple(Row(f"{layers} layers: {name}", tuple(found)) for (layers, name), found in times.items())
    stages = [row for row in rows if row.name.startswith(f"{LAYERS[-1]} layers: text and graph")]
    quick = sum(row.median_seconds < GOAL_SECONDS for row in stages)
    slowest = max(stages, key=lambda row: row.median_seconds)
    note = (
        f"{quick} of {len(stages)} stages of {LAYERS[-1]} layers in less than {GOAL_SECONDS:g} s; "
        f"the slowest is {slowest.name.rpartition(' ')[2]} with {slowest.median_seconds:.2f} s."
    )
    return Table("Large modules in the pages, seconds of the worker", rows, note)


def _walk(text: str) -> list[tuple[str, float]]:
    session = Session()
    that = Program(name="decoder.py", text=text)
    found = [("source", _asked(session, Open(that))[1])]
    stages, seconds = _asked(session, PipelineOf(that))
    found.append(("passes", seconds))
    for stage in stages.stages:
        if stage.is_changed:
            _, of_text = _asked(session, StageOf(that, stage.index))
            _, of_graph = _asked(session, CompareGraph(that, stage.index))
            found.append((f"text and graph of {stage.index} {stage.name}", of_text + of_graph))
    return found


def _asked(session: Session, message: Request[Any]) -> tuple[Any, float]:
    """Return the reply and the seconds of the processor that it took."""
    start = process_time()
    reply = session.request(message)
    if isinstance(reply, Failure):
        raise RuntimeError(f"{reply.title}: {reply.message}")
    return reply, process_time() - start
