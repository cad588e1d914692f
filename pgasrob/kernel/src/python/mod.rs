//! The border to Python: module `pgasrob._kernel`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::analyses::Reductions;
use crate::code::{FUNCTIONS, FUNCTIONS_OF_TWO, Relation};
use crate::commands::Phase;
use crate::facts::{Facts, Standing};
use crate::memory::Error;
use crate::moves::PlayedMove;
use crate::rows;
use crate::search::FoundRace;
use crate::tables;
use crate::updates::Operation;

mod fields;
mod recorded;
mod search;
mod streamed;
mod traces;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Malformed(_) | Error::Unnumbered => PyValueError::new_err(error.to_string()),
            Error::Interrupted => PyKeyboardInterrupt::new_err(()),
            Error::OutOfMemory | Error::Limit(_) => PyMemoryError::new_err(error.to_string()),
        }
    }
}

/// A race as it is handed to Python: the moves to it, and the ranks and transitions of the commands that are next then.
type RaceRun = (Vec<PlayedMove>, Vec<(usize, usize)>);

fn race_run(races: &[FoundRace], number: usize) -> PyResult<RaceRun> {
    let race = races.get(number).ok_or_else(|| PyValueError::new_err("there is no such race"))?;
    let standing = race.standing.iter().map(|standing| (standing.rank, standing.transition)).collect();
    Ok((race.run.clone(), standing))
}

/// By claim: its number, and what [`before`] gives.
type Failed = Vec<(usize, Vec<PlayedMove>, usize, usize)>;

fn failed(facts: &Facts) -> Failed {
    let known = facts.failed.iter();
    known.map(|(&claim, (standing, run))| (claim, run.clone(), standing.rank, standing.transition)).collect()
}

/// The moves to a state, and the rank and the transition of the command there.
fn before(known: &Option<(Standing, Vec<PlayedMove>)>) -> Option<(Vec<PlayedMove>, usize, usize)> {
    known.clone().map(|(standing, run)| (run, standing.rank, standing.transition))
}

/// What a search works on; None after a panic, when nothing can be trusted any more.
struct Intact<T>(Option<T>);

impl<T> Intact<T> {
    fn new(make: impl FnOnce() -> Result<T, Error>) -> PyResult<Self> {
        Ok(Intact(Some(guarded(make)??)))
    }

    fn get(&self) -> PyResult<&T> {
        self.0.as_ref().ok_or_else(broken)
    }

    fn with<R>(&mut self, work: impl FnOnce(&mut T) -> Result<R, Error>) -> PyResult<R> {
        let kept = self.0.as_mut().ok_or_else(broken)?;
        match guarded(|| work(kept)) {
            Ok(result) => Ok(result?),
            Err(error) => {
                self.0 = None;
                Err(error)
            }
        }
    }
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

#[pymodule]
fn _kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<search::Search>()?;
    module.add_class::<search::Races>()?;
    module.add_class::<traces::Traces>()?;
    module.add_class::<traces::TraceRaces>()?;
    module.add_class::<recorded::Recorded>()?;
    module.add_class::<streamed::Streamed>()?;
    module.add("FORMAT", tables::FORMAT)?;
    module.add("SHAPES", rows::SHAPES)?;
    module.add("STEPS", Phase::ALL.map(|(_, name)| name))?;
    module.add("INSTRUCTIONS", rows::INSTRUCTIONS)?;
    module.add("FUNCTIONS", FUNCTIONS.map(|(name, _)| name))?;
    module.add("FUNCTIONS_OF_TWO", FUNCTIONS_OF_TWO.map(|(name, _)| name))?;
    module.add("REDUCTIONS", Reductions::NAMES)?;
    module.add("RELATIONS", Relation::ALL.map(|(_, symbol)| symbol))?;
    module.add("UPDATES", Operation::ALL.map(|(_, name)| name))
}
