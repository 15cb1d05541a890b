"""The chip that tells of the class, and has the page made anew when there are news that concern it."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec

from relax_core.lessons.classroom import Classroom, spaced
from relax_core.lessons.projection import clock
from views.classroom.membership import Membership
from views.state.shared import LAST_LESSON_STEP
from views.widgets.channel import channel

ASK_SECONDS: Final = 1.0
"""How often a browser asks for news of its class: it takes the server 1 ms, and a page that is made anew 80 ms."""


class News(msgspec.Struct, frozen=True):
    """What a browser hears of its class."""

    words: str
    mark: str
    """Differs when a page that shows the class has to be made anew; empty when there is no class any more."""


class Asker(msgspec.Struct, frozen=True):
    """Who asks for news: the part that a tab has in a class, and the step of a lesson that it shows."""

    role: Literal["teacher", "member"]
    code: str
    token: str
    lesson: str
    step: Annotated[int, msgspec.Meta(ge=0, le=LAST_LESSON_STEP)]


class NewsModel(msgspec.Struct, frozen=True):
    """What the page knew when it was made, and whom it asks as."""

    asker: Asker
    news: News
    seconds: float = ASK_SECONDS
    """How often it asks."""


class NewsProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    height: str = "auto"


@dataclass(frozen=True, slots=True)
class NewsAction:
    """There are news; hearing of it has the page made anew."""

    kind: Literal["news"]


def news_of(known: Classroom, own: Membership, now: float, *, call: int) -> News:
    """Return what to tell a browser of its class; `call` is the last one that its page has followed, or has to."""
    words = f"Class {spaced(known.code)}"
    if own.is_teacher:
        return News(f"{words}, {len(known.present(now))} here", "led")
    left = known.seconds_left(now)
    is_open = "open" if known.is_open(known.step, now) else "closed"
    mark = f"{call} {len(known.revealed)} {is_open}"
    return News(words if left is None else f"{words}, {clock(left)}", mark)


_NEWS = channel("news", NewsModel, NewsProps, NewsAction)


def news_chip(asker: Asker, news: News, *, key: str) -> None:
    """Show the chip of a class."""
    _NEWS.show(key, NewsModel(asker, news), view=NewsProps(), commands={})
