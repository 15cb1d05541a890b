"""Files that pages offer of their tables."""

import csv
import io

from relax_core.present.models import Pipeline


def stages_csv(pipeline: Pipeline) -> str:
    """Return the passes of a pipeline as CSV: a line each, with what it changed and how long it took."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("index", "pass", "changed", "lines_added", "lines_removed", "rewrites", "remarks", "seconds"))
    for stage in pipeline.stages:
        counts = (stage.added_count, stage.removed_count, stage.rewrite_count, stage.remark_count)
        seconds = f"{stage.seconds:.6f}" if stage.seconds >= 0 else ""
        lines.writerow((stage.index, stage.name, "yes" if stage.is_changed else "no", *counts, seconds))
    return text.getvalue()
