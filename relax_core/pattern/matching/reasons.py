"""The kinds of reasons why two regions of one target stayed apart."""

from typing import Literal

ReasonKind = Literal[
    "blocking path",
    "another target",
    "let",
    "effect",
    "unsupported operator",
    "predicate",
    "multi-output rule",
    "failed pattern",
    "branch",
    "not merged yet",
]
Reason = tuple[ReasonKind, str]
