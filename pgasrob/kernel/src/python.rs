//! The border to Python: module `pgasrob._kernel`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::analyses::Reductions;
use crate::code::Relation;
use crate::facts::Standing;
use crate::memory::Error;
use crate::moves::Told;
use crate::races::rules::RawRules;
use crate::races::traces;
use crate::recorded::answers::{Answers, GaveUp};
use crate::search;
use crate::steps::Phase;
use crate::tables::{self, Raw};
use crate::traces::exploration::Subtrees;
use crate::traces::search::TraceSearch;
use crate::updates::Operation;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Malformed(_) | Error::Unnumbered => PyValueError::new_err(error.to_string()),
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            Error::OutOfMemory | Error::Limit(_) => PyMemoryError::new_err(error.to_string()),
        }
    }
}

/// A breadth-first search over a program given as tables (``pgasrob.robustness.tables.Tables``).
///
/// Without ``attack`` only SC runs are searched, and a fault ends the search. ``guesses``: whether assumes are those of a
/// front end, so that a rank before false ones alone is in no run. ``reductions`` are names of ``REDUCTIONS``.
/// ``memory_limit`` bounds the bytes it may store. ``threads`` work at it where there is enough to do, and change nothing
/// but the time it takes. Malformed tables are a ValueError, too little memory is a MemoryError.
#[pyclass(module = "pgasrob._kernel")]
struct Search {
    /// None after a panic, when nothing can be trusted any more.
    search: Option<search::Search>,
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
        let mut search =
            guarded(|| search::Search::new(&raw, attack, guesses, Reductions::new(&reductions)?, memory_limit))??;
        search.think_ahead(threads);
        search.heed(|| Python::attach(|py| py.check_signals().is_err()));
        Ok(Search { search: Some(search) })
    }

    /// Look at up to ``states`` more states, without the interpreter lock; True when the search is over.
    fn run(&mut self, py: Python<'_>, states: usize) -> PyResult<bool> {
        self.with(|search| py.detach(|| search.run(states)))
    }

    /// States stored, and edges seen.
    #[getter]
    fn states(&self) -> PyResult<usize> {
        Ok(self.get()?.states())
    }

    #[getter]
    fn transitions(&self) -> PyResult<u64> {
        Ok(self.get()?.transitions())
    }

    /// The same of the SC runs alone.
    #[getter]
    fn sc_states(&self) -> PyResult<usize> {
        Ok(self.get()?.sc_states())
    }

    #[getter]
    fn sc_transitions(&self) -> PyResult<u64> {
        Ok(self.get()?.sc_transitions())
    }

    /// Whether all SC runs have been seen.
    #[getter]
    fn sc_complete(&self) -> PyResult<bool> {
        Ok(self.get()?.sc_complete())
    }

    /// Bytes of everything that grows with the search.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        Ok(self.get()?.memory())
    }

    /// Bytes of a packed state without an attack, and with one.
    #[getter]
    fn record_bytes(&self) -> PyResult<(usize, usize)> {
        Ok(self.get()?.record_bytes().into())
    }

    /// Whether the program has assertions, and whether it has commands that can deadlock.
    #[getter]
    fn checks_assertions(&self) -> PyResult<bool> {
        Ok(self.get()?.facts().checks_assertions)
    }

    #[getter]
    fn checks_deadlock(&self) -> PyResult<bool> {
        Ok(self.get()?.facts().checks_deadlock)
    }

    /// The moves of the run that closes the cycle; None so far.
    ///
    /// A move is (rank, transitions, parts): the transition's number in the tables and the part of each of its steps,
    /// or for a barrier None, the transition of every rank and no parts.
    #[getter]
    fn violation(&mut self) -> PyResult<Option<Vec<Told>>> {
        self.with(search::Search::violation)
    }

    /// The moves to a state before a command that cannot be evaluated, the rank and the transition of that; None so
    /// far.
    #[getter]
    fn fault(&self) -> PyResult<Option<(Vec<Told>, usize, usize)>> {
        Ok(before(&self.get()?.facts().fault))
    }

    /// The moves to a state before a failing assertion, the rank and the transition of that; None so far.
    #[getter]
    fn violated(&self) -> PyResult<Option<(Vec<Told>, usize, usize)>> {
        Ok(before(&self.get()?.facts().violated))
    }

    /// The moves to a deadlock; None so far.
    #[getter]
    fn deadlock(&self) -> PyResult<Option<Vec<Told>>> {
        Ok(self.get()?.facts().deadlock.clone())
    }
}

impl Search {
    fn get(&self) -> PyResult<&search::Search> {
        self.search.as_ref().ok_or_else(broken)
    }

    fn with<T>(&mut self, work: impl FnOnce(&mut search::Search) -> Result<T, Error>) -> PyResult<T> {
        let search = self.search.as_mut().ok_or_else(broken)?;
        match guarded(|| work(search)) {
            Ok(result) => Ok(result?),
            Err(error) => {
                self.search = None;
                Err(error)
            }
        }
    }
}

/// A race as the caller is told of it: the moves to it, and the ranks and transitions of the commands that ranks stand
/// before.
type ToldRace = (Vec<Told>, Vec<(usize, usize)>);

/// A search for races over a program given as tables, by rules (``pgasrob.races.rules.Rules``).
///
/// It looks for one race, or for ``all``: one for each pair of places. A fault ends it. What else it takes is as in
/// ``Search``.
#[pyclass(module = "pgasrob._kernel")]
struct Races {
    /// None after a panic, when nothing can be trusted any more.
    search: Option<search::Search>,
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
        let mut search =
            guarded(|| search::Search::for_races(&raw, &rules, all, Reductions::new(&reductions)?, memory_limit))??;
        search.think_ahead(threads);
        search.heed(|| Python::attach(|py| py.check_signals().is_err()));
        Ok(Races { search: Some(search) })
    }

    /// Look at up to ``states`` more states, without the interpreter lock; True when the search is over.
    fn run(&mut self, py: Python<'_>, states: usize) -> PyResult<bool> {
        let search = self.search.as_mut().ok_or_else(broken)?;
        match guarded(|| py.detach(|| search.run(states))) {
            Ok(result) => Ok(result?),
            Err(error) => {
                self.search = None;
                Err(error)
            }
        }
    }

    #[getter]
    fn states(&self) -> PyResult<usize> {
        Ok(self.get()?.states())
    }

    #[getter]
    fn transitions(&self) -> PyResult<u64> {
        Ok(self.get()?.transitions())
    }

    /// Bytes of everything that grows with the search.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        Ok(self.get()?.memory())
    }

    /// How many races have been found.
    #[getter]
    fn count(&self) -> PyResult<usize> {
        Ok(self.get()?.races().len())
    }

    /// The moves of the run to the race with this number, and the commands that ranks stand before then: both accesses
    /// of the race, or the second. Where there is none, the last move stops before it. The first is that of the first
    /// step that has stopped.
    fn race(&self, number: usize) -> PyResult<ToldRace> {
        told_race(self.get()?.races(), number)
    }

    /// Whether a step that has stopped conflicts with what is next and that is no race.
    #[getter]
    fn harmless(&self) -> PyResult<bool> {
        Ok(self.get()?.meets_harmless())
    }

    /// As in ``Search``.
    #[getter]
    fn fault(&self) -> PyResult<Option<(Vec<Told>, usize, usize)>> {
        Ok(before(&self.get()?.facts().fault))
    }
}

impl Races {
    fn get(&self) -> PyResult<&search::Search> {
        self.search.as_ref().ok_or_else(broken)
    }
}

/// A search over a program given as tables, trace by trace.
///
/// ``guesses`` and ``memory_limit`` are as in ``Search``; ``longest``: the events of a run beyond which it is given up.
#[pyclass(module = "pgasrob._kernel")]
struct Traces {
    /// None after a panic, when nothing can be trusted any more.
    search: Option<TraceSearch>,
}

#[pymethods]
impl Traces {
    #[new]
    #[pyo3(signature = (tables, *, longest, guesses=false, memory_limit=None, part=(0, 0, u64::MAX)))]
    fn new(
        tables: &Bound<'_, PyAny>,
        longest: usize,
        guesses: bool,
        memory_limit: Option<usize>,
        part: (u32, u64, u64),
    ) -> PyResult<Self> {
        let raw = raw(tables)?;
        let (levels, first, end) = part;
        let part = Subtrees { levels, first, end };
        let search = guarded(|| TraceSearch::new(&raw, guesses, longest, memory_limit, part))??;
        Ok(Traces { search: Some(search) })
    }

    /// Go on until it has taken ``effort`` more, without the interpreter lock; True when the search is over.
    fn run(&mut self, py: Python<'_>, effort: u64) -> PyResult<bool> {
        let search = self.search.as_mut().ok_or_else(broken)?;
        match guarded(|| py.detach(|| search.run(effort))) {
            Ok(result) => Ok(result?),
            Err(error) => {
                self.search = None;
                Err(error)
            }
        }
    }

    /// The events and commands that ``run`` has looked at.
    #[getter]
    fn effort(&self) -> PyResult<u64> {
        Ok(self.get()?.effort())
    }

    /// Events looked at.
    #[getter]
    fn events(&self) -> PyResult<u64> {
        Ok(self.get()?.exploration.events)
    }

    #[getter]
    fn traces(&self) -> PyResult<u64> {
        Ok(self.get()?.exploration.traces)
    }

    /// The subtrees come to so far.
    #[getter]
    fn subtrees(&self) -> PyResult<u64> {
        Ok(self.get()?.exploration.subtrees)
    }

    /// Runs that were given up, since they come to what had been followed.
    #[getter]
    fn redundant(&self) -> PyResult<u64> {
        Ok(self.get()?.exploration.redundant)
    }

    /// Whether all traces have been seen, whether a run is too long, and whether there was too much to choose from.
    #[getter]
    fn complete(&self) -> PyResult<bool> {
        Ok(self.get()?.complete)
    }

    #[getter]
    fn too_long(&self) -> PyResult<bool> {
        Ok(self.get()?.too_long)
    }

    #[getter]
    fn gave_up(&self) -> PyResult<bool> {
        Ok(self.get()?.exploration.gave_up)
    }

    /// The transitions and their steps that could not be decided.
    #[getter]
    fn undecided(&self) -> PyResult<Vec<(usize, usize)>> {
        Ok(self.get()?.undecided.clone())
    }

    /// Bytes of what grows with the search.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        Ok(self.get()?.memory())
    }

    /// What is true of the SC runs, as in ``Search``.
    #[getter]
    fn checks_assertions(&self) -> PyResult<bool> {
        Ok(self.get()?.facts.checks_assertions)
    }

    #[getter]
    fn checks_deadlock(&self) -> PyResult<bool> {
        Ok(self.get()?.facts.checks_deadlock)
    }

    #[getter]
    fn violation(&self) -> PyResult<Option<Vec<Told>>> {
        Ok(self.get()?.violation.clone())
    }

    #[getter]
    fn fault(&self) -> PyResult<Option<(Vec<Told>, usize, usize)>> {
        Ok(before(&self.get()?.facts.fault))
    }

    #[getter]
    fn violated(&self) -> PyResult<Option<(Vec<Told>, usize, usize)>> {
        Ok(before(&self.get()?.facts.violated))
    }

    #[getter]
    fn deadlock(&self) -> PyResult<Option<Vec<Told>>> {
        Ok(self.get()?.facts.deadlock.clone())
    }
}

impl Traces {
    fn get(&self) -> PyResult<&TraceSearch> {
        self.search.as_ref().ok_or_else(broken)
    }
}

/// A search for races over a program given as tables, trace by trace.
///
/// ``rules``, ``all`` and ``memory_limit`` are as in ``Races``, ``longest`` as in ``Traces``.
#[pyclass(module = "pgasrob._kernel")]
struct TraceRaces {
    /// None after a panic, when nothing can be trusted any more.
    search: Option<traces::TraceRaces>,
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
        let search = guarded(|| traces::TraceRaces::new(&raw, &rules, all, longest, memory_limit))??;
        Ok(TraceRaces { search: Some(search) })
    }

    /// Go on until it has taken ``effort`` more, without the interpreter lock; True when the search is over.
    fn run(&mut self, py: Python<'_>, effort: u64) -> PyResult<bool> {
        let search = self.search.as_mut().ok_or_else(broken)?;
        match guarded(|| py.detach(|| search.run(effort))) {
            Ok(result) => Ok(result?),
            Err(error) => {
                self.search = None;
                Err(error)
            }
        }
    }

    /// The events and commands that ``run`` has looked at.
    #[getter]
    fn effort(&self) -> PyResult<u64> {
        Ok(self.get()?.effort())
    }

    #[getter]
    fn events(&self) -> PyResult<u64> {
        Ok(self.get()?.exploration.events)
    }

    #[getter]
    fn traces(&self) -> PyResult<u64> {
        Ok(self.get()?.exploration.traces)
    }

    /// Whether a run is too long, and whether there was too much to choose from.
    #[getter]
    fn too_long(&self) -> PyResult<bool> {
        Ok(self.get()?.too_long)
    }

    #[getter]
    fn gave_up(&self) -> PyResult<bool> {
        Ok(self.get()?.exploration.gave_up)
    }

    /// Bytes of what grows with the search.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        Ok(self.get()?.memory())
    }

    /// How many races have been found.
    #[getter]
    fn count(&self) -> PyResult<usize> {
        Ok(self.get()?.races.len())
    }

    /// As in ``Races``.
    fn race(&self, number: usize) -> PyResult<ToldRace> {
        told_race(&self.get()?.races, number)
    }

    #[getter]
    fn harmless(&self) -> PyResult<bool> {
        Ok(self.get()?.harmless)
    }

    #[getter]
    fn fault(&self) -> PyResult<Option<(Vec<Told>, usize, usize)>> {
        Ok(before(&self.get()?.fault))
    }
}

impl TraceRaces {
    fn get(&self) -> PyResult<&traces::TraceRaces> {
        self.search.as_ref().ok_or_else(broken)
    }
}

fn told_race(races: &[search::FoundRace], number: usize) -> PyResult<ToldRace> {
    let race = races.get(number).ok_or_else(|| PyValueError::new_err("there is no such race"))?;
    let standing = race.standing.iter().map(|standing| (standing.rank, standing.transition)).collect();
    Ok((race.run.clone(), standing))
}

/// The moves to a state, and the rank and the transition of the command there.
fn before(known: &Option<(Standing, Vec<Told>)>) -> Option<(Vec<Told>, usize, usize)> {
    known.clone().map(|(standing, run)| (run, standing.rank, standing.transition))
}

fn broken() -> PyErr {
    PyRuntimeError::new_err("the kernel has failed before")
}

/// No input should make the kernel panic. If one does, that is an exception and not the end of the interpreter.
fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        PyRuntimeError::new_err(format!("internal error, please report it: the kernel failed: {text}"))
    })
}

fn raw(tables: &Bound<'_, PyAny>) -> PyResult<Raw> {
    Ok(Raw {
        format: field(tables, "format")?,
        nodes: field(tables, "nodes")?,
        size: field(tables, "size")?,
        registers: field(tables, "registers")?,
        values: field(tables, "values")?,
        memory: field(tables, "memory")?,
        touchable: field(tables, "touchable")?,
        waited: field(tables, "waited")?,
        unordered: field(tables, "unordered")?,
        states: field(tables, "states")?,
        leaving: field(tables, "leaving")?,
        transitions: field(tables, "transitions")?,
        commands: field(tables, "commands")?,
        expressions: field(tables, "expressions")?,
        code: field(tables, "code")?,
        sources: field(tables, "sources")?,
        set_starts: field(tables, "set_starts")?,
        sets: field(tables, "sets")?,
        soon: field(tables, "soon")?,
        ever: field(tables, "ever")?,
        barrier_later: field(tables, "barrier_later")?,
        live_starts: field(tables, "live_starts")?,
        live: field(tables, "live")?,
        relevant: field(tables, "relevant")?,
        queue_starts: field(tables, "queue_starts")?,
        queues: field(tables, "queues")?,
        class_starts: field(tables, "class_starts")?,
        classes: field(tables, "classes")?,
        moving: field(tables, "moving")?,
        rank_registers: field(tables, "rank_registers")?,
        rank_cells: field(tables, "rank_cells")?,
        moving_targets: field(tables, "moving_targets")?,
        kinds: field(tables, "kinds")?,
        landmarks: field(tables, "landmarks")?,
        most: field(tables, "most")?,
    })
}

fn raw_rules(rules: &Bound<'_, PyAny>) -> PyResult<RawRules> {
    Ok(RawRules {
        starts: field(rules, "starts")?,
        accesses: field(rules, "accesses")?,
        kinds: field(rules, "kinds")?,
        facts: field(rules, "facts")?,
        excluded: field(rules, "excluded")?,
        made_up: field(rules, "made_up")?,
        strict: field(rules, "strict")?,
    })
}

/// A field of the tables; whatever is wrong with it is a ValueError.
fn field<T: for<'a, 'py> FromPyObject<'a, 'py>>(tables: &Bound<'_, PyAny>, name: &str) -> PyResult<T> {
    let malformed = |error: PyErr| {
        if error.is_instance_of::<PyMemoryError>(tables.py()) {
            return error;
        }
        PyValueError::new_err(format!("malformed tables: {name}: {error}"))
    };
    tables.getattr(name).and_then(|value| value.extract().map_err(Into::into)).map_err(malformed)
}

/// The event of an access, its place in the chain of its command, whether it is a step.
type ToldEntry = (u32, u8, bool);
/// The source's event and step, the last event and how many of its steps go before, the event through which the cycle
/// enters, whether the last event waits, and whether the source has no other update beside it.
type ToldAttack = (u32, u8, u32, u8, Option<u32>, bool, bool);

/// The answers for one recorded trace, given as ``words`` (``pgasrob/recording/native.py``).
///
/// ``excluded``: a square with 1 for two facts of which no accesses race. ``limit``: how much may be looked at. ``look``
/// says whether that was enough.
#[pyclass(module = "pgasrob._kernel")]
struct Recorded {
    answers: Answers,
}

#[pymethods]
impl Recorded {
    #[new]
    fn new(words: &[u8], nodes: usize, cells: usize, strict: bool, excluded: &[u8], limit: u64) -> PyResult<Self> {
        let (words, _) = words.as_chunks();
        let words: Vec<i64> = words.iter().map(|word| i64::from_le_bytes(*word)).collect();
        Ok(Recorded { answers: guarded(|| Answers::new(&words, nodes, cells, strict, excluded, limit))?? })
    }

    fn look(&mut self, py: Python<'_>, races: bool, attacks: bool) -> PyResult<bool> {
        let answers = &mut self.answers;
        Ok(!matches!(py.detach(|| guarded(|| answers.look(races, attacks)))?, Err(GaveUp)))
    }

    #[getter]
    fn races(&self) -> Vec<(ToldEntry, ToldEntry)> {
        let told = self.answers.races.iter();
        told.map(|race| [race.one, race.other].map(|entry| (entry.event, entry.place, entry.step)).into()).collect()
    }

    #[getter]
    fn attacks(&self) -> Vec<ToldAttack> {
        let trace = &self.answers.trace;
        let told = self.answers.attacks.iter();
        told.map(|attack| {
            let bound = trace.events[attack.source as usize].command.bound();
            let alone = trace.is_alone(attack.source, bound + attack.step as usize);
            (attack.source, attack.step, attack.last, attack.taken, attack.through, attack.waits, alone)
        })
        .collect()
    }

    fn before(&mut self, one: (u32, Option<usize>), other: (u32, Option<usize>)) -> PyResult<Vec<(u32, u8)>> {
        guarded(|| self.answers.before([one, other]))
    }

    fn ideal(&mut self, roots: Vec<(u32, bool)>, source: Option<(u32, usize)>) -> PyResult<Vec<(u32, u8)>> {
        guarded(|| self.answers.ideal(&roots, source))
    }
}

#[pymodule]
fn _kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Search>()?;
    module.add_class::<Races>()?;
    module.add_class::<Traces>()?;
    module.add_class::<TraceRaces>()?;
    module.add_class::<Recorded>()?;
    module.add("FORMAT", tables::FORMAT)?;
    module.add("SHAPES", tables::SHAPES)?;
    module.add("STEPS", Phase::ALL.map(|(_, name)| name))?;
    module.add("INSTRUCTIONS", tables::INSTRUCTIONS)?;
    module.add("REDUCTIONS", Reductions::NAMES)?;
    module.add("RELATIONS", Relation::ALL.map(|(_, symbol)| symbol))?;
    module.add("UPDATES", Operation::ALL.map(|(_, name)| name))
}
