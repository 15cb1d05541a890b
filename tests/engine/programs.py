"""Programs for the tests of the engine."""

from pathlib import Path

from relax_core.engine.protocol import Program

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
WRONG_IN_LESSONS = ("lessons/dataflow_and_purity/impure.py", "lessons/host_values/mixed.py")
"""Programs of lessons that ask what is wrong with them."""
HEADER = """# Line 1, so that a module begins on line 3.

@I.ir_module
class Module:
"""
SMALL = (
    HEADER
    + """    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.add(x, x)
        return y
"""
)
ENDLESS = (
    HEADER
    + """    @T.prim_func
    def spin(a: T.handle, b: T.handle):
        A = T.match_buffer(a, (1,), "float32")
        B = T.match_buffer(b, (1,), "float32")
        B[0] = A[0]
        while B[0] < T.float32(2.0):
            B[0] = A[0]

    @R.function
    def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        cls = Module
        y = R.call_tir(cls.spin, (x,), out_sinfo=R.Tensor((1,), "float32"))
        return y
"""
)
RECURSIVE = (
    HEADER
    + """    @R.function
    def main(x: R.Tensor((), "float32")) -> R.Tensor((), "float32"):
        cls = Module
        y = cls.main(x)
        return y
"""
)
HUGE = (
    HEADER
    + """    @R.function
    def main() -> R.Tensor((1099511627776,), "float32"):
        y = R.zeros((1099511627776,), "float32")
        return y
"""
)
LONG = (
    HEADER
    + """    @R.function
    def main(x0: R.Tensor((4,), "float32")):
"""
    + "".join(f"        x{at + 1} = R.add(x{at}, x{at})\n" for at in range(50_000))
    + """        return x50000
"""
)
LONG_RELAY = (
    '#[version = "0.0.5"]\ndef @main(%x0: Tensor[(4), float32]) {\n'
    + "".join(f"  %x{at + 1} = add(%x{at}, %x{at});\n" for at in range(30_000))
    + "  nn.relu(%x30000)\n}\n"
)
LONG_KERNEL = (
    HEADER
    + """    @T.prim_func
    def long(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32")):
        y[0] = x[0]
"""
    + "".join(f"        y[{at % 16}] = y[{at % 7}] * x[{at % 16}] + T.float32({at})\n" for at in range(12_000))
    + """
    @R.function
    def main(x: R.Tensor((16,), "float32")):
        return R.call_tir(Module.long, (x,), out_ty=R.Tensor((16,), "float32"))
"""
)
"""LLVM takes seconds for its one kernel, and hears nothing meanwhile; one that is much longer would be refused."""
FOUR_ERRORS = (
    HEADER
    + """    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.add(x, x
        b = R.ad(x, x)
        c = R.add(x, missing)
        d = R.matmul(x, x)
        return d
"""
)


def program(text: str, name: str = "m.py", **changes: object) -> Program:
    """Make a program from a text."""
    return Program(text, name, **changes)  # pyright: ignore[reportArgumentType]  # passed on as given


def sample(path: str, **changes: object) -> Program:
    """Make a program from a sample."""
    return program((SAMPLES / path).read_text(encoding="utf-8"), path, **changes)
