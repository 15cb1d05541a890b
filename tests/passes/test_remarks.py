"""Remarks: numbered in the order in which they were said, and reasons looked for when somebody reads them."""

from collections.abc import Iterator

from relax_core.ir.expr import Var
from relax_core.passes.remarks import Remarks, UnnumberedRemark, summed_up

NODES = tuple(Var(name) for name in "abcd")


def test_remarks_are_numbered_as_they_were_said() -> None:
    remarks = Remarks()
    remarks.add(UnnumberedRemark(NODES[0], "note", "first"))
    remarks.add(
        lambda: [
            UnnumberedRemark(NODES[1], "missed", "second", (NODES[3],)),
            UnnumberedRemark(NODES[2], "missed", "third"),
        ]
    )
    remarks.add(UnnumberedRemark(NODES[3], "applied", "fourth"))
    assert [(item.number, item.message) for item in remarks] == [
        (0, "first"),
        (1, "second"),
        (2, "third"),
        (3, "fourth"),
    ]
    assert (len(remarks), remarks[1].because, remarks[-1].node) == (4, (NODES[3],), NODES[3])
    assert [item.node for item in remarks[1:3]] == [NODES[1], NODES[2]]


def test_reasons_are_looked_for_once_and_only_when_they_are_read() -> None:
    asked: list[str] = []

    def find() -> Iterator[UnnumberedRemark]:
        asked.append("why")
        yield UnnumberedRemark(NODES[0], "missed", "because")

    remarks = Remarks()
    remarks.add(find)
    assert asked == []
    assert [item.message for item in (*remarks, *remarks)] == ["because", "because"]
    remarks.add(UnnumberedRemark(NODES[1], "note", "later"))
    assert (len(remarks), asked) == (2, ["why"])


def test_nothing_said_is_nothing() -> None:
    assert not Remarks()
    assert list(Remarks()) == []


def test_what_is_said_of_several_places_is_said_once() -> None:
    places = ((NODES[0], "the same"), (NODES[1], "another"), (NODES[2], "the same"))
    assert list(summed_up(places, "applied")) == [
        UnnumberedRemark(NODES[0], "applied", "the same, in 2 places", (NODES[2],)),
        UnnumberedRemark(NODES[1], "applied", "another"),
    ]
