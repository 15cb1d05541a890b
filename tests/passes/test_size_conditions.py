"""A condition on sizes that only a run can decide is not lost in a prim func, which would compute a wrong value."""

from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.module import IRModule

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main({params}):
        n, m, k, p = T.int64(), T.int64(), T.int64(), T.int64()
        with R.dataflow():
            lv = R.{call}
            gv = R.add(lv, lv)
            R.output(gv)
        return gv
"""
# A call of x and y, sizes that fit, and sizes that do not, of which a kernel would read a part or too much.
CALLS = (
    ("matmul(x, y)", ("n, m", "k, p"), ((2, 3), (3, 2)), [((2, 3), (2, 2)), ((2, 2), (3, 2))]),
    ("concat((x, y), axis=0)", ("n, m", "k, p"), ((2, 3), (4, 3)), [((2, 2), (3, 3)), ((2, 3), (3, 2))]),
    ("broadcast_to(x, (n, 4))", ("n, m", "k"), ((2, 1), (1,)), [((2, 5), (1,)), ((2, 3), (1,))]),
    ("broadcast_to(x, (n, 4))", ("n, m", "k"), ((2, 4), (1,)), [((2, 0), (1,))]),
    ("squeeze(x, axis=[0])", ("n, m", "k"), ((1, 3), (1,)), [((3, 3), (1,)), ((0, 3), (1,))]),
    ("reshape(x, (n,))", ("n, m", "k"), ((3, 1), (1,)), [((3, 2), (1,)), ((3, 0), (1,))]),
    ("reshape(x, (0,))", ("n, m", "k"), ((3, 1), (1,)), [((3, 2), (1,))]),
    ("reshape(x, (-1, 4))", ("n, m", "k"), ((3, 8), (1,)), [((3, 5), (1,))]),
    ("nn.prelu(x, y, axis=1)", ("n, m", "k"), ((2, 3), (3,)), [((2, 2), (3,)), ((2, 3), (2,))]),
    ("nn.layer_norm(x, y, y, axes=[-1])", ("n, m", "k"), ((2, 3), (3,)), [((2, 3), (4,)), ((2, 3), (2,))]),
    ("nn.conv1d(x, y)", ("n, m, 5", "k, p, 3"), ((1, 2, 5), (4, 2, 3)), [((1, 3, 5), (1, 2, 3))]),
    ("nn.pixel_shuffle(x, 2)", ("n, m, 2, 2", "k"), ((1, 4, 2, 2), (1,)), [((1, 5, 2, 2), (1,))]),
)


def module_of(call: str, shapes: tuple[str, ...]) -> IRModule:
    def quoted(shape: str) -> str:
        return ", ".join(size if size.isdigit() else f'"{size}"' for size in shape.split(", "))

    params = (f'{name}: R.Tensor(({quoted(shape)},), "float32")' for name, shape in zip("xy", shapes, strict=True))
    return rc.parse(PROGRAM.format(params=", ".join(params), call=call))


def numbers(*shape: int) -> Any:
    return np.arange(float(np.prod(shape)), dtype="float32").reshape(shape) + 1


@pytest.mark.parametrize(("call", "shapes", "fit", "others"), CALLS, ids=[call for call, *_ in CALLS])
def test_sizes_that_do_not_fit_stop_with_the_type_rule(call: str, shapes: Any, fit: Any, others: Any) -> None:
    module = module_of(call, shapes)
    machine = rc.VirtualMachine(rc.build(module))
    given = [numbers(*shape) for shape in fit]
    wanted = rc.evaluate(module, "main", *given)
    np.testing.assert_allclose(machine["main"](*given), wanted, rtol=1e-5, strict=True)
    for sizes in others:
        with pytest.raises(rc.RunError) as caught:
            machine["main"](*(numbers(*shape) for shape in sizes))
        assert caught.value.diagnostics[0].code == "VM017"


def test_what_stays_an_operator_is_remarked() -> None:
    stage = rc.run_pipeline(module_of("matmul(x, y)", ("n, m", "k, p")), "LegalizeOps")[-1]
    words = [remark.message for remark in stage.remarks]
    assert any("matmul stays an operator: whether the sizes of its arguments fit" in item for item in words), words


@pytest.mark.parametrize("call", ["matmul(x, R.permute_dims(x))", "reshape(x, (n * m,))", "concat((x, x), axis=1)"])
def test_what_fits_for_all_sizes_is_a_kernel(call: str) -> None:
    stage = rc.run_pipeline(module_of(call, ("n, m", "k")), "LegalizeOps")[-1]
    assert f"R.{call.split('(')[0]}(" not in rc.script(stage.after)
