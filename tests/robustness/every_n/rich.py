"""Random C programs for any number of nodes that use much of the language and of every API, by `rich.grammar`.

Each has some of the features. It computes with the rank and how many there are, and ranks write to each other; what
comes of it is put into `out`, which a transfer reads at the end, so that it lies in cells. Where a program is not
``racy``, what ranks do to each other lies between barriers, and two of them do not write to one cell.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from random import Random

APIS = ("OpenSHMEM",) * 8 + ("MPI",) * 8 + ("GASPI",) * 6 + ("GASNet",) * 4 + ("ARMCI",) * 4
RARE = {"odd rank", "odd cell", "stops", "printing", "maths", "characters", "unknown", "exclusive", "growing end"}
DEEP = {"int": 2, "double": 1, "condition": 1}
"""How deep expressions are nested."""

Grammar = dict[str, list[tuple[str, str]]]
"""By symbol: features, "" for none, and texts."""


@cache
def grammar() -> Grammar:
    found: Grammar = defaultdict(list)
    symbol = ""
    for line in Path(__file__).with_name("rich.grammar").read_text().splitlines():
        if head := re.fullmatch(r"\[(.*)\]", line):
            symbol = head[1]
        elif symbol and not re.match(r"# |#?$", line):
            feature, mark, text = line.rpartition(" :: ")
            found[symbol].append((feature if mark else "", text))
    return found


def features() -> set[str]:
    """All of them, those of an API with its name."""
    return {
        f"{symbol.partition(' ')[0]}: {feature}" if symbol.partition(" ")[0] in APIS else feature
        for symbol, texts in grammar().items()
        for feature, _ in texts
        if feature
    }


class Rich:
    """One program. ``used``: how often each feature stands in it."""

    def __init__(self, seed: int, *, racy: bool) -> None:
        self.random = Random(seed)
        self.racy = racy
        self.api = self.random.choice(APIS)
        self.has = {each for each in sorted(features()) if self.random.random() < (0.15 if self._rare(each) else 0.4)}
        self.used: Counter[str] = Counter()
        self.known: list[str] = []
        self.fresh = 0
        self.nested = 0

    @staticmethod
    def _rare(feature: str) -> bool:
        return feature.rpartition(": ")[2] in RARE

    def text(self, symbol: str, deeper: int = 0) -> str:
        """What stands for ``symbol``, which nests by so many."""
        found = grammar()
        if deeper <= 0 and f"{symbol}0" in found and symbol in DEEP:
            symbol = f"{symbol}0"
        own = f"{self.api} {symbol}"
        prefix = f"{self.api}: " if own in found else ""
        texts = found[own if own in found else symbol]
        allowed = [each for each in texts if not each[0] or prefix + each[0] in self.has]
        if not allowed:
            return self.text("statement 0") if symbol == "move" else self.text(symbol)
        feature, text = self.random.choice(allowed)
        self.used[prefix + feature] += bool(feature)
        return self._expanded(text, deeper - 1 if symbol in DEEP else None)

    def _expanded(self, text: str, deeper: int | None) -> str:
        names: dict[str, str] = {}
        around = ""

        def one(match: re.Match[str]) -> str:
            nonlocal around
            symbol = match[1]
            if re.fullmatch(r"[a-z]\d", symbol):
                if symbol not in names:
                    self.fresh += 1
                    names[symbol] = f"{symbol[0]}{self.fresh}"
                    if symbol[0] == "k":
                        self.known.append(names[symbol])
                return names[symbol]
            match symbol:
                case "t":
                    return names.setdefault("t", self.text("rank" if self.racy else "other"))
                case "rank" if not self.racy:
                    return self.text("other")
                case "epoch" | "passive":
                    around = self.text(symbol)
                    return ""
                case "known":
                    return self.random.choice([*self.known, *self.known, "gl"])
                case "assigned" | "variable":
                    return self.random.choice([*(each for each in self.known if each[0] == "v"), "count"])
                case "block":
                    return self._block()
                case "statement0":
                    return self.text("statement 0")
                case "move" if not self.racy:
                    if self.nested:
                        return self.text("statement 0")
                    return f"{self.text('barrier')} {self.text('move')} {self.text('barrier')}"
                case "@":
                    return "@@"
            return self.text(symbol, DEEP.get(symbol, 0) if deeper is None else deeper)

        count = len(self.known)
        done = re.sub(r"@(\w+|@)", one, text)
        del self.known[count:]
        if declared := names.get("v1"):
            self.known.append(declared)
        if around:
            before, _, after = around.partition("@@")
            done = f"{before}{done}{after}"
        return done.replace("@t", names.get("t", "@t")) if around else done

    def _block(self) -> str:
        self.nested += 1
        count = len(self.known)
        few = self.random.randint(1, 2)
        inner = " ".join(self.text("statement" if self.nested < 3 else "statement 0") for _ in range(few))
        del self.known[count:]
        self.nested -= 1
        return inner

    def program(self) -> str:
        found = grammar()
        head = [text for symbol in (f"{self.api} head", "prelude") for _, text in found[symbol]]
        body = [self.text("statement") for _ in range(self.random.randint(*((2, 4) if self.racy else (3, 9))))]
        body.append(self.text("barrier"))
        if not self.racy:
            body += [f"out[{place}] ^= {self.text('shared')};" for place in range(4)]
        body.append("out[15] = gl + arr[0] * 3 + arr[3] * 5 + gc + gs * 7 + gu + st[0].a + st[1].b + whole.c;")
        begin, end = (self._expanded(found[f"{self.api} {each}"][0][1], 0) for each in ("begin", "end"))
        return "\n".join((*head, "int main(void) {", *(f"  {each}" for each in (begin, *body, end)), "}", ""))


def rich(seed: int, *, racy: bool) -> tuple[str, Counter[str]]:
    """The program of ``seed``, and how often each feature stands in it."""
    drawn = Rich(seed, racy=racy)
    return drawn.program(), +drawn.used
