"""A fault in a module that no text has: the diagnostic says what is wrong, and that there is no source position."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.diagnostics import Diagnostic, RunError
from relax_core.ir.module import IRModule
from relax_core.source import Span

GATHER = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 3), "float32"), i: R.Tensor((4,), "int64")):
        y = R.exp(x)
        z = R.take(y, i, axis=0)
        w = R.add(z, z)
        return w
"""
ARGS: tuple[Any, ...] = (np.ones((8, 3), np.float32), np.array([1, 2, 99, 3]))
FUSED = "FoldConstant, LegalizeOps, FuseOps, FuseTIR"


def fault(module: IRModule, passes: str | None = None) -> Diagnostic:
    """Return the diagnostic that ends a run of `main`."""
    executable = rc.build(module) if passes is None else rc.build(module, passes=passes)
    with pytest.raises(RunError) as raised:
        rc.VirtualMachine(executable)["main"](*ARGS)
    (found,) = raised.value.diagnostics
    return found


def line_of(span: Span | None) -> str:
    assert span is not None
    return span.source.line_text(span.line).strip()


@pytest.mark.parametrize("passes", [None, FUSED], ids=["the default passes", "fusion"])
def test_an_access_behind_fusion_is_placed_at_its_operator(passes: str | None) -> None:
    found = fault(rc.parse(GATHER), passes)
    assert found.code == "JT010"
    assert "99, but y has 8 rows" in found.message
    assert line_of(found.span) == "z = R.take(y, i, axis=0)"


def test_an_access_in_a_printed_stage_is_placed_in_its_text() -> None:
    stage = rc.run_pipeline(rc.parse(GATHER), FUSED)[-1].after
    found = fault(rc.parse(rc.script(stage), "printed.py"))
    assert "99, but y has 8 rows" in found.message
    assert "y[i[v_ax0], v_ax1]" in line_of(found.span)


def test_an_access_in_a_module_without_positions_says_so() -> None:
    lowered = rc.run_pipeline(rc.parse(GATHER))[-1].after
    found = fault(lowered, "")
    assert found.code == "JT010"
    assert "99, but y has 8 rows" in found.message
    assert found.span is None
    assert "There is no source position: instruction @" in found.hint
    assert "of `main`" in found.hint
