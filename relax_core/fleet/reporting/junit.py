"""A matrix as JUnit XML, which servers of continuous integration show: a suite per command, a case per module."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from xml.etree import ElementTree

from relax_core.fleet.campaign import Cell, Matrix, State
from relax_core.fleet.reporting.text import sentence
from relax_core.present.escape import visible

_TAG_OF: Final[Mapping[State, str]] = MappingProxyType(
    {"failed": "failure", "not compared": "skipped", "limit": "error", "crashed": "error", "not done": "error"}
)


def to_junit(matrix: Matrix) -> str:
    """Write the matrix; a module that was not compared is skipped, one without a verdict is an error."""
    root = ElementTree.Element("testsuites", name="RelaxScope", time=f"{matrix.seconds:.3f}")
    for command in matrix.commands:
        cells = [cell for cell in matrix.cells if cell.command == command]
        suite = ElementTree.SubElement(root, "testsuite", name=command, tests=str(len(cells)))
        for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            suite.set(attribute, str(sum(_TAG_OF.get(cell.state) == tag for cell in cells)))
        suite.set("time", f"{sum(cell.result.seconds for cell in cells if cell.result is not None):.3f}")
        for cell in cells:
            _add_case(suite, cell)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_case(suite: ElementTree.Element, cell: Cell) -> None:
    seconds = 0.0 if cell.result is None else cell.result.seconds
    case = ElementTree.SubElement(suite, "testcase", classname=cell.command, name=visible(cell.name))
    case.set("file", visible(cell.path))
    case.set("time", f"{seconds:.3f}")
    if cell.result is not None and cell.result.line:
        case.set("line", str(cell.result.line))
    tag = _TAG_OF.get(cell.state)
    if tag is not None:
        said = sentence(cell)
        made = ElementTree.SubElement(case, tag, message=said)
        if tag != "skipped":
            made.set("type", (cell.result.code if cell.result is not None else "") or cell.state)
            made.text = said
