"""The settings of the documentation site. ``make docs`` builds it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for scripts.docs_site

from textveil.version import __version__

project = "textveil"
release = __version__
copyright = "the authors of textveil"  # noqa: A001 # Sphinx calls it so
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "scripts.docs_site.generation",
    "scripts.docs_site.mathml",
    "scripts.docs_site.outside",
]
exclude_patterns = ["study/**"]
smartquotes = False  # it would turn --flag into a dash
maximum_signature_line_length = 88

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = ["Guarantee"]
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"textveil {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
