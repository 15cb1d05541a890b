"""A transformer of 32 layers, exported by TVM's front end: per token and per prompt, here and in apache-tvm."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

import relax_core as rc
from benchmarks.table import Table
from benchmarks.timing import measure

LAYERS, WIDTH, HEADS, VOCABULARY = 32, 256, 8, 1000
LENGTHS = (1, 128)
ROUNDS = 5
ENTRY = "forward"
TOLERANCE = 2e-3


def run() -> Table:
    """Measure one call per length; the note has the time until the first result of each."""
    module = import_module("benchmarks.relax_models").transformer(LAYERS, WIDTH, HEADS, VOCABULARY)
    weights = _weights(module)
    cases: dict[str, Callable[[], Any]] = {}
    notes: list[str] = []
    makers: Mapping[str, Callable[[Any], Callable[..., Any]]] = {"apache-tvm": _theirs, "ours": _ours}
    for name, make in makers.items():
        start = perf_counter()
        forward = make(module)
        for length in LENGTHS:
            cases[f"{length} tokens, {name}"] = _call(forward, (_tokens(length), *weights))
            cases[f"{length} tokens, {name}"]()
        notes.append(f"{name}: {perf_counter() - start:.1f} s from the module to the first result of each length")
    for length in LENGTHS:
        ours, theirs = (np.asarray(cases[f"{length} tokens, {name}"]()) for name in ("ours", "apache-tvm"))
        np.testing.assert_allclose(ours, theirs, TOLERANCE, TOLERANCE)
    rows = measure(cases, sample_count=ROUNDS)
    median = {row.name: row.median_seconds for row in rows}
    notes += [
        f"{length} tokens: apache-tvm takes "
        f"{median[f'{length} tokens, apache-tvm'] / median[f'{length} tokens, ours']:.2f} times as long"
        for length in LENGTHS
    ]
    return Table(f"Transformer of {LAYERS} layers, width {WIDTH}", rows, "\n".join(notes))


def _tokens(length: int) -> Any:
    return (np.arange(length, dtype="int32") * 7 % VOCABULARY).reshape(1, length)


def _weights(module: Any) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    shapes = [[int(dim) for dim in param.ty.shape] for param in module[ENTRY].params[1:]]
    return tuple(random.normal(0, 1 / np.sqrt(shape[-1]), shape).astype("float32") for shape in shapes)


def _call(function: Callable[..., Any], inputs: Sequence[Any]) -> Callable[[], Any]:
    return lambda: function(*inputs)


def _ours(module: Any) -> Callable[..., Any]:
    return rc.VirtualMachine(rc.build(rc.parse(module.script(show_meta=True), "transformer.py")))[ENTRY]


def _theirs(module: Any) -> Callable[..., Any]:
    # By name: the package has no type stubs.
    tvm: Any = import_module("tvm")
    relax: Any = import_module("tvm.relax")
    machine = relax.VirtualMachine(relax.build(module, "llvm"), tvm.cpu())
    made: dict[int, Any] = {}

    def forward(*inputs: Any) -> Any:
        given = [made.setdefault(id(item), tvm.runtime.tensor(item)) for item in inputs]
        return machine[ENTRY](*given).numpy()

    return forward
