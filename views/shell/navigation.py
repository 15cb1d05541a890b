"""The way from a page to another one."""

from typing import NoReturn

import streamlit as st


def page_file(noun: str) -> str:
    """Return the script of a page, relative to `app.py`."""
    return f"views/pages/{noun}/page.py"


def open_page(noun: str) -> NoReturn:
    """Leave this page for another one."""
    st.switch_page(page_file(noun))
