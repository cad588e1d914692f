"""Compiles statements (C11, 6.8): choices, loops and jumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pgasrob.diagnostics import SourceError
from pgasrob.frontends.c.code import Binary, Branch, Copy, Label, Leave, Return, Set, Slot
from pgasrob.frontends.c.compiler.emitter import Emitter
from pgasrob.frontends.c.compiler.expression_code import Expressions
from pgasrob.frontends.c.compiler.local_declarations import Declarations
from pgasrob.frontends.c.compiler.operands import NOTHING, Operand
from pgasrob.frontends.c.compiler.scopes import Body, Scope
from pgasrob.frontends.c.compiler.thread_regions import Regions
from pgasrob.frontends.c.compiler.thread_teams import Teams
from pgasrob.frontends.c.layout import with_article
from pgasrob.frontends.c.syntax_tree import Node
from pgasrob.frontends.c.types import INT, CType, Integer, Struct, Void
from pgasrob.frontends.c.values import Known
from pgasrob.stop_points import stop_point


class Statements:
    """Compiles the statements of one function.

    ``result`` is what it returns; ``result_pointer`` holds where to, if that is a struct.
    """

    def __init__(self, emitter: Emitter, body: Body, result: CType, result_pointer: Slot | None = None) -> None:
        self.emitter = emitter
        self.context = emitter.context
        self.targets = body.targets
        self.result = result
        self.result_pointer = result_pointer
        self.expressions = Expressions(emitter, self._block_value)
        self.declarations = Declarations(emitter, body, self.expressions)
        self.regions = Regions(emitter, body, self.expressions, self.declarations, self.statement, Teams)
        self.branches = self.expressions.branches
        self.constants = self.expressions.constants
        self.conversions = self.expressions.conversions
        self.breaks: list[tuple[Label, Scope]] = []
        self.continues: list[tuple[Label, Scope]] = []
        self.cases: dict[int, Label] = {}  # by the id of their nodes
        self._statements: dict[str, Callable[[Node], object]] = {
            "expression_statement": self._expression,
            "compound_statement": self._block,
            "if_statement": self._if,
            "else_clause": self._children,
            "switch_statement": self._switch,
            "case_statement": self._case,
            "while_statement": self._while,
            "do_statement": self._do,
            "for_statement": self._for,
            "break_statement": self._break,
            "continue_statement": self._continue,
            "goto_statement": self._goto,
            "labeled_statement": self._labelled,
            "return_statement": self._return,
            "declaration": self.declarations.declaration,
            "type_definition": self.declarations.typedef,
            "struct_specifier": self.expressions.types.base_type,
            "union_specifier": self.expressions.types.base_type,
            "enum_specifier": self.expressions.types.base_type,
        }

    def statement(self, node: Node) -> None:
        """Compile a statement. After a mistake in it the next one is compiled."""
        try:
            guarded = self.regions.races or self.regions.of_team.guarded
            if (guarded or self.context.token(node).parts) and self.regions.begins(node):
                return
            compile = self._statements.get(node.type)
            if compile is None:
                raise self.context.error("PG120", f"`{self.context.text(node)[:60]}` is not supported", node)
            compile(node)
        except SourceError as wrong:
            self.context.note(wrong)
            self._go_on_inside(node)

    def _go_on_inside(self, node: Node) -> None:
        """Look for further mistakes in what stands inside of a statement that has one."""
        if node.type in ("declaration", "type_definition"):
            self.context.mistaken |= {each.text for each in self.context.tokens[node.first : node.last + 1]}
        with self.emitter.block(node):
            initial = node.get("initializer")
            if node.type == "for_statement" and initial is not None and initial.type == "declaration":
                self.statement(initial)
            parts = [part for name in ("consequence", "alternative", "body") if (part := node.get(name)) is not None]
            self._look_for_names(node, parts)
            for part in parts if node.type != "switch_statement" else ():
                self._body(part, *self.emitter.new_labels(2))

    def _look_for_names(self, node: Node, but: Sequence[Node] = ()) -> None:
        """Note the names in ``node``, ``but`` not in these parts of it, that are unknown."""
        called = node.get("function") if node.type == "call_expression" else None
        if node.type == "identifier":
            try:
                self.expressions.value(node)
            except SourceError as wrong:
                self.context.note(wrong)
        for child in node.children:
            if child is not called and not any(child is each for each in but):
                self._look_for_names(child)

    def _children(self, node: Node) -> None:
        for child in node.children:
            self.statement(child)

    def _block(self, node: Node) -> None:
        with self.emitter.block(node):
            self._children(node)
            self.regions.closes(node)

    def _block_value(self, node: Node) -> Operand:
        """GNU C's `({ ... })`: its value is that of its last expression."""
        with self.emitter.block(node) as around:
            for child in node.children[:-1]:
                self.statement(child)
            if not node.children:
                return NOTHING
            last = node.children[-1]
            if last.type != "expression_statement" or not last.children:
                self.statement(last)
                return NOTHING
            value = self.expressions.value(last.children[0])
            if isinstance(value.type, Struct):
                # Its slot points to an object, which is copied from there later on.
                around.objects |= self.emitter.scope.objects
                self.emitter.scope.objects.clear()
            if value.slot is None or self.emitter.slots[value.slot].name is None:
                return value
            kept = self.emitter.new_slot(self.emitter.slots[value.slot].type)
            self.emitter.move(kept, value)
            return Operand(value.type, kept)

    def _expression(self, node: Node) -> None:
        if node.children:
            with self.emitter.at(node.children[0]):
                self.expressions.effect(node.children[0])

    # Choices

    def _if(self, node: Node) -> None:
        condition, alternative = node["condition"], node.get("alternative")
        mixed = self._short_circuit(condition)
        yes, end = self.emitter.new_labels(2)
        no = end if alternative is None else self.emitter.new_label()
        self.branches.branch(condition, yes, no)
        self.emitter.place(yes)
        if mixed:
            self.emitter.join()
        self._scoped(node["consequence"])
        if alternative is not None:
            self.emitter.jump(end)
            self.emitter.place(no)
            if mixed:
                self.emitter.join()
            self._scoped(alternative)
        self.emitter.place(end)
        with self.emitter.at(condition):
            self.emitter.join()

    def _short_circuit(self, node: Node) -> bool:
        """Whether ``node`` is `&&` or `||`, so that several jumps lead to each branch and have to be joined there."""
        inner = self.context.inside(node)
        while inner.type == "unary_expression" and inner["operator"].type == "!":
            inner = self.context.inside(inner["argument"])
        return inner.type == "binary_expression" and inner["operator"].type in ("&&", "||")

    def _scoped(self, node: Node) -> None:
        """The branch or loop body ``node`` in a block of its own (C11, 6.8.4 and 6.8.5)."""
        with self.emitter.block(node):
            self.statement(node)

    def _switch(self, node: Node) -> None:
        """Compare the promoted value with each case, converted to its type (C11, 6.8.4.2), then jump into the body."""
        with self.emitter.at(node["condition"]):
            value = self.conversions.promoted(self.expressions.integer(node["condition"]), node["condition"])
            slot = self.emitter.slot_of(value)
            type = value.type
            assert isinstance(type, Integer)
            cases = _cases(node["body"])
            default, end = None, self.emitter.new_label()
            seen: set[int] = set()
            for case in cases:
                label = self.cases[id(case)] = self.emitter.new_label()
                choice = case.get("value")
                if choice is None:
                    if default is not None:
                        raise self.context.error("PG121", "a switch has one `default`", case)
                    default = label
                    continue
                number = type.type.wrap(self.constants.number(choice, "the value of a case"))
                if number in seen:
                    raise self.context.error("PG121", f"the case {number} occurs twice", case)
                seen.add(number)
                with self.emitter.at(choice):
                    expected = self.emitter.compute(type, Set, Known(number), type)
                    matches = self.emitter.compute(INT, Binary, "==", slot, expected, type)
                    further = self.emitter.new_label()
                    self.emitter.emit(Branch(matches, label, further))
                    self.emitter.place(further)
            self.emitter.jump(end if default is None else default)
        self.breaks.append((end, self.emitter.scope))
        self._scoped(node["body"])
        self.breaks.pop()
        self.emitter.place(end)
        with self.emitter.at(node["condition"]):
            self.emitter.join()

    def _case(self, node: Node) -> None:
        label = self.cases.get(id(node))
        if label is None:
            raise self.context.error("PG121", "a `case` is only allowed in a `switch`", node)
        self.emitter.place(label)
        self.emitter.join()
        constant = node.get("value")
        for child in node.children:
            if child is not constant:
                self.statement(child)

    # Loops

    def _body(self, node: Node, leave: int, repeat: int) -> None:
        """The body of a loop, with the labels that `break` and `continue` jump to."""
        self.breaks.append((leave, self.emitter.scope))
        self.continues.append((repeat, self.emitter.scope))
        self._scoped(node)
        self.breaks.pop()
        self.continues.pop()

    def _while(self, node: Node) -> None:
        self._loop(node, node["condition"], None)

    def _for(self, node: Node) -> None:
        with self.emitter.block(node):
            initial = node.get("initializer")
            if initial is not None and initial.type == "declaration":
                self.statement(initial)
            elif initial is not None:
                with self.emitter.at(initial):
                    self.expressions.effect(initial)
            self._loop(node, node.get("condition"), node.get("update"))

    def _loop(self, node: Node, condition: Node | None, update: Node | None) -> None:
        """A `while` or `for`: its condition, body and update; `continue` goes to the update."""
        enter, again, leave = self.emitter.new_labels(3)
        repeat = again if node.type == "while_statement" else self.emitter.new_label()
        with self.emitter.at(condition or node):
            self.emitter.place(again)
            loop = self.emitter.begin_loop()
            if condition is not None:
                self.branches.branch(condition, enter, leave)
        self.emitter.place(enter)
        if condition is not None and self._short_circuit(condition):
            self.emitter.join()
        self._body(node["body"], leave, repeat)
        if repeat != again:
            self.emitter.place(repeat)
        if update is not None:
            with self.emitter.at(update):
                self.expressions.effect(update)
        self.emitter.jump(again)
        self.emitter.end_loop(loop)
        self.emitter.place(leave)
        with self.emitter.at(condition or node):
            self.emitter.join()

    def _do(self, node: Node) -> None:
        condition = node["condition"]
        enter, leave, repeat = self.emitter.new_labels(3)
        with self.emitter.at(condition):
            self.emitter.place(enter)
            loop = self.emitter.begin_loop()
        self._body(node["body"], leave, repeat)
        self.emitter.place(repeat)
        with self.emitter.at(condition):
            known = self.constants.truth(condition)
            if known == 0:
                self.emitter.jump(leave)
            else:
                self.branches.branch(condition, enter, leave)
        self.emitter.end_loop(loop, repeats=known != 0)
        self.emitter.place(leave)
        with self.emitter.at(condition):
            self.emitter.join()

    # Jumps

    def _break(self, node: Node) -> None:
        if not self.breaks:
            raise self.context.error("PG121", "a `break` is only allowed in a loop or a `switch`", node)
        self._jump(node, *self.breaks[-1])

    def _continue(self, node: Node) -> None:
        if not self.continues:
            raise self.context.error("PG121", "a `continue` is only allowed in a loop", node)
        self._jump(node, *self.continues[-1])

    def _jump(self, node: Node, label: Label, scope: Scope) -> None:
        """Leave the blocks inside ``scope``, whose objects end, and go to ``label``."""
        self.emitter.leave(scope, node)
        self.emitter.jump(label)

    def _goto(self, node: Node) -> None:
        """Jump to a label. Which objects end there is known once the label has been compiled, perhaps only later."""
        name = self.context.word(node["label"])
        target = self.targets.get(name)
        if target is None:
            raise self.context.error("PG122", f"there is no label `{name}` in this function", node)
        here = {each: tuple(each.objects) for each in self.emitter.scope.outwards()}
        if not target.placed and any(here.values()):
            # What is left is known where the label stands.
            with self.emitter.at(node):
                target.leaving.append((len(self.emitter.code), Leave(()), here))
                self.emitter.emit(target.leaving[-1][1])
        elif ended := self.emitter.ending(target.scopes):
            with self.emitter.at(node):
                self.emitter.emit(Leave(ended))
        self.emitter.jump(target.label)
        if target.head is not None:
            self.emitter.jump_back(target.head)

    def _labelled(self, node: Node) -> None:
        """Place a label, and complete the jumps to it from above, which did not know which objects end."""
        name = self.context.word(node["label"])
        target = self.targets[name]
        if target.placed:
            raise self.context.error("PG121", f"the label `{name}` is defined twice", node)
        target.placed, target.scopes = True, [*self.emitter.scope.outwards()]
        for place, leave, scopes in target.leaving:
            names = (name for scope, objects in scopes.items() if scope not in target.scopes for name in objects)
            if self.emitter.code[place] is leave:
                self.emitter.code[place] = Leave(tuple(names))
        with self.emitter.at(node["label"]):
            self.emitter.place(target.label)
            if target.loops:
                target.head = self.emitter.begin_loop()
            elif target.forward:
                self.emitter.join()
        for child in node.children[1:]:
            self.statement(child)

    def _return(self, node: Node) -> None:
        """Convert the value to the result type (C11, 6.8.6.4); a struct is copied to where the caller wants it."""
        with self.emitter.at(node):
            operand = self.expressions.value(node.children[0]) if node.children else NOTHING
            if isinstance(self.result, Void):
                if not isinstance(operand.type, Void):
                    raise self.context.error("PG123", f"`{self.emitter.name}` returns nothing", node)
                self._leave_function(node)
                self.emitter.emit(Return(None))
                return
            if not node.children:
                raise self.context.error("PG123", f"`{self.emitter.name}` returns {with_article(self.result)}", node)
            slot = self.emitter.slot_of(self.conversions.convert(operand, self.result, node))
            if self.result_pointer is not None:
                self.emitter.emit(Copy(self.result_pointer, slot, self.result))
            self._leave_function(node)
            self.emitter.emit(Return(slot if self.result_pointer is None else None))

    def _leave_function(self, node: Node) -> None:
        """Objects of blocks end where a function returns. Where `main` returns the run ends."""
        if self.emitter.name != "main":
            self.emitter.leave(self.emitter.outermost, node)


def _cases(node: Node) -> list[Node]:
    """The cases of a switch, without those of switches inside it, in their order."""
    found: list[Node] = []
    pending = [node]
    while pending:
        stop_point()
        each = pending.pop()
        if each.type == "case_statement":
            found.append(each)
        if each.type != "switch_statement":
            pending.extend(reversed(each.children))
    return found
