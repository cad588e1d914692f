//! A recorded trace, read and answered for segment by segment.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::python::guarded;
use crate::recorded::events::{Command, read};
use crate::recorded::stream::segment::Form;
use crate::recorded::stream::template::Template;
use crate::recorded::stream::{Ask, Looks, Stream};

/// A recorded trace (``pgasrob/recording/streamed.py``). ``chunks``: how many the log of each rank has, ``private``: the
/// place of its private memory.
///
/// What it finds not to be as it should be is a ``ValueError``.
#[pyclass(module = "pgasrob._kernel", unsendable)]
pub struct Streamed {
    stream: Stream,
    looks: Looks,
}

/// What is needed: its name, a rank, two numbers, and records.
type Needed<'py> = (&'static str, usize, u64, u64, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn wrong(why: &'static str) -> PyErr {
    PyValueError::new_err(why)
}

fn signed(words: &[u8]) -> Vec<i64> {
    words.as_chunks().0.iter().map(|word| i64::from_le_bytes(*word)).collect()
}

fn unsigned(words: &[u8]) -> Vec<u64> {
    words.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn bytes<'py>(py: Python<'py>, words: &[u64]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
}

#[pymethods]
impl Streamed {
    #[new]
    #[pyo3(signature = (chunks, private, clock, openshmem, looks))]
    fn new(
        chunks: Vec<usize>,
        private: Vec<u64>,
        clock: i64,
        openshmem: bool,
        looks: (bool, bool, bool),
    ) -> PyResult<Self> {
        if chunks.len() != private.len() {
            return Err(wrong("ranks without a log"));
        }
        let (attacks, strict, every) = looks;
        let looks = Looks { attacks, strict, every };
        Ok(Streamed { stream: Stream::new(&chunks, &private, clock, openshmem), looks })
    }

    /// The next words of the log of a rank.
    fn give(&mut self, rank: usize, words: &[u8]) -> PyResult<()> {
        self.stream.give(rank, unsigned(words)).map_err(wrong)
    }

    /// Goes on until something is needed.
    fn run<'py>(&mut self, py: Python<'py>) -> PyResult<Needed<'py>> {
        let ask = guarded(|| self.stream.run())?.map_err(wrong)?;
        let none: &[u64] = &[];
        let (name, rank, one, other, first, second) = match &ask {
            Ask::Chunk(rank) => ("chunk", *rank, 0, 0, none, none),
            Ask::Record(rank, words) => ("record", *rank, 0, 0, &words[..], none),
            Ask::Call(rank, call, returned) => ("call", *rank, 0, 0, &call[..], &returned[..]),
            Ask::Form(rank, pc, what) => ("form", *rank, *pc, *what, none, none),
            Ask::Segment => ("segment", 0, 0, 0, none, none),
            Ask::Done => ("done", 0, 0, 0, none, none),
        };
        Ok((name, rank, one, other, bytes(py, first), bytes(py, second)))
    }

    /// The record that was asked about has been seen.
    #[pyo3(signature = (rank, commands, place, neutral))]
    fn seen(&mut self, rank: usize, commands: Option<Commands>, place: Option<u64>, neutral: bool) -> PyResult<()> {
        let nodes = self.stream.nodes();
        let template = commands.map(|commands| commands.template(nodes)).transpose()?;
        guarded(|| self.stream.seen(rank, template, place, neutral))?.map_err(wrong)
    }

    /// What the call does that was asked about.
    fn does(&mut self, rank: usize, call: &[u8], commands: Commands, neutral: bool) -> PyResult<()> {
        let template = commands.template(self.stream.nodes())?;
        guarded(|| self.stream.does(rank, &unsigned(call), template, neutral))?.map_err(wrong)
    }

    /// The form of the access that was asked about; `cut`: it may be done piece by piece, and left out.
    fn form(&mut self, rank: usize, pc: u64, what: u64, words: &[u8], cut: bool) -> PyResult<()> {
        let commands = read(&signed(words), self.stream.nodes(), 1)?;
        let [recorded] = &commands[..] else { return Err(wrong("no access")) };
        let Command::Immediate { access, .. } = recorded.command else { return Err(wrong("no access")) };
        let recorded = recorded.clone();
        self.stream.form(
            rank,
            pc,
            what,
            Form { recorded, reads: access.reads, writes: access.writes, always: !cut, cut },
        );
        Ok(())
    }

    fn unseen<'py>(&mut self, py: Python<'py>, rank: usize) -> Vec<Bound<'py, PyBytes>> {
        self.stream.unseen(rank).iter().map(|words| bytes(py, words)).collect()
    }

    /// Whether all was looked at in the segment that has ended, whether there are new races, and whether there may be an
    /// attack.
    #[pyo3(signature = (excluded, limit, seconds=None))]
    fn look(&mut self, excluded: &[u8], limit: u64, seconds: Option<f64>) -> PyResult<(bool, bool, bool)> {
        let left = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
        let until = left.and_then(|left| Instant::now().checked_add(left));
        let found = guarded(|| self.stream.look(self.looks, excluded, until, limit))?.map_err(wrong)?;
        Ok((found.done, found.races, found.attack))
    }

    #[getter]
    fn events(&self) -> u64 {
        self.stream.events
    }

    #[getter]
    fn kept(&self) -> u64 {
        self.stream.kept
    }
}

/// Commands as words, their ends, which of them may be done piece by piece, and the barrier that comes last.
#[derive(FromPyObject)]
struct Commands(PyBackedBytes, PyBackedBytes, PyBackedBytes, Option<u32>);

impl Commands {
    fn template(&self, nodes: usize) -> PyResult<Template> {
        Template::new(&signed(&self.0), &signed(&self.1), &self.2, self.3, nodes).map_err(wrong)
    }
}
