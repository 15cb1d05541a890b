"""Give every stage of TVM's default CPU pipeline as text, and judge what is printed back.

Runs under the Python of an apache-tvm, 0.27 or 0.25:  python -m benchmarks.relax_stages --layers 1,2
For each stage it writes one line of JSON and reads one: `{"text": ...}` of the same stage, or null. The answer
is a third line, `{"equal": true}` if TVM reads that text as the module that it printed. A stage with the text of the
one before is `{"same": true}`, without question and answer.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportAttributeAccessIssue=false

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

import tvm
from tvm import relax
from tvm.relax.backend import cpu_generic
from tvm.relax.backend.cpu_generic import pipeline

from benchmarks.relax_models import models
from benchmarks.relax_programs import PROGRAMS, in_older_words

METADATA = re.compile(r'metadata\["(?:ir\.GenericConst|relax\.expr\.Constant)"\]\[(\d+)\]')
INPUT = "(input)"
IS_OLD = tvm.__version__.startswith("0.2") and int(tvm.__version__.split(".")[1]) < 26


def main() -> None:
    """Serve all stages, then stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", default="1,2")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    chosen = parser.parse_args()
    layers = tuple(int(item) for item in chosen.layers.split(",") if item)
    # TVM writes diagnostics to the standard output, from C++ too; the answers go where it was.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    channel = Channel(answers)
    for name in chosen.programs.split(",") if chosen.programs else ():
        _serve_program(channel, name, in_older_words(PROGRAMS[name]) if IS_OLD else PROGRAMS[name])
    for name, module in models(layers):
        _serve_stages(channel, name, module)
    channel.say({"end": True})


@dataclass(frozen=True, slots=True)
class Channel:
    """Lines of JSON to and from the process that compares."""

    answers: TextIO

    def say(self, message: dict[str, object]) -> None:
        """Write one line."""
        self.answers.write(json.dumps(message) + "\n")
        self.answers.flush()

    def heard(self) -> dict[str, Any]:
        """Read one line."""
        return json.loads(sys.stdin.readline())


def _serve_program(channel: Channel, name: str, text: str) -> None:
    try:
        module = parsed(text)
    except BaseException as error:
        channel.say({"stop": "(parser)", "name": name, "why": _last_words(error)})
        return
    _serve_stages(channel, name, module)


def _serve_stages(channel: Channel, name: str, module: Any) -> None:
    before = ""
    for step, stage in stages(channel, name, module):
        text = text_of(stage)
        if text == before:
            channel.say({"name": name, "step": step, "same": True})
        else:
            _serve(channel, {"name": name, "step": step, "text": text}, stage)
        before = text


def _last_words(error: BaseException) -> str:
    """Shorten an error to its first and last line; an interrupt goes on."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join((type(error).__name__, *lines[:1], *lines[-1:]))[:400]


def parsed(text: str) -> Any:
    """Read a module; the parser of TVM raises several kinds, some below no common class."""
    return tvm.script.from_source(text, check_well_formed=False)


def stages(channel: Channel, name: str, module: Any) -> Iterator[tuple[str, Any]]:
    """Give the module before the pipeline and behind each of its passes, as far as TVM gets with it."""
    target = tvm.target.Target("llvm")
    yield INPUT, module
    with target:
        passes = [
            *cpu_generic.library_dispatch_passes(target),
            *cpu_generic.legalize_passes(target),
            *pipeline.dataflow_lower_passes(target),
            *cpu_generic.finalize_passes(target),
        ]
        for step in passes:
            try:
                module = step(module)
            except Exception as error:  # a pass of TVM that fails ends the stages of this module
                channel.say({"stop": step.info.name, "name": name, "why": _last_words(error)})
                return
            yield step.info.name, module


def _serve(channel: Channel, message: dict[str, str], module: Any) -> None:
    channel.say({**message})
    ours = channel.heard()["text"]
    is_readable, why = _reads_as(message["text"], module)
    answer: dict[str, object] = {"readable": is_readable, "why": why}
    if ours is not None:
        answer["equal"], answer["error"] = _reads_as(ours, module)
    channel.say(answer)


def text_of(module: Any) -> str:
    """Print a module with its constants: in a table where that does not end 0.27, else in their places."""
    plain = module.script()
    if METADATA.search(plain) is None:
        return module.script(show_meta=True)
    if IS_OLD:
        return module.script(show_meta=True)
    tensors = _constants(module)
    return METADATA.sub(lambda found: _constant(tensors[int(found[1])]), plain)


def _constants(module: Any) -> list[Any]:
    """List the tensors that are no scalars in the order in which the printer meets them."""
    found: list[tuple[Any, Any]] = []

    def visit(expr: Any) -> None:
        data: Any = getattr(expr, "data", getattr(expr, "value", None))
        if hasattr(data, "numpy") and data.numpy().ndim > 0 and not any(expr.same_as(item) for item, _ in found):
            found.append((expr, data.numpy()))

    for var in sorted(module.get_global_vars(), key=lambda item: item.name_hint):
        if isinstance(module[var], relax.Function):
            relax.analysis.post_order_visit(module[var], visit)
    return [data for _, data in found]


def _constant(data: Any) -> str:
    return f'R.const({data.tolist()}, "{data.dtype}")'


def _reads_as(text: str, module: Any) -> tuple[bool, str]:
    try:
        again = parsed(text)
    except BaseException as error:  # the parser of TVM raises several kinds, some below no common class
        return False, "not read: " + _last_words(error)
    try:
        tvm.ir.assert_structural_equal(again, module, map_free_vars=True)
    except Exception as error:  # a difference is an exception here
        return False, "differs: " + " ".join(str(error).split())[:600]
    return True, ""


if __name__ == "__main__":
    main()
