"""Texts of stages, logs and folders that tests are about."""

from pathlib import Path

HEAD = """# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
"""
MAIN = """    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        with R.dataflow():
            y: R.Tensor((2, 3), dtype="float32") = {value}
            R.output(y)
        return y
"""
ADD = HEAD + MAIN.format(value="R.add(x, x)")
TWICE = HEAD + MAIN.format(value='R.multiply(x, R.const(2.0, "float32"))')
WRONG = HEAD + MAIN.format(value='R.multiply(x, R.const(3.0, "float32"))')
UNREADABLE = HEAD + MAIN.format(value="R.add(x,")
SCALED = HEAD + MAIN.format(value='R.multiply(x, metadata["ir.GenericConst"][0])')
SHIFTED = HEAD + MAIN.format(
    value='R.add(R.multiply(x, metadata["ir.GenericConst"][0]), metadata["ir.GenericConst"][1])'
)
EMPTY = "# from tvm.script import ir as I\n\n@I.ir_module\nclass Module:\n    pass\n"
FOLDED = """# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def tir_function(x: T.Buffer((T.int64(2),), "float32")):
        for i in range(T.int64(2)):
            x[i] = T.float32(0)
"""


def header(word: str, name: str) -> str:
    return f'{word} Running Pass: transform.PassInfo(opt_level=0, name="{name}", required=(), traceable=False)\n'


def after(name: str, text: str) -> str:
    return header("After", name) + text


def before(name: str, text: str) -> str:
    return header("Before", name) + text


def dump(folder: Path, **texts: str) -> Path:
    """Write numbered dumps: `_000_Name=text`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name.removeprefix('_')}.py").write_text(text)
    return folder
