"""Sphinx's configuration; build.py fills the source folder and passes the version."""

import re

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


def prepare_docstring(app, what, name, obj, options, lines):
    """Makes reStructuredText of docstrings that are plain text with Markdown's code."""
    if what == "property" and lines:
        # Napoleon would take what stands before a colon for the type.
        lines[0] = lines[0].replace(": ", " \N{EN DASH} ", 1)
    # A letter behind the code, as of a plural, has to be set apart.
    text = re.sub(r"(?<!`)`([^`]+)`(?!`)(?=(\w?))", lambda m: f"``{m[1]}``" + "\\ " * bool(m[2]), "\n".join(lines))
    lines[:] = text.split("\n")


def setup(app):
    app.connect("autodoc-process-docstring", prepare_docstring, priority=400)
