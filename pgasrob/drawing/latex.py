"""Escapes texts for LaTeX, so that nothing in them is a command and every character shows.

For pdflatex and for the Unicode engines, with no package but `graphicx`, which TikZ loads.
"""

from __future__ import annotations

from unicodedata import combining, decomposition, east_asian_width

OTHER = r"""\providecommand\pgasrobchar[2]{\resizebox{#1em}{1.3ex}{\ttfamily #2}}%
\providecommand\pgasrobdots{.\kern-.3em.\kern-.3em.}%
\providecommand\pgasrobto{\resizebox{.525em}{!}{$\rightarrow$}}%
\providecommand\pgasrobdown{\resizebox{!}{1.3ex}{$\downarrow$}}%
"""
"""Macros that the texts use. A character that fonts may not have is shown as its number, in the width of a letter."""

_PROSE = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "#": r"\#", "$": r"\$", "%": r"\%", "&": r"\&", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "-": "-{}", "?": "?{}", "!": "!{}",
}  # fmt: skip
_CODE = {char: rf"\char{ord(char)}{{}}" for char in '\\{}#$%&_^~<>|"`'}
# An empty group keeps two of them from becoming one other character.
_CODE |= {char: f"{char}{{}}" for char in "-,?!'"} | {" ": "~"}
_MARKS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c", "\u0323": "d", "\u0331": "b",
}  # fmt: skip
_LETTERS = {
    "ß": r"{\ss}", "æ": r"{\ae}", "Æ": r"{\AE}", "œ": r"{\oe}", "Œ": r"{\OE}", "ø": r"{\o}", "Ø": r"{\O}",
    "ł": r"{\l}", "Ł": r"{\L}", "ı": r"{\i}", "→": r"\pgasrobto{}", "…": r"\pgasrobdots{}",
    "↓": r"\pgasrobdown{}", "τ": r"$\tau$", **{chr(0x2080 + digit): f"$_{digit}$" for digit in range(10)},
    "–": "-{}", "—": "-{}", "\u00a0": "~",
}  # fmt: skip


def prose(text: str) -> str:
    """``text`` for a font with proportional letters."""
    return "".join(_PROSE.get(char) or _other(char) for char in text)


def code(text: str) -> str:
    """``text`` for `\\ttfamily`, blanks kept."""
    return "".join(_CODE.get(char) or _other(char) for char in text)


def _other(char: str) -> str:
    if " " <= char <= "~":
        return char
    if char in _LETTERS:
        return _LETTERS[char]
    base, _, mark = decomposition(char).partition(" ")
    if mark and not base.startswith("<"):
        letter, accent = chr(int(base, 16)), _MARKS.get(chr(int(mark, 16)))
        if accent and letter.isascii():
            return f"{{\\{accent}{{{letter}}}}}"
    if combining(char):
        return ""  # TeX has none that could stand by itself
    return rf"\pgasrobchar{{{'1.05' if east_asian_width(char) in 'WF' else '.525'}}}{{{ord(char):04X}}}"
