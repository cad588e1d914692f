//! The searches trace by trace.

use pyo3::prelude::*;

use crate::moves::PlayedMove;
use crate::python::fields::{raw, raw_rules};
use crate::python::{Failed, Intact, RaceRun, before, failed, race_run};
use crate::races::traces;
use crate::traces::exploration::{Asked, Tried};
use crate::traces::search::TraceSearch;

/// A search over a program given as tables, trace by trace.
///
/// ``guesses`` and ``memory_limit`` are as in ``Search``; ``longest``: the events of a run beyond which it is given up;
/// ``part``: what ``split`` has given away, empty for the whole.
#[pyclass(module = "pgasrob._kernel")]
pub struct Traces {
    search: Intact<TraceSearch>,
}

#[pymethods]
impl Traces {
    #[new]
    #[pyo3(signature = (tables, *, longest, guesses=false, memory_limit=None, part=vec![], behind=vec![]))]
    fn new(
        tables: &Bound<'_, PyAny>,
        longest: usize,
        guesses: bool,
        memory_limit: Option<usize>,
        part: Vec<Tried>,
        behind: Vec<Option<(usize, usize)>>,
    ) -> PyResult<Self> {
        let raw = raw(tables)?;
        let search = Intact::new(|| TraceSearch::new(&raw, guesses, memory_limit, Asked { longest, part, behind }))?;
        Ok(Traces { search })
    }

    /// Go on until it has taken ``effort`` more, without the interpreter lock; True when the search is over.
    fn run(&mut self, py: Python<'_>, effort: u64) -> PyResult<bool> {
        self.search.with(|search| py.detach(|| search.run(effort)))
    }

    /// The events and commands that ``run`` has looked at.
    #[getter]
    fn effort(&self) -> PyResult<u64> {
        Ok(self.search.get()?.effort())
    }

    /// Events looked at.
    #[getter]
    fn events(&self) -> PyResult<u64> {
        Ok(self.search.get()?.exploration.events)
    }

    #[getter]
    fn traces(&self) -> PyResult<u64> {
        Ok(self.search.get()?.exploration.traces)
    }

    /// Give away what there is to try at the first node where there is more than what is being followed, as a part for
    /// others; None where there is nothing. For each node on the way, what has been tried there, by rank and transition,
    /// or by a number that stands for all ranks and the number of the way through the barrier.
    fn split(&mut self) -> PyResult<Option<Vec<Tried>>> {
        self.search.with(TraceSearch::split)
    }

    /// Runs that were given up, since they come to what had been followed.
    #[getter]
    fn redundant(&self) -> PyResult<u64> {
        Ok(self.search.get()?.exploration.redundant)
    }

    /// Whether all traces have been seen, whether a run is too long, and whether there was too much to choose from.
    #[getter]
    fn complete(&self) -> PyResult<bool> {
        Ok(self.search.get()?.exploration.complete)
    }

    /// Whether it is not known of the end of some trace if it is a deadlock.
    #[getter]
    fn undecided_ends(&self) -> PyResult<bool> {
        Ok(self.search.get()?.standstill.undecided())
    }

    #[getter]
    fn too_long(&self) -> PyResult<bool> {
        Ok(self.search.get()?.exploration.too_long)
    }

    #[getter]
    fn gave_up(&self) -> PyResult<bool> {
        Ok(self.search.get()?.exploration.gave_up)
    }

    /// The transitions and their steps that could not be decided.
    #[getter]
    fn undecided(&self) -> PyResult<Vec<(usize, usize)>> {
        Ok(self.search.get()?.undecided.clone())
    }

    /// Bytes of what grows with the search.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        Ok(self.search.get()?.memory())
    }

    /// What is true of the SC runs, as in ``Search``.
    #[getter]
    fn checks_deadlock(&self) -> PyResult<bool> {
        Ok(self.search.get()?.facts.checks_deadlock)
    }

    #[getter]
    fn violation(&self) -> PyResult<Option<Vec<PlayedMove>>> {
        Ok(self.search.get()?.violation.clone())
    }

    #[getter]
    fn fault(&self) -> PyResult<Option<(Vec<PlayedMove>, usize, usize)>> {
        Ok(before(&self.search.get()?.facts.fault))
    }

    #[getter]
    fn failed(&self) -> PyResult<Failed> {
        Ok(failed(&self.search.get()?.facts))
    }

    /// How many claims have been seen to fail.
    #[getter]
    fn failures(&self) -> PyResult<usize> {
        Ok(self.search.get()?.facts.failed.len())
    }

    #[getter]
    fn deadlock(&self) -> PyResult<Option<Vec<PlayedMove>>> {
        Ok(self.search.get()?.facts.deadlock.clone())
    }
}

/// A search for races over a program given as tables, trace by trace.
///
/// ``rules``, ``all`` and ``memory_limit`` are as in ``Races``, ``longest`` as in ``Traces``.
#[pyclass(module = "pgasrob._kernel")]
pub struct TraceRaces {
    search: Intact<traces::TraceRaces>,
}

#[pymethods]
impl TraceRaces {
    #[new]
    #[pyo3(signature = (tables, rules, *, longest, all=false, memory_limit=None))]
    fn new(
        tables: &Bound<'_, PyAny>,
        rules: &Bound<'_, PyAny>,
        longest: usize,
        all: bool,
        memory_limit: Option<usize>,
    ) -> PyResult<Self> {
        let (raw, rules) = (raw(tables)?, raw_rules(rules)?);
        let search = Intact::new(|| traces::TraceRaces::new(&raw, &rules, all, longest, memory_limit))?;
        Ok(TraceRaces { search })
    }

    /// Go on until it has taken ``effort`` more, without the interpreter lock; True when the search is over.
    fn run(&mut self, py: Python<'_>, effort: u64) -> PyResult<bool> {
        self.search.with(|search| py.detach(|| search.run(effort)))
    }

    /// The events and commands that ``run`` has looked at.
    #[getter]
    fn effort(&self) -> PyResult<u64> {
        Ok(self.search.get()?.effort())
    }

    #[getter]
    fn events(&self) -> PyResult<u64> {
        Ok(self.search.get()?.exploration.events)
    }

    #[getter]
    fn traces(&self) -> PyResult<u64> {
        Ok(self.search.get()?.exploration.traces)
    }

    /// Whether a run is too long, and whether there was too much to choose from.
    #[getter]
    fn too_long(&self) -> PyResult<bool> {
        Ok(self.search.get()?.exploration.too_long)
    }

    #[getter]
    fn gave_up(&self) -> PyResult<bool> {
        Ok(self.search.get()?.exploration.gave_up)
    }

    /// Bytes of what grows with the search.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        Ok(self.search.get()?.memory())
    }

    /// How many races have been found.
    #[getter]
    fn count(&self) -> PyResult<usize> {
        Ok(self.search.get()?.races.len())
    }

    /// As in ``Races``.
    fn race(&self, number: usize) -> PyResult<RaceRun> {
        race_run(&self.search.get()?.races, number)
    }

    #[getter]
    fn harmless(&self) -> PyResult<bool> {
        Ok(self.search.get()?.harmless)
    }

    #[getter]
    fn fault(&self) -> PyResult<Option<(Vec<PlayedMove>, usize, usize)>> {
        Ok(before(&self.search.get()?.fault))
    }
}
