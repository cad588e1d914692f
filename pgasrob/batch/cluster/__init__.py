"""Checks on the workers of a Dask scheduler, which may be on other machines.

A worker need not see the files: a job comes with copies of all that it reads. ``client`` hands jobs out; ``worker`` is
what a Dask worker does with one, which is to have it done by a process of its own, ``child``. So a check has a main
thread, dies alone, and can be ended at once, none of which holds for the threads in which Dask runs what it is given.
"""

from __future__ import annotations


class ClusterError(RuntimeError):
    """The cluster is not there, or does not fit; the text says what to do."""
