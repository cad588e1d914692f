"""Reads the directives of OpenMP (5.2) that stand in C as `#pragma omp`: their names and clauses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from pgasrob.diagnostics import SourceError
from pgasrob.diagnostics.suggestions import did_you_mean
from pgasrob.frontends.c.standard import words
from pgasrob.frontends.c.tokens import Token, error, nesting

STANDALONE = frozenset(words("barrier taskwait taskyield flush"))
"""They stand for themselves: no statement belongs to them."""
DECLARATIVE = frozenset({"threadprivate", "declare simd"})
LOOPS = frozenset(words("for simd taskloop"))
TASKS = frozenset(words("task taskloop taskgroup"))
SHARING = frozenset(words("private firstprivate lastprivate reduction"))
"""Clauses by which a variable is another one inside."""
_DATA = "private firstprivate "
_PARTS = {
    "parallel": _DATA + "if num_threads default shared copyin reduction proc_bind",
    "for": _DATA + "lastprivate linear reduction schedule collapse ordered nowait order",
    "simd": "private lastprivate if safelen simdlen linear aligned nontemporal reduction collapse order",
    "sections": _DATA + "lastprivate reduction nowait",
    "section": "",
    "single": _DATA + "copyprivate nowait",
    "master": "",
    "masked": "filter",
    "critical": "hint",
    "atomic": "read write update capture compare seq_cst acq_rel acquire release relaxed hint",
    "barrier": "",
    "ordered": "threads simd",
    "task": _DATA + "if final untied default mergeable shared in_reduction priority",
    "taskwait": "",
    "taskyield": "",
    "taskgroup": "task_reduction",
    "taskloop": _DATA + "if shared lastprivate reduction in_reduction default grainsize num_tasks collapse final "
    "priority untied mergeable nogroup",
    "flush": "seq_cst acq_rel acquire release",
    "threadprivate": "",
    "declare simd": "simdlen linear aligned uniform inbranch notinbranch",
}
"""The clauses of each directive; those that are put together take those of both."""
_TOGETHER = (
    "parallel for, parallel for simd, for simd, parallel sections, parallel master, parallel masked, taskloop simd, "
    "master taskloop, masked taskloop, master taskloop simd, masked taskloop simd, parallel master taskloop, "
    "parallel masked taskloop, parallel master taskloop simd, parallel masked taskloop simd"
)
CLAUSES: dict[str, frozenset[str]] = {name: frozenset(words(clauses)) for name, clauses in _PARTS.items()}
for _several in _TOGETHER.split(", "):
    _all = frozenset[str]().union(*(CLAUSES[part] for part in _several.split()))
    CLAUSES[_several] = _all - {"nowait"} if "parallel" in _several else _all
_LISTS = SHARING | set(
    words("shared copyin copyprivate in_reduction task_reduction linear aligned nontemporal uniform")
)
_WITH = _LISTS | set(words("if num_threads default proc_bind schedule collapse safelen simdlen order filter hint final "
                           "priority grainsize num_tasks"))  # fmt: skip
"""Clauses that take something in parentheses."""
_MAY = frozenset({"ordered"})
_REFUSED = {
    **dict.fromkeys(words("target teams distribute"), "check the program without the accelerator"),
    **dict.fromkeys(words("cancel cancellation"), "let the loop run to its end"),
    **dict.fromkeys(words("scan loop scope workshare requires interop metadirective depobj allocate tile unroll error "
                          "assume begin end declare nothing"), "write it with `parallel`, `for`, `task` and `atomic`"),
    **dict.fromkeys(words("depend doacross detach affinity inscan"), "order the tasks with `taskwait`"),
}  # fmt: skip
"""Directives and clauses that are not supported, and what to do instead."""


@dataclass(frozen=True, slots=True)
class Clause:
    """``variables``: those of a list; ``operator``: of a reduction; ``text``: what stands in the parentheses;
    ``parts``: variables of which only a part is listed, `a[:n]`; ``given``: the tokens of an expression."""

    name: str
    token: Token
    text: str = ""
    operator: str = ""
    variables: tuple[Token, ...] = ()
    parts: frozenset[str] = frozenset()
    given: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Directive:
    """``name`` as in the specification; ``list``: the names in parentheses behind it."""

    name: str
    pragma: Token
    clauses: tuple[Clause, ...] = ()
    list: tuple[Token, ...] = ()

    @property
    def leaves(self) -> frozenset[str]:
        """The directives that it puts together."""
        return frozenset(self.name.split()) if self.name != "declare simd" else frozenset({self.name})

    @property
    def takes_statement(self) -> bool:
        return self.name not in STANDALONE | DECLARATIVE

    @property
    def shown(self) -> str:
        return f"#pragma omp {self.name}"

    def all(self, *names: str) -> Iterator[Clause]:
        return (each for each in self.clauses if each.name in names)

    def has(self, name: str) -> bool:
        return any(self.all(name))

    def variables(self, *names: str) -> dict[str, Token]:
        """The variables in the clauses of these names."""
        return {each.text: each for clause in self.all(*names) for each in clause.variables}

    def number(self, name: str) -> int | None:
        """The number that the clause ``name`` gives; None where there is none, or it is computed."""
        text = next((each.text for each in self.all(name)), "")
        return int(text) if text.isdecimal() else None


@dataclass(slots=True)
class _Reader:
    """Goes through the tokens of one pragma."""

    pragma: Token
    tokens: tuple[Token, ...]
    place: int = field(default=0)

    @property
    def next(self) -> Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def wrong(self, message: str, hint: str = "", token: Token | None = None) -> SourceError:
        return error("PG110", message, token or self.pragma, hint)

    def unsupported(self, message: str, hint: str, token: Token) -> SourceError:
        return error("PG104", f"{message} is not supported", token, hint)

    def bracketed(self, owner: Token) -> tuple[Token, ...]:
        """What stands in the parentheses that open here."""
        start, depth = self.place, 0
        while (token := self.next) is not None:
            self.place += 1
            depth += nesting(token)
            if not depth:
                return self.tokens[start + 1 : self.place - 1]
        raise self.wrong(f"the parenthesis after `{owner.text}` is not closed", "close it with `)`", owner)

    def opens(self) -> bool:
        return self.next is not None and self.next.text == "("


def directive(pragma: Token) -> Directive:
    """The directive of a ``pragma``, a token of kind `omp`. Raises `SourceError` for one that is malformed or not
    supported."""
    reader = _Reader(pragma, pragma.parts)
    name = _name(reader)
    listed: tuple[Token, ...] = ()
    if name in ("critical", "flush", "threadprivate") and reader.opens():
        listed = tuple(_names(reader, reader.bracketed(pragma)))
    if name == "threadprivate" and not listed:
        raise reader.wrong("`threadprivate` needs a list of variables", "write them in parentheses after it")
    clauses = []
    while (token := reader.next) is not None:
        reader.place += 1
        if token.text != ",":
            clauses.append(_clause(reader, name, token))
    return Directive(name, pragma, tuple(clauses), listed)


def _name(reader: _Reader) -> str:
    """The longest name of a directive that stands here."""
    said: list[str] = []
    for token in reader.tokens:
        if token.kind != "name":
            break
        said.append(token.text)
    for length in range(len(said), 0, -1):
        if " ".join(said[:length]) in CLAUSES:
            # `parallel target` is none, and `master` alone is not meant where `taskloop` with a typo follows.
            reader.place = length
            return " ".join(said[:length])
    first = reader.tokens[0]
    if first.text in _REFUSED:
        shown = "declare " + said[1] if first.text == "declare" and said[1:] else first.text
        raise reader.unsupported(f"`#pragma omp {shown}`", _REFUSED[first.text], first)
    raise reader.wrong(
        f"OpenMP has no directive `{first.text}`", did_you_mean(first.text, [*CLAUSES, *_REFUSED], 0.6), first
    )


def _clause(reader: _Reader, name: str, token: Token) -> Clause:
    if token.text in _REFUSED:
        raise reader.unsupported(f"`{token.text}` in `#pragma omp {name}`", _REFUSED[token.text], token)
    known = frozenset().union(*CLAUSES.values())
    if token.text not in CLAUSES[name]:
        what = "has no clause" if token.text not in known else "does not take the clause"
        hint = did_you_mean(token.text, CLAUSES[name], 0.6)
        raise reader.wrong(f"`#pragma omp {name}` {what} `{token.text}`", hint, token)
    if not reader.opens():
        if token.text in _WITH:
            raise reader.wrong(f"`{token.text}` needs something in parentheses", f"`{token.text}(...)`", token)
        return Clause(token.text, token)
    if token.text not in _WITH | _MAY:
        raise reader.wrong(f"`{token.text}` takes nothing in parentheses", "leave them out", token)
    given = reader.bracketed(token)
    if not given:
        raise reader.wrong(f"`{token.text}` has nothing in its parentheses", "", token)
    if token.text == "ordered":
        raise reader.unsupported("`ordered(n)`", "use `ordered` without a number", token)
    text = " ".join(each.text for each in given)
    if token.text not in _LISTS:
        colon = _at_top(given, ":") if token.text == "if" else None
        return Clause(token.text, token, text, given=given if colon is None else given[colon + 1 :])
    operator = ""
    colon = _at_top(given, ":")
    if "reduction" in token.text:
        if colon is None:
            raise reader.wrong(f"`{token.text}` needs an operator", f"`{token.text}(+: {text})`", token)
        operator, given = "".join(each.text for each in given[:colon]), given[colon + 1 :]
        if operator not in OPERATORS:
            hint = f"the operators are {' '.join(OPERATORS)}; write others with `critical`"
            raise reader.unsupported(f"the reduction `{operator}`", hint, token)
    elif token.text in ("linear", "aligned") and colon is not None:
        given = given[:colon]
    elif token.text in ("lastprivate", "firstprivate") and colon is not None:
        given = given[colon + 1 :]
    variables = tuple(_names(reader, given))
    cut = frozenset(each.text for each, after in pairwise(given) if after.text == "[")
    return Clause(token.text, token, text, operator, variables, cut)


OPERATORS = ("+", "-", "*", "&", "|", "^", "&&", "||", "min", "max")
"""Those of reductions."""


def _at_top(tokens: Iterable[Token], sign: str) -> int | None:
    """The place of ``sign`` in no brackets."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += nesting(token)
        if not depth and token.text == sign:
            return place
    return None


def _names(reader: _Reader, given: tuple[Token, ...]) -> Iterator[Token]:
    """The variables of a list, in which each may have brackets behind it."""
    depth, expected = 0, True
    for token in given:
        if token.text in "([{" and not expected:
            depth += 1
        elif token.text in ")]}" and depth:
            depth -= 1
        elif not depth and token.text == "," and not expected:
            expected = True
        elif not depth and token.kind == "name" and expected:
            yield token
            expected = False
        elif not depth:
            raise reader.wrong(f"a list of variables was expected, not `{token.text}`", "name them, `a, b`", token)
    if expected:
        raise reader.wrong("a variable is missing at the end of a list", "", given[-1] if given else None)


__all__ = ["Clause", "Directive", "directive"]
