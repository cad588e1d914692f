"""Functions of the C library that call back functions of the program: these are written in C."""

from __future__ import annotations

from itertools import pairwise

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.call_steps import Steps
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.libc.library_calls import TABLE, VALUE, calls, machine_of
from pgasrob.frontends.c.libc.string_functions import forget
from pgasrob.frontends.c.values import Address, Known
from pgasrob.program.commands import Assign, Load, Store
from pgasrob.program.expressions import Binary, Conditional, Const

TEXT = """
typedef int order(const void *, const void *);
void qsort(void *base, size_t count, size_t size, order *compare) {
  char *all = base;
  int how = __sorting(base, count, size);
  if (how == 1)
    for (size_t i = 1; i < count; i++)
      for (size_t j = i; j > 0 && compare(all + (j - 1) * size, all + j * size) > 0; j--)
        __swap(all + (j - 1) * size, all + j * size, size);
  if (how == 2)
    for (size_t p = 1; p < count; p *= 2)
      for (size_t k = p; k > 0; k /= 2)
        for (size_t i = __pair(0, p, k, count); i < count; i = __pair(i + 1, p, k, count))
          __order(all + i * size, all + (i + k) * size, size, compare(all + i * size, all + (i + k) * size));
}
void *bsearch(const void *key, const void *base, size_t count, size_t size, order *compare) {
  size_t half = count / 2;
  char *middle = (char *)base + half * size;
  if (!count) return 0;
  int found = compare(key, middle);
  if (found < 0) return bsearch(key, base, half, size, compare);
  if (found > 0) return bsearch(key, middle + size, count - half - 1, size, compare);
  return middle;
}
"""
"""What is known is sorted by insertion. Of other values no comparison may decide where the next one is made, or there
were a state for every order of them: those are sorted by a network (Knuth, volume 3, 5.2.2, algorithm M), in which the
elements alone depend on what has been compared; no `if` stands in its loops, at whose end ways were to be joined. A
search has a way for each element that may be found."""
MOST_SORTED = 128
"""The most elements that are sorted by a network."""


def _never_called(call: Call) -> Outcome:
    raise AssertionError(f"{call.name} is written in C")


for _head in TEXT.split("\n"):
    if _head.endswith(") {") and not _head.startswith(" "):
        TABLE.add(_head.replace("order *compare) {", "int (*compare)(const void *, const void *));"), _never_called)


@calls("int __sorting(void *base, size_t count, size_t size);")
def sorting(call: Call) -> Outcome:
    """How to sort: 0 not at all, 1 by insertion, 2 by a network. Memory with unknown contents counts as sorted, with
    other unknown contents, and so does memory in cells with many elements."""
    base, count, bytes = call.pointer(0), call.known(1), call.known(1) * call.known(2)
    if base is None or count < 2 or not bytes:
        return Outcome(result=VALUE)
    if not isinstance(base.offset, int):
        call.fail(Wrong.UNKNOWN_LIMIT, "`qsort` of elements from one on that is not known here", "sort the whole array")
    machine = machine_of(call).machine
    machine.objects.object(base.object)
    in_cells = bool(machine.pointers.pieces(base, bytes))
    known = not machine.objects.contents(base.object).unknown_parts(base.offset, bytes)
    if known and (not in_cells or count <= MOST_SORTED):
        return Outcome(result=Known(2 if in_cells else 1))
    forget(call, base, bytes)
    return Outcome(result=VALUE)


@calls("size_t __pair(size_t from, size_t p, size_t k, size_t count);")
def pair(call: Call) -> Outcome:
    """The first element from ``from`` on that the network compares with the one ``k`` places after it; else
    ``count``. Each time is an iteration of its own, whatever has been written: where ways join in ``compare``, it would
    else be one of many values of ``i``, which could not stay a number."""
    machine_of(call).machine.writer.quiet = False
    start, p, k, count = (call.known(index) for index in range(4))
    places = range(max(start, k % p), count - k)
    found = (i for i in places if (i - k % p) // k % 2 == 0 and i // (2 * p) == (i + k) // (2 * p))
    return Outcome(result=Known(next(found, count)))


@calls("void __swap(void *one, void *other, size_t size);")
def swap(call: Call) -> Outcome:
    one, other, size = call.pointer(0), call.pointer(1), call.known(2)
    assert one is not None and other is not None
    memory = machine_of(call).machine.memory
    aside = call.internal("swap", size, bytes=-(-size // 8) * 8, name="aside")
    for to, of in ((aside, one), (one, other), (other, aside)):
        memory.copy(to, of, size)
    return Outcome()


@calls("void __order(void *one, void *other, size_t size, int compared);")
def order(call: Call) -> Outcome:
    """Swap two elements if the first one is greater, as has been ``compared``, without a branch where that is not
    known: every scalar becomes one of two."""
    compared, one, other = call.arguments[3], call.pointer(0), call.pointer(1)
    assert one is not None and other is not None
    if isinstance(compared, Known) and compared.value <= 0:
        return Outcome()
    greater, steps = call.register("greater"), Steps(call)
    steps.do(Assign(greater, Binary(">", call.expression(3), Const(0))))
    for place, size in _scalars(call, one, other, call.known(2)):
        here, there = (call.cell(call.moved(each, place), size) for each in (one, other))
        first, second = call.register("first"), call.register("second")
        steps.do(Load(first, here), Load(second, there))
        steps.do(Store(here, Conditional(greater, second, first)), Store(there, Conditional(greater, first, second)))
    return steps.outcome()


def _scalars(call: Call, one: Address, other: Address, bytes: int) -> list[tuple[int, int]]:
    """The scalars of two elements of so many ``bytes``: place and size."""
    machine, found = machine_of(call).machine, dict[int, int]()
    for element in (one, other):
        if not isinstance(element.offset, int):  # as in a loop that is kept: written out, it is known
            call.fail(
                Wrong.UNKNOWN_LIMIT,
                "`qsort` of elements whose place is not known",
                "sort an array of known length",
            )
        start, end = element.offset, element.offset + bytes
        found |= {at - start: size for at, size in machine.pointers.pieces(element, bytes).items()}
        for at, size, _, _ in machine.objects.contents(element.object).inside(start, end):
            found.setdefault(at - start, size)
    scalars = sorted(found.items())
    if any(place + size > after for (place, size), (after, _) in pairwise([*scalars, (bytes, 0)])):
        call.fail(
            Wrong.CALL_LIMIT, "`qsort` of elements whose scalars overlap", "give them the same members everywhere"
        )
    return scalars
