//! Accesses to cells, and the steps of remote commands (`pgasrob/program/core.py`).

use std::ops::Deref;

use crate::memory::{Error, Result};
use crate::state::{Source, State};
use crate::tables::{Operand, Tables, touch};

/// An access to a cell; an atomic reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub cell: usize,
    pub reads: bool,
    pub writes: bool,
}

impl Access {
    pub fn reading(cell: usize) -> Self {
        Access { cell, reads: true, writes: false }
    }

    pub fn writing(cell: usize) -> Self {
        Access { cell, reads: false, writes: true }
    }

    pub fn conflicts_with(self, source: Source) -> bool {
        self.cell == source.cell && (self.writes || source.writes)
    }

    /// Whether it conflicts with what tainted commands have accessed without delay (t_r, t_w).
    pub fn meets_done(self, state: &State) -> bool {
        state.touched[self.cell] & if self.writes { touch::READ | touch::WRITTEN } else { touch::WRITTEN } != 0
    }

    /// Whether it conflicts with a step in D (d_r, d_w).
    pub fn meets_delayed(self, state: &State) -> bool {
        let written = touch::DELAYED_WRITTEN;
        state.touched[self.cell] & if self.writes { touch::DELAYED_READ | written } else { written } != 0
    }

    /// Enters it into t_r and t_w, or into d_r and d_w.
    pub fn enter(self, tables: &Tables, state: &mut State, delayed: bool) -> Result<()> {
        let (read, written) =
            if delayed { (touch::DELAYED_READ, touch::DELAYED_WRITTEN) } else { (touch::READ, touch::WRITTEN) };
        let bits = if self.reads { read } else { 0 } | if self.writes { written } else { 0 };
        if bits & !tables.touchable[self.cell] != 0 {
            return Err(Error::Malformed(format!("touchable leaves out an access to cell {}", self.cell)));
        }
        state.touch(self.cell, bits)
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Source,
    Expected,
    Destination,
    Result,
}

impl Phase {
    /// The phases by their number in the tables, with the names of their events.
    pub const ALL: [(Phase, &'static str); 4] =
        [(Phase::Source, "popa"), (Phase::Expected, "popd"), (Phase::Destination, "popb"), (Phase::Result, "popc")];
}

/// A step of a remote command, with what orders it and waits for it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its place in the chain.
    pub place: usize,
    pub phase: Phase,
    /// Where it accesses memory: at the rank that the command names, or here.
    pub address: Operand,
    pub at_target: bool,
    /// Its place in the FIFO order, in which every stage of a queue is a queue of its own.
    pub stage: usize,
    pub reads: bool,
    pub writes: bool,
    /// wait_local waits for it.
    pub local: bool,
    /// Fences order it, as the destination write of a put.
    pub fenced: bool,
    /// It comes after the fenced steps to its target of earlier operations.
    pub after_writes: bool,
    /// It comes after all steps of the rank's latest bundle.
    pub after_bundle: bool,
    /// It comes after the rank's earlier located steps to its cell.
    pub located: bool,
}

/// A command has a step of each phase at most.
pub const MOST_STEPS: usize = 4;

/// The steps of a remote command in their order.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    steps: [Step; MOST_STEPS],
    count: usize,
}

impl Steps {
    /// None when there are none, or too many.
    pub fn new(chain: &[Step]) -> Option<Self> {
        let mut steps = [*chain.first()?; MOST_STEPS];
        steps.get_mut(..chain.len())?.copy_from_slice(chain);
        Some(Steps { steps, count: chain.len() })
    }
}

impl Deref for Steps {
    type Target = [Step];

    fn deref(&self) -> &[Step] {
        &self.steps[..self.count]
    }
}
