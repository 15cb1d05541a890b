"""The catalogue: operators and packed functions with a search, and a sheet about the one that is selected."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import msgspec

from relax_core.present.catalog_of.catalog_models import CatalogPage, Form
from views.widgets.channel import PANE_HEIGHT, channel


@dataclass(frozen=True, slots=True)
class CatalogAction:
    """What the user did, with what is selected and searched for at that moment."""

    kind: Literal["select", "search", "listing", "run", "open"]
    operator: str
    search: str
    command: str = ""
    """The form of the listing, or the page to open the example in (`source`, `run`)."""


class CatalogProps(msgspec.Struct, frozen=True):
    """What the page says beside the model."""

    listing: Form
    height: str
    start: tuple[str, str]
    """Operator and search of a component that is there anew."""


_CATALOG = channel("catalog", CatalogPage, CatalogProps, CatalogAction)


def catalog(
    model: CatalogPage,
    *,
    key: str,
    operator: str,
    search: str = "",
    listing: Form = "tir",
    height: str = PANE_HEIGHT,
    on_action: Callable[[CatalogAction], None] | None = None,
) -> CatalogAction | None:
    """Show the list and the sheet of `operator`; the search works in the browser."""
    return _CATALOG.show(
        key,
        model,
        view=CatalogProps(listing, height, (operator, search)),
        commands={"operator": operator, "search": search},
        on_action=on_action,
    )
