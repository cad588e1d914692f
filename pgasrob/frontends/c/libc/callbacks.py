"""Functions of the C library that call back functions of the program: these are written in C."""

from __future__ import annotations

from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.libc.library_calls import TABLE, VALUE, calls, machine_of
from pgasrob.frontends.c.libc.string_functions import forget
from pgasrob.frontends.c.values import Known

TEXT = """
typedef int order(const void *, const void *);
void qsort(void *base, size_t count, size_t size, order *compare) {
  char *all = base;
  if (!__sorted(base, count, size))
    for (size_t i = 1; i < count; i++)
      for (size_t j = i; j > 0 && compare(all + (j - 1) * size, all + j * size) > 0; j--)
        __swap(all + (j - 1) * size, all + j * size, size);
}
void *bsearch(const void *key, const void *base, size_t count, size_t size, order *compare) {
  char *all = (char *)base;
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int found = compare(key, all + middle * size);
    if (!found) return all + middle * size;
    if (found < 0) high = middle; else low = middle + 1;
  }
  return 0;
}
"""


def _never_called(call: Call) -> Outcome:
    raise AssertionError(f"{call.name} is written in C")


for _head in TEXT.split("\n"):
    if _head.endswith(") {") and not _head.startswith(" "):
        TABLE.add(_head.replace("order *compare) {", "int (*compare)(const void *, const void *));"), _never_called)


@calls("int __sorted(void *base, size_t count, size_t size);")
def sorted_already(call: Call) -> Outcome:
    """Whether there is nothing to sort. Memory with unknown contents counts as sorted, with other unknown contents."""
    base, bytes = call.pointer(0), call.known(1) * call.known(2)
    if base is None or not isinstance(base.offset, int) or not bytes:
        return Outcome(result=Known(1))
    machine = machine_of(call).machine
    machine.objects.object(base.object)
    if machine.pointers.pieces(base, bytes) or not machine.objects.contents(base.object).unknown_parts(
        base.offset, bytes
    ):
        return Outcome(result=VALUE)
    forget(call, base, bytes)
    return Outcome(result=Known(1))


@calls("void __swap(void *one, void *other, size_t size);")
def swap(call: Call) -> Outcome:
    one, other, size = call.pointer(0), call.pointer(1), call.known(2)
    assert one is not None and other is not None
    machine = machine_of(call).machine
    aside = call.internal("swap", size, bytes=-(-size // 8) * 8, name="aside")
    for to, of in ((aside, one), (one, other), (other, aside)):
        machine.memory.copy(to, of, size)
    return Outcome()
