"""Brackets without partners: each is an error, which is mended where it is clear how, and reading goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pgasrob.diagnostics import MAX_ERRORS, Diagnostic, SourceError, in_order
from pgasrob.frontends.c.tokens import Token, error, nesting

MAX_NESTING = 200
"""So deep may brackets be nested."""
CONTROL = ("if", "for", "while", "switch")
PARTNERS = {")": "(", "]": "[", "}": "{"}


def with_brackets(tokens: list[Token]) -> tuple[list[Token], list[Diagnostic]]:
    """``tokens`` with a partner for every bracket, and what was wrong. Raises :class:`SourceError` where it is not
    plain what was meant, and where brackets nest too deeply."""
    tokens, wrong = _with_braces(tokens)
    while (found := _first(tokens)) is not None:
        why, tokens = found
        wrong += why.diagnostics
        if not tokens or len(wrong) >= MAX_ERRORS:
            raise SourceError(in_order(wrong))
    return tokens, wrong


def _with_braces(tokens: list[Token]) -> tuple[list[Token], list[Diagnostic]]:
    """``tokens`` with as many braces that close as open, where the indentation shows which one is missing or too many;
    and what was wrong."""
    braces = [place for place, each in enumerate(tokens) if each.kind == "sign" and each.text in ("{", "}")]
    missing = sum(1 if tokens[place].text == "{" else -1 for place in braces)
    wrong: list[Diagnostic] = []
    mended, opened, begins = list[Token](), list[tuple[Token, int]](), 0
    for token in tokens:
        begins = token.span.column if token.first else begins
        if token.kind == "sign" and token.text == "{":
            opened.append((token, begins))
        elif token.kind == "sign" and token.text == "}":
            if token.first and missing < 0 and (not opened or begins > opened[-1][1]):
                wrong += error("PG107", "`}` closes nothing", token).diagnostics
                missing += 1
                continue
            while token.first and missing > 0 and len(opened) > 1 and opened[-1][1] > begins:
                wrong += error("PG107", "this `{` is not closed", opened.pop()[0]).diagnostics
                mended.append(replace(token, first=False))
                missing -= 1
            del opened[-1:]
        mended.append(token)
    return (mended, wrong) if wrong and not missing else (tokens, [])


def _first(tokens: list[Token]) -> tuple[SourceError, list[Token]] | None:
    """The first bracket that is wrong, and the tokens where that is mended; none where it is not plain how."""
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in PARTNERS.values():
            opened.append(place)
            if len(opened) > MAX_NESTING:
                raise error("PG108", f"brackets nest more than {MAX_NESTING} levels deep", token)
        elif token.text in PARTNERS:
            if opened and tokens[opened[-1]].text == PARTNERS[token.text]:
                opened.pop()
            elif not opened:
                return error("PG107", f"`{token.text}` closes nothing", token), []
            elif token.text == ")" and tokens[opened[-1]].text == "{":
                return _without_opening(tokens, place)
            elif (mended := _closed(tokens, opened[-1], place, len(opened) == 1)) is not None:
                return error("PG107", f"this `{tokens[opened[-1]].text}` is not closed", tokens[opened[-1]]), mended
            else:
                other = tokens[opened[-1]]
                what = f"`{token.text}` does not close `{other.text}` of line {other.span.line}"
                return error("PG107", what, token), []
    if not opened:
        return None
    mended = _closed(tokens, opened[-1], len(tokens), len(opened) == 1)
    return error("PG107", f"this `{tokens[opened[-1]].text}` is not closed", tokens[opened[-1]]), mended or []


def _without_opening(tokens: list[Token], place: int) -> tuple[SourceError, list[Token]]:
    """What is wrong with the parenthesis that closes at ``place``: it goes, or opens behind an `if` or its kin."""
    first = place
    while first and (tokens[first - 1].kind != "sign" or tokens[first - 1].text not in (";", "{", "}")):
        first -= 1
    word = tokens[first]
    if word.text in CONTROL and tokens[first + 1].text != "(":
        wrong = error("PG107", f"a `(` is missing after `{word.text}`", word)
        return wrong, [*tokens[: first + 1], replace(tokens[place], text="("), *tokens[first + 1 :]]
    return error("PG107", "`)` closes nothing", tokens[place]), tokens[:place] + tokens[place + 1 :]


def _closed(tokens: list[Token], opening: int, last: int, outside: bool) -> list[Token] | None:
    """``tokens`` with a partner for the bracket of ``opening`` before ``last``; or, of an `if` or loop of which it is
    not plain where its condition ends, without it. ``outside``: the bracket is in no other one."""
    word = tokens[opening - 1].text if opening else ""
    if tokens[opening].text == "[":
        return _with(tokens, "]", next(_at_top(tokens, opening, last, (";", "=", ",", ")", "{")), None))
    if tokens[opening].text != "(":
        return None
    signs = [*_at_top(tokens, opening, last, (";", "{"))]
    brace = next((place for place in signs if tokens[place].text == "{"), len(tokens))
    ends = [place for place in signs if tokens[place].text == ";"]
    before = [place for place in ends if place < brace]
    if outside:
        return _with(tokens, ")", None if before or brace == len(tokens) else brace)
    if word not in CONTROL:
        at_last = last if last < len(tokens) and tokens[last].text == "}" else None
        return _with(tokens, ")", next(iter(ends), at_last))
    count = 2 if word == "for" else 0
    if len(before) == count and brace < len(tokens):
        return None if tokens[brace - 1].text == ")" else _with(tokens, ")", brace)
    if len(ends) <= count or [each.text for each in tokens[ends[count] + 1 : ends[count] + 2]] == ["else"]:
        return None
    return [*tokens[: opening - 1], *tokens[ends[count] :]]


def _with(tokens: list[Token], text: str, place: int | None) -> list[Token] | None:
    """``tokens`` with a bracket before ``place``, if there is one."""
    if place is None:
        return None
    return [*tokens[:place], replace(tokens[place], text=text, first=False), *tokens[place:]]


def _at_top(tokens: list[Token], opening: int, last: int, wanted: tuple[str, ...]) -> Iterator[int]:
    """The places of the ``wanted`` signs in the bracket of ``opening``, and in no further one."""
    depth = 0
    for place in range(opening + 1, min(last + 1, len(tokens))):
        text = tokens[place].text if tokens[place].kind == "sign" else ""
        if depth == 0 and text in wanted:
            yield place
        depth += nesting(tokens[place])
