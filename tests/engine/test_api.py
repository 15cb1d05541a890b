"""The public functions: what `import relax_core` promises beyond what each part has a test for."""

import pytest

import relax_core as rc

FOUR_MISTAKES = """@I.ir_module
class Module:
    @R.function
    def a(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 5), "float32")):
        y = R.matmul(x, w)
        return y
    @R.function
    def b(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, x
        return y
    @R.function
    def c(x: R.Tensor((2, 3), "float32")):
        y = R.matmull(x, x)
        return y
    @R.function
    def d(x: R.Tensor((2, 3), "float32")):
        y = R.add(x, z)
        return y
"""


@pytest.mark.parametrize("read", [rc.parse, rc.parse_all])
def test_what_cannot_be_read_says_all_that_is_wrong(read: object) -> None:
    assert callable(read)
    with pytest.raises(rc.CompileError) as caught:
        read(FOUR_MISTAKES, "m.py")
    found = [(item.code, item.place.split(":")[1]) for item in caught.value.diagnostics]
    assert found == [("TY012", "5"), ("PA001", "9"), ("RS002", "13"), ("RS001", "17")]


def test_the_pipeline_of_the_interface_runs() -> None:
    text = FOUR_MISTAKES.split("    @R.function\n    def b")[0].replace("(4, 5)", "(3, 5)")
    stages = rc.run_pipeline(rc.parse(text), "LambdaLift, LegalizeOps, FuseOps(max_depth=4)")
    assert [(stage.pass_name, stage.is_failed) for stage in stages] == [
        ("LambdaLift", False), ("LegalizeOps", False), ("FuseOps", False),
    ]  # fmt: skip
