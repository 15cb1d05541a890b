"""StaticPlanBlockMemory shares storage as apache-tvm does, and never that of a tensor that is still in use."""

from typing import Any

import pytest

import relax_core as rc
from relax_core.ir.equality import first_difference
from relax_core.passes.core import Stage
from tests.apache_tvm import relax, tvm
from tests.passes.programs import parse
from tests.passes.wheel import in_tvm, passed, remarks, same_values

NAME = "StaticPlanBlockMemory"
TO_MEMORY = "LegalizeOps, ToNonDataflow, RemovePurityChecking, CallTIRRewrite"
SYMBOLIC = 'x: R.Tensor((2, "n"), "float32")'
CHAIN = "a = R.exp(x); b = R.negative(a); c = R.exp(b); z = R.negative(c)"
BOUND = 'R.func_attr({"tir_var_upper_bound": {"n": 16}})'


def program(lines: str, params: str = 'x: R.Tensor((2, 4), "float32")', attribute: str = "") -> str:
    rows = "\n            ".join(item.strip() for item in lines.split(";"))
    sizes = (f"{name} = T.int64()" for name in "nm" if f'"{name}"' in params)
    return f"""
    @R.function
    def main({params}):
        {attribute or 'R.func_attr({"x": 1})'}
        {"; ".join(sizes)}
        with R.dataflow():
            {rows}
            R.output(z)
        return z
"""


THEN = "c = R.exp(b); d = R.exp(c); e = R.exp(d); z = R.exp(e)"
LARGE = 'x: R.Tensor((64, 64), "float32")'
TWO_SIZES = f'{SYMBOLIC}, y: R.Tensor((3, "m"), "float32")'
ALIKE = {
    "a chain takes two storages": program(CHAIN),
    "a view keeps its storage": program(f"a = R.exp(x); b = R.reshape(a, R.shape([8])); {THEN}; z = R.add(y, b)"
                                        .replace("z = R.exp(e)", "y = R.exp(e)")),
    "a smaller tensor takes a larger storage": program(f"a = R.exp(x); y = R.exp(a); b = R.sum(y); {THEN}"),
    "a storage grows": program(f"u = R.sum(x); v = R.exp(u); b = R.add(x, v); {THEN}"),
    "much smaller tensors have their own": program(f"a = R.exp(x); b = R.sum(a); {THEN}", LARGE),
    "each dtype has its own": program("a = R.exp(x); y = R.astype(a, 'float16'); u = R.exp(y); "
                                      f"b = R.astype(u, 'float32'); {THEN}"),
    "a tuple keeps what it holds": program("a = R.exp(x); t = (a, x); c = R.exp(a); d = R.exp(c); b = t[0]; "
                                           "e = R.add(d, b); z = R.exp(e)"),
    "parts of a tuple end apart": program(f"a = R.split(x, 2, axis=1); b = a[0]; {THEN}"),
    "equal symbolic sizes share": program(CHAIN, SYMBOLIC),
    "bounded sizes share": program(f"a = R.exp(x); b = R.negative(a); {THEN}", SYMBOLIC, BOUND),
    "bounded and static sizes share": program(f"a = R.exp(x); y = R.exp(a); b = R.sum(y, axis=1); {THEN}",
                                              SYMBOLIC, BOUND),
    "different symbolic sizes do not": program("a = R.exp(x); b = R.exp(y); c = R.exp(a); d = R.exp(b); e = R.exp(c); "
                                               "z = R.add(e, R.sum(R.exp(d)))", TWO_SIZES),
}  # fmt: skip


def lowered(text: str) -> Any:
    """Lower a program with the passes of apache-tvm as far as its tensors are allocated."""
    transforms = relax.transform
    names = ("LegalizeOps", "RewriteDataflowReshape", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite")
    return tvm.transform.Sequential([getattr(transforms, name)() for name in names])(in_tvm(text))


@pytest.mark.parametrize("text", ALIKE.values(), ids=ALIKE)
def test_storage_is_shared_as_in_tvm(text: str) -> None:
    module = lowered(
        text.replace('m"', 'm"') if '"m"' not in text else text.replace("with R.d", "m = T.int64()\n        with R.d")
    )
    stage = passed(rc.parse(module.script()), NAME)
    theirs = relax.transform.StaticPlanBlockMemory()(module)
    assert first_difference(stage.after, rc.parse(theirs.script())) is None
    same_values(stage.before, stage.after, rtol=1e-2 if "float16" in text else 1e-6)
    assert not rc.run_pipeline(stage.after, NAME)[-1].is_changed


def planned(text: str) -> Stage:
    module = parse(text)
    stage = passed(module, f"{TO_MEMORY}, {NAME}")
    same_values(module, stage.after)
    return stage


def test_no_branch_takes_the_storage_of_the_other() -> None:
    # TVM reads what was never allocated (#20191): the process ends.
    text = """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2, 4), "float32")):
        if c:
            a = R.exp(x)
            b = R.reshape(a, R.shape([8]))
            d = R.exp(b)
            z = R.exp(d)
        else:
            e = R.negative(x)
            f = R.reshape(e, R.shape([8]))
            g = R.negative(f)
            z = R.negative(g)
        return z
"""
    script = rc.script(planned(text).after)
    for half in script.split("else:"):
        assert half.count("alloc_storage") == 2


def test_another_name_by_a_cast_keeps_a_tensor_alive() -> None:
    # TVM takes the storage of `a` for `d`, while `b` is another name of it (#20190).
    text = """
    @R.function
    def main(x: R.Tensor((2, 4), "float32")):
        a = R.exp(x)
        b = R.match_cast(a, R.Tensor((2, 4), "float32"))
        c = R.exp(x)
        d = R.negative(c)
        e = R.exp(d)
        z = R.add(b, e)
        return z
"""
    stage = planned(text)
    shared = " ".join(remarks(stage, "applied"))
    assert "where alloc was" not in shared


def test_what_others_see_keeps_its_memory() -> None:
    text = """
    @R.function(pure=False)
    def main(x: R.Tensor((2, 4), "float32")):
        a = R.exp(x)
        _ = R.print(a, format="{}")
        b = R.exp(a)
        c = R.exp(b)
        z = R.exp(c)
        return z
"""
    assert remarks(planned(text), "missed") == [
        "alloc has its own memory: it is given to something else than a prim func or a packed function",
        "alloc3 has its own memory: it is used outside its block",
    ]
