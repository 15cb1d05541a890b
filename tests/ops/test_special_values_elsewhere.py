"""At special values, too, constants are folded to what a run gives, and Relay's operators mean what Relax's do."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import relax_core as rc
from relax_core.ir.expr import Call, Constant, Op, Var, constant
from relax_core.ir.module import IRModule
from relax_core.ir.node import Node, preorder
from relax_core.ir.rewriting.rewrite import RewriteLog, rewrite
from relax_core.ops.relay.spec import RelayOp
from relax_core.ops.relay.tensor.elementwise import SPECS as RELAY_SPECS
from relax_core.ops.relay.tensor.elementwise import arithmetic, comparison, identity, predicate
from relax_core.ops.spec import OpSpec
from tests.narrow import is_array
from tests.ops.bounds import bound_of, excess
from tests.ops.cases import Array, Case
from tests.ops.special_values import DTYPES, ON_ELEMENTS, is_typed, on_elements
from tests.passes.relay.running import parsed

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main({params}):
        with R.dataflow():
            lv = R.{call}
            gv = lv
            R.output(gv)
        return gv
"""
# Relay's operators that are made of several, and an operator of Relax with their bound: a function, then a quotient.
COMPOSED = {"log2": "nn.silu", "log10": "nn.silu"}


def is_close(case: Case, got: Any, want: Any) -> bool:
    a, b = np.asarray(got), np.asarray(want)
    return a.dtype == b.dtype and a.shape == b.shape and not excess(bound_of(case, "exact"), case, a, b).any()


def arrays_of(case: Case) -> list[Array]:
    return [item for item in case.args if is_array(item)]


def relax_module(case: Case, names: str) -> IRModule:
    tensors = arrays_of(case)
    given = [str(item) for item in case.args if not isinstance(item, np.ndarray)]
    params = ", ".join(f'{n}: R.Tensor({t.shape}, "{t.dtype}")' for n, t in zip(names, tensors, strict=False))
    call = f"{case.op}({', '.join([*names[: len(tensors)], *given])})"
    return rc.parse(PROGRAM.format(params=params, call=call))


def with_constants(module: IRModule, values: dict[str, Array]) -> IRModule:
    """Return the module with constants in the places of the parameters, which stay."""

    def bound(node: Node) -> Node | None:
        match node:
            case Call(op=Op(), args=args) if any(isinstance(arg, Var) and arg.name in values for arg in args):
                new = (constant(values[a.name]) if isinstance(a, Var) and a.name in values else a for a in args)
                return replace(node, args=tuple(new))
            case _:
                return None

    return rewrite(module, bound, log=RewriteLog())


@pytest.mark.parametrize("spec", ON_ELEMENTS, ids=lambda spec: spec.short_name)
def test_a_folded_constant_is_what_a_run_gives(spec: OpSpec) -> None:
    for dtype in ("float32", "float16", "int32", "bool"):
        case = on_elements(spec, dtype).case
        if not is_typed(case):
            continue
        tensors = arrays_of(case)
        module = relax_module(case, "xyz")
        folded = rc.run_pipeline(with_constants(module, dict(zip("xyz", tensors, strict=False))), "FoldConstant")[-1]
        found = [node.data for node in preorder(folded.after["main"]) if isinstance(node, Constant)]
        assert len(found) == 1
        assert is_close(case, rc.VirtualMachine(rc.build(module))["main"](*tensors), found[0])


def on_relay_elements() -> list[RelayOp]:
    relations = (identity, arithmetic, comparison, predicate)
    tried = [spec for spec in RELAY_SPECS if spec.relation in relations and not spec.attrs]
    return [spec for spec in tried if spec.relax or spec.name in COMPOSED]


@pytest.mark.parametrize("relay", on_relay_elements(), ids=lambda spec: spec.name)
def test_an_operator_of_relay_means_one_thing(relay: RelayOp) -> None:
    name = COMPOSED.get(relay.name) or relay.relax[0].removeprefix("relax.")
    (spec,) = (item for item in ON_ELEMENTS if item.short_name == name)
    for dtype in DTYPES:
        case = on_elements(spec, dtype).case
        if dtype not in ("float32", "float16", "int32", "bool") or not is_typed(case):
            continue
        tensors = arrays_of(case)[: 1 + (relay.relation in (arithmetic, comparison))]
        params = ", ".join(
            f"%{n}: Tensor[({', '.join(map(str, t.shape))}{',' * (t.ndim == 1)}), {t.dtype}]"
            for n, t in zip("ab", tensors, strict=False)
        )
        call = f"{relay.name}({', '.join(['%a', '%b'][: len(tensors)])})"
        module = parsed(f"def @main({params}) {{ {call} }}")
        wanted = rc.evaluate(module, "main", *tensors)
        assert is_close(case, rc.VirtualMachine(rc.build(module))["main"](*tensors), wanted), dtype
