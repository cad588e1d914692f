"""What a source file says about itself in its first comment (the design, sections 3 and 6).

    // expect: robust
    // expect: not robust
    // expect: robust at 2..3, not robust at 4
    // expect: robust at all
    // expect: error
    // expect with failed polls counted: not robust
    // expect with all conflicts: not robust
    // expect with failed polls counted and all conflicts: not robust
    // races: none
    // races: none at 2, 3 pairs at 4
    // unified: defined
    // separate: undefined at 2, defined
    // tso: not robust
    // rdma-tso: robust
    // rdma-tso no-pcie: not robust
    // corerma: refused
    // synchronised: yes at 2, no (stuck, race) at 3

The first line gives the verdict in the default reading. Further lines give other readings where their verdict differs,
how many pairs of lines race (`Race.lines` says what a pair is), whether the program is correctly synchronised and what
is wrong where it is not (`robustness.synchronisation`), the status of the program in a memory model of MPI:
defined, eventual or undefined (`races.mpi`), and the verdict on a network, `refused` where the network has no
counterpart of the program (`models.networks`). A C file may write `/* expect: robust */` as well and, having no other
place for it, its node count: `// nodes: 4`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from pgasrob.diagnostics.suggestions import closest
from pgasrob.program.declarations import Source
from pgasrob.program.instance import MAX_NODES
from pgasrob.program.reading import DEFAULT_READING, Reading
from pgasrob.program.report import Report, short
from pgasrob.program.statements import Span
from pgasrob.stop_points import stop_point

COMMENT = re.compile(r"\s*(?://(?P<line>[^\n]*)|/\*(?P<block>.*?)(?:\*/|\Z))", re.DOTALL)
"""The next comment, if only blanks precede it."""
ENTRY = re.compile(
    r"[ \t*]*(?P<entry>(?P<key>expect\w*|races?|nodes|unified|separate|synchronised)\b[ \t]*+"
    r"(?:with\b[ \t]*+(?P<with>[^:]*+)(?=:))?(?P<colon>:?)"
    r"[ \t]*(?P<value>.*))",
    re.IGNORECASE,
)
"""A line of a comment that begins with one of the words, however it goes on."""
NETWORK = re.compile(
    r"[ \t*]*(?P<entry>(?P<network>tso|rdma-tso|corerma)(?P<variant>(?:[ \t]+(?:no-pcie|placed|glob|vpi))*)[ \t]*:"
    r"[ \t]*(?P<value>.*))"
)
"""A line about a network, with what is not as in its paper."""
MEANT = re.compile(
    r"[ \t*]*(?P<entry>(?P<network>[\w-]+)(?P<variant>(?:[ \t]+[\w-]+){0,3})[ \t]*:"
    r"[ \t]*(?:(?:not[ \t]+)?robust|refused)\b.*)",
    re.IGNORECASE,
)
"""A line that is probably meant as one about a network, with an unknown name or variant."""
LATER = re.compile(
    r"^[ \t]*(?://|/?\*)[ \t]*(?P<entry>(?P<races>races[ \t]*:[ \t]*(?=none|[0-9]))?"
    r"(?P<model>(?:(?:unified|separate)[ \t]*:[ \t]*(?=defined|undefined|eventual))|"
    r"(?:synchronised[ \t]*:[ \t]*(?=yes\b|no \())|"
    r"(?:(?:tso|rdma-tso|corerma)(?:[ \t]+(?:no-pcie|placed|glob|vpi))*[ \t]*:[ \t]*(?=(?:not )?robust|refused)))?"
    r"(?(races)|(?(model)|expect(?:[ \t]+with\b[^:\r\n]*)?[ \t]*:))[^\r\n]*)",
    re.MULTILINE,
)
"""A line that would be an expectation if it stood at the head."""
NETWORKS: dict[str, tuple[str, ...]] = {"tso": (), "rdma-tso": ("no-pcie", "placed", "glob"), "corerma": ()}
"""What a line about a network may name, with the words for what is not as in its paper."""
ALIKE = 0.75
"""How much a word is like the name of a network that it stands for; `note` and `tso` are not."""
AT = r"(?: at ([0-9]{1,5})(?:\.\.([0-9]{1,5}))?)?"
CASE = re.compile(rf"(robust|not robust|error){AT}(?:(?<=^robust) at all)?")
RACES = re.compile(rf"(none|1 pair|(?!1 )[1-9][0-9]{{0,6}} pairs){AT}")
STATUS = re.compile(rf"(defined|eventual|undefined){AT}")
WRONG = "illegal|stuck|fails|not robust|race"
SYNCHRONISED = re.compile(rf"(yes|no \((?:{WRONG})(?:, (?:{WRONG}))*\)){AT}")
ON_NETWORK = re.compile(rf"(robust|not robust|refused){AT}")
READINGS = {
    "failed polls counted": Reading(failed_polls="count"),
    "all conflicts": Reading(conflicts="all"),
    "failed polls counted and all conflicts": Reading("count", "all"),
    "waits by value": Reading(waits="value"),
}
HINT = "write `expect: robust`, `not robust` or `error`; for some node counts only, `robust at 2..3, not robust at 4`"
TO_THE_TOP = "move it to the top of the file"
RACES_HINT = "write `races: none` or `races: 3 pairs`; for some node counts only, `none at 2..3, 1 pair at 4`"
NETWORK_HINT = "write `robust`, `not robust` or `refused`; for some node counts only, `robust at 2..3, not robust at 4`"
SYNCHRONISED_HINT = "write `synchronised: yes` or `no (stuck, race)`, of illegal, stuck, fails, not robust and race"
STATUS_HINT = "write `defined`, `eventual` or `undefined`; for some node counts only, `defined at 2..3, undefined at 4`"


@dataclass(frozen=True, slots=True)
class Case:
    """``verdict`` is expected on as many nodes as ``counts`` says; None: on every count that no other case names.
    `at all` says so too.

    Of races it is the number of pairs in words: ``none``, ``1 pair``, ``3 pairs``; of a memory model the status.
    """

    verdict: str
    counts: range | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """The cases of the `expect:` line, those of the lines for other readings and of the `races:` line, the count of the
    `nodes:` line, the cases of the lines for memory ``models`` and for ``networks`` ("rdma-tso no-pcie"), and those of
    the `synchronised:` line.

    Each may be missing.
    """

    cases: tuple[Case, ...]
    nodes: int | None = None
    readings: tuple[tuple[Reading, tuple[Case, ...]], ...] = ()
    races: tuple[Case, ...] = ()
    models: tuple[tuple[str, tuple[Case, ...]], ...] = ()
    networks: tuple[tuple[str, tuple[Case, ...]], ...] = ()
    synchronised: tuple[Case, ...] = ()

    @property
    def counts(self) -> tuple[int, ...]:
        """The node counts that the `expect:` line names."""
        return tuple(sorted({count for case in self.cases for count in case.counts or ()}))

    def network_at(self, network: str, nodes: int | None) -> str | None:
        """The verdict expected on a ``network`` ("rdma-tso no-pcie"), None when nothing is said about it."""
        return _at(dict(self.networks).get(network, ()), nodes)

    def status_at(self, model: str, nodes: int | None) -> str | None:
        """The status expected in a memory ``model``, `unified` or `separate`, None when nothing is said about it."""
        return _at(dict(self.models).get(model, ()), nodes)

    def synchronised_at(self, nodes: int | None) -> str | None:
        """What is expected of synchronisation on ``nodes`` nodes: ``yes``, or ``no (stuck, race)`` in the order of
        reports; None when nothing is said about it."""
        found = _at(self.synchronised, nodes)
        given = found.removeprefix("no (").removesuffix(")").split(", ") if found else []
        return found if found in ("yes", None) else f"no ({', '.join(w for w in WRONG.split('|') if w in given)})"

    def races_at(self, nodes: int | None) -> str | None:
        """How many pairs of lines are expected to race on ``nodes`` nodes in the default reading (``none``, ``1 pair``,
        ``3 pairs``), or ``error`` where that is the verdict; None when nothing is said about that count."""
        return _at(self.races, nodes) or ("error" if self.at(nodes) == "error" else None)

    def at(
        self, nodes: int | Literal["all"] | None, reading: Reading = DEFAULT_READING, machine: str = ""
    ) -> str | None:
        """The verdict expected on ``nodes`` nodes, None when nothing is said about that count.

        None for ``nodes`` asks about the file as a whole: one that does not parse is in error before it has a count.
        "all" asks about every count: one verdict that is not `robust` is that of all, and where some counts are named
        alone nothing is said of all.
        Where nothing is said about a ``reading`` by itself its verdict is that of the default one, unless a part of
        the reading has a verdict of its own: with more events and more conflicts no violation goes away. On a
        ``machine``, "tso", it is what is said of that, else what is expected without.
        """
        if machine and nodes != "all" and (on := self.network_at(machine, nodes)):
            return on
        stated = dict(self.readings)
        stated_by = [reading, reading._replace(waits="condition")]
        parts = [*stated_by, reading._replace(failed_polls="wait"), reading._replace(conflicts="commuting")]
        parts += [Reading(waits=reading.waits)]
        found = (_at(stated.get(part, ()), nodes) for part in parts)
        return next((verdict for verdict in found if verdict), None) or _at(self.cases, nodes)


def _implied(case: Case) -> Case:
    """What a case of the `synchronised:` line expects of robustness."""
    return replace(case, verdict="not robust" if "not robust" in case.verdict else "robust")


def _at(cases: Iterable[Case], nodes: int | Literal["all"] | None) -> str | None:
    cases = tuple(cases)
    if nodes == "all":
        other = (
            case.verdict for case in cases if case.verdict != "robust" and (case.counts is None or case.counts[-1] > 1)
        )
        return next(other, None) or _at(cases, None)
    named = (case.verdict for case in cases if case.counts and nodes in case.counts)
    otherwise = (case.verdict for case in cases if not case.counts)
    return next(named, next(otherwise, None))


def node_count(text: str, file: str = "<string>") -> int | None:
    """The node count that the comments at the head of ``text`` give, whatever else they say: a C file may speak of what
    it expects in words of its own. Raises :class:`pgasrob.diagnostics.SourceError` (PG070) for one that is none."""
    found = _Head(text.removeprefix("\ufeff"), file, verdicts=False).read()
    return found.nodes if found else None


def read_expectation(text: str, file: str = "<string>") -> Expectation | None:
    """What the comments at the head of ``text`` say, None when they neither expect anything nor give a node count.

    The verdict expected stands in the very first comment, all else there or in one of the comments that follow it.
    Raises :class:`pgasrob.diagnostics.SourceError` (PG070) for an expectation that is malformed, given twice, or in
    another place: what was meant as one is never passed over.
    """
    return _Head(text.removeprefix("\ufeff"), file).read()


class _Head:
    """Reads the comments at the head of one file. Places are offsets in its text."""

    def __init__(self, text: str, file: str, verdicts: bool = True) -> None:
        self.source = Source(file, text)
        self.verdicts = verdicts
        self.cases: dict[Reading, tuple[Case, ...]] = {}
        self.races: tuple[Case, ...] = ()
        self.models: dict[str, tuple[Case, ...]] = {}
        self.networks: dict[str, tuple[Case, ...]] = {}
        self.synchronised: tuple[Case, ...] = ()
        self.nodes: int | None = None

    def read(self) -> Expectation | None:
        text, end, first = self.source.text, 0, True
        while comment := COMMENT.match(text, end):
            stop_point()
            kind = comment.lastgroup or "line"
            for line in re.finditer(r"[^\n]+", comment[kind]):
                self.read_line(line[0].rstrip(" \t\r*"), comment.start(kind) + line.start(), first)
            end, first = comment.end(), False
        if self.verdicts and (later := LATER.search(text, end)):
            anywhere = later["races"] or later["model"]
            hint = "move it to the comments at the top of the file" if anywhere else TO_THE_TOP
            self.misplaced(later["entry"], later.start("entry"), hint)
        if not any((self.cases, self.nodes, self.races, self.models, self.networks, self.synchronised)):
            return None
        default = self.cases.pop(DEFAULT_READING, ()) or tuple(map(_implied, self.synchronised))
        models, networks = tuple(self.models.items()), tuple(self.networks.items())
        readings = tuple(self.cases.items())
        return Expectation(default, self.nodes, readings, self.races, models, networks, self.synchronised)

    def read_line(self, line: str, place: int, first: bool) -> None:
        """Note the entry of ``line``, if it is one; ``first``: the line is in the first comment."""
        if network := NETWORK.fullmatch(line):
            if self.verdicts:
                self.read_network(network, place)
            return
        match = ENTRY.fullmatch(line)
        if match is None:
            if self.verdicts and (meant := MEANT.fullmatch(line)):
                self.check_network(meant, place)
            return
        key, colon, value, entry = match["key"], match["colon"], match["value"], match["entry"]
        place_of_entry, place_of_value = place + match.start("entry"), place + match.start("value")

        def cases(earlier: object, subject: str, form: re.Pattern[str], hint: str) -> tuple[Case, ...]:
            if earlier:
                self.fail(f"a second expectation{subject}", entry, place_of_entry, "keep one of them")
            return self.split(value, place_of_value, form, hint)

        if key.lower() == "nodes":
            if colon:
                self.read_nodes(value, place_of_value)
        elif not self.verdicts:
            return
        elif key.lower() in ("race", "races"):
            if colon and key == "races" and match["with"] is None:
                self.races = cases(self.races, " of races", RACES, RACES_HINT)
            elif re.match(r"none\b|[0-9]+ pair", value):  # otherwise a sentence that begins with the word
                self.fail("the races that are expected are written `races: ...`", entry, place_of_entry, RACES_HINT)
        elif key.lower() in ("unified", "separate"):
            if colon and key in ("unified", "separate") and match["with"] is None:
                self.models[key] = cases(key in self.models, f" of the {key} model", STATUS, STATUS_HINT)
        elif key.lower() == "synchronised":
            if colon and key == "synchronised" and match["with"] is None:
                self.synchronised = cases(self.synchronised, " of synchronisation", SYNCHRONISED, SYNCHRONISED_HINT)
        elif match["with"] is not None:
            reading = READINGS.get(" ".join(match["with"].lower().split()))
            if reading is None:
                given, place_of_reading = match["with"].rstrip(" \t"), place + match.start("with")
                hint = f"write `expect with {'`, `'.join(READINGS)}`"
                self.fail(f"`{short(given)}` is no reading", given, place_of_reading, hint)
            self.cases[reading] = cases(reading in self.cases, "", CASE, HINT)
        elif not first:
            if colon:
                self.misplaced(entry, place_of_entry)
        elif colon or re.match(r"(not )?(robust|error)", value):  # otherwise a sentence that begins with the word
            if key != "expect" or not colon:
                self.fail("an expectation is written `expect: ...`", entry, place_of_entry)
            self.cases[DEFAULT_READING] = cases(DEFAULT_READING in self.cases, "", CASE, HINT)

    def read_nodes(self, value: str, place: int) -> None:
        if not re.fullmatch(r"[0-9]{1,9}", value):
            self.fail(f"`{short(value)}` is not a node count", value, place, "write `nodes: 4`")
        self.nodes = int(value)
        self.check_count(self.nodes, value, place)

    def check_network(self, match: re.Match[str], place: int) -> None:
        """Fail where a line about a network misspells the network or its variant; other comments, whose first word is
        not like the name of a network, are passed over."""
        given, entry, start = match["network"], match["entry"], place + match.start("entry")
        name = given.lower().replace("_", "-")
        known = closest(name, NETWORKS, ALIKE) or ("rdma-tso" if name.startswith("rdma") else None)
        if known is None:
            return
        words = NETWORKS[known]
        if wrong := next((word for word in match["variant"].split() if word not in words), None):
            near = closest(wrong.lower(), words, 0.6)
            if given != known and near is None:
                return  # a sentence
            advice = f"write `{known}: ...`" + (
                f", or {' or '.join(f'`{word}`' for word in words)} behind it" if words else ""
            )
            hint = f"did you mean `{near}`?" if near else f"{advice}; `pgasrob check --network` has no others"
            self.fail(f"`{known}` has no variant `{short(wrong)}` here", entry, start, hint)
        if given != known:
            self.fail(f"`{short(given)}` is no network", given, start, f"did you mean `{known}`?")

    def read_network(self, match: re.Match[str], place: int) -> None:
        """Note the verdict on a network."""
        self.check_network(match, place)
        name = " ".join((match["network"], *sorted(match["variant"].split())))
        if name in self.networks:
            self.fail(
                f"a second expectation for {name}", match["entry"], place + match.start("entry"), "keep one of them"
            )
        self.networks[name] = self.split(match["value"], place + match.start("value"), ON_NETWORK, NETWORK_HINT)

    def split(self, value: str, place: int, form: re.Pattern[str], hint: str) -> tuple[Case, ...]:
        """The cases of ``value``, which commas separate (but those in parentheses), each of the ``form``."""
        cases: tuple[Case, ...] = ()
        for item in re.split(r",(?![^()]*\))", value):
            text = item.strip()
            start = place + item.find(text)
            match = form.fullmatch(" ".join(text.split()))
            if match is None:
                what = f"`{short(text)}` is not an expectation" if text else "an expectation is missing"
                self.fail(what, text, start, hint)
            verdict, low, high = match.groups()
            counts = None if low is None else self.read_counts(cases, int(low), int(high or low), text, start)
            if counts is None and any(case.counts is None for case in cases):
                self.fail("two expectations for every node count", text, start, hint)
            cases += (Case(verdict, counts),)
            place += len(item) + 1
        return cases

    def read_counts(self, cases: Iterable[Case], low: int, high: int, text: str, place: int) -> range:
        """The counts ``low`` to ``high`` of the case ``text``, none of which is among ``cases`` already."""
        self.check_count(low, text, place)
        self.check_count(high, text, place)
        if low > high:
            self.fail(f"no node count is in {low}..{high}", text, place, "write the smaller count first")
        for count in range(low, high + 1):
            if any(case.counts and count in case.counts for case in cases):
                self.fail(f"two expectations for {count} nodes", text, place, "keep one of them")
        return range(low, high + 1)

    def check_count(self, nodes: int, text: str, place: int) -> None:
        if not 1 <= nodes <= MAX_NODES:
            self.fail(f"{nodes} nodes, but a program runs on 1..{MAX_NODES}", text, place, "choose another node count")

    def misplaced(self, entry: str, place: int, hint: str = TO_THE_TOP) -> NoReturn:
        where = "in the first comment" if hint == TO_THE_TOP else "at the head"
        self.fail(f"an expectation that is not {where}", entry, place, hint)

    def fail(self, message: str, text: str, place: int, hint: str = HINT) -> NoReturn:
        """Report ``text``, which stands at ``place``."""
        before = self.source.text[:place]
        line, column = before.count("\n") + 1, place - before.rfind("\n")
        report = Report(self.source)
        report.add("PG070", message, Span(line, column, line, column + max(1, len(text))), hint)
        raise report.error()
