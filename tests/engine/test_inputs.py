"""Arguments that are made up for a run."""

import numpy as np
import pytest

from relax_core.diagnostics import RunError
from relax_core.engine.debug.replies import ValuesCompared
from relax_core.engine.debug.requests import CompareValuesOf
from relax_core.engine.inputs import (
    argument_types,
    can_be_made_up,
    generate,
    kept_positive,
    read_archive,
    write_members,
)
from relax_core.engine.protocol import Execute, Failure, Program
from relax_core.engine.reporting.again import command_of
from relax_core.engine.session import Session
from relax_core.ir.expr import Function
from relax_core.present.words import type_text
from tests.engine.programs import HEADER
from tests.present.programs import parsed, sample


def _function(signature: str, body: str) -> Function:
    text = f"{HEADER}    @R.function\n    def main({signature}):\n        {body}\n        return y\n"
    function = parsed(text).modules[0]["main"]
    assert isinstance(function, Function)
    return function


@pytest.mark.parametrize(
    ("declared", "cast_to", "shape", "dtype"),
    [
        ('R.Tensor(dtype="int32")', 'R.Tensor((2, 5), "int32")', (2, 5), "int32"),
        ('R.Tensor("float16", ndim=2)', 'R.Tensor((2, 5), "float16")', (2, 5), "float16"),
        ("R.Tensor(ndim=1)", "R.Tensor((2, 5))", (2,), "float32"),
        ("R.Tensor()", "R.Tensor((7,))", (7,), "float32"),
        ('R.Tensor((4,), "float64")', 'R.Tensor((9,), "float64")', (4,), "float64"),
    ],
)
def test_an_unknown_shape_is_taken_from_the_cast_in_the_body(
    declared: str, cast_to: str, shape: tuple[int, ...], dtype: str
) -> None:
    (value,) = generate(_function(f"x: {declared}", f"y = R.match_cast(x, {cast_to})"), 0, {})
    assert value.shape == shape
    assert value.dtype == dtype


def test_the_symbols_of_a_cast_agree_with_those_of_the_parameters() -> None:
    function = sample("seeds/my_ir_module_guide.py").modules[0]["relax_func"]
    assert isinstance(function, Function)
    assert [type_text(item) for item in argument_types(function).values()] == ["(n, k) f32", "(k, m) f32"]
    x, w = generate(function, 0, {"k": 6})
    assert (x.shape, w.shape) == ((2, 6), (6, 4))


def test_no_function_is_made_up() -> None:
    function = _function('f: R.Callable((), R.Tensor((), "float32"))', "y = f()")
    assert not can_be_made_up(function)


def test_a_size_without_value_is_told() -> None:
    function = _function('x: R.Tensor(("n", "m")), w: R.Tensor(("m // (n - 2)",))', "y = x")
    with pytest.raises(RunError) as raised:
        generate(function, 0, {})
    assert [item.code for item in raised.value.diagnostics] == ["EN002"]
    assert "`m // (n - 2)` of `w` has no value" in raised.value.diagnostics[0].message


def test_a_size_of_no_dimension_is_refused() -> None:
    function = _function('x: R.Tensor(("n", "m"), "float32")', "y = x")
    assert generate(function, 0, {"n": 6, "m": 7})[0].shape == (6, 7)
    with pytest.raises(RunError, match=r"no symbolic dimension `q`") as raised:
        generate(function, 0, {"n": 6, "q": 7})
    assert [(item.code, item.hint) for item in raised.value.diagnostics] == [("EN005", "its dimensions: n, m")]


SIZED = f"""{HEADER}    @R.function
    def main(x: R.Tensor(("NAME",), "float32")):
        y = R.exp(x)
        return y
"""


def test_runs_are_compared_although_only_one_of_them_has_the_dimension() -> None:
    sizes = (("n", 6),)
    left = Program(SIZED.replace("NAME", "n"), "a.py", sizes=sizes)
    right = Program(SIZED.replace("NAME", "k"), "b.py", sizes=sizes)
    found = Session().request(CompareValuesOf(left, -1, right, -1))
    assert isinstance(found, ValuesCompared)
    assert found.verdict == "same"
    unknown = Session().request(Execute(Program(left.text, sizes=(("q", 6),))))
    assert isinstance(unknown, Failure)
    assert [item.code for item in unknown.problems] == ["EN005"]


NAMED = _function('x: R.Tensor((2,), "float32"), t: R.Tuple(R.Tensor((1,)), R.Shape)', "y = x")
VALUES = {"{0}": np.zeros(2, np.float32), "{1}_0": np.ones(1, np.float32), "{1}_1": np.array([3, 4])}


@pytest.mark.parametrize("names", [("in_0", "in_1"), ("x", "t"), ("arr_0", "arr_1")])
def test_an_archive_names_arguments_by_number_or_as_the_function_does(names: tuple[str, str]) -> None:
    archive = write_members({key.format(*names): value for key, value in VALUES.items()})
    x, (first, shape) = read_archive(archive, NAMED)
    assert (x.tolist(), first.tolist(), shape) == ([0, 0], [1], (3, 4))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("in_0", "t_0", "t_1"), "no in_1 for the parameter `t`"),
        (("x", "in_1_0", "in_1_1"), "no in_0 for the parameter `x`"),
        (("x", "t_0", "t_1", "u"), "the archive has u, which no parameter takes"),
        (("u",), "no in_0 for the parameter `x`"),
    ],
)
def test_names_of_one_kind_are_wanted_for_all_arguments(given: tuple[str, ...], said: str) -> None:
    archive = write_members({name: np.array([3]) if name[-2:] == "_1" else np.ones(1, np.float32) for name in given})
    with pytest.raises(RunError, match=said):
        read_archive(archive, NAMED)


@pytest.mark.parametrize(
    ("body", "positive"),
    [
        ("y = R.nn.relu(R.add(a, b))", set[str]()),
        ("y = R.add(R.sqrt(a), b)", {"a"}),
        ("m = R.add(a, a)\n        y = R.add(b, R.log(m))", {"a"}),
        ("m = R.add(a, b)\n        y = R.power(m, a)", {"a", "b"}),
        ("m = R.sqrt(a)\n        y = R.exp(b)", {"a"}),
    ],
    ids=["no such operator", "an argument", "what a value is made of", "both", "a value that nobody uses"],
)
def test_what_comes_to_a_logarithm_or_a_root_stays_positive(body: str, positive: set[str]) -> None:
    signature = 'a: R.Tensor((64,), "float32"), b: R.Tensor((64,), "float32")'
    function = _function(signature, body)
    found = kept_positive(function)
    assert {param.name for param in found} == positive
    made = generate(function, 3, {}, is_signed=True, positive=found)
    for param, value in zip(function.params, made, strict=True):
        assert (value.min() < 0) == (param.name not in positive)
        assert -1 <= value.min() < value.max() <= 1


SIGNED = (
    HEADER
    + """    @R.function
    def main(x: R.Tensor((3, 4), "float32")):
        y = R.nn.relu(x)
        return y
"""
)


def test_a_program_with_signed_inputs_runs_on_both_signs_and_says_so_in_a_command() -> None:
    plain, signed = Program(SIGNED, "m.py"), Program(SIGNED, "m.py", is_signed=True)
    results = [Session().request(Execute(program)) for program in (plain, signed, signed)]
    shown = [reply.result if not isinstance(reply, Failure) else "" for reply in results]
    assert shown[0] != shown[1] == shown[2]
    assert "0., " in shown[1] or "0. " in shown[1], "relu had something to do"
    assert "--signed" in command_of(signed).split()
    assert "--signed" not in command_of(plain).split()
