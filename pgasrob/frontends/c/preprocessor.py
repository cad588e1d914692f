"""The C preprocessor: directives are carried out and macros expanded, token by token, so that each keeps its place.

Headers of the system are not read. Those of the APIs choose an API (`frontends.apis.registry`), which then knows its
names; the macros of the standard headers come from `standard`. Other headers are read: those in quotes that lie beside
the file, and those in the folders that are named for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pgasrob import file_input
from pgasrob.diagnostics import Diagnostic, SourceError, in_order, visible
from pgasrob.frontends.apis.interface import Api
from pgasrob.frontends.apis.registry import Registry
from pgasrob.frontends.c.conditions import MAX_NESTING, Arithmetic
from pgasrob.frontends.c.literals import string
from pgasrob.frontends.c.macro_calls import Macro, arguments_of
from pgasrob.frontends.c.standard import MACROS, MACROS_OF, STANDARD_HEADERS, SYSTEM_FOLDERS, SYSTEM_HEADERS
from pgasrob.frontends.c.tokens import PACK, Source, Token, error, error_at, spelled, tokenise
from pgasrob.frontends.c.values import Known
from pgasrob.frontends.options import Flags
from pgasrob.program.files import DISK, Files, name_of
from pgasrob.program.statements import NOWHERE, Span
from pgasrob.stop_points import stop_point

NO_FLAGS = Flags()
OPENMP = "omp"
UNSUPPORTED_PRAGMAS = ("acc",)
COMMON = frozenset({"message.h"})
"""Headers of APIs with names that a program may well give its own."""
MAX_EXPANSION = 200_000
"""Tokens that macros may give, all together."""
MAX_TEXT = 1_000_000
"""Characters of a token that macros make: each `#` of quotes and each `##` may double it."""
SYSTEM_PATHS = ("/usr/include/", "/usr/lib/", "/usr/lib64/")
"""Where compilers find the headers of the system, which build systems may name too."""
GENERATED = ("config.h", "conf.h")
"""How the headers end that `configure` scripts and CMake make."""
MAX_INCLUDES = 40
MAX_NOTES = 6
"""The most files that an error in a header names as including each other."""


@dataclass(slots=True)
class Preprocessed:
    """The tokens of a file after its directives. ``headers``: those that chose ``apis``. ``unread``: headers of the
    system that are not read, with their lines: what they declare is not known. ``texts``: of the headers that are read,
    by their paths. ``wrong``: calls of macros that have been mended to read on, and ``mistaken``
    these macros."""

    source: Source
    tokens: list[Token]
    headers: tuple[str, ...]
    apis: list[Api]
    unread: list[tuple[str, int]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    wrong: list[Diagnostic] = field(default_factory=list)
    mistaken: set[str] = field(default_factory=set)


def preprocess(
    source: Source,
    registry: Registry,
    flags: Flags = NO_FLAGS,
    files: Files = DISK,
    first: str = "",
    most: int = MAX_EXPANSION,
) -> Preprocessed:
    """The tokens of ``source`` after the preprocessor. ``first``: the first file of the program, when that is another
    one; ``files``: where headers are; ``most``: tokens that macros may give. Raises `SourceError`."""
    processor = _Preprocessor(source, registry, flags, files, first)
    processor.most = most
    for name, body in [*MACROS.items(), *flags.macros]:
        processor.predefine(name, body)
    tokens: list[Token] = []
    try:
        for forced in flags.forced:
            processor.include_first(forced, tokens)
        processor.run(source, tokens, depth=0)
    except SourceError as why:
        raise SourceError(in_order([*processor.wrong, *why.diagnostics])) from None
    headers = tuple(dict.fromkeys(processor.headers))
    result = Preprocessed(source, tokens, headers, processor.apis, processor.unread, processor.texts)
    return replace(result, wrong=processor.wrong, mistaken=processor.mistaken)


@dataclass(slots=True)
class _Condition:
    """An `#if` that is open: whether its present part is ``active``, and whether some part ``taken`` was already."""

    opened: Token
    active: bool
    taken: bool
    outer: bool
    last: bool = False  # after #else


class _Preprocessor:
    def __init__(self, source: Source, registry: Registry, flags: Flags, files: Files, first: str) -> None:
        self.main = source
        self.registry = registry
        self.flags = flags
        self.files = files
        self.first = first or source.file
        self.texts: dict[str, str] = {}
        self.macros: dict[str, Macro] = {}
        self.headers: list[str] = []
        self.unread: list[tuple[str, int]] = []
        self.wrong: list[Diagnostic] = []
        self.mistaken: set[str] = set()
        self.apis: list[Api] = []
        self.count, self.most = 0, MAX_EXPANSION
        self.once: set[str] = set()
        for api in registry.always():
            self._choose(api)

    def predefine(self, head: str, body: str | None) -> None:
        """Define the macro ``head`` with a ``body``, or undefine it with None."""
        macro = _predefined(head, body or "")
        self.macros[macro.name] = macro
        if body is None:
            del self.macros[macro.name]

    def _choose(self, api: Api) -> None:
        if not any(known is api for known in self.apis):
            self.apis.append(api)
            for head, body in api.macros.items():
                self.predefine(head, body)

    # Lines

    def run(self, source: Source, output: list[Token], depth: int) -> None:
        """Carry out the directives of ``source``, and add what is left to ``output``."""
        conditions: list[_Condition] = []
        pending: list[Token] = []
        tokens = list(tokenise(source))
        position = 0
        while position < len(tokens):
            stop_point()
            token = tokens[position]
            active = not conditions or conditions[-1].active
            if not (token.first and token.text == "#"):
                if active:
                    pending.append(token)
                position += 1
                continue
            end = position + 1
            while end < len(tokens) and not tokens[end].first:
                end += 1
            line = tokens[position + 1 : end]
            position = end
            if not line:
                continue
            if self._conditional(line, conditions):
                continue
            if active:
                if not self._ends_in_call(pending):
                    self._flush(pending, output)
                self._directive(line, source, output, depth)
        if conditions:
            raise error("PG102", f"this `#{conditions[-1].opened.text}` has no `#endif`", conditions[-1].opened)
        self._flush(pending, output)

    def _ends_in_call(self, pending: list[Token]) -> bool:
        """Whether a macro call is still open, which goes on after the directive."""
        depth = 0
        for token in reversed(pending[-200:]):
            if token.text in (";", "{", "}"):
                return False
            depth += (token.text == "(") - (token.text == ")")
            if depth > 0:
                return True
        return False

    def _flush(self, pending: list[Token], output: list[Token]) -> None:
        output += self._expand(pending, 0)
        pending.clear()

    def _conditional(self, line: list[Token], conditions: list[_Condition]) -> bool:
        """Follow `#if` and the like (C11, 6.10.1); False for other directives."""
        name, rest = line[0], line[1:]
        outer = not conditions or conditions[-1].active
        match name.text:
            case "if" | "ifdef" | "ifndef":
                holds = outer and self._holds(name, rest)
                conditions.append(_Condition(name, holds, holds, outer))
            case "elif" | "else" | "endif" if not conditions:
                raise error("PG102", f"`#{name.text}` without `#if`", name)
            case "elif" | "else" if conditions[-1].last:
                raise error("PG102", f"`#{name.text}` after `#else`", name)
            case "elif":
                condition = conditions[-1]
                condition.active = condition.outer and not condition.taken and self._holds(name, rest)
                condition.taken |= condition.active
            case "else":
                condition = conditions[-1]
                condition.active = condition.outer and not condition.taken
                condition.taken = condition.last = True
            case "endif":
                conditions.pop()
            case _:
                return False
        return True

    def _holds(self, directive: Token, line: list[Token]) -> bool:
        """Whether the condition of `#if`, `#ifdef` or `#ifndef` holds, with macros expanded but in `defined` (C11,
        6.10.1)."""
        if directive.text in ("ifdef", "ifndef"):
            if not line or line[0].kind != "name":
                raise error("PG102", f"`#{directive.text}` needs the name of a macro", directive)
            return self._defined(line[0].text) == (directive.text == "ifdef")
        if not line:
            raise error("PG102", f"`#{directive.text}` needs a condition", directive)
        replaced: list[Token] = []
        position = 0
        while position < len(line):
            stop_point()
            token = line[position]
            if token.text != "defined":
                replaced.append(token)
                position += 1
                continue
            bracket = position + 1 < len(line) and line[position + 1].text == "("
            at = position + 1 + bracket
            closed = not bracket or (at + 1 < len(line) and line[at + 1].text == ")")
            if at >= len(line) or line[at].kind != "name" or not closed:
                raise error("PG102", "`defined` needs the name of a macro", token)
            replaced.append(replace(token, kind="number", text=str(int(self._defined(line[at].text)))))
            position = at + 1 + bracket
        return Arithmetic(self._expand(replaced, 0), directive, self._constant).value() != 0

    def _defined(self, name: str) -> bool:
        return name in self.macros or any(name in api.constants for api in self.apis)

    def _constant(self, name: str) -> int:
        for api in self.apis:
            if name in api.constants and isinstance(value := api.constants[name][1], Known):
                return value.value
        return 0

    def _directive(self, line: list[Token], source: Source, output: list[Token], depth: int) -> None:
        """Carry out a directive that is no condition."""
        name, rest = line[0], line[1:]
        match name.text:
            case "include" | "include_next" | "import":
                self._include(name, rest, source, output, depth)
            case "define":
                macro = _macro(rest or [name])
                self.macros[macro.name] = macro
            case "undef":
                if not rest or rest[0].kind != "name":
                    raise error("PG102", "`#undef` needs the name of a macro", name)
                self.macros.pop(rest[0].text, None)
            case "error":
                raise error("PG103", f"#error {spelled(rest)}", name, hint="this text asks not to be compiled as it is")
            case "pragma":
                self._pragma(name, rest, source, output)
            case "warning" | "line" | "ident":
                pass
            case _ if name.kind != "number":
                raise error("PG102", f"there is no directive `#{name.text}`", name)

    def _pragma(self, name: Token, line: list[Token], source: Source, output: list[Token]) -> None:
        """One of OpenMP, or one that is not supported, stays as a token: it matters only in a function that is
        called."""
        if line and line[0].text in (OPENMP, PACK, *UNSUPPORTED_PRAGMAS):
            text, last = f"#pragma {spelled(line)}", line[-1].span
            span = replace(name.span, end_line=last.end_line, end_column=last.end_column)
            output.append(self._as_token(replace(name, text=text, span=span), line))
        if line and line[0].text == "once":
            self.once.add(source.file)

    def _as_token(self, pragma: Token, line: Sequence[Token]) -> Token:
        """The ``pragma`` with these tokens behind it; macros in one of OpenMP are expanded (OpenMP 5.2, 3.1)."""
        if line[0].text != OPENMP:
            return replace(pragma, kind=PACK if line[0].text == PACK else "pragma", parts=tuple(line[1:]))
        parts = tuple(self._expand(line[1:], 0))
        if not parts:
            raise error(
                "PG110", "`#pragma omp` names no directive", pragma, "`parallel`, `for`, `task` ... stands there"
            )
        return replace(pragma, kind="omp", parts=parts)

    # Includes

    def _include(self, name: Token, line: list[Token], source: Source, output: list[Token], depth: int) -> None:
        """`#include` (C11, 6.10.2): choose an API, read the header, or skip one of the system."""
        if line and line[0].kind != "string" and line[0].text != "<":
            line = self._expand(line, 0)
        if not line:
            raise error("PG102", "`#include` needs a header in quotes or angle brackets", name)
        if line[0].kind == "string":
            header, quoted = line[0].text.strip('"'), True
        elif line[0].text == "<":
            words = [token.text for token in line[1:]]
            if ">" not in words:
                raise error("PG102", "`#include <` without `>`", line[0])
            header, quoted = "".join(words[: words.index(">")]), False
        else:
            raise error("PG102", "`#include` needs a header in quotes or angle brackets", line[0])
        api = self.registry.by_header(header)
        if api is not None and not (quoted and header in COMMON and self._found(header, quoted, source)):
            self.headers.append(header)
            self._choose(api)
        elif (path := self._found(header, quoted, source, name.text == "include_next")) is not None:
            self._read(path, name, source, output, depth)
        elif header in STANDARD_HEADERS:
            for head, body in MACROS_OF.get(header, {}).items():
                self.predefine(head, body)
        elif (
            header in SYSTEM_HEADERS
            or header.startswith(SYSTEM_FOLDERS)
            or (self.flags.empty_configs and header.endswith(GENERATED))
        ):
            self.unread.append((header, name.span.line))
        else:
            raise self._missing(header, quoted, line)

    def _found(self, header: str, quoted: bool, source: Source, next_only: bool = False) -> str | None:
        """The path of ``header``, as compilers look for it; ``next_only`` (`#include_next`): only in the folders
        after that of ``source``."""
        beside, folders = os.path.dirname(source.file), list(self.flags.folders)
        if quoted and not next_only:
            folders = [beside, *self.flags.quoted, *folders]
        paths = [os.path.normpath(os.path.join(folder, header)) for folder in folders]
        if header in STANDARD_HEADERS | SYSTEM_HEADERS or header.startswith(SYSTEM_FOLDERS):
            paths = [path for path in paths if not os.path.abspath(path).startswith(SYSTEM_PATHS)]
        if next_only and source.file in paths:
            paths = paths[paths.index(source.file) + 1 :]
        return next((path for path in paths if self.files.is_file(path)), None)

    def _missing(self, header: str, quoted: bool, line: list[Token]) -> SourceError:
        looked = [*self.flags.quoted * quoted, *self.flags.folders]
        places = ["beside this file"] * quoted + [f"in {visible(folder)}" for folder in dict.fromkeys(looked)]
        where = f": it is not {' or '.join(places)}" if places else ""
        written = f'"{header}"' if quoted else f"<{header}>"
        hint = "name its folder: -I FOLDER"
        if header.endswith(GENERATED):
            hint += "; if a `configure` script or CMake makes it, run that first, or give --define-missing-config"
        return error("PG109", f"cannot find the header {visible(written)}{where}", line[0], hint, end=line[-1])

    def include_first(self, file: str, output: list[Token]) -> None:
        """Read ``file`` before the first line of the program, as `-include` asks."""
        if self.files.is_file(file):
            self._read(file, Token("name", file, NOWHERE, self.main), self.main, output, 0)
        else:
            raise error_at("PG109", f"cannot find {visible(file)}, which -include names", NOWHERE, self.main)

    def _read(self, path: str, name: Token, source: Source, output: list[Token], depth: int) -> None:
        """Run the header ``path`` unless it asked to be read once; errors in it name the includes that led there."""
        if path in self.once:
            return
        if depth >= MAX_INCLUDES:
            raise error(
                "PG108", f"includes nest more than {MAX_INCLUDES} levels deep", name, hint="does a file include itself?"
            )
        try:
            data = self.files.read(path)
        except OSError as failed:
            code, (why, hint) = "PG004" if file_input.is_too_large(failed) else "PG001", file_input.why(failed)
            raise error(code, f"cannot read {path}: {why}", name, hint) from None
        text = data.decode(errors="replace").removeprefix("\ufeff")
        at = f"included from {visible(source.file)}:{int(name.span.line)}"
        notes = (at, *source.includes)[:MAX_NOTES] if name.span.line else source.includes
        self.texts[path] = text
        self.run(Source(path, text, name_of(path, self.first), notes), output, depth + 1)

    # Macros

    def _expand(self, tokens: Sequence[Token], depth: int) -> list[Token]:
        """``tokens`` with all macros expanded (Prosser's algorithm: a macro is hidden in what comes from itself)."""
        if depth > MAX_NESTING:
            raise error("PG105", f"macro calls nest more than {MAX_NESTING} levels deep", tokens[0])
        result: list[Token] = []
        stack = list(reversed(tokens))
        while stack:
            stop_point()
            token = stack.pop()
            if token.kind != "name" or token.text in token.hidden:
                result.append(token)
                continue
            if token.text in _BUILTIN:
                result.append(_builtin(token))
                continue
            if token.text == "_Pragma":
                result += self._pragma_operator(token, stack)
                continue
            macro = self.macros.get(token.text)
            if macro is None:
                result.append(token)
            elif macro.parameters is None:
                self._push(stack, self._substitute(macro, {}, token, token.span, token.hidden | {macro.name}))
            elif stack and stack[-1].text == "(":
                arguments, closing, wrong = arguments_of(macro, token, stack)
                if wrong:
                    self.wrong += wrong
                    self.mistaken.add(macro.name)
                use = Span(token.span.line, token.span.column, closing.span.end_line, closing.span.end_column)
                if closing.source is not token.source:
                    use = token.span
                hidden = (token.hidden & closing.hidden) | {macro.name}
                self._push(stack, self._substitute(macro, arguments, token, use, hidden, depth))
            else:
                result.append(token)
        return result

    def _push(self, stack: list[Token], tokens: list[Token]) -> None:
        self.count += len(tokens)
        self._not_too_many(self.count, tokens)
        stack.extend(reversed(tokens))

    def _not_too_many(self, count: int, tokens: list[Token]) -> None:
        if count > self.most:
            raise error("PG105", f"the macros of this program give more than {self.most:,} tokens", tokens[0])

    def _pragma_operator(self, token: Token, stack: list[Token]) -> list[Token]:
        if len(stack) < 3 or stack[-1].text != "(" or stack[-2].kind != "string" or stack[-3].text != ")":
            raise error("PG102", "`_Pragma` needs a string in parentheses", token)
        text = stack[-2].text
        del stack[-3:]
        said = Source(token.source.file, string(replace(token, kind="string", text=text)))
        line = [replace(each, span=token.span, source=token.source, direct=False) for each in tokenise(said)]
        if not line or line[0].text not in (OPENMP, *UNSUPPORTED_PRAGMAS):
            return []
        return [self._as_token(replace(token, text=f"_Pragma({text})"), line)]

    def _substitute(
        self,
        macro: Macro,
        arguments: Mapping[str, list[Token]],
        use: Token,
        span: Span,
        hidden: frozenset[str],
        depth: int = 0,
    ) -> list[Token]:
        """The body of ``macro`` with its arguments; its tokens get the place of the use."""
        result: list[Token] = []
        expanded: dict[str, list[Token]] = {}
        body = macro.body
        position = 0

        def placed(token: Token) -> Token:
            return replace(token, span=span, source=use.source, hidden=token.hidden | hidden, direct=False, first=False)

        while position < len(body):
            stop_point()
            self._not_too_many(len(result), result)
            token = body[position]
            following = body[position + 1] if position + 1 < len(body) else None
            if token.text == "#" and macro.parameters is not None and following and following.text in arguments:
                result.append(placed(_as_string(token, arguments[following.text])))
                position += 2
            elif token.text == "##" and following and result:
                right = arguments.get(following.text)
                right = [placed(following)] if right is None else right
                if macro.variadic and result[-1].text == "," and following.text == (macro.parameters or ("",))[-1]:
                    # GNU: `, ## __VA_ARGS__` drops the comma when nothing follows
                    if not right:
                        result.pop()
                    result += expanded.setdefault(following.text, self._expand(right, depth + 1)) if right else []
                elif result[-1].kind == "empty":
                    result.pop()
                    result += right or [_empty(token)]
                elif right:
                    result[-1] = placed(_pasted(result[-1], right[0], use))
                    result += right[1:]
                position += 2
            elif token.text in arguments:
                if following and following.text == "##":
                    result += arguments[token.text] or [_empty(token)]
                else:
                    if token.text not in expanded:
                        expanded[token.text] = self._expand(arguments[token.text], depth + 1)
                    result += expanded[token.text]
                position += 1
            else:
                result.append(placed(token))
                position += 1
        return [
            token if token.hidden >= hidden else replace(token, hidden=token.hidden | hidden)
            for token in result
            if token.kind != "empty"
        ]


def _empty(token: Token) -> Token:
    return replace(token, kind="empty", text="")


def _as_string(token: Token, argument: list[Token]) -> Token:
    words = [
        replace(part, text=part.text.replace("\\", "\\\\").replace('"', '\\"'))
        if part.kind in ("string", "character")
        else part
        for part in argument
    ]
    text = f'"{spelled(words)}"'
    if len(text) > MAX_TEXT:
        raise error("PG105", f"`#` gives a string of more than {MAX_TEXT:,} characters", token)
    return replace(token, kind="string", text=text)


def _pasted(left: Token, right: Token, use: Token) -> Token:
    if len(left.text) + len(right.text) > MAX_TEXT:
        raise error("PG105", f"`##` gives a token of more than {MAX_TEXT:,} characters", use)
    try:
        tokens = list(tokenise(Source(use.source.file, left.text + right.text)))
    except SourceError:
        tokens = []
    if len(tokens) != 1:
        raise error("PG105", f"`{left.text} ## {right.text}` gives no token", use)
    return replace(left, kind=tokens[0].kind, text=tokens[0].text)


_BUILTIN = frozenset({"__FILE__", "__LINE__", "__DATE__", "__TIME__", "__COUNTER__"})


def _builtin(token: Token) -> Token:
    match token.text:
        case "__LINE__":
            return replace(token, kind="number", text=str(int(token.span.line)), direct=False)
        case "__FILE__":
            name = token.source.file.encode("utf-8", "replace").decode().replace("\\", "\\\\").replace('"', '\\"')
            return replace(token, kind="string", text=f'"{name}"', direct=False)
        case "__COUNTER__":
            raise error("PG105", "`__COUNTER__` is not supported", token, hint="write the number")
        case _:
            return replace(token, kind="string", text='"?"', direct=False)


def _macro(line: list[Token]) -> Macro:
    """The macro that is defined by ``line``, the tokens after `#define`."""
    name = line[0]
    if name.kind != "name":
        raise error("PG102", "`#define` needs the name of a macro", name)
    if name.text == "defined":
        raise error("PG102", "`defined` is not the name of a macro", name)
    parameters: tuple[str, ...] | None = None
    variadic = False
    body = line[1:]
    if body and body[0].text == "(" and not body[0].space:
        words: list[str] = []
        position = 1
        while position < len(body) and body[position].text != ")":
            words.append(body[position].text)
            position += 1
        if position == len(body):
            raise error("PG102", f"the parameters of the macro `{name.text}` are not closed", name)
        body = body[position + 1 :]
        listed = [word for word in words if word != ","]
        if listed and listed[-1] == "...":
            variadic = True
            if len(listed) > 1 and words[-2] != ",":
                listed.pop()  # the GNU form `args...`
            else:
                listed[-1] = "__VA_ARGS__"
        if not all(word.isidentifier() for word in listed):
            raise error("PG102", f"the parameters of the macro `{name.text}` are not names", name)
        parameters = tuple(listed)
    return Macro(name.text, parameters, variadic, tuple(body))


@lru_cache(4096)
def _predefined(head: str, body: str) -> Macro:
    """The macro that `-D` or a standard header defines; cached, since these are the same for every program."""
    return _macro(list(tokenise(Source("<predefined>", f"{head} {body}"))))


__all__ = ["MAX_EXPANSION", "Macro", "Preprocessed", "preprocess"]
