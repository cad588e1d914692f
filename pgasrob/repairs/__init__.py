"""Repairs: the cheapest edits of a source that make its program robust. Thrift: what a robust program can leave out.

A *candidate* is an edit of the text, with a cost: a wait or a fence between two statements, a call that does more, one
queue for two operations. Every violation gives a clause, the candidates that make it impossible; the cheapest hitting
set of all clauses is tried; and each answer has been checked from the changed text.
"""

from pgasrob.repairs.candidates import Candidate, Costs
from pgasrob.repairs.edits import Edit
from pgasrob.repairs.search import Answer, Broken, Rejected, Repair, repair

__all__ = ["Answer", "Broken", "Candidate", "Costs", "Edit", "Rejected", "Repair", "repair"]
