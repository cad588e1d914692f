//! What is true of the SC runs: faults, failed assertions, deadlocks (`pgasrob/semantics/sequential.py`).
//!
//! The states without an attack are the states of the SC runs, and in breadth-first order they come in the order in
//! which a search over SC runs alone meets them: an attack state leads to no other.

use crate::memory::Result;
use crate::moves::Space;
use crate::operands::{Operands, World};
use crate::state::State;
use crate::tables::Command;

/// The first of each kind that was met. A state is given by its number among the SC states.
#[derive(Debug)]
pub struct Facts {
    pub checks_assertions: bool,
    pub checks_deadlock: bool,
    /// The state, and the rank and transition of the command that cannot be evaluated.
    pub fault: Option<(usize, usize, usize)>,
    /// The state, and the rank and transition of the assertion that is false.
    pub violated: Option<(usize, usize, usize)>,
    pub deadlock: Option<usize>,
}

impl Facts {
    pub fn new(space: Space<'_>) -> Self {
        let some = |wanted: fn(Command) -> bool| {
            (0..space.tables.transitions.len()).any(|transition| wanted(space.tables.command(transition)))
        };
        Facts {
            checks_assertions: some(|command| matches!(command, Command::Assert { .. })),
            checks_deadlock: some(|command| matches!(command, Command::Barrier | Command::Await { .. })),
            fault: None,
            violated: None,
            deadlock: None,
        }
    }

    /// Looks at the SC state `number`. A fault ends it: what comes after is not looked at any more.
    pub fn look_at(&mut self, space: Space<'_>, world: &mut World, state: &State, number: usize) -> Result<()> {
        if self.fault.is_some() {
            return Ok(());
        }
        let (mut failed, mut moves, mut ended, mut blocked_by_assumes) = (None, space.barriers(state) > 0, true, false);
        for rank in 0..space.tables.nodes {
            let leaving = space.tables.leaving(rank, state.control[rank]);
            ended &= leaving.is_empty();
            blocked_by_assumes |= !leaving.is_empty()
                && leaving.clone().all(|transition| matches!(space.tables.command(transition), Command::Assume { .. }));
            for transition in leaving {
                let Some(operands) = space.operands(world, state, rank, transition)? else {
                    self.fault = Some((number, rank, transition));
                    return Ok(());
                };
                if matches!(operands, Operands::Assert { holds: false }) && failed.is_none() {
                    failed = Some((number, rank, transition));
                }
                moves |= !matches!(operands, Operands::Barrier) && space.enabled(world, state, &operands);
            }
        }
        if self.violated.is_none() {
            self.violated = failed;
        }
        // A rank whose every next command is an assume is stuck by the program's own will: no deadlock.
        if self.checks_deadlock && self.deadlock.is_none() && !moves && !ended && !blocked_by_assumes {
            self.deadlock = Some(number);
        }
        Ok(())
    }
}
