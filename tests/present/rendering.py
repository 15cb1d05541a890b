"""View models as text for goldens: one fact per line, in the order of the model."""

from collections.abc import Iterator

from relax_core.present.models import Code, Diff, DiffSide, Graph, Inspector, Token
from relax_core.present.running.run_models import Run


def render_graph(graph: Graph) -> str:
    """Nodes with what they say, edges between titles, and the legend."""
    title = {item.id: f"{item.title}#{item.id}" for item in graph.nodes}
    lines = [f"graph {graph.title}, {graph.node_count} nodes"]
    for item in graph.nodes:
        facts = [item.subtitle, item.mark, item.side, f"line {item.line}", item.function, item.node, item.before_node]
        lines.append(f"{title[item.id]} | {' | '.join(facts)}")
    lines += [f"{title[edge.source]} -> {title[edge.target]} | {edge.kind} | {edge.side}" for edge in graph.edges]
    lines += [f"legend {entry.sign}: {entry.text}" for entry in graph.legend]
    return "\n".join(lines)


def render_code(code: Code) -> str:
    """Tokens as `syntax:text`, then ranges and problems."""
    lines = [f"{line.number}{' dim' if line.is_dim else ''} {_tokens(line.tokens)}" for line in code.lines]
    lines += [f"{item.node} {item.line}:{item.column} {item.end_line}:{item.end_column}" for item in code.ranges]
    lines += [f"{item.severity} {item.code} {item.line}:{item.column} {item.message}" for item in code.problems]
    return "\n".join(lines)


def render_diff(diff: Diff) -> str:
    """Two columns as signs and text; changed tokens stand in brackets."""
    counts = f"+{diff.added_count} -{diff.removed_count} ~{diff.changed_count} >{diff.moved_count}"
    lines = [f"{diff.before_title} | {diff.after_title} | {counts}"]
    for row in diff.rows:
        lines.append(f"{_side(row.before)}\n    {_side(row.after)}")
    lines += [f"fold {item.first} {item.count}" for item in diff.folds]
    return "\n".join(lines)


def render_inspector(model: Inspector) -> str:
    """Title, chips, and the rows of every section."""
    lines = [f"{model.title} {model.kind} {[chip.text for chip in model.chips]}"]
    for section in model.sections:
        lines.append(f"[{section.title} {section.layout}]")
        for row in section.rows:
            value = "".join(f"<{part.text}>" if part.node or part.line else part.text for part in row.value)
            lines.append(f"{row.label}: {value} | {row.detail} | {row.mark}")
    return "\n".join(lines)


def render_run(run: Run) -> str:
    """Functions, events with their changes, values, jumps and output."""
    return "\n".join(_run_lines(run))


def _run_lines(run: Run) -> Iterator[str]:
    yield f"{run.title} {run.first_event}..{run.total} {run.outcome}: {run.end}"
    for info in run.functions:
        registers = ", ".join(f"{item.name} {item.variable} {item.type}".strip() for item in info.registers)
        yield f"function {info.name} line {info.line}: {registers}"
    for number, event in enumerate(run.events, run.first_event):
        start = "*" if event.is_start else " "
        yield f"{number}{start} pc {event.pc} line {event.line} depth {event.depth}: {event.now}"
        yield from (f"    {change}" for change in event.changes)
    for number, value in enumerate(run.values):
        yield f"value {number}: {value.kind} {value.type} | {value.short} | {value.summary} | {value.closure}"
    yield f"by binding: {run.by_binding}"
    yield from (f"flame {item.label} {item.start}..{item.end} depth {item.depth} {item.category}" for item in run.flame)
    yield from (f"output {item.time} line {item.line}: {item.text}" for item in run.output)


def _tokens(tokens: tuple[Token, ...]) -> str:
    return "".join(f"⟨{token.syntax}:{token.text}⟩" if token.syntax else token.text for token in tokens)


def _side(side: DiffSide | None) -> str:
    if side is None:
        return "."
    text = side.text
    for first, last in reversed(side.differing):
        text = f"{text[:first]}[{text[first:last]}]{text[last:]}"
    return f"{side.number} {side.mark}: {text}".rstrip()
