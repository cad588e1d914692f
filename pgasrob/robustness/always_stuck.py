"""Whether every SC run of a program ends in a deadlock, looked for in small programs that have one."""

from __future__ import annotations

from collections.abc import Callable

from pgasrob.program.graphs import components
from pgasrob.program.instance import Instance
from pgasrob.semantics.sequential import SequentialSpace, assumes_are_guesses, is_stuck
from pgasrob.stop_points import stop_point

MOST = 1_000
"""SC states up to which it is looked for: it makes a sentence sharper, and no answer depends on it."""


def every_run_is_stuck(instance: Instance, look: Callable[[int], None]) -> bool:
    """Whether it is known that every SC run of ``instance``, which has none that faults, ends in a deadlock: so does
    each state of which nothing else is to come, and no run goes on for ever before. ``look`` is called with the number
    of states.
    """
    space, guesses = SequentialSpace(instance), assumes_are_guesses(instance)
    numbers, states, targets = {space.initial: 0}, [space.initial], list[list[int]]()
    found = False
    while len(targets) < len(states):
        stop_point()
        look(len(states))
        state = states[len(targets)]
        targets.append([])
        stays = space.standstill.stays(state)
        if stays is not None and is_stuck(stays, guesses):
            found = True
        elif stays is not None and guesses and any(stay.how == "stopped" for stay in stays):
            pass  # a wrong guess: this is no run
        elif stays is not None:
            return False
        else:
            for _, after in space.successors(state):
                if after not in numbers:
                    if len(states) == MOST:
                        return False
                    numbers[after] = len(states)
                    states.append(after)
                targets[-1].append(numbers[after])
            if not targets[-1]:
                return False
    round_ = components(targets)
    goes_on = any(round_[source] == round_[target] for source, leading in enumerate(targets) for target in leading)
    return found and not goes_on and not space.standstill.undecided
