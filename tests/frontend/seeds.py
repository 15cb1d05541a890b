"""The seed samples and the text that the tests mutate."""

from pathlib import Path

SAMPLES = Path(__file__).parent.parent.parent / "samples"
SEEDS = tuple(sorted((SAMPLES / "seeds").glob("*.py")))
PROGRAMS = tuple(sorted(path for path in SAMPLES.glob("*/*.py") if path.parent.name != "errors"))

FOUR_ERRORS = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 5), "float32")):
        a = R.exp((x
        b = R.matmull(x, w)
        c = R.add(x, xx)
        d = R.matmul(x, w)
        e = R.add(a, b)
        return R.add(c, e)
"""
