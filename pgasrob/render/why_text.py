"""Why two accesses are in order, in sentences: what orders them, and what could happen without it."""

from __future__ import annotations

from typing import assert_never

from pgasrob.render import english
from pgasrob.render.diagnosis_text import Diagnosis
from pgasrob.render.source_commands import Calls, WrittenCommands
from pgasrob.render.verdict_json import Orders, WhyInOrder
from pgasrob.robustness.suspects import Suspect
from pgasrob.robustness.why import Why, Without

NONE_BETWEEN = "there is none between them"


def why_to_json(found: Why) -> WhyInOrder:
    sentences = Sentences(found)
    return {
        "lines": list(found.lines),
        "answer": found.answer,
        "sentences": [english.capital(sentence) for sentence in sentences.sentences()],
        "orders": [[sentences.suspect(each) for each in without.suspects] for without in found.without],
        "without": [sentences.happens(without) for without in found.without],
        "checks": found.checks,
    }


class Sentences:
    def __init__(self, found: Why) -> None:
        self._found, self._instance = found, found.instance
        self._texts = WrittenCommands(found.instance)

    def sentences(self) -> list[str]:
        found = self._found
        pair = f"lines {found.lines[0]} and {found.lines[1]}" if found.lines[0] != found.lines[1] else "this line"
        match found.answer:
            case "ordered":
                sentences = [
                    f"{self._does(each.suspects[0], each)}. "
                    f"Without that, in some run on the network {self.happens(each)}."
                    for each in found.without
                ]
                if found.untried:
                    sentences.append(f"{english.count(found.untried, 'more command')} between them were not tried.")
                return sentences
            case "several":
                [without] = found.without
                parts = list(dict.fromkeys(self._does(each, without) for each in without.suspects))
                alone = "none of them" if len(parts) > 2 else "neither of them"
                return [
                    f"{english.listed(parts)}: {alone} is needed as long as the others are there. Without all of them, "
                    f"in some run on the network {self.happens(without)}."
                ]
            case "other":
                return [
                    f"it is not known what orders {pair}: without what lies between, the program is not robust, but "
                    "the runs that show it are about other accesses."
                ]
            case "not needed":
                robust = "the program is robust without each of those between them, and without all of them"
                return [
                    f"no wait, fence or barrier is needed to order {pair}: {robust if found.checks else NONE_BETWEEN}. "
                    "Their accesses are in conflict, but no run on the network has them in an order that no "
                    "sequentially consistent run has."
                ]
            case "no conflict":
                return [
                    f"the accesses of {pair} to one cell are never in conflict: none of them writes, or they are "
                    "updates that commute."
                ]
            case "no cell":
                return [f"the commands of {pair} never access the same cell, so there is nothing to order."]
            case "no access":
                return [f"no rank accesses shared memory in line {found.line}, so there is nothing to order."]
            case "not robust":
                return ["--why is for robust programs: this one is not, and its counterexample says what goes wrong."]
            case "not known":
                return [f"it is not known what orders {pair}: {found.reason or 'a check has come to no answer'}."]
            case _:
                assert_never(found.answer)

    def suspect(self, suspect: Suspect) -> Orders:
        return {
            "does": suspect.does,
            "command": self._name(suspect),
            "line": suspect.span.line,
            "column": suspect.span.column,
        }

    def _does(self, suspect: Suspect, without: Without) -> str:
        """``the shmem_quiet in line 7 completes the shmem_int_put in line 6``."""
        operation = self._diagnosis(without).operation(without.late)
        mine = f"the {self._name(suspect)} in line {suspect.span.line}"
        itself = mine == operation
        match suspect.does:
            case "completes":
                return f"{mine} is complete when it returns" if itself else f"{mine} completes {operation}"
            case "completes locally":
                ready = "has read its source or brought its value"
                return f"{mine} {ready} when it returns" if itself else f"{mine} waits until {operation} {ready}"
            case "captures":
                return f"{mine} has read its source when it returns"
            case "orders":
                return f"{mine} orders {operation} before {self._diagnosis(without).following(without.late)}"
            case "meets":
                return f"{mine} comes between: no rank passes it before all have arrived"
            case "notifies":
                if itself:
                    return f"the signal of {mine} comes after its data"
                return f"{mine} comes after {operation}, as notifications and signals do"
            case "queues":
                if not self._instance.program.source.shows_commands:
                    return f"{operation} and operations like it are done in the order in which they are issued"
                name = self._instance.program.queue_name(suspect.queue or 0)
                return f"queue {name}, in which {operation} is, keeps its operations in order"
            case "accumulates":
                return f"{mine} keeps its place among the rank's updates of one cell"
            case _:
                assert_never(suspect.does)

    def _diagnosis(self, without: Without) -> Diagnosis:
        """Of the run of a changed program, in whose place the commands of the program are named."""
        return Diagnosis(without.run, written=self._instance)

    def happens(self, without: Without) -> str:
        """What happens then: ``rank 1 reads x in line 4 before the put of rank 0 in line 2 has arrived there``."""
        return self._diagnosis(without).overtaking(without.late)

    def _name(self, suspect: Suspect) -> str:
        """The call in C, else the kind of the command."""
        edges = self._instance.automata[suspect.rank].transitions
        edge = next(edge for edge in edges if edge.occurrence == suspect.occurrence)
        if self._instance.program.source.shows_commands:
            return edge.command.kind
        return Calls(self._instance, self._texts).at(suspect.rank, suspect.occurrence) or edge.command.kind
