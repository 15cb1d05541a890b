"""A text of which some functions are known from the one before reads as it does on its own."""

import numpy as np
import pytest

from relax_core.frontend.parse import Constants, parse_text
from relax_core.frontend.tvmscript.known import KnownFunctions
from relax_core.ir.equality import structural_equal
from relax_core.ir.module import Definition, IRModule

HEAD = "# from tvm.script import ir as I\n# from tvm.script import relax as R\n\n@I.ir_module\nclass Module:\n"
KERNEL = """    @T.prim_func(private=True)
    def {name}(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] * T.float32({factor})

"""
MAIN = """    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y = R.call_tir(cls.one, (x,), out_sinfo=R.Tensor((4,), "float32"))
        z = R.call_tir(cls.two, (y,), out_sinfo=R.Tensor((4,), "float32"))
        return z

"""
ONE, TWO, TWICE = (KERNEL.format(name=name, factor=factor) for name, factor in (("one", 1), ("two", 2), ("one", 2)))
SCALED = """    @R.function
    def scaled(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.add(x, metadata["ir.GenericConst"][0])

"""
EMITTED = """    @R.function
    def emitted(x: R.Tensor((4,), "float32")):
        y = R.emit_te(lambda a: te.compute(a.shape, lambda i: a[i] + 1.0), x)
        return y

"""
HALF = """    @R.function
    def half(x: R.Prim("int64")) -> {type}:
        return x

    @R.function
    def calls(x: R.Prim("int64")):
        cls = Module
        y = cls.half(x)
        return y

"""


def read(text: str, known: KnownFunctions | None = None, constants: Constants = ()) -> IRModule:
    parsed = parse_text(text, "text.py", constants, known)
    assert not [item for item in parsed.diagnostics if item.severity == "error"], parsed.diagnostics
    return parsed.modules[0]


def placed(item: Definition) -> list[tuple[int, int] | None]:
    return [span and (span.start, span.end) for span in (item.span, item.function.span)]


@pytest.mark.parametrize(
    ("first", "second", "reused"),
    [
        (ONE + TWO + MAIN, ONE + TWO + MAIN, ("one", "two", "main")),
        (ONE + TWO + MAIN, "    # a remark\n" + TWICE + TWO + MAIN, ()),
        (ONE + TWO + MAIN, TWICE + TWO + MAIN, ("two", "main")),
        (ONE + EMITTED, ONE + EMITTED, ("one",)),
        (ONE + TWO + MAIN, MAIN + TWO + ONE, ("two", "one")),
        (ONE + TWO + MAIN, ONE + TWO + MAIN.replace("z", "w"), ("one", "two")),
        (ONE + TWO, ONE + TWO + MAIN, ("one", "two")),
        (SCALED + ONE, SCALED + ONE, ("one",)),
        # What a call of `half` gives is told by its header, so that the caller is read again.
        (HALF.format(type='R.Prim("int64")'), HALF.format(type="R.Object"), ()),
        (ONE + TWO, "    x = 1\n" + ONE + TWO, ()),
    ],
)
def test_functions_are_known_by_their_words(first: str, second: str, reused: tuple[str, ...]) -> None:
    known = KnownFunctions()
    constants = (np.ones(4, np.float32),)
    read(HEAD + first, known, constants)
    assert not known.reused
    parsed = parse_text(HEAD + second, "text.py", constants, known)
    assert tuple(known.reused) == reused
    alone = parse_text(HEAD + second, "text.py", constants)
    assert [item.message for item in parsed.diagnostics] == [item.message for item in alone.diagnostics]
    for found, whole in zip(parsed.modules, alone.modules, strict=True):
        assert structural_equal(found, whole)
        assert found.names == whole.names
        assert [placed(item) for item in found] == [placed(item) for item in whole]


def test_constants_are_those_of_the_text() -> None:
    known = KnownFunctions()
    read(HEAD + SCALED, known, (np.ones(4, np.float32),))
    found = read(HEAD + SCALED, known, (np.zeros(4, np.float32),))
    assert structural_equal(found, read(HEAD + SCALED, None, (np.zeros(4, np.float32),)))
    assert not structural_equal(found, read(HEAD + SCALED, None, (np.ones(4, np.float32),)))


def test_a_text_with_an_error_is_read_in_full_and_the_next_one_too() -> None:
    known = KnownFunctions()
    read(HEAD + ONE + TWO, known)
    wrong = HEAD + ONE + TWO.replace("A[i]", "C[i]")
    parsed, alone = parse_text(wrong, "text.py", (), known), parse_text(wrong, "text.py")
    assert [item.render() for item in parsed.diagnostics] == [item.render() for item in alone.diagnostics]
    read(HEAD + ONE + TWO, known)
    assert not known.reused
    read(HEAD + ONE + TWO, known)
    assert tuple(known.reused) == ("one", "two")


def test_functions_of_one_module_call_each_other() -> None:
    known = KnownFunctions()
    read(HEAD + ONE + TWO + MAIN, known)
    module = read(HEAD + TWICE + TWO + MAIN, known)
    variables = {item.var for item in module}
    called = {id(item) for item in variables}
    for text in (TWICE + TWO + MAIN.replace("z", "w"), ONE + TWO + MAIN):
        module = read(HEAD + text, known)
        assert {id(item.var) for item in module} == called
