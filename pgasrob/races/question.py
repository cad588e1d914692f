"""The question of races, asked of many programs beside that of robustness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pgasrob.frontends.lower import CProgram
    from pgasrob.program.instance import Instance
    from pgasrob.program.program import Program
    from pgasrob.races.verdict import RaceVerdict
    from pgasrob.robustness.batch import Job
    from pgasrob.robustness.verdict import Verdict
    from pgasrob.robustness.watch import Watch


@dataclass(frozen=True, slots=True)
class RaceQuestion:
    """Whether a program has races: ``strict`` and ``every`` (``all_``) as :func:`~pgasrob.races.decide.races` has them,
    ``robustness`` as :class:`~pgasrob.robustness.batch.Question`."""

    strict: bool = False
    every: bool = False
    robustness: Literal["first", "after", "never"] = "first"

    def ask(
        self,
        program: Program | CProgram,
        nodes: int,
        job: Job,
        watch: Watch,
        robustness: Verdict | None,
        instance: Instance | None,
    ) -> RaceVerdict:
        """The answer about ``program``."""
        from pgasrob.races.decide import races

        return races(
            program,
            nodes,
            self.strict,
            self.every,
            threads=job.threads,
            failed_polls=job.reading.failed_polls,
            conflicts=job.reading.conflicts,
            watch=watch,
            robustness=robustness,
            instance=instance,
        )
