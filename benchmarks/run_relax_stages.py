"""Run every stage of apache-tvm's default CPU pipeline here: `python -m benchmarks.run_relax_stages [names]`.

Programs, models built with `tvm.relax.frontend.nn`, and an example of each operator are built and run by apache-tvm.
What it prints before the pipeline and behind each of its passes is read, built and run here, and has to give the same.
A program that TVM itself cannot run is named, and so is a stage that differs.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportAttributeAccessIssue=false

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import tvm
from tvm import relax

import relax_core as rc
from benchmarks.relax_models import models
from benchmarks.relax_programs import PROGRAMS
from benchmarks.relax_stages import Channel, parsed, stages, text_of
from relax_core.diagnostics import DiagnosedError
from relax_core.ops import OPS
from relax_core.ops.example import example

LENGTH = 4
"""What each symbolic dimension is."""
READS_OUTSIDE: Mapping[str, str] = MappingProxyType(
    {
        "relax.grad.max_pool2d_backward": "its TIR reads beside the pooled rows, and drops what it read",
        "relax.slice_scatter": "its TIR takes rows behind the source, and drops what it read",
    }
)
"""Operators whose lowering by TVM reads out of range: here that is JT010."""


def programs() -> Iterator[tuple[str, str]]:
    """Give the texts by name: programs, and the examples of the operators."""
    yield from PROGRAMS.items()
    for name, spec in OPS.items():
        lines = example(spec).splitlines()
        yield name, "\n".join(line for line in lines if not line.startswith("from tvm"))


def entries(module: Any) -> Iterator[tuple[str, list[Any]]]:
    """Give the functions that can be called with tensors alone, with arguments."""
    random = np.random.default_rng(0)
    for var, function in module.functions.items():
        if isinstance(function, relax.Function) and function.attrs and "global_symbol" in function.attrs:
            args = [_argument(param.ty, random) for param in function.params]
            if all(arg is not None for arg in args):
                yield var.name_hint, args


def _argument(type_: Any, random: np.random.Generator) -> Any:
    if not isinstance(type_, relax.TensorType) or type_.shape is None or not hasattr(type_.shape, "values"):
        return None
    shape = [int(getattr(dim, "value", LENGTH)) for dim in type_.shape.values]
    match str(type_.dtype):
        case dtype if dtype.startswith("float"):
            return random.standard_normal(shape).astype(dtype)
        case "bool":
            return random.integers(0, 2, shape).astype(bool)
        case dtype:
            return random.integers(0, 3, shape).astype(dtype)


def run_in_tvm(module: Any, name: str, args: Sequence[Any]) -> list[Any]:
    """Build a module with the default pipeline, call a function, and return its tensors."""
    device: Any = tvm.cpu()
    machine = relax.VirtualMachine(relax.build(module, "llvm"), device)
    return tensors(machine[name](*map(tvm.runtime.tensor, args)))


def run_here(text: str, name: str, args: Sequence[Any]) -> list[Any]:
    """Read and build a text, call a function with copies of the arguments, and return its tensors."""
    executable = rc.build(rc.parse(text, "stage.py"))
    machine = rc.VirtualMachine(executable, on_output=lambda _: None)
    return tensors(machine[name](*(arg.copy() for arg in args)))


def tensors(value: Any) -> list[Any]:
    """Return the arrays of a result, in order; what is no tensor is left out."""
    match value:
        case np.ndarray():
            return [value]
        case tuple() | list():
            return [item for field in value for item in tensors(field)]
        case _ if hasattr(value, "numpy"):
            return [value.numpy()]
        case _ if hasattr(value, "__len__") and not isinstance(value, str):
            return [item for field in value for item in tensors(field)]
        case _:
            return []


def compare(
    name: str, module: Any, entry: str, args: Sequence[Any], steps: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Give for each stage, or each of `steps`, its name and what is wrong with it: the empty string, if nothing."""
    expected = run_in_tvm(module, entry, args)
    for step, stage in stages(Channel(sys.stderr), name, module):
        if steps and step not in steps:
            continue
        try:
            found = run_here(text_of(stage), entry, args)
        except DiagnosedError as error:
            yield step, " ".join(str(error).split())
            continue
        is_equal = len(found) == len(expected) and all(
            np.allclose(one, other, 1e-3, 1e-4, equal_nan=True) for one, other in zip(found, expected, strict=True)
        )
        yield step, "" if is_equal else "another result"


def main(names: Sequence[str]) -> int:
    """Compare all, or those that are named; return 1 if a stage is wrong that should not be."""
    modules = [(name, parsed(text)) for name, text in _chosen(names) if _is_read(text)]
    modules += [item for item in models((1,)) if not names or item[0] in names]
    counts = Counter[str]()
    for name, module in modules:
        for entry, args in entries(module):
            try:
                results = list(compare(name, module, entry, args))
            except (RuntimeError, ValueError, TypeError, AttributeError) as error:  # what TVM's own build raises
                counts["not run by apache-tvm"] += 1
                print(f"{name}: apache-tvm: {' '.join(str(error).split())[-120:]}")
                continue
            for step, why in results:
                is_known = name in READS_OUTSIDE and "JT010" in why
                counts["equal" if not why else "out of range in TVM's own lowering" if is_known else "wrong"] += 1
                if why and not is_known:
                    print(f"{name}: {step}: {why[:200]}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return int(counts["wrong"] > 0)


def _chosen(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in programs() if not names or name in names]


def _is_read(text: str) -> bool:
    try:
        parsed(text)
    except BaseException as error:  # the parser of TVM raises several kinds, some below no common class
        if isinstance(error, KeyboardInterrupt):
            raise
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
