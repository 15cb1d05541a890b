"""Text: reading and printing a module of prim funcs and bindings, beside apache-tvm, over a range of sizes."""

import sys
from importlib import import_module
from statistics import median
from typing import Any

from benchmarks.table import Row, Table
from benchmarks.timing import Case, measure
from relax_core.frontend.parse import parse_text
from relax_core.ir.module import IRModule
from relax_core.printer.tvmscript import print_module

SIZES = (100, 1000, 10_000)
SAMPLE_COUNT = 2
_KERNEL = """\
    @T.prim_func(private=True, s_tir=True)
    def kernel{index}(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
        for i, j in T.grid(8, 4):
            with T.sblock("kernel{index}"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = T.exp(A[vi, vj]) * T.float32({index}.5)

"""
_BINDINGS = (
    'R.call_tir(cls.kernel{index}, ({last},), out_ty=R.Tensor((8, 4), dtype="float32"))',
    "R.add({last}, x)",
    "R.matmul({last}, w, out_dtype=None)",
    'R.multiply({last}, R.const(0.5, "float32"))',
    "R.nn.relu({last})",
    "R.reshape({last}, R.shape([8, 4]))",
    "R.permute_dims({last}, axes=[0, 1])",
    "R.nn.softmax({last}, axis=-1)",
    "R.subtract({last}, x)",
    "R.tanh({last})",
)
_TYPE = 'R.Tensor((8, 4), dtype="float32")'


def program(line_count: int) -> str:
    """Make a module of about `line_count` lines, half of them prim funcs, half bindings."""
    count = max(1, line_count // 19)
    body: list[str] = []
    last = "x"
    for index in range(count):
        for step, binding in enumerate(_BINDINGS):
            name = f"lv{index}_{step}"
            body.append(f"        {name}: {_TYPE} = {binding.format(index=index, last=last)}\n")
            last = name
    kernels = "".join(_KERNEL.format(index=index) for index in range(count))
    signature = f'main(x: {_TYPE}, w: R.Tensor((4, 4), dtype="float32")) -> {_TYPE}'
    head = f"    @R.function\n    def {signature}:\n        cls = Module\n"
    return f"@I.ir_module\nclass Module:\n{kernels}{head}{''.join(body)}        return {last}\n"


def run() -> Table:
    """Measure reading and printing per size, here and in TVM if that is installed; the note gives the ratios."""
    rows: list[Row] = []
    notes: list[str] = []
    for size in SIZES:
        found = measure(_cases(size), sample_count=SAMPLE_COUNT)
        rows += found
        seconds = {row.name: median(row.seconds) for row in found}
        for verb in ("read", "print"):
            here, there = seconds.get(f"{verb} {size} lines"), seconds.get(f"{verb} {size} lines in TVM")
            if here and there:
                notes.append(f"{verb} {size} lines: TVM takes {there / here:.2f} times as long")
    return Table("Text", tuple(rows), "\n".join(notes))


def _cases(size: int) -> dict[str, Case]:
    text = program(size)
    module = _read(text)
    cases: dict[str, Case] = {
        f"read {size} lines": lambda: _read(text),
        f"print {size} lines": lambda: print_module(module),
    }
    try:
        tvm: Any = import_module("tvm")
    except ImportError:
        sys.stderr.write("apache-tvm is not installed: no comparison\n")
        return cases
    theirs = tvm.script.from_source(text, check_well_formed=False)
    cases[f"read {size} lines in TVM"] = lambda: tvm.script.from_source(text, check_well_formed=False)
    cases[f"print {size} lines in TVM"] = lambda: theirs.script()
    return cases


def _read(text: str) -> IRModule:
    parsed = parse_text(text, "text.py")
    assert not parsed.diagnostics, parsed.diagnostics[0].render()
    return parsed.modules[0]
