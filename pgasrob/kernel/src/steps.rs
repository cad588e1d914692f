//! Accesses to cells, and the steps of remote commands (`pgasrob/program/core.py`).

use std::ops::Deref;

use crate::memory::{Error, Result};
use crate::state::{Source, State};
use crate::tables::touch::Ways;
use crate::tables::{Operand, Tables, touch};

/// An access to a cell, in some ways: an atomic that fetches reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub cell: usize,
    pub ways: Ways,
}

impl Access {
    pub fn reading(cell: usize) -> Self {
        Access { cell, ways: touch::READ }
    }

    pub fn writing(cell: usize) -> Self {
        Access { cell, ways: touch::WRITTEN }
    }

    /// The ways of other accesses to its cell that conflict with it.
    pub fn against(self) -> Ways {
        touch::against(self.ways)
    }

    pub fn conflicts_with(self, source: Source) -> bool {
        self.cell == source.cell && self.against() & source.ways != 0
    }

    /// Whether it is another source: an update like `source`, of a cell for whose value some command may wait.
    pub fn joins(self, source: Source, tables: &Tables) -> bool {
        let commutes = self.ways & !(touch::READ | touch::WRITTEN) != 0;
        commutes && self.cell == source.cell && self.ways == source.ways && tables.waited[self.cell]
    }

    /// Whether it conflicts with what tainted commands have accessed without delay (t).
    pub fn meets_done(self, state: &State) -> bool {
        state.touched[self.cell] & self.against() != 0
    }

    /// Whether it conflicts with a step in D (d).
    pub fn meets_delayed(self, state: &State) -> bool {
        state.touched[self.cell] & touch::delayed(self.against()) != 0
    }

    /// Enters it into t, or into d.
    pub fn enter(self, tables: &Tables, state: &mut State, delayed: bool) -> Result<()> {
        let bits = if delayed { touch::delayed(self.ways) } else { self.ways };
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
    pub ways: Ways,
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
