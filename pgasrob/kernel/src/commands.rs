//! Commands as they are written, by the shapes of `pgasrob/program/core.py`, and the steps of those that have some.

use std::ops::Deref;

use crate::code::{Program, Relation, Type, Value};
use crate::touch::Ways;
use crate::updates::Operation;

/// An operand: most are constants or a register, which need no code.
#[derive(Clone, Debug)]
pub enum Expression {
    Constant(Value),
    Register(usize),
    Code(Program),
}

/// The number of an expression in [`Tables::expressions`].
pub type Operand = usize;

/// What an atomic does with a cell, and the operands it takes if any.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    pub operation: Operation,
    pub kind: Type,
    pub operand: Option<Operand>,
    pub expected: Option<Operand>,
}

impl Update {
    /// Whether what it stores is computed, and not an operand.
    pub fn computes(&self) -> bool {
        !matches!(self.operation, Operation::Set | Operation::CompareSwap)
    }
}

/// A command with steps.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The address here that it reads at its issue.
    pub captured: Option<Operand>,
    pub rank: Operand,
    pub queue: Operand,
    /// Its operands are the ones that are values.
    pub update: Option<Update>,
    pub everywhere: bool,
    pub steps: Steps,
}

/// A command that accesses a cell at its issue: when it satisfies the condition if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Immediate {
    pub address: Operand,
    /// None: its own.
    pub rank: Option<Operand>,
    pub condition: Option<(Relation, Operand)>,
    pub update: Option<Update>,
    /// What gets the value that the cell held.
    pub register: Option<usize>,
    /// What has to hold of the registers then.
    pub until: Option<Operand>,
    pub ways: Ways,
}

#[derive(Clone, Copy, Debug)]
pub enum Command {
    Assign {
        register: usize,
        value: Operand,
    },
    /// An assume, which blocks unless the condition holds, or an assert. A rank before one that `ends` has ended the run
    /// of all. Of asserts with the same `claim` it is enough to know one that fails.
    Test {
        condition: Operand,
        blocks: bool,
        ends: bool,
        claim: usize,
    },
    Immediate(Immediate),
    Transfer(Transfer),
    Wait {
        queue: Operand,
        local: bool,
    },
    Fence {
        queue: Operand,
        rank: Option<Operand>,
    },
    Bundle,
    Barrier {
        name: usize,
    },
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
