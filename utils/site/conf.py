"""Sphinx's configuration; build.py fills the source folder and passes the version."""

project = "AttnMLIR"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
# The names of languages that Pygments lacks are mapped by build.py.
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
