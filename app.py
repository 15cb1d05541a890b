"""The app: `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

from views import PAGES

ROOT = Path(__file__).parent
LOGO = ROOT / "views" / "logo.svg"

st.set_page_config(page_title="RelaxScope", page_icon=str(LOGO), layout="wide", initial_sidebar_state="collapsed")
st.logo(str(LOGO), size="medium")
pages = [st.Page(ROOT / file, title=title, default=file == PAGES[0][0]) for file, title in PAGES]
st.navigation(pages, position="top").run()
