"""Every request has one answer: in the table of what needs the text alone, or in that of the rest."""

from typing import get_args

from relax_core.engine.answers import ANSWERS
from relax_core.engine.protocol import AnyRequest
from relax_core.engine.session import OF_TEXTS


def test_every_request_that_a_worker_reads_is_answered_by_one_function() -> None:
    assert sorted(item.__name__ for item in (*ANSWERS, *OF_TEXTS)) == sorted(
        item.__name__ for item in get_args(AnyRequest)
    )
