"""The cells of objects that are accessed in several sizes: runs of bytes that every access has, or has not, as a whole.

Borders are where accesses begin and end. A scalar that calls access at once is one cell all the same, and loads and
stores of parts of it take these out of it. A piece that a load or store has lies in a cell as a signed integer of its
bytes, whatever type it is accessed as. Of a longer run that is only moved the cell has a number that stands for its
contents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from pgasrob.frontends.c.extended import LARGEST_SCALAR
from pgasrob.frontends.c.problem import Problem
from pgasrob.frontends.c.scalars_named import Accesses
from pgasrob.stop_points import stop_point

NUMBERS = (8, 4, 2, 1)
"""The sizes of pieces that loads and stores access."""
LARGEST_NUMBER = 8
"""Bytes: what has no more lies in its cell as a number."""


def number_of(contents: bytes) -> int:
    """The number of a piece with these ``contents``: what it is as a signed integer where it is short, else one that
    stands for them: where all bytes are the same what each is, and another one for other contents."""
    if len(contents) > LARGEST_NUMBER:
        same = contents.count(contents[:1]) == len(contents)
        contents = contents[:1] if same else b"\0\1" + blake2b(contents, digest_size=6).digest()
    return int.from_bytes(contents, "little", signed=True)


@dataclass(slots=True)
class Pieces:
    """The pieces of the object that is called ``name``. The other fields up to ``accesses`` are those of its facts, of
    which ``shared`` and ``covered`` have the pieces. ``most``: of a run that is longer than a number so many parts
    stand for all that may come one by one.

    ``inside``: the bytes that lie in cells. ``named``: those that loads and stores have. ``whole``: the scalars that
    calls access at once, by their offsets. What changes any of them says whether the pieces are others for that."""

    name: str
    shared: dict[int, int]
    covered: dict[int, int]
    restless: set[int]
    accesses: Accesses
    most: int
    borders: set[int] = field(default_factory=set)
    inside: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)
    whole: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # All of it is found again in the next pass, of pieces in place of scalars.
        for known in (self.shared, self.covered, self.restless):
            known.clear()

    def load_or_store(self, offset: int, size: int) -> bool:
        """A load or store has the scalar of ``size`` bytes at ``offset``."""
        places = range(offset, offset + size)
        new = not self.named.issuperset(places)
        self.named.update(places)
        return self.move(offset, size, new)

    def move(self, offset: int, size: int, new: bool = False) -> bool:
        """The ``size`` bytes at ``offset`` are accessed. ``new``: something else is known of them."""
        ends, places = {offset, offset + size}, range(offset, offset + size)
        if not new and ends <= self.borders and self.inside.issuperset(places):
            return False
        self.inside.update(places)
        for begin, named in self.accesses.sizes(offset - LARGEST_SCALAR + 1, offset + size).items():
            if begin + named > offset:
                ends |= {begin, begin + named}
                self.named.update(range(begin, begin + named))
        return self._again(ends)

    def cut(self, border: int) -> bool:
        """An access begins or ends at ``border``."""
        if border in self.borders:
            return False
        return self._again({border})

    def keep_whole(self, offset: int, size: int) -> bool:
        """A call accesses the ``size`` bytes at ``offset`` at once. Raises :class:`Problem` where others access some of
        them at once, with bytes beyond."""
        around = {self._around(place) for place in range(offset, offset + size)} - {None, offset}
        if around or self.whole.get(offset, size) != size or size > LARGEST_NUMBER:
            raise self.torn(min((each for each in around if each is not None), default=offset), size, offset)
        new = offset not in self.whole
        self.whole[offset] = size
        return self.move(offset, size, new)

    def whole_within(self, start: int, end: int) -> list[tuple[int, int]]:
        """The scalars from ``start`` to ``end`` that calls access at once, and their sizes."""
        return [(begin, size) for begin, size in self.whole.items() if start <= begin and begin + size <= end]

    def is_in_run(self, begin: int) -> bool:
        """Whether the piece that begins there is one of the parts that stand for a run, and not the first."""
        return begin not in self.borders and begin not in self.named and begin not in self.whole

    def torn(self, begin: int, size: int, offset: int) -> Problem:
        """The error that an access of ``size`` bytes at ``offset`` has a part of the scalar at ``begin``."""
        return Problem(
            "PG142",
            f"`{self.name}` is accessed by calls that need it whole as {self.whole.get(begin, size)} bytes at "
            f"offset {begin} and as {size} bytes at offset {offset}, which overlap",
            "a call that is atomic or waits accesses all of a variable: use one type in such calls, and in transfers",
        )

    def _around(self, place: int) -> int | None:
        """Where the scalar begins that is accessed at once and has the byte at ``place``."""
        for begin in range(place - LARGEST_NUMBER + 1, place + 1):
            if place < begin + self.whole.get(begin, 0):
                return begin
        return None

    def _tears(self, border: int) -> int | None:
        """Where the scalar begins that is accessed at once and has a ``border`` inside."""
        begin = self._around(border)
        return None if begin == border else begin

    def _again(self, borders: set[int]) -> bool:
        """Find the pieces between ``borders`` again, which may be new, and those beside them up to the next ones."""
        self.borders -= borders
        first, last = self._border(min(borders), -1), self._border(max(borders), 1)
        self.borders |= borders
        before = {at: self.shared[at] for place in range(first, last) if (at := self.covered.get(place)) is not None}
        after = dict(self._found(first, last))
        if before == after:
            return False
        for begin, size in before.items():
            del self.shared[begin]
            if begin in self.restless:
                self.restless.update(range(begin, begin + size))
        for begin, size in after.items():
            places = range(begin, begin + size)
            self.shared[begin] = size
            self.covered.update(dict.fromkeys(places, begin))
            if not self.restless.isdisjoint(places):
                self.restless.add(begin)
        return True

    def _border(self, place: int, step: int) -> int:
        """Where the next pieces begin or end from ``place`` on, up or down by ``step``, those that there have been and
        those that there are."""
        while True:
            at, known = self._tears(place), self.covered.get(place)
            if at is not None:
                place = at if step < 0 else at + self.whole[at]
            elif known is not None and known < place:
                place = known if step < 0 else known + self.shared[known]
            elif place not in self.borders and place in self.inside and place - 1 in self.inside:
                place += step
            else:
                return place

    def _found(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The pieces from ``start`` to ``end``, where some begin and end, by their offsets, with their sizes."""
        place = start
        while place < end:
            stop_point()
            if place not in self.inside:
                place += 1
            elif place in self.whole:
                yield place, self.whole[place]
                place += self.whole[place]
            else:
                last = place + 1
                while last < end and last in self.inside and last not in self.borders and last not in self.whole:
                    last += 1
                yield from self._divided(place, last)
                place = last

    def _divided(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The run from ``start`` to ``end``, which has no border, as pieces."""
        if start in self.named:
            while start < end:
                size = next(each for each in NUMBERS if each <= end - start and not start % each)
                yield start, size
                start += size
            return
        for _ in range(self.most - 1):
            if end - start <= LARGEST_NUMBER:
                break
            yield start, LARGEST_NUMBER
            start += LARGEST_NUMBER
        yield start, end - start
