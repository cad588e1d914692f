"""Self-contained HTML pages: nothing is loaded. Their fixed parts are in the folders `pages/`."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from html import escape
from importlib import resources


def part(name: str, room: str = "render") -> str:
    """The file ``name`` in the folder `pages/` of a ``room``."""
    return resources.files(f"pgasrob.{room}").joinpath("pages", name).read_text(encoding="utf-8")


def filled(page: str, values: Mapping[str, str]) -> str:
    """``page`` with its ``{{names}}`` replaced, in one pass: a value may hold such a name itself."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], page)


def framed(title: str, style: str, body: str, script: str = "", connects: bool = False) -> str:
    """A whole page with this ``title``, ``style`` sheet and ``body`` element; it may run no script but ``script``.
    ``connects``: it may ask the server that it comes from."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'; " if script else ""
    scripts += "connect-src 'self'; " * connects
    values = {"title": escape(title), "style": style, "body": body, "scripts": scripts}
    return filled(part("frame.html"), values)
