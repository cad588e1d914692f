"""Builds the documentation as one site, from the root of the project: `sphinx-build -W -c pgasrob/manual/site . OUT`.

Its pages are those that are read in the project itself, at the same paths, so links lead to the same place in both.
"""

import json
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Text
from sphinx import addnodes
from sphinx.application import Sphinx

from pgasrob.version import VERSION

HERE = Path(__file__).parent
SITE = "pgasrob/manual/site"

project = "pgasrob"
release = VERSION
html_title = f"pgasrob {VERSION}"
html_show_copyright = False
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = f"{SITE}/index"
include_patterns = ["*.md", ".github/*.md", "pgasrob/**.md", f"{SITE}/*.rst", "programs/**.md", "proofs/**.md"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
html_theme = "furo"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
templates_path = ["."]
html_additional_pages = {"index": "home.html"}
html_copy_source = False

myst_heading_anchors = 4
nitpicky = False  # docstrings refer to modules that are no part of the reference
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 80

LANGUAGES = {".c": "c", ".h": "c", ".litmus": "litmus", ".pgas": "pgas"}


def _lexer(grammar: dict[str, Any]) -> type[RegexLexer]:
    """A lexer that colours what the TextMate `grammar` does; each of its patterns is one expression, or two ends."""
    tokens = {
        "comment": Comment,
        "constant": Number,
        "keyword": Keyword,
        "storage": Keyword.Type,
        "support": Name.Builtin,
        "variable": Name.Variable,
    }
    rules = []
    for pattern in grammar["patterns"]:
        kind, _, rest = pattern["name"].partition(".")
        token = Operator if rest.startswith("operator") else tokens[kind]
        rules.append((pattern.get("match") or rf"(?s:{pattern['begin']}.*?{pattern['end']})", token))
    rules += [(r"\w+", Text), (r"\s+", Text), (r".", Text)]
    return type(grammar["name"], (RegexLexer,), {"name": grammar["name"], "tokens": {"root": rules}})


def _linked(app: Sphinx, tree: nodes.document) -> None:
    """Programs are read, not downloaded: a link to one leads to its page."""
    page = app.env.docname
    for node in list(tree.findall(addnodes.download_reference)):
        target, _ = app.env.relfn2path(node["reftarget"], page)
        if target in _programs(Path(app.srcdir)):
            uri = app.builder.get_relative_uri(page, target)
            node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=uri))


@cache
def _programs(root: Path) -> dict[str, Path]:
    """Each program of the corpus, by its path from the root."""
    files = (path for path in (root / "programs").rglob("*.*") if path.suffix in LANGUAGES)
    return {path.relative_to(root).as_posix(): path for path in sorted(files)}


def _program_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    for page, path in _programs(Path(app.srcdir)).items():
        text = path.read_text(encoding="utf-8")
        code = app.builder.highlighter.highlight_block(text, LANGUAGES[path.suffix], linenos="inline")
        yield (
            page,
            {
                "title": path.name,
                "body": f"<h1>{escape(path.name)}</h1><p><code>pgasrob check {escape(page)}</code></p>{code}",
            },
            "page.html",
        )


def setup(app: Sphinx) -> None:
    for name in ("pgas", "litmus"):
        grammar = HERE.parents[1] / f"lsp/vscode/syntaxes/{name}.tmLanguage.json"
        app.add_lexer(name, _lexer(json.loads(grammar.read_text(encoding="utf-8"))))
    app.connect("doctree-read", _linked, priority=400)  # before what is to be downloaded is collected
    app.connect("html-collect-pages", _program_pages)
