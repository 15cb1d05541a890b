"""The app: `streamlit run app.py`.

The server is started by this file, which adds headers to Streamlit's answers, and an address for news of a class; after
that it is the script that runs for each visitor.
"""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.scriptrunner import get_script_run_ctx

# Loaded before anybody comes: scripts of two visitors that load it at once would each see half of it.
import relax_core  # noqa: F401  # pyright: ignore[reportUnusedImport]
from views import PAGES
from views.classroom.news.route import class_news
from views.lessons.elsewhere import show_elsewhere
from views.lessons.steps import waits_elsewhere
from views.manifests import MANIFESTS
from views.shell.headers import FRAMED, Headers
from views.shell.navigation import go_where_asked, note_page, open_page, page_file
from views.state.session import is_first_look, take_address
from views.worker.program import open_given_program
from views.worker.recordings import opened_path

ROOT = Path(__file__).parent
LOGO = ROOT / "views" / "shell" / "logo.svg"

if get_script_run_ctx(suppress_warning=True) is None:
    # The pages ask at an address below their own.
    news = class_news(st.get_option("server.baseUrlPath"))
    app = st.App(__file__, routes=[news], middleware=[Middleware(Headers)])
else:
    st.set_page_config(page_title="RelaxScope", page_icon=str(LOGO), layout="wide", initial_sidebar_state="collapsed")
    st.logo(str(LOGO), size="medium")
    pages = [
        st.Page(
            ROOT / page_file(noun),
            title=noun.capitalize(),
            url_path=noun,
            default=noun == PAGES[0],
            visibility="visible" if item.is_in_menu else "hidden",
        )
        for noun, item in MANIFESTS.items()
    ]
    # Shown in a frame of another page: it is none of those that a visitor walks through.
    pages.append(st.Page(ROOT / "views" / "embed" / "page.py", title="Embed", url_path=FRAMED, visibility="hidden"))
    shown = st.navigation(pages, position="top")
    note_page(shown.url_path or PAGES[0])
    # Before the address is looked at, which is that of a page that is left.
    go_where_asked()
    # Who starts the app on a file sees it first; an address says something else.
    if is_first_look() and not st.query_params and shown.url_path == "":
        if opened_path():
            open_page("pipeline")
        open_given_program()
    take_address()
    if waits_elsewhere(shown.url_path):
        show_elsewhere(shown.url_path)
    else:
        shown.run()
