"""The oracle of the tests: the design's model, written once more from its definitions.

Nothing here imports `pgasrob`. Where the two disagree, one of them misreads the design.

- `syntax`      programs as frozen dataclasses, and their `.pgas` text
- `operations`  the chains of steps that are issued, and what orders the steps
- `semantics`   every run of a program, one event at a time
- `readings`    what counts as an event and as a conflict; `polling`: which reads fail, by what a rank has been through
- `definition`  happens-before over commands, and the verdict by trying every run
- `removal`     the same with every read made, and failed iterations taken out; `unrolling`: in programs without loops
- `replay`      checks a JSON witness against the semantics
- `strategies`  random programs, with hypothesis or from a seed; `probes`: ones that depend on a single rule
  (`chances`: random choices); `polls_and_updates`: ones in which the readings matter;
  `several_flags`: loops that poll two or three flags a round
"""
