"""Random C statements with what C's grammar says that they are (C11, 6.5 to 6.9), and syntax trees in that form."""

from __future__ import annotations

from random import Random

from pgasrob.frontends.c.syntax_tree import Node, Parsed

PRELUDE = "typedef int T; typedef struct s { int m; struct s *next; int T; } S; typedef int (*F)(int);"
TYPES = (
    "int", "T", "T *", "struct s", "S *", "unsigned long", "F", "int (*)(int)", "int [3]", "T (*)[2]", "struct s **",
)  # fmt: skip
_BINARY = (
    (5, ("*", "/", "%")), (6, ("+", "-")), (7, ("<<", ">>")), (8, ("<", ">", "<=", ">=")), (9, ("==", "!=")),
    (10, ("&",)), (11, ("^",)), (12, ("|",)), (13, ("&&",)), (14, ("||",)),
)  # fmt: skip
_LEVELS = {sign: level for level, signs in _BINARY for sign in signs}
POSTFIX, UNARY, CAST, CONDITIONAL, ASSIGNMENT, COMMA = 1, 3, 4, 15, 16, 17
"""The level that an expression has by its outermost operator: the lower, the closer it binds. 2 is a name or number."""

Made = tuple[str, str, int]
"""The text, what it is, and its level."""


class Statements:
    """Random ones; ``hidden``: a variable hides the type `T` in the block at hand."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.hidden = False

    def expression(self, depth: int, most: int = COMMA) -> tuple[str, str]:
        """An expression that may stand where its level is at most ``most``, in parentheses if its own is above that."""
        text, tree, level = self._any(depth)
        if level > most or self.random.random() < 0.1:
            text = f"({text})"
        return text, tree

    def place(self, depth: int, postfix: bool = False) -> tuple[str, str]:
        """What can be assigned to."""
        name = self._name()
        (text, tree), (index, inner) = self.expression(depth - 1, POSTFIX), self.expression(depth - 1)
        (pointer, target) = self.expression(depth - 1, CAST)
        choices = [(name, name), (f"({name})", name), (f"{text}[{index}]", _tree("[]", tree, inner))]
        choices += [(f"{text} ->m", _tree("->", tree, "m")), (f"(* {pointer})", _tree("*", target))]
        return self.random.choice(choices if postfix else [*choices, (f"* {pointer}", _tree("*", target))])

    def _name(self) -> str:
        return self.random.choice(("a", "b", "f", "p", "T") if self.hidden else ("a", "b", "f", "p"))

    def _type(self) -> str:
        return self.random.choice([each for each in TYPES if not (self.hidden and "T" in each)])

    def _any(self, depth: int) -> Made:
        random = self.random
        if depth <= 0:
            name = random.choice((self._name(), self._name(), "1", "2"))
            return name, name, 0
        match random.randrange(15):
            case 0 | 1 | 2:
                function, tree = self.expression(depth - 2, POSTFIX)
                given = [self.expression(depth - 1, ASSIGNMENT) for _ in range(random.randrange(3))]
                return (
                    f"{function}({', '.join(each for each, _ in given)})",
                    _tree("call", tree, *(t for _, t in given)),
                    1,
                )
            case 3:
                (text, tree), (index, inner) = self.expression(depth - 1, POSTFIX), self.expression(depth - 1)
                return f"{text}[{index}]", _tree("[]", tree, inner), POSTFIX
            case 4:
                text, tree = self.expression(depth - 1, POSTFIX)
                sign, field = random.choice((".", "->")), random.choice(("m", "next", "T"))
                return f"{text}{' ' if text[-1].isdigit() else ''}{sign}{field}", _tree(sign, tree, field), POSTFIX
            case 5:
                sign = random.choice(("++", "--"))
                text, tree = self.place(depth - 1, postfix=True)
                return f"{text} {sign}", _tree(f"post{sign}", tree), POSTFIX
            case 6:
                sign = random.choice(("++", "--"))
                text, tree = self.place(depth - 1)
                return f"{sign} {text}", _tree(sign, tree), UNARY
            case 7 | 8:
                sign = random.choice("&*+-~!")
                text, tree = self.expression(depth - 1, CAST)
                return f"{sign} {text}", _tree(sign, tree), UNARY
            case 9:
                if random.random() < 0.5:
                    type = self._type()
                    return f"sizeof({type})", _tree("sizeof", _type_tree(type)), UNARY
                text, tree = self.expression(depth - 1, UNARY)
                return f"sizeof {text}", _tree("sizeof", tree), UNARY
            case 10:
                type, (text, tree) = self._type(), self.expression(depth - 1, CAST)
                return f"({type}){text}", _tree("cast", _type_tree(type), tree), CAST
            case 11 if random.random() < 0.3:
                type, (text, tree) = self._type(), self.expression(depth - 1, ASSIGNMENT)
                return f"({type}){{{text}}}", _tree("literal", _type_tree(type), tree), POSTFIX
            case 12:
                (test, first), (yes, second) = self.expression(depth - 1, CONDITIONAL - 1), self.expression(depth - 1)
                no, third = self.expression(depth - 1, CONDITIONAL)
                return f"{test} ? {yes} : {no}", _tree("?", first, second, third), CONDITIONAL
            case 13:
                (text, tree), (value, inner) = self.place(depth - 1), self.expression(depth - 1, ASSIGNMENT)
                sign = random.choice(("=", "+=", "*=", "&="))
                return f"{text} {sign} {value}", _tree(sign, tree, inner), ASSIGNMENT
            case 14 if random.random() < 0.3:
                (text, tree), (value, inner) = self.expression(depth - 1), self.expression(depth - 1, ASSIGNMENT)
                return f"{text}, {value}", _commas(tree, inner), COMMA
        sign = random.choice(("*", "*", "&", "&", *_LEVELS))
        level = _LEVELS[sign]
        (text, tree), (other, inner) = self.expression(depth - 1, level), self.expression(depth - 1, level - 1)
        return f"{text} {sign} {other}", _tree(sign, tree, inner), level

    def statement(self, depth: int) -> tuple[str, str]:
        random = self.random
        text, tree = self.expression(3)
        match random.randrange(12) if depth else 0:
            case 1:
                return f"if ({text}) {(then := self.statement(depth - 1))[0]}", _tree("if", tree, then[1])
            case 2:
                body, inner = self.statement(depth - 1)
                return f"while ({text}) {body}", _tree("while", tree, inner)
            case 3:
                body, inner = self.statement(depth - 1)
                return f"do {body} while ({text});", _tree("do", inner, tree)
            case 4:
                return f"return {text};", _tree("return", tree)
            case 5:
                body, inner = self.statement(depth - 1)
                return f"T: {body}", _tree("label", "T", inner)
            case 6:
                declared, first = self.declaration()
                body, inner = self.statement(depth - 1)
                return f"{{ {declared} {body} }}", _tree("block", first, inner)
            case 7:
                before, self.hidden = self.hidden, True
                body, inner = self.statement(depth - 1)
                self.hidden = before
                return f"{{ int T; {body} }}", _tree("block", "(declare int T)", inner)
            case 8:
                body, inner = self.statement(depth - 1)
                return f"for (int i = {text}; {text}; {text}) {body}" if "," not in text else f"for (;;) {body}", _tree(
                    "for", *((f"(declare int (= i {tree}))", tree, tree) if "," not in text else ()), inner
                )
            case 9:
                body, inner = self.statement(depth - 1)
                return f"switch ({text}) {{ case 1: {body} }}", f"(switch {tree} (block (case 1 {inner})))"
        return f"{text};", tree

    def declaration(self) -> tuple[str, str]:
        name = self.random.choice("xyz")
        (text, tree), type = self.expression(2, ASSIGNMENT), self.random.choice(("int", "S", "unsigned long"))
        match self.random.randrange(5):
            case 0:
                return f"{type} *{name} = {text};", f"(declare {type} (= (*d {name}) {tree}))"
            case 1:
                return f"{type} {name}[{text}];", f"(declare {type} ([]d {name} {tree}))"
            case 2:
                return f"{type} ({name}), q = {text};", f"(declare {type} {name} (= q {tree}))"
            case 3:
                return f"{type} {name} = {{ {text} }};", f"(declare {type} (= {name} ({{}} {tree})))"
        return f"{type} {name} = {text};", f"(declare {type} (= {name} {tree}))"


def _tree(kind: str, *parts: str) -> str:
    return f"({' '.join((kind, *parts))})"


def _commas(*parts: str) -> str:
    """Whether the left or the right two belong together is all the same."""
    inside = [part[3:-1] if part.startswith("(, ") else part for part in parts]
    return _tree(",", *inside)


def _type_tree(type: str) -> str:
    return "<" + type.replace(" ", "") + ">"


_FIELDS = {
    "call_expression": ("call", "function", "arguments"), "subscript_expression": ("[]", "argument", "index"),
    "conditional_expression": ("?", "condition", "consequence", "alternative"),
    "cast_expression": ("cast", "type", "value"),
    "compound_literal_expression": ("literal", "type", "value"),
    "if_statement": ("if", "condition", "consequence"), "while_statement": ("while", "condition", "body"),
    "do_statement": ("do", "body", "condition"), "for_statement": ("for", "initializer", "condition", "update", "body"),
    "switch_statement": ("switch", "condition", "body"), "declaration": ("declare", "type", "declarator"),
    "init_declarator": ("=", "declarator", "value"), "pointer_declarator": ("*d", "declarator"),
    "array_declarator": ("[]d", "declarator", "size"),
}  # fmt: skip
_ALL = {
    "return_statement": "return", "labeled_statement": "label", "compound_statement": "block", "case_statement": "case",
}  # fmt: skip


def tree_of(node: Node, parsed: Parsed) -> str:
    """``node`` as `Statements` writes it."""

    def words(node: Node) -> str:
        return "".join(token.text.replace(" ", "") for token in parsed.tokens[node.first : node.last + 1])

    def parts(nodes: list[Node]) -> list[str]:
        return [tree_of(each, parsed) for each in nodes]

    match node.type:
        case "parenthesized_expression" | "expression_statement" | "parenthesized_declarator":
            (inner,) = node.children
            return tree_of(inner, parsed)
        case "argument_list":
            return " ".join(parts(node.children))
        case "type_descriptor":
            return f"<{words(node)}>"
        case "sizeof_expression":
            return _tree("sizeof", *parts(node.children))
        case "comma_expression":
            return _commas(*parts([node["left"], node["right"]]))
        case "binary_expression" | "assignment_expression":
            return _tree(node["operator"].type, *parts([node["left"], node["right"]]))
        case "field_expression":
            return _tree(node["operator"].type, *parts([node["argument"], node["field"]]))
        case "unary_expression" | "pointer_expression":
            return _tree(node["operator"].type, *parts([node["argument"]]))
        case "update_expression":
            post = "post" if node["argument"].first == node.first else ""
            return _tree(post + node["operator"].type, *parts([node["argument"]]))
        case "initializer_list":
            text = " ".join(parts(node.children))
            return text if parsed.tokens[node.first - 1].text == ")" else _tree("{}", text)
    if node.type in _FIELDS:
        kind, *names = _FIELDS[node.type]
        return _tree(kind, *(text for name in names for text in parts(node.fields.get(name, [])) if text))
    if node.type in _ALL:
        return _tree(_ALL[node.type], *parts(node.children))
    return parsed.tokens[node.first].text
