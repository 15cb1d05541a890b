"""ToMixedPrecision: what computes in float16 as in apache-tvm, and how far a run is from one in float32."""

import pytest

import relax_core as rc
from relax_core.passes.relax.precision.policies import policy_of
from tests.apache_tvm import relax, tvm
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks, same_values

PAIR = "x (2, 8), w (8, 8)"
IMAGE = "x (2, 3, 6, 6), w (3, 3, 3, 3)"
PROGRAMS = {
    "a product alone": (PAIR, "gv = R.matmul(x, w)"),
    "accumulated in float32 by its text": (IMAGE, "gv = R.nn.conv2d(x, w, out_dtype='float32')"),
    "what follows it": (IMAGE, "a = R.nn.conv2d(x, w); gv = R.nn.relu(a)"),
    "what stands before it": (IMAGE, "b = R.nn.relu(x); a = R.nn.conv2d(b, w); gv = R.nn.relu(a)"),
    "two in a row": (PAIR, "a = R.matmul(x, w); b = R.nn.relu(a); gv = R.matmul(b, w)"),
    "a parameter in float32 beside it": (PAIR, "a = R.matmul(x, w); b = R.add(a, x); gv = R.nn.silu(b)"),
    "a result of two uses": (PAIR, "a = R.matmul(x, w); b = R.matmul(a, w); c = R.nn.relu(a); gv = R.add(b, c)"),
    "softmax behind it": (IMAGE, "a = R.nn.conv2d(x, w); b = R.nn.relu(a); gv = R.nn.softmax(b)"),
    "softmax beside it": (IMAGE, "a = R.nn.conv2d(x, w, padding=(1, 1)); b = R.nn.softmax(x); gv = R.add(a, b)"),
    "constants that float16 holds": (PAIR, "a = R.matmul(x, w); b = R.add(a, R.const(1.0)); gv = R.nn.relu(b)"),
    "a constant that it does not hold": (PAIR, "a = R.matmul(x, w); gv = R.multiply(a, R.const(70000.0))"),
    "a variable of another name": (PAIR, "a = R.matmul(x, w); b = a; gv = R.nn.relu(b)"),
    "a concatenation before it": ("a (2, 4), b (2, 4), w (8, 3)", "c = R.concat((a, b), axis=1); gv = R.matmul(c, w)"),
    "a concatenation behind it": (PAIR, "a = R.matmul(x, w); c = R.concat((a, a), axis=1); gv = R.nn.relu(c)"),
    "tuples of tuples": (PAIR, "a = R.matmul(x, w); b = (a, a); c = (b, a); d = c[0]; e = d[0]; gv = R.matmul(e, w)"),
    "a tuple that is returned": (PAIR, "a = R.matmul(x, w); b = (a, x); gv = (b, a)"),
    "fields of a tuple, both narrow": (
        "x (2, 16), w (8, 8)",
        "s = R.split(x, 2, axis=1); a = s[0]; b = s[1]; c = R.matmul(a, w); d = R.matmul(b, w); gv = R.add(c, d)",
    ),
    "fields of a tuple, one taken": ("x (2, 16), w (8, 8)", "s = R.split(x, 2, axis=1); a = s[0]; gv = R.matmul(a, w)"),
    "a field that nothing uses": (PAIR, "a = R.matmul(x, w); s = (a, x); b = s[0]; gv = R.matmul(b, w)"),
    "parts of a narrow value": (PAIR, "a = R.matmul(x, w); s = R.split(a, 2, axis=1); b = s[0]; gv = (b, a)"),
    "integers": ("x (2, 8) int32, w (8, 8)", "a = R.astype(x, 'float32'); b = R.matmul(a, w); gv = R.equal(b, b)"),
    "float16 already": ("x (2, 8) float16, w (8, 8) float16", "a = R.matmul(x, w); gv = R.nn.relu(a)"),
    "float64": ("x (2, 8) float64, w (8, 8) float64", "a = R.add(x, x); gv = R.nn.relu(a)"),
    "a symbolic size": ("x ('n', 8), w (8, 8)", "a = R.matmul(x, w); b = R.nn.relu(a); gv = R.permute_dims(b)"),
    "a parameter of two names": (PAIR, "a = R.wrap_param(w, 'float32'); gv = R.matmul(x, a)"),
}


def program(params: str, lines: str) -> str:
    """Write a function of `x (2, 4), y (3,) int64` that computes `gv` by lines between semicolons."""
    typed: list[str] = []
    for item in params.replace(", x ", ";x ").replace(", w ", ";w ").replace(", b ", ";b ").split(";"):
        name, rest = item.split(" ", 1)
        shape, dtype = rest.rsplit(")", 1)
        typed.append(f'{name}: R.Tensor({shape}), "{dtype.strip() or "float32"}")')
    body = "\n            ".join(line.strip() for line in (*lines.split(";"), "R.output(gv)"))
    return f"""
    @R.function
    def main({", ".join(typed)}):
        with R.dataflow():
            {body}
        return gv
"""


@pytest.mark.parametrize("out_dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_casts_as_tvm_does(name: str, out_dtype: str) -> None:
    theirs = relax.transform.ToMixedPrecision(out_dtype=out_dtype)
    agrees(program(*PROGRAMS[name]), theirs, f"ToMixedPrecision(out_dtype='{out_dtype}')")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_is_as_near_as_float16_allows(name: str) -> None:
    before = parse(program(*PROGRAMS[name]))
    same_values(before, passed(before, "ToMixedPrecision").after, rtol=2e-2)


def test_parameters_become_narrow_by_name() -> None:
    text = program(PAIR, "a = R.matmul(x, w); b = R.nn.softmax(x); gv = R.add(a, b)")
    for names in (("w",), ("x", "w"), ("other",)):
        theirs = relax.transform.ToMixedPrecision(fp16_input_names=list(names))
        agrees(text, theirs, f"ToMixedPrecision(fp16_input_names={list(names)})")


def test_a_parameter_that_became_narrow_is_what_it_was_outside_of_dataflow_blocks() -> None:
    module = parse("""
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            gv = R.matmul(x, x)
            R.output(gv)
        y = R.nn.softmax(x)
        return (gv, y)
""")
    after = passed(module, "ToMixedPrecision(fp16_input_names=['x'])").after
    assert rc.script(after).count("R.nn.softmax(gv1") == 1


def test_a_packed_function_gets_what_it_got() -> None:
    """apache-tvm stops at a call of a packed function with an argument that became narrow."""
    lines = "a = R.matmul(x, w); b = R.call_pure_packed('f', a, x, sinfo_args=(R.Tensor((2, 8), 'float32'),)); gv = b"
    after = passed(parse(program(PAIR, lines)), "ToMixedPrecision").after
    call = next(line for line in rc.script(after).splitlines() if "call_pure_packed" in line)
    wide = call.split('"f", ')[1].split(",")[0]
    assert f'{wide}: R.Tensor((2, 8), dtype="float32") = R.astype(a' in rc.script(after)


def test_an_output_that_a_later_block_uses_keeps_its_dtype() -> None:
    module = parse("""
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        with R.dataflow():
            a = R.matmul(x, x)
            R.output(a)
        with R.dataflow():
            gv = R.matmul(a, a)
            R.output(gv)
        return gv
""")
    same_values(module, passed(module, "ToMixedPrecision").after, rtol=2e-2)


def test_remarks_say_what_is_narrow_and_what_keeps_the_rest() -> None:
    stage = passed(parse(program(PAIR, "a = R.matmul(x, w); b = R.add(a, x); gv = b")), "ToMixedPrecision")
    assert remarks(stage, "applied") == ["a is computed in float16"]
    assert remarks(stage, "missed") == ["b is computed in float32: x is not in float16"]


def test_the_policies_are_those_of_tvm() -> None:
    words = {0: "always", 1: "follow", None: "never"}
    names = [name for name in tvm.ir.Op.list_op_names() if name.startswith("relax.")]
    theirs = {name: words[tvm.ir.Op.get(name).get_attr("TMixedPrecisionPolicy")] for name in names}
    assert {name: policy_of(name) for name in names} == theirs


def test_a_product_of_integers_stays_as_it_is() -> None:
    # TVM lets it accumulate in float32, and stops at what follows.
    text = program(PAIR, "a = R.matmul(x, w); gv = R.add(a, x)").replace("float32", "int32")
    stage = passed(parse(text), "ToMixedPrecision")
    assert not stage.is_changed
