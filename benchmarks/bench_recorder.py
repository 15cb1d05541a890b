"""What the recorder costs while apache-tvm builds a model: `python -m benchmarks.bench_recorder`.

The build alone is compared with one under the recorder, in its light mode, and with printing the stages that changed
and all stages, which is what a user would do without it.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyright: reportMissingParameterType=false, reportUntypedFunctionDecorator=false, reportUntypedClassDecorator=false

import contextlib
import tempfile
import time
from collections.abc import Callable, Generator
from typing import Any, cast

import tvm
import tvm_ffi
from tvm import relax
from tvm.ir.instrument import pass_instrument

from benchmarks.relax_models import models
from benchmarks.table import Row, Table
from relax_core.engine.pipelines import record_tvm

ROUNDS = 5
MODELS = (("mlp of 1", (1,)), ("decoder of 1", (1,)), ("decoder of 4", (4,)))


@pass_instrument
class PrintChanged:
    """Prints a module behind each pass that changed it, compared by structure as a whole."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.count = 0
        self.last: Any = None

    def run_after_pass(self, module: Any, _info: Any) -> None:
        """Print it, unless it is as the last one."""
        self.count += 1
        if self.last is None or not tvm_ffi.structural_equal(self.last, module):
            with open(f"{self.folder}/{self.count:03d}.py", "w", encoding="utf-8") as file:
                file.write(module.script())
        self.last = tvm.IRModule(dict(module.functions), attrs=module.attrs)


@contextlib.contextmanager
def _printing() -> Generator[None]:
    with tvm.transform.PassContext(instruments=[PrintChanged()]):
        yield


def _recording(*, light: bool) -> Callable[[], Any]:
    return lambda: record_tvm.record(f"{tempfile.mkdtemp()}/trace", light=light)


WAYS: tuple[tuple[str, Callable[[], Any]], ...] = (
    ("build alone", contextlib.nullcontext),
    ("recorder, light", _recording(light=True)),
    ("printing what changed", _printing),
    ("recorder", _recording(light=False)),
)


def run(title: str = "decoder of 1", layers: tuple[int, ...] = (1,)) -> Table:
    """Measure all ways in turns, so that a busy machine slows them alike."""
    module = cast("tvm.IRModule", next(made for name, made in models(layers) if name == title))
    times: dict[str, list[float]] = {name: [] for name, _ in WAYS}
    for _ in range(ROUNDS + 1):
        for name, way in WAYS:
            start = time.perf_counter()
            with way():
                relax.build(module, "llvm")
            times[name].append(time.perf_counter() - start)
    # The first round loads what later ones find loaded.
    rows = tuple(Row(name, tuple(taken[1:])) for name, taken in times.items())
    return Table(f"Recording while apache-tvm builds the {title} layers", rows)


if __name__ == "__main__":
    for model, layer_counts in MODELS:
        print(run(model, layer_counts).as_text(), end="\n\n")
