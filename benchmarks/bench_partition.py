"""Partitioning: the four passes beside reading the text, and how they grow with the operators."""

from math import log2

import relax_core as rc
from benchmarks.table import Row, Table
from benchmarks.timing import measure
from relax_core.frontend.parse import parse_text

SIZES = (500, 2000, 8000)
SAMPLE_COUNT = 3
PASSES = "MergeComposite, AnnotateTarget, MergeCompilerRegions, PartitionGraph"
BLOCK = (
    "%{0} = nn.conv2d(%{p}, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);",
    "%{1} = nn.bias_add(%{0}, %b);",
    "%{2} = nn.relu(%{1});",
    "%{3} = add(%{2}, %{p});",
    "%{4} = sigmoid(%{3});",
)


def run() -> Table:
    """Measure reading and partitioning networks of residual blocks; the note gives the ratios."""
    pattern = "is_op('nn.relu')(is_op('nn.bias_add')(is_op('nn.conv2d')(wildcard(), wildcard()), wildcard()))"
    tables = rc.Tables(patterns=(("a.block", rc.pattern(pattern)),), supported={"a": ("add",)})
    rows: list[Row] = []
    seconds: dict[tuple[str, int], float] = {}
    for size in SIZES:
        text = network(size)
        module = rc.parse(text, "m.relay")
        cases = {
            f"read {size} operators": lambda text=text: parse_text(text, "m.relay"),
            f"partition {size} operators": lambda module=module: rc.run_pipeline(module, PASSES, tables=tables),
        }
        for row in measure(cases, sample_count=SAMPLE_COUNT):
            rows.append(row)
            seconds[row.name.split()[0], size] = row.median_seconds
    small, large = SIZES[0], SIZES[-1]
    expected = large * log2(large) / (small * log2(small))
    growth = seconds["partition", large] / seconds["partition", small]
    notes = [f"partitioning takes {seconds['partition', n] / seconds['read', n]:.1f} times reading {n}" for n in SIZES]
    notes.append(f"from {small} to {large} operators it grows {growth:.1f} times; n log n grows {expected:.1f} times")
    return Table("Partitioning", tuple(rows), "\n".join(notes))


def network(operator_count: int) -> str:
    """Return the text of a chain of residual blocks with about so many operators."""
    lines: list[str] = []
    previous = "x"
    for first in range(0, operator_count, len(BLOCK)):
        numbers = tuple(range(first, first + len(BLOCK)))
        lines += (line.format(*numbers, p=previous) for line in BLOCK)
        previous = str(numbers[-1])
    data, weight = "Tensor[(1, 4, 8, 8), float32]", "Tensor[(4, 4, 3, 3), float32]"
    params = f"%x: {data}, %w: {weight}, %b: Tensor[(4), float32]"
    body = "\n  ".join(lines)
    return f'#[version = "0.0.5"]\ndef @main({params}) {{\n  {body}\n  %{previous}\n}}\n'
