"""When the life of objects ends."""

from pgasrob.frontends.c import code
from pgasrob.frontends.c.contents import Contents
from pgasrob.frontends.c.snapshots import Frame
from pgasrob.frontends.c.types import INT
from pgasrob.frontends.c.values import ObjectId
from tests.frontends.c.rank_parts import parts_of

TEXT = """
#include <alloca.h>
int *f(int *p) { int x = 1; { int y = 2; p = &y; } p = &x; return p; }
int main(void) { int *p = alloca(4); int *q = alloca(8); return f(p) == q; }
"""


def test_what_is_allocated_on_the_stack_lives_until_the_call_returns() -> None:
    parts = parts_of(TEXT)
    frame = parts.position.frame
    calls = [place for place, each in enumerate(frame.function.code) if isinstance(each, code.Call)]
    ids = [ObjectId("heap", number) for number in range(2)]
    for id, place in zip(ids, calls, strict=False):
        parts.objects.declare(id, str(id.number), 4, None, Contents(0))
        frame.pc = place
        parts.lifetimes.put_on_stack(id)
    program = parts.world.program
    inner = program.unit.functions["f"]
    parts.position.state.frames.append(Frame(inner, program.live_slots(inner), 0, None, INT))
    parts.position.go_to(parts.position.state)
    parts.lifetimes.end_of_call()
    assert not any(parts.facts.objects[id].given_back for id in ids)  # they are of the caller
    parts.position.state.frames.pop()
    parts.position.go_to(parts.position.state)
    parts.lifetimes.end_of_call()
    assert all(parts.facts.objects[id].given_back for id in ids)
    assert parts.position.state.notes["machine.stack"] == ()


def test_the_life_of_an_object_ends_with_its_block() -> None:
    parts = parts_of("int main(void) { { int x; int *p = &x; *p = 1; } return 0; }")
    [name] = parts.position.frame.function.objects
    id = parts.objects.local_object(parts.position.frame, name)
    parts.objects.contents(id, write=True)
    parts.lifetimes.end_of_block([name])
    assert parts.facts.objects[id].given_back and id not in parts.position.state.memory
