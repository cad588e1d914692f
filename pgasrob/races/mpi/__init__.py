"""The memory model of MPI-3 RMA (Hoefler et al., *Remote Memory Access Programming in MPI-3*, TOPC 2014, section 3).

Which results a program may rely on is said by its executions: in each, conflicting accesses have to be ordered by
happens-before and by consistency order. `actions` has what an execution is made of, `execution` finds it in a run,
`executions` makes all of a program, `consistency` has the rules of the orders, `validity` what a call asks for,
`judgement` decides one execution and `decide` a program. How the paper is read where it is silent or wrong is in
`proofs/mpi-model.md`; D and G numbers in comments are those of its table.
"""

from pgasrob.races.mpi.actions import MemoryModel
from pgasrob.races.mpi.decide import decide, decide_file, expected_status
from pgasrob.races.mpi.judgement import ModelVerdict

__all__ = ["MemoryModel", "ModelVerdict", "decide", "decide_file", "expected_status"]
