"""Builds the reference of the library from its docstrings: `sphinx-build -W -b html pgasrob/manual/reference OUT`."""

from pgasrob.version import VERSION

project = "pgasrob"
release = VERSION
extensions = ["sphinx.ext.autodoc"]
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "description": "Is this one-sided communication code synchronised?"}
html_show_copyright = False
nitpicky = False  # docstrings refer to modules that are no part of the reference
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 80
