//! The searches state by state.

use pyo3::prelude::*;

use crate::analyses::Reductions;
use crate::memory::Error;
use crate::moves::PlayedMove;
use crate::python::fields::{raw, raw_rules};
use crate::python::{Failed, Intact, RaceRun, before, failed, race_run};
use crate::search::{self, Came};

/// A breadth-first search over a program given as tables (``pgasrob.robustness.kernel_tables.Tables``).
///
/// Without ``attack`` only SC runs are searched, and a fault ends the search. ``guesses``: whether assumes are those of a
/// front end, so that a rank before false ones alone is in no run. ``reductions`` are names of ``REDUCTIONS``.
/// ``memory_limit`` bounds the bytes it may store. ``threads`` work at it where there is enough to do, and change nothing
/// but the time it takes. Malformed tables are a ValueError, too little memory is a MemoryError.
#[pyclass(module = "pgasrob._kernel")]
pub struct Search {
    search: Intact<search::Search>,
}

#[pymethods]
impl Search {
    #[new]
    #[pyo3(signature = (tables, *, attack=true, guesses=false, reductions=Vec::new(), memory_limit=None, threads=1))]
    fn new(
        tables: &Bound<'_, PyAny>,
        attack: bool,
        guesses: bool,
        reductions: Vec<String>,
        memory_limit: Option<usize>,
        threads: usize,
    ) -> PyResult<Self> {
        let raw = raw(tables)?;
        let search =
            begun(threads, || search::Search::new(&raw, attack, guesses, Reductions::new(&reductions)?, memory_limit))?;
        Ok(Search { search })
    }

    /// Look at up to ``states`` more states, without the interpreter lock; True when the search is over.
    fn run(&mut self, py: Python<'_>, states: usize) -> PyResult<bool> {
        run(py, &mut self.search, states)
    }

    /// States stored, and edges seen.
    #[getter]
    fn states(&self) -> PyResult<usize> {
        Ok(self.search.get()?.states())
    }

    #[getter]
    fn transitions(&self) -> PyResult<u64> {
        Ok(self.search.get()?.transitions())
    }

    /// The same of the SC runs alone.
    #[getter]
    fn sc_states(&self) -> PyResult<usize> {
        Ok(self.search.get()?.sc_states())
    }

    #[getter]
    fn sc_transitions(&self) -> PyResult<u64> {
        Ok(self.search.get()?.sc_transitions())
    }

    /// Whether all SC runs have been seen.
    #[getter]
    fn sc_complete(&self) -> PyResult<bool> {
        Ok(self.search.get()?.sc_complete())
    }

    /// Bytes of everything that grows with the search.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        Ok(self.search.get()?.memory())
    }

    /// Bytes of a packed state without an attack, and with one.
    #[getter]
    fn record_bytes(&self) -> PyResult<(usize, usize)> {
        Ok(self.search.get()?.record_bytes().into())
    }

    /// Whether the program has commands that can deadlock.
    #[getter]
    fn checks_deadlock(&self) -> PyResult<bool> {
        Ok(self.search.get()?.facts().checks_deadlock)
    }

    /// The moves of the run that closes the cycle; None so far.
    ///
    /// A move is (rank, transitions, parts): the transition's number in the tables and the part of each of its steps,
    /// or for a barrier None, the transition of every rank and no parts.
    #[getter]
    fn violation(&mut self) -> PyResult<Option<Vec<PlayedMove>>> {
        self.search.with(search::Search::violation)
    }

    /// The moves to a state before a command that cannot be evaluated, the rank and the transition of that; None so
    /// far.
    #[getter]
    fn fault(&self) -> PyResult<Option<(Vec<PlayedMove>, usize, usize)>> {
        Ok(before(&self.search.get()?.facts().fault))
    }

    /// For each claim that was seen to fail: its number, the moves to a state before an assertion of it that fails, the
    /// rank and the transition of that.
    #[getter]
    fn failed(&self) -> PyResult<Failed> {
        Ok(failed(self.search.get()?.facts()))
    }

    /// How many claims have been seen to fail.
    #[getter]
    fn failures(&self) -> PyResult<usize> {
        Ok(self.search.get()?.facts().failed.len())
    }

    /// The moves to a deadlock; None so far.
    #[getter]
    fn deadlock(&self) -> PyResult<Option<Vec<PlayedMove>>> {
        Ok(self.search.get()?.facts().deadlock.clone())
    }
}

/// A search for races over a program given as tables, by rules (``pgasrob.races.native_races.Rules``).
///
/// It looks for one race, or for ``all``: one for each pair of places. A fault ends it. What else it takes is as in
/// ``Search``.
#[pyclass(module = "pgasrob._kernel")]
pub struct Races {
    search: Intact<search::Search>,
}

#[pymethods]
impl Races {
    #[new]
    #[pyo3(signature = (tables, rules, *, all=false, reductions=Vec::new(), memory_limit=None, threads=1))]
    fn new(
        tables: &Bound<'_, PyAny>,
        rules: &Bound<'_, PyAny>,
        all: bool,
        reductions: Vec<String>,
        memory_limit: Option<usize>,
        threads: usize,
    ) -> PyResult<Self> {
        let (raw, rules) = (raw(tables)?, raw_rules(rules)?);
        let search = begun(threads, || {
            search::Search::for_races(&raw, &rules, all, Reductions::new(&reductions)?, memory_limit)
        })?;
        Ok(Races { search })
    }

    /// Look at up to ``states`` more states, without the interpreter lock; True when the search is over.
    fn run(&mut self, py: Python<'_>, states: usize) -> PyResult<bool> {
        run(py, &mut self.search, states)
    }

    #[getter]
    fn states(&self) -> PyResult<usize> {
        Ok(self.search.get()?.states())
    }

    #[getter]
    fn transitions(&self) -> PyResult<u64> {
        Ok(self.search.get()?.transitions())
    }

    /// Bytes of everything that grows with the search.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        Ok(self.search.get()?.memory())
    }

    /// How many races have been found.
    #[getter]
    fn count(&self) -> PyResult<usize> {
        Ok(self.search.get()?.races().len())
    }

    /// The moves of the run to the race with this number, and the next commands of ranks then: both accesses
    /// of the race, or the second. Where there is none, the last move stops before it. The first is that of the first
    /// step that has stopped.
    fn race(&self, number: usize) -> PyResult<RaceRun> {
        race_run(self.search.get()?.races(), number)
    }

    /// Whether a step that has stopped conflicts with what is next and that is no race.
    #[getter]
    fn harmless(&self) -> PyResult<bool> {
        Ok(self.search.get()?.meets_harmless())
    }

    /// As in ``Search``.
    #[getter]
    fn fault(&self) -> PyResult<Option<(Vec<PlayedMove>, usize, usize)>> {
        Ok(before(&self.search.get()?.facts().fault))
    }
}

/// Looks at up to `states` more states; whether the search is over. Signals and limits end it in between, by an
/// exception, and leave it intact.
fn run(py: Python<'_>, search: &mut Intact<search::Search>, mut states: usize) -> PyResult<bool> {
    loop {
        match search.with(|search| py.detach(|| search.run(&mut states)))? {
            Came::Over => return Ok(true),
            Came::Back => return Ok(false),
            Came::Late => {
                py.check_signals()?;
                py.import("pgasrob.stop_points")?.call_method0("stop_point")?;
            }
        }
    }
}

/// A search that heeds the interpreter's signals, with so many threads.
fn begun(threads: usize, make: impl FnOnce() -> Result<search::Search, Error>) -> PyResult<Intact<search::Search>> {
    Intact::new(|| {
        let mut search = make()?;
        search.think_ahead(threads);
        search.heed(|| Python::attach(|py| py.check_signals().is_err()));
        Ok(search)
    })
}
