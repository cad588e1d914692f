//! The answers for a recorded trace.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::python::guarded;
use crate::recorded::answers::{Answers, GaveUp};
use crate::recorded::events::read;

/// The event of an access, its place in the chain of its command, whether it is a step.
type ToldEntry = (u32, u8, bool);
/// The source's event and step, the last event and how many of its steps go before, the event through which the cycle
/// enters, whether the last event waits, and whether the source has no other update beside it.
type ToldAttack = (u32, u8, u32, u8, Option<u32>, bool, bool);

/// The answers for one recorded trace, given as ``words`` (``pgasrob/recording/native_recordings.py``).
///
/// ``excluded``: a square with 1 for two facts of which no accesses race. ``limit``: how much may be looked at. ``look``
/// says whether that was enough, and its ``seconds``.
#[pyclass(module = "pgasrob._kernel")]
pub struct Recorded {
    answers: Answers,
}

#[pymethods]
impl Recorded {
    #[new]
    fn new(words: &[u8], nodes: usize, cells: usize, strict: bool, excluded: &[u8], limit: u64) -> PyResult<Self> {
        let (words, _) = words.as_chunks();
        let words: Vec<i64> = words.iter().map(|word| i64::from_le_bytes(*word)).collect();
        let commands = guarded(|| read(&words, nodes, cells))??;
        Ok(Recorded { answers: guarded(|| Answers::new(commands, nodes, cells, strict, excluded, limit))? })
    }

    #[pyo3(signature = (races, attacks, seconds=None))]
    fn look(&mut self, py: Python<'_>, races: bool, attacks: bool, seconds: Option<f64>) -> PyResult<bool> {
        let answers = &mut self.answers;
        let left = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
        let until = left.and_then(|left| Instant::now().checked_add(left));
        Ok(!matches!(py.detach(|| guarded(|| answers.look(races, attacks, until)))?, Err(GaveUp)))
    }

    #[getter]
    fn races(&self) -> Vec<(ToldEntry, ToldEntry)> {
        let found = self.answers.races.iter();
        found.map(|race| [race.one, race.other].map(|entry| (entry.event, entry.place, entry.step)).into()).collect()
    }

    #[getter]
    fn attacks(&self) -> Vec<ToldAttack> {
        let trace = &self.answers.trace;
        let found = self.answers.attacks.iter();
        found
            .map(|attack| {
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
