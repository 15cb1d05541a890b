"""Random programs of one dataflow block on a matrix, for the tests of fusion."""

import random
from dataclasses import dataclass, field

ROWS, COLUMNS = 4, 6
# What takes a matrix, sometimes two, and gives one; {n} is the number of rows.
SAME = (
    "R.exp({a})", "R.nn.relu({a})", "R.add({a}, {b})", "R.add({a}, y)", "R.multiply({a}, R.const(2.0, 'float32'))",
    "R.matmul({a}, w)", "R.nn.softmax({a}, axis=1)", "R.nn.gelu({a})", "R.zeros(R.shape([{n}, 6]), 'float32')",
    "R.strided_slice({a}, axes=[1], begin=[0], end=[6])", "R.broadcast_to(y, R.shape([{n}, 6]))",
    "R.call_pure_packed('custom_identity', {a}, ty_args=(R.Tensor(({n}, 6), 'float32'),))",
)  # fmt: skip
# What gives another shape, and what makes a matrix of that, or uses it.
OTHER = (
    ("R.sum({a}, axis=[1])", "R.exp({v})", False),
    ("R.max({a}, axis=[1], keepdims=True)", "R.subtract({a}, {v})", True),
    ("R.permute_dims({a})", "R.permute_dims({v})", True),
    ("R.reshape({a}, R.shape([{n}, 2, 3]))", "R.reshape({v}, R.shape([{n}, 6]))", True),
    ("R.concat(({a}, {b}), axis=0)", "R.nn.relu({v})", False),
    ("R.split({a}, 2, axis=1)", "R.concat(({v}[1], {v}[0]), axis=1)", True),
    ("({a}, {b})", "{v}[0]", True),
)


@dataclass(slots=True)
class _Drawing:
    """The lines so far, the names that they bind, and those of matrices."""

    lines: list[str] = field(default_factory=list[str])
    names: list[str] = field(default_factory=list[str])
    matrices: list[str] = field(default_factory=lambda: ["x"])

    def bind(self, value: str, *, is_matrix: bool, is_tensor: bool = True) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        if is_tensor:
            self.names.append(name)
        if is_matrix:
            self.matrices.append(name)
        return name


def fusion_program(seed: int) -> str:
    """Return the text of a module; with an odd seed its number of rows is symbolic."""
    rng = random.Random(seed)
    rows = "n" if seed % 2 else str(ROWS)
    drawing = _Drawing()
    for _ in range(rng.randint(3, 12)):
        a, b = rng.choice(drawing.matrices), rng.choice(drawing.matrices)
        if rng.random() < 0.6:
            drawing.bind(rng.choice(SAME).format(a=a, b=b, n=rows), is_matrix=True)
            continue
        first, second, is_matrix = rng.choice(OTHER)
        is_tensor = not first.startswith(("(", "R.split"))
        v = drawing.bind(first.format(a=a, b=b, n=rows), is_matrix=False, is_tensor=is_tensor)
        if not is_tensor or rng.random() < 0.7:
            drawing.bind(second.format(a=a, v=v, n=rows), is_matrix=is_matrix)
    outputs = dict.fromkeys((drawing.names[-1], *rng.sample(drawing.names, min(2, len(drawing.names)))))
    return _text(rows, drawing.lines, ", ".join(outputs))


def _text(rows: str, lines: list[str], outputs: str) -> str:
    dim = f'"{rows}"' if rows == "n" else rows
    body = "\n".join(f"            {line}" for line in lines)
    return f"""@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(({dim}, 6), "float32"), y: R.Tensor((6,), "float32"), w: R.Tensor((6, 6), "float32")):
        n = T.int64()
        with R.dataflow():
{body}
            R.output({outputs})
        return ({outputs},)
"""
