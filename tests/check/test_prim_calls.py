"""Direct calls of prim funcs: their arguments are what the parameters declare, as apache-tvm says."""

import pytest

import relax_core as rc

PROGRAM = """
@I.ir_module(s_tir=True)
class Module:
    @T.prim_func(s_tir=True)
    def f(n: T.int64, A: T.Buffer((4,), "float32"), p: T.handle, q: T.float32, m: T.int32) -> T.int64:
        return n

    @R.function
    def main(
        x: R.Tensor((4,), "float32"), y: R.Tensor((5,), "float32"), z: R.Tensor((4,), "int32"), o: R.Any,
        n: T.int64, k: T.int32, q: T.float32, t: R.Tuple(R.Tensor),
    ):
        cls = Module
        gv: {} = cls.f({})
        return gv
"""
CALLS = (
    ("T.int64", "n, x, o, q, k", ""),
    ("T.int64", "n, x, x, q, k", ""),
    ("T.int64", "n, x, n, q, k", ""),
    ("T.int64", "n, x, t, q, k", ""),
    ("T.bool", "n, x, o, q, k", "TY020"),
    ("R.Tensor((), 'int64')", "n, x, o, q, k", "TY020"),
    ("T.int64", "x, x, o, q, k", "TY022"),
    ("T.int64", "n, y, o, q, k", "TY022"),
    ("T.int64", "n, z, o, q, k", "TY022"),
    ("T.int64", "n, n, o, q, k", "TY003"),
    ("T.int64", "n, t, o, q, k", "TY022"),
    ("T.int64", "k, x, o, q, k", "TY022"),
    ("T.int64", "n, x, o, n, k", "TY022"),
    ("T.int64", "n, x, o, q, n", "TY022"),
    ("T.int64", "n, x, o, q", "WF021"),
)


@pytest.mark.parametrize(("result", "args", "code"), CALLS)
def test_arguments_and_result_are_as_declared(result: str, args: str, code: str) -> None:
    found = rc.check(rc.parse(PROGRAM.format(result, args)))
    assert [item.code for item in found if item.severity == "error"] == [code][: len(code)]


@pytest.mark.tvm
@pytest.mark.parametrize(("result", "args", "code"), CALLS)
def test_apache_tvm_rejects_the_same_calls(result: str, args: str, code: str) -> None:
    from tests.apache_tvm import from_source

    try:
        from_source(PROGRAM.format(result, args))
    except KeyboardInterrupt:
        raise
    except BaseException:
        assert code
    else:
        assert not code
