"""Sphinx's configuration; build.py fills the source folder and passes the version."""

project = "AttnMLIR"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# Excerpts leave out parts ("..."), and then are no whole program of their language.
suppress_warnings = ["misc.highlighting_failure"]
