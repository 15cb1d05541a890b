"""TVMScript of several kinds and any size, to be read and printed by benchmarks."""

from collections.abc import Iterator

_KERNEL = """\
    @T.prim_func(private=True, s_tir=True)
    def kernel{index}(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
        for i, j in T.grid(8, 4):
            with T.sblock("kernel{index}"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = T.exp(A[vi, vj]) * T.float32({index}.5)

"""
_CALL_TIR = 'R.call_tir(cls.kernel{index}, ({last},), out_ty=R.Tensor((8, 4), dtype="float32"))'
_BINDINGS = (
    "R.add({last}, x)",
    "R.matmul({last}, w, out_dtype=None)",
    'R.multiply({last}, R.const(0.5, "float32"))',
    "R.nn.relu({last})",
    "R.reshape({last}, R.shape([8, 4]))",
    "R.permute_dims({last}, axes=[0, 1])",
    "R.nn.softmax({last}, axis=-1)",
    "R.subtract({last}, x)",
    "R.tanh({last})",
)
_TYPE = 'R.Tensor((8, 4), dtype="float32")'


def mixed(line_count: int) -> str:
    """Make a module of about `line_count` lines, half of them prim funcs, half bindings."""
    count = max(1, line_count // 19)
    kernels = "".join(_KERNEL.format(index=index) for index in range(count))
    values = (binding for _ in range(count) for binding in (_CALL_TIR, *_BINDINGS))
    return _module(kernels, values, 1 + len(_BINDINGS))


def bindings(count: int) -> str:
    """Make a module of one function with `count` bindings."""
    return _module("", (_BINDINGS[index % len(_BINDINGS)] for index in range(count)), len(_BINDINGS))


def _module(kernels: str, values: Iterator[str], group: int) -> str:
    body: list[str] = []
    last = "x"
    for index, value in enumerate(values):
        name = f"lv{index // group}_{index % group}"
        body.append(f"        {name}: {_TYPE} = {value.format(index=index // group, last=last)}\n")
        last = name
    signature = f'main(x: {_TYPE}, w: R.Tensor((4, 4), dtype="float32")) -> {_TYPE}'
    head = f"    @R.function\n    def {signature}:\n" + ("        cls = Module\n" if kernels else "")
    return f"@I.ir_module\nclass Module:\n{kernels}{head}{''.join(body)}        return {last}\n"
