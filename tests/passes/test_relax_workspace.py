"""AllocateWorkspace gives functions of code generators their memory as in apache-tvm."""

import relax_core as rc
from tests.apache_tvm import relax
from tests.passes.programs import parse
from tests.passes.wheel import agrees, passed, remarks, same_values

TYPE = 'R.Tensor((2, 8), "float32")'
EXTERNAL = """
    @R.function
    def {name}(q: {type}) -> {type}:
        R.func_attr({{"Codegen": "cutlass", "WorkspaceSize": {size}}})
        @R.function
        def composite(p: {type}) -> {type}:
            R.func_attr({{"Composite": "cutlass.attention", "Primitive": True, "WorkspaceSize": {size}}})
            with R.dataflow():
                g = R.exp(p)
                R.output(g)
            return g
        result = composite(q)
        return result
"""
CALLER = f"""
    @R.function
    def main(q: {TYPE}) -> {TYPE}:
        cls = Module
        with R.dataflow():
            a = cls.first(q)
            b = R.negative(a)
            c = cls.second(b)
            R.output(c)
        return c
    @R.function
    def other(q: {TYPE}) -> {TYPE}:
        return q
"""
PAIR = "".join(EXTERNAL.format(name=name, type=TYPE, size=size) for name, size in (("first", 64), ("second", 256)))


def test_a_workspace_is_allocated_as_in_tvm() -> None:
    stage = agrees(PAIR + CALLER, relax.transform.AllocateWorkspace(), "AllocateWorkspace")
    assert remarks(stage, "applied") == ["@first is given workspace_main", "@second is given workspace_main"]
    same_values(stage.before, stage.after)
    again = rc.run_pipeline(stage.after, "AllocateWorkspace")[-1]
    assert remarks(again, "missed") == ["no function of a code generator has a WorkspaceSize"]
    assert not again.is_changed


def test_calls_in_several_blocks_share_a_workspace() -> None:
    text = PAIR + CALLER.replace(
        "            c = cls.second(b)\n            R.output(c)\n",
        "            R.output(b)\n        c = cls.second(b)\n",
    )
    stage = passed(parse(text), "AllocateWorkspace")
    assert rc.script(stage.after).count("alloc_tensor(") == 1
    same_values(stage.before, stage.after)
