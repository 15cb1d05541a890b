"""The configuration of the documentation site, which `python -m tools.docs` builds."""

project = "RelaxScope"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "RelaxScope"
html_static_path: list[str] = []
html_copy_source = False
html_show_sphinx = False
# Headings of three levels are targets of links, by the names that GitHub gives them.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
exclude_patterns: list[str] = []
