"""Print what apache-tvm's dlight makes of some operators, behind SplitHostDevice:  python dlight.py NAME ...

The texts are one JSON object by name.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

tvm: Any = import_module("tvm")
relax: Any = import_module("tvm.relax")
dlight: Any = import_module("tvm.s_tir.dlight")

F32 = "float32"


def argmax(x: Any) -> Any:
    """Return where the largest element of each row is."""
    return relax.op.argmax(x, axis=-1)


def softmax(x: Any) -> Any:
    """Return the softmax of each row."""
    return relax.op.nn.softmax(x, axis=-1)


def rms_norm(x: Any, gamma: Any) -> Any:
    """Return each row divided by its root mean square."""
    return relax.op.nn.rms_norm(x, gamma, axes=[-1])


def layer_norm(x: Any, gamma: Any, beta: Any) -> Any:
    """Return each row with the mean 0 and the variance 1, scaled."""
    return relax.op.nn.layer_norm(x, gamma, beta, axes=[-1])


def by_transposed(x: Any, w: Any) -> Any:
    """Return the product with a transposed matrix."""
    return relax.op.matmul(x, relax.op.permute_dims(w))


def scores(q: Any, k: Any) -> Any:
    """Return the weights of an attention."""
    return relax.op.nn.softmax(relax.op.matmul(q, relax.op.permute_dims(k, [0, 2, 1])), axis=-1)


def variance(x: Any) -> Any:
    """Return the variance of each row."""
    return relax.op.variance(x, axis=-1)


def row_sum(x: Any) -> Any:
    """Return the sum of each row."""
    return relax.op.sum(x, axis=-1)


CASES: dict[str, tuple[tuple[tuple[int, ...], ...], Callable[..., Any]]] = {
    "argmax": (((3, 200),), argmax),
    "softmax": (((2, 300),), softmax),
    "rms_norm": (((4, 128), (128,)), rms_norm),
    "sum": (((8, 300),), row_sum),
    "gemv": (((1, 256), (256, 128)), relax.op.matmul),
    "matmul": (((64, 64), (64, 64)), relax.op.matmul),
    "transpose": (((64, 64),), relax.op.permute_dims),
    # Judged by the oracle alone, with more shapes:
    "argmax 4x33": (((4, 33),), argmax),
    "softmax 2x3x100": (((2, 3, 100),), softmax),
    "softmax 5x64": (((5, 64),), softmax),
    "rms_norm 1x1000": (((1, 1000), (1000,)), rms_norm),
    "layer_norm 5x64": (((5, 64), (64,), (64,)), layer_norm),
    "sum of all": (((2, 300),), relax.op.sum),
    "variance": (((3, 200),), variance),
    "transposed gemv": (((1, 64), (33, 64)), by_transposed),
    "transpose 33x65": (((33, 65),), relax.op.permute_dims),
    "relu": (((4, 33),), relax.op.nn.relu),
    "matmul 33x65x17": (((33, 65), (65, 17)), relax.op.matmul),
    "conv2d": (((2, 2, 8, 8), (6, 2, 1, 1)), relax.op.nn.conv2d),
    "scores": (((4, 1, 32), (4, 1, 32)), scores),
    # Of the benchmarks:
    "softmax 128x1000": (((128, 1000),), softmax),
    "matmul 512": (((512, 512), (512, 512)), relax.op.matmul),
}


def module_of(shapes: tuple[tuple[int, ...], ...], operator: Callable[..., Any]) -> Any:
    """Return a module whose main applies an operator."""
    builder = relax.BlockBuilder()
    params = [relax.Var(f"x{at}", relax.TensorType(shape, F32)) for at, shape in enumerate(shapes)]
    with builder.function("main", params):
        with builder.dataflow():
            output = builder.emit_output(operator(*params))
        builder.emit_func_output(output)
    return builder.get()


def split(module: Any, target: Any) -> str:
    """Schedule a module for a GPU, lower it, and return its text behind SplitHostDevice."""
    rules = [getattr(dlight.gpu, name)() for name in
             ("Matmul", "GEMV", "Reduction", "GeneralReduction", "Transpose", "Fallback")]  # fmt: skip
    names = ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR", "DeadCodeElimination")
    texts: list[str] = []

    @tvm.ir.instrument.pass_instrument
    class Keep:
        def run_after_pass(self, made: Any, info: Any) -> None:
            if info.name.endswith("SplitHostDevice"):
                texts.append(made.script())

    with target:
        for name in names:
            module = getattr(relax.transform, name)()(module)
        module = dlight.ApplyDefaultSchedule(*rules)(module)
        module = relax.transform.AttachGlobalSymbol()(module)
    prims = {name: item for name, item in module.functions.items() if isinstance(item, tvm.tirx.PrimFunc)}
    with target, tvm.transform.PassContext(instruments=[Keep()]):
        try:
            tvm.tirx.build(tvm.IRModule(prims), target=target)
        except Exception:  # the wheel has no compiler of CUDA, and stops behind what is wanted
            assert texts, "TVM stopped before SplitHostDevice"
    return texts[-1]


def main() -> None:
    """Print the texts of the named operators."""
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_80"}, host="llvm")
    print(json.dumps({name: split(module_of(*CASES[name]), target) for name in sys.argv[1:]}))


if __name__ == "__main__":
    main()
