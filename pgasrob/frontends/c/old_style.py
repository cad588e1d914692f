"""Functions as C had them before prototypes (C11, 6.9.1, 13), written with prototypes.

`int f(a, b) char *b; { ... }` becomes `int f(int a, char *b) { ... }`, and a function without a type returns `int`, as
in C90. Where the types of arguments and parameters fit each other, as they must, both mean the same.
"""

from __future__ import annotations

from dataclasses import replace

from pgasrob.frontends.c.tokens import Token, error, nesting


def with_prototypes(tokens: list[Token]) -> list[Token]:
    """``tokens`` of a file, where functions of the old style have prototypes."""
    result: list[Token] = []
    position, depth, begins = 0, 0, True
    while position < len(tokens):
        token = tokens[position]
        definition = _definition(tokens, position) if depth == 0 and token.kind == "name" else None
        if definition is not None:
            names, after, body = definition
            if begins:
                result.append(_int(token))
            result += [token, tokens[position + 1], *_parameters(tokens, names, after, body), tokens[after - 1]]
            position, begins = body, False
            continue
        depth += nesting(token)
        begins = depth == 0 and token.text in (";", "}")
        result.append(token)
        position += 1
    return result


def _definition(tokens: list[Token], position: int) -> tuple[list[Token], int, int] | None:
    """The parameters of the function of the old style whose name is at ``position``, the place after their list, and
    that of the body; None where there is none."""
    following = [each.text for each in tokens[position + 1 : position + 3]]
    before = tokens[position - 1].text if position else ";"
    if following[:1] != ["("]:
        return None
    names, index = [], position + 2
    while index + 1 < len(tokens) and tokens[index].kind == "name" and tokens[index + 1].text in (",", ")"):
        names.append(tokens[index])
        index += 2
        if tokens[index - 1].text == ")":
            break
    untyped = before in (";", "}") and following in (["(", ")"], ["(", "void"])
    if untyped:
        index = position + 3 + (following[1] == "void")
    if not (names or untyped) or tokens[index - 1].text != ")" or index >= len(tokens):
        return None
    body = next((place for place in range(index, len(tokens)) if tokens[place].text in ("{", "=")), len(tokens))
    if body == len(tokens) or tokens[body].text != "{":
        return None
    declares = body > index and tokens[index].kind in ("name", "type") and tokens[body - 1].text == ";"
    untyped |= before in (";", "}")
    return (names, index, body) if declares or (body == index and untyped) else None


def _parameters(tokens: list[Token], names: list[Token], after: int, body: int) -> list[Token]:
    """The list of parameters ``names``, which the tokens from ``after`` to ``body`` declare."""
    declared: dict[str, list[Token]] = {}
    words = {name.text for name in names}
    specifiers: list[Token] = []
    declarator: list[Token] = []
    for token in tokens[after:body]:
        if not declarator and token.text not in ("*", "(", ",", ";") and token.text not in words:
            specifiers.append(token)
        elif token.text in (",", ";") and sum((each.text in "([") - (each.text in ")]") for each in declarator) == 0:
            name = next((each for each in declarator if each.text in words), (specifiers or [token])[-1])
            if name.text not in words or name.text in declared:
                raise error("PG121", f"`{name.text}` is no parameter, or is declared twice", name)
            declared[name.text] = [*specifiers, *declarator]
            declarator = []
            if token.text == ";":
                specifiers = []
        else:
            declarator.append(token)
    result: list[Token] = []
    for name in names:
        comma = [replace(name, kind="sign", text=",")] if result else []
        result += [*comma, *declared.get(name.text, [_int(name), name])]
    return result


def _int(token: Token) -> Token:
    return replace(token, kind="name", text="int", direct=False)
