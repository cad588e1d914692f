"""Random programs in C whose threads communicate, and how they end, by an interpreter of its own that takes every turn.

The interpreter knows OpenMP alone: what a thread reads and writes is a step each, and every call of OpenSHMEM is one
event, as in SC runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

HEAD = """#include <shmem.h>
#include <omp.h>
#include <pthread.h>
long g[3], out[3];
omp_lock_t lock;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
"""
VARIABLES = 3
Step = tuple[object, ...]
Ends = frozenset[tuple[int, ...]]
"""What the variables hold in the end; nothing, (), where threads get stuck."""


@dataclass(slots=True)
class Made:
    """The code of a piece of a program, and for each thread its steps."""

    text: list[str]
    steps: list[list[Step]]


@dataclass(slots=True)
class Writer:
    """Writes one region of ``size`` threads; ``names``: of constructs that have been used."""

    random: Random
    size: int
    first: int = 0
    names: int = 0
    depth: int = 0
    barriers: int = field(default=0)
    tasks: list[list[Step]] = field(default_factory=list)

    def body(self, most: int) -> Made:
        made = Made([], [[] for _ in range(self.size)])
        for _ in range(self.random.randint(1, most)):
            one = self.one()
            made.text += one.text
            for steps, more in zip(made.steps, one.steps, strict=True):
                steps += more
        return made

    def one(self) -> Made:
        kinds = ["set", "set", "copy", "copy", "put", "get", "inc", "atomic", "lock"]
        if not self.depth:
            kinds += ["barrier", "barrier", "critical", "single", "master", "if", "for", "for", "sections", "dynamic"]
            kinds += ["task", "task", "guided"]
        return getattr(self, f"_{self.random.choice(kinds)}")()  # type: ignore[no-any-return]

    def _variable(self) -> int:
        return self.random.randrange(VARIABLES)

    def _all(self, text: str, *steps: Step) -> Made:
        return Made([text], [list(steps) for _ in range(self.size)])

    def _set(self) -> Made:
        x, k, own = self._variable(), self.random.randint(1, 3), self.random.random() < 0.5
        if not own:
            return self._all(f"g[{x}] = {k};", ("write", x, None, k))
        made = self._all(f"g[{x}] = {k} + omp_get_thread_num();")
        made.steps = [[("write", x, None, k + thread)] for thread in range(self.size)]
        return made

    def _copy(self) -> Made:
        x, y, k = self._variable(), self._variable(), self.random.randint(0, 2)
        return self._all(f"g[{x}] = g[{y}] + {k};", ("read", y), ("write", x, "r", k))

    def _put(self) -> Made:
        x, y = self._variable(), self._variable()
        return self._all(f"shmem_long_p(&g[{x}], g[{y}] + 1, 0); shmem_quiet();", ("read", y), ("write", x, "r", 1))

    def _get(self) -> Made:
        x, y = self._variable(), self._variable()
        return self._all(f"g[{x}] = shmem_long_g(&g[{y}], 0);", ("read", y), ("write", x, "r", 0))

    def _inc(self) -> Made:
        x = self._variable()
        return self._all(f"shmem_long_atomic_inc(&g[{x}], 0);", ("add", x, 1))

    def _atomic(self) -> Made:
        x, k = self._variable(), self.random.randint(1, 2)
        return self._all(f"\n#pragma omp atomic\ng[{x}] += {k};", ("add", x, k))

    def _barrier(self) -> Made:
        return self._all("\n#pragma omp barrier\n", ("barrier",))

    def _inner(self, most: int = 2) -> Made:
        self.depth += 1
        made = self.body(most)
        self.depth -= 1
        return made

    def _lock(self) -> Made:
        if self.depth > 1:
            return self._set()
        take, leave = self.random.choice(
            [("omp_set_lock(&lock);", "omp_unset_lock(&lock);"),
             ("pthread_mutex_lock(&mutex);", "pthread_mutex_unlock(&mutex);")]
        )  # fmt: skip
        self.depth += 1
        made = self._inner()
        self.depth -= 1
        name = take[:3]
        return Made(
            [take, *made.text, leave], [[("lock", name), *each, ("unlock", name)] for each in made.steps]
        )  # fmt: skip

    def _critical(self) -> Made:
        self.depth += 1  # no lock within
        made = self._inner()
        self.depth -= 1
        steps = [[("lock", "critical"), *each, ("unlock", "critical")] for each in made.steps]
        return Made(["\n#pragma omp critical\n{", *made.text, "}"], steps)

    def _single(self) -> Made:
        self.names += 1
        made, nowait = self._inner(), self.random.random() < 0.4
        end: list[Step] = [] if nowait else [("barrier",)]
        steps = [[("single", (self.first, self.names), len(each)), *each, *end] for each in made.steps]
        return Made([f"\n#pragma omp single{' nowait' if nowait else ''}\n{{", *made.text, "}"], steps)

    def _master(self) -> Made:
        made = self._inner()
        steps = [each if not thread else [] for thread, each in enumerate(made.steps)]
        return Made(["\n#pragma omp master\n{", *made.text, "}"], steps)

    def _if(self) -> Made:
        made, who = self._inner(), self.random.randrange(self.size)
        steps = [each if thread == who else [] for thread, each in enumerate(made.steps)]
        return Made([f"if (omp_get_thread_num() == {who}) {{", *made.text, "}"], steps)

    def _for(self) -> Made:
        total, chunk = self.random.randint(1, 3), self.random.choice([0, 0, 1, 2])
        x = self._variable()
        schedule = f"schedule(static, {chunk}) " if chunk else ""
        each, more = divmod(total, self.size)
        steps: list[list[Step]] = []
        for thread in range(self.size):
            first = thread * each + min(thread, more)
            last = first + each + (thread < more)
            own = [i for i in range(total) if (i // chunk % self.size == thread if chunk else first <= i < last)]
            steps.append([step for i in own for step in (("read", x), ("write", x, "r", i + 1))] + [("barrier",)])
        text = f"\n#pragma omp for {schedule}\nfor (int i = 0; i < {total}; i++) g[{x}] = g[{x}] + i + 1;"
        return Made([text], steps)

    def _dynamic(self) -> Made:
        total = self.random.randint(1, 2)
        return self._claimed("dynamic", [1] * total)

    def _guided(self) -> Made:
        """Each claim takes as many of the iterations that are left as there are threads."""
        left, sizes = self.random.randint(1, 3), list[int]()
        while left:
            sizes.append(-(-left // self.size))
            left -= sizes[-1]
        return self._claimed("guided", sizes)

    def _claimed(self, kind: str, sizes: list[int]) -> Made:
        self.names += 1
        x, nowait, numbers = self._variable(), self.random.random() < 0.3, iter(range(sum(sizes)))
        pieces = tuple(
            tuple(step for _ in range(size) for step in (("read", x), ("write", x, "r", next(numbers) + 1)))
            for size in sizes
        )
        clauses = f"schedule({kind}){' nowait' * nowait}"
        text = f"\n#pragma omp for {clauses}\nfor (int i = 0; i < {sum(sizes)}; i++) g[{x}] = g[{x}] + i + 1;"
        end: list[Step] = [] if nowait else [("barrier",)]
        return self._all(text, ("claim", (self.first, self.names), pieces), *end)

    def _task(self) -> Made:
        """The first thread makes a task, and waits for it, or goes on until the next barrier."""
        body, beside, behind = (self._inner(1) for _ in range(3))
        if self.tasks or any(steps != body.steps[0] for steps in body.steps):
            return self._set()  # it depends on the thread
        waits, number = self.random.random() < 0.5, self.size + len(self.tasks)
        self.tasks.append([("spawned", number), *body.steps[0]])
        own = [("spawn", number), *beside.steps[0], *[("join", number)] * waits, *behind.steps[0]]
        text = ["\n#pragma omp master\n{\n#pragma omp task\n{", *body.text, "}", *beside.text]
        text += ["\n#pragma omp taskwait\n"] * waits
        return Made([*text, *behind.text, "}"], [own, *([] for _ in range(1, self.size))])

    def _sections(self) -> Made:
        self.names += 1
        made = [self._inner() for _ in range(2)]
        pieces = tuple(tuple(each.steps[0]) for each in made)
        if any(each.steps[0] != steps for each in made for steps in each.steps):
            return self._set()  # it depends on the thread
        text = ["\n#pragma omp sections\n{"]
        for each in made:
            text += ["\n#pragma omp section\n{", *each.text, "}"]
        return Made(
            [*text, "}"], [[("claim", (self.first, self.names), pieces), ("barrier",)] for _ in range(self.size)]
        )


def program(seed: int) -> tuple[str, list[list[list[Step]]]]:
    """A program in C for one rank, and the steps of each thread of each region. Between regions one thread sets
    something, which is a region of one."""
    random = Random(seed)
    regions: list[list[list[Step]]] = []
    text = [HEAD, "int main(void) { int p; shmem_init_thread(SHMEM_THREAD_MULTIPLE, &p); omp_init_lock(&lock);"]
    for number in range(random.randint(1, 2)):
        size = random.choice([2, 2, 2, 3])
        writer = Writer(random, size, number)
        made = writer.body(3 if size == 2 else 2)
        regions.append([*made.steps, *writer.tasks])
        text += [f"\n#pragma omp parallel num_threads({size})\n{{ shmem_quiet();", *made.text, "}"]
        if random.random() < 0.5:
            x, k = random.randrange(VARIABLES), random.randint(4, 6)
            text.append(f"g[{x}] = g[{x}] + {k};")
            regions.append([[("read", x), ("write", x, "r", k)]])
    text += [f"shmem_long_p(&out[{x}], g[{x}], 0);" for x in range(VARIABLES)]
    return "\n".join([*text, "shmem_quiet(); shmem_finalize(); return 0; }"]), regions


def ends(regions: Sequence[Sequence[Sequence[Step]]]) -> Ends:
    """What the variables may hold in the end."""
    found: set[tuple[int, ...]] = {(0,) * VARIABLES}
    for region in regions:
        found = {end for before in found for end in (_after(region, before) if before else [before])}
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _State:
    """``left``: the steps that each thread has still to do; ``read``: what it has read last; ``passed``: how many
    barriers it has come to."""

    left: tuple[tuple[Step, ...], ...]
    read: tuple[int, ...]
    passed: tuple[int, ...]
    values: tuple[int, ...]
    held: frozenset[object] = frozenset()
    done: tuple[tuple[object, int], ...] = ()


def _after(region: Sequence[Sequence[Step]], values: tuple[int, ...]) -> set[tuple[int, ...]]:
    size = len(region)
    passed = tuple(1000 * (steps[:1] == [("spawned", number)]) for number, steps in enumerate(region))
    first = _State(tuple(map(tuple, region)), (0,) * size, passed, values)
    seen, waiting, found = {first}, [first], set[tuple[int, ...]]()
    while waiting:
        state = waiting.pop()
        after = [more for thread in range(size) for more in _turn(state, thread)]
        if not after:
            found.add(state.values if not any(state.left) else ())
        new = [each for each in after if each not in seen]
        seen.update(new)
        waiting += new
    return found


def _turn(state: _State, thread: int) -> list[_State]:
    """The states after the next step of ``thread``, if it can make it."""
    if not state.left[thread]:
        return []
    step, *rest = state.left[thread]
    read, values, held, passed, done = state.read, state.values, state.held, state.passed, dict(state.done)
    match step:
        case ("read", int(x)):
            read = _put(read, thread, values[x])
        case ("write", int(x), str() | None as of, int(k)):
            values = _put(values, x, (read[thread] if of else 0) + k)
        case ("add", int(x), int(k)):
            values = _put(values, x, values[x] + k)
        case ("lock", name):
            if name in held:
                return []
            held |= {name}
        case ("unlock", name):
            held -= {name}
        case ("spawn", int(task)):
            done["task", task] = 1
        case ("spawned", int(task)):
            if ("task", task) not in done:
                return []
        case ("join", int(task)):
            if state.left[task]:
                return []
        case ("barrier",):
            if not thread and any(state.left[task] for name, task in _tasks(done)):
                return []
            passed = _put(passed, thread, passed[thread] + 1)
            rest = [("passed", passed[thread]), *rest]
        case ("passed", int(number)):
            if any(each < number for each in passed):
                return []
        case ("single", name, int(length)):
            if name in done:
                rest = rest[length:]
            done[name] = 1
        case ("claim", name, tuple(pieces)):
            number = done.get(name, 0)
            done[name] = number + 1
            if number < len(pieces):
                rest = [*pieces[number], step, *rest]
        case _:
            raise AssertionError(step)
    left = (*state.left[:thread], tuple(rest), *state.left[thread + 1 :])
    return [_State(left, read, passed, values, held, tuple(sorted(done.items(), key=repr)))]


def _tasks(done: dict[object, int]) -> list[tuple[str, int]]:
    """The tasks that have been made."""
    return [each for each in done if isinstance(each, tuple) and each[0] == "task"]


def _put(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])
