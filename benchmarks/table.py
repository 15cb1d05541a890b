"""What a benchmark gives: rows of times, each beside the row that it is compared with."""

from dataclasses import dataclass
from statistics import median, quantiles

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass(frozen=True, slots=True)
class Row:
    """The times of one case, in seconds per call; at least two."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median_seconds(self) -> float:
        return median(self.seconds)

    @property
    def spread_seconds(self) -> float:
        """Give the distance between the first and the third quartile."""
        first, _, third = quantiles(self.seconds, n=4)
        return third - first


@dataclass(frozen=True, slots=True)
class Table:
    """One subject: every row is compared with the first one."""

    title: str
    rows: tuple[Row, ...]
    note: str = ""

    def as_text(self) -> str:
        """Print name, median, spread and ratio of the medians to the first row's, in columns."""
        base = self.rows[0].median_seconds
        cells = [("", "median", "quartiles", "ratio")]
        for row in self.rows:
            ratio = f"{row.median_seconds / base:.2f}"
            cells.append((row.name, duration(row.median_seconds), f"+-{duration(row.spread_seconds / 2)}", ratio))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [self.title, *(_line(line, widths) for line in cells), *([self.note] if self.note else [])]
        return "\n".join(lines)


def duration(seconds: float) -> str:
    """Print a time with three digits in the unit that suits it."""
    size, unit = next((entry for entry in UNITS if seconds >= entry[0]), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    name, *numbers = cells
    aligned = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
    return "  ".join(("  " + name.ljust(widths[0]), *aligned))
