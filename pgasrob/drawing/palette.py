"""The colours of pictures by name, and their form in the style sheet of an SVG.

A page around a picture can set each colour (`--pg-NAME`). Style sheets have each as a plain value too, for programs
that do not know variables (rsvg-convert, Inkscape).
"""

from __future__ import annotations

from collections.abc import Iterable

COLOURS = {
    "paper": ("#ffffff", "#14171a"),
    "ink": ("#1a1d21", "#e6e8eb"),
    "faint": ("#5b6470", "#9aa4b0"),
    "told": ("#3a424c", "#c3cad3"),
    "rule": ("#dfe3e8", "#2a3037"),
    "part": ("#f4f6f9", "#1a1f25"),
    "bar": ("#dde2e9", "#2b333c"),
    "box": ("#ffffff", "#1f252c"),
    "step": ("#e9f0f8", "#1d2b3a"),
    "po": ("#5b6470", "#9aa4b0"),
    "cf": ("#8a5200", "#e0a458"),
    "id": ("#2b66a8", "#7fb2e8"),
    "accent": ("#b3261e", "#ff8a80"),
}
"""The colours by name, on a light background and on a dark one."""


def colour(name: str) -> str:
    """The colour of this ``name`` on a light background, for formats without variables."""
    return COLOURS[name][0]


def coloured(rules: str) -> str:
    """``rules`` with each `@NAME` of a colour put in: as a plain value, and again as a variable."""
    lines = []
    for line in rules.strip().splitlines():
        declarations = []
        for piece in line.replace("}", ";}").split(";"):
            name = next((name for name in COLOURS if piece.endswith(f"@{name}")), None)
            if name is None:
                declarations.append(piece)
                continue
            before = piece.removesuffix(f"@{name}")
            property_ = before.rpartition("{")[2]
            declarations += [f"{before}{COLOURS[name][0]}", f"{property_}var(--{name})"]
        lines.append(";".join(declarations).replace(";;", ";").replace(";}", "}"))
    return "\n".join(lines)


def variables(kind: str, names: Iterable[str] = COLOURS) -> str:
    """The colours of ``names`` as variables of what has the class ``kind``, on a light background and on a dark one."""
    light, dark = (
        ";".join(f"--{name}:var(--pg-{name},{COLOURS[name][choice]})" for name in names) for choice in (0, 1)
    )
    return f"\n.{kind}{{{light}}}\n@media (prefers-color-scheme:dark){{.{kind}{{{dark}}}}}\n"
