"""CanonicalizeTIRVariables replaces dimensions as the pass of this name inside apache-tvm's CanonicalizeBindings."""

from typing import Any

import relax_core as rc
from tests.apache_tvm import relax, tvm
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks, same_values

NAME = "CanonicalizeTIRVariables"
CASTS = """
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        k = T.int64()
        j = T.int64()
        y = R.exp(x)
        z = R.match_cast(y, R.Tensor((k, j), "float32"))
        u = z
        v = R.reshape(u, R.shape([k * j]))
        w = R.sum(v)
        return w
"""


@tvm.ir.instrument.pass_instrument
class _Seen:
    def __init__(self) -> None:
        self.module: Any = None

    def run_after_pass(self, module: Any, info: Any) -> None:
        if info.name == NAME and self.module is None:
            self.module = module


def theirs(module: Any) -> Any:
    """Run CanonicalizeBindings, and return the module behind the pass inside it."""
    seen = _Seen()
    with tvm.transform.PassContext(instruments=[seen]):
        relax.transform.CanonicalizeBindings()(module)
    return seen.module


def test_what_a_cast_proves_replaces_a_dimension_as_in_tvm() -> None:
    stage = agrees(CASTS, theirs, NAME)
    assert remarks(stage, "applied") == [
        "k is n: a match_cast proves it",
        "j is m: a match_cast proves it",
    ]
    assert not rc.run_pipeline(stage.after, NAME)[-1].is_changed
    same_values(stage.before, stage.after)


def test_a_dimension_that_a_cast_of_the_unknown_binds_stays() -> None:
    text = """
    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32")):
        n = T.int64()
        y = R.match_cast(x, R.Tensor((n,), "float32"))
        return y
"""
    assert not passed(parse(text), NAME).is_changed


def test_a_variable_that_takes_the_place_of_another_may_have_a_proven_size() -> None:
    annotated = CASTS.replace("        z = R", '        z: R.Tensor((k, j), "float32") = R')
    stage = passed(parse(annotated), "CanonicalizeBindings")
    same_values(stage.before, stage.after)
