"""Partitioning: the four passes beside reading the text, and how they grow with the operators."""

import re
from math import log2

import relax_core as rc
from benchmarks.table import Row, Table
from benchmarks.timing import measure
from relax_core.frontend.parse import parse_text

SIZES = (500, 2000, 8000)
COMPARED = 2000
SAMPLE_COUNT = 5
PASSES = "MergeComposite, AnnotateTarget, MergeCompilerRegions, PartitionGraph"
PATTERN = "is_op('nn.relu')(is_op('nn.bias_add')(is_op('nn.conv2d')(wildcard(), wildcard()), wildcard()))"
BLOCK = (
    "%{0} = nn.conv2d(%{p}, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);",
    "%{1} = nn.bias_add(%{0}, %b);",
    "%{2} = nn.relu(%{1});",
    "%{3} = add(%{2}, %{p});",
    "%{4} = sigmoid(%{3});",
)
WIDTHS = (4, 6, 8, 12, 16, 24)


def run() -> Table:
    """Measure reading and partitioning networks of residual blocks, and two other forms; the note gives the ratios.

    A module that was partitioned before has its types; "first" is one that was just read.
    """
    tables = rc.Tables(patterns=(("a.block", rc.pattern(PATTERN)),), supported={"a": ("add",)})
    texts = {f"{size} operators": network(size) for size in SIZES}
    texts["lets"], texts["widths"] = lets(COMPARED), widths(COMPARED)
    rows: list[Row] = []
    notes: list[str] = []
    seconds: dict[str, float] = {}
    for name, text in texts.items():
        module = rc.parse(text, "m.relay")
        cases = {
            f"read {name}": lambda text=text: parse_text(text, "m.relay"),
            f"partition {name}": lambda module=module: rc.run_pipeline(module, PASSES, tables=tables),
            f"read and partition first {name}": lambda text=text: rc.run_pipeline(
                parse_text(text, "m.relay").modules[0], PASSES, tables=tables
            ),
        }
        read, again, first = measure(cases, sample_count=SAMPLE_COUNT)
        rows += (read, again, first)
        seconds[name] = again.median_seconds
        ratio, whole = (row.median_seconds / read.median_seconds for row in (again, first))
        notes.append(f"{name}: partitioning takes {ratio:.1f} times reading, {whole - 1:.1f} times at first")
    small, large = SIZES[0], SIZES[-1]
    expected = large * log2(large) / (small * log2(small))
    growth = seconds[f"{large} operators"] / seconds[f"{small} operators"]
    notes.append(f"from {small} to {large} operators it grows {growth:.1f} times; n log n grows {expected:.1f} times")
    return Table("Partitioning", tuple(rows), "\n".join(notes))


def lets(operator_count: int) -> str:
    """Return the text of `network` with a let for every value, which no region crosses."""
    text = re.sub(r"^  %(\d+) =", r"  let %v\1 =", network(operator_count), flags=re.MULTILINE)
    return re.sub(r"%(\d+)", r"%v\1", text)


def widths(operator_count: int) -> str:
    """Return the text of a network whose convolutions go from width to width: shapes differ from block to block."""
    lines: list[str] = []
    previous = "x"
    pairs = tuple(zip(WIDTHS, (*WIDTHS[1:], WIDTHS[0]), strict=True))
    for number, first in enumerate(range(0, operator_count, 4)):
        narrow, wide = pairs[number % len(pairs)]
        conv = f"nn.conv2d(%{previous}, %w{narrow}, channels={wide}, kernel_size=[1, 1])"
        lines += (f"%{first} = {conv};", f"%{first + 1} = nn.bias_add(%{first}, %b{narrow});")
        lines += (f"%{first + 2} = nn.relu(%{first + 1});", f"%{first + 3} = sigmoid(%{first + 2});")
        previous = str(first + 3)
    weights = (f"%w{a}: Tensor[({b}, {a}, 1, 1), float32], %b{a}: Tensor[({b}), float32]" for a, b in pairs)
    params = f"%x: Tensor[(1, {WIDTHS[0]}, 8, 8), float32], {', '.join(weights)}"
    body = "\n  ".join(lines)
    return f'#[version = "0.0.5"]\ndef @main({params}) {{\n  {body}\n  %{previous}\n}}\n'


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
