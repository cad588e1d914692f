//! What is true of the SC runs: faults, failed assertions, deadlocks (`pgasrob/semantics/sequential.py`).
//!
//! The states without an attack are the states of the SC runs, and in breadth-first order they come in the order in
//! which a search over SC runs alone meets them: an attack state leads to no other.

use std::collections::BTreeMap;

use crate::commands::{Command, Immediate};
use crate::memory::Result;
use crate::moves::{PlayedMove, Space};
use crate::operands::Operands;
use crate::standstill::goes_round;
use crate::state::State;
use crate::tables::Tables;
use crate::world::World;

/// The next command of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub rank: usize,
    pub transition: usize,
}

/// What one state shows. After a fault nothing else is looked at.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The first command that cannot be evaluated.
    pub fault: Option<Standing>,
    /// The assertions that are false, with their claims.
    pub failed: Vec<(usize, Standing)>,
    /// Whether each rank is where it cannot move, or in a loop: only then nothing may change any more.
    pub may_stay: bool,
}

/// The first of each kind that was met, with the run that leads there.
///
/// The runs are worked out at once: they are few, and a search that runs out of memory later still has them.
#[derive(Debug)]
pub struct Facts {
    pub checks_deadlock: bool,
    pub fault: Option<(Standing, Vec<PlayedMove>)>,
    /// By claim.
    pub failed: BTreeMap<usize, (Standing, Vec<PlayedMove>)>,
    pub deadlock: Option<Vec<PlayedMove>>,
}

impl Facts {
    pub fn new(tables: &Tables) -> Self {
        let some = |wanted: fn(&Command) -> bool| {
            (0..tables.transitions.len()).any(|transition| wanted(tables.command(transition)))
        };
        Facts {
            checks_deadlock: tables.endless.contains(&true)
                || some(|command| {
                    matches!(
                        command,
                        Command::Barrier { .. } | Command::Immediate(Immediate { condition: Some(_), .. })
                    )
                }),
            fault: None,
            failed: BTreeMap::new(),
            deadlock: None,
        }
    }

    /// Whether a deadlock would be new.
    pub fn looks_for_deadlocks(&self) -> bool {
        self.checks_deadlock && self.deadlock.is_none()
    }

    /// What is new in what a state shows. A fault ends it: what comes after is not looked at any more.
    pub fn news(&self, mut seen: Seen) -> Seen {
        if self.fault.is_some() {
            return Seen::default();
        }
        seen.failed.retain(|(claim, _)| !self.failed.contains_key(claim));
        Seen { fault: seen.fault, failed: seen.failed, may_stay: seen.may_stay && self.looks_for_deadlocks() }
    }
}

/// Looks at a state of the SC runs.
pub fn look_at(space: Space<'_>, world: &mut World, state: &State) -> Result<Seen> {
    let (mut failed, mut may_stay) = (Vec::new(), true);
    for rank in 0..space.tables.processes {
        let mut moves = false;
        for transition in space.tables.leaving(rank, state.control[rank]) {
            let standing = Standing { rank, transition };
            let Some(operands) = space.operands(world, state, rank, transition)? else {
                return Ok(Seen { fault: Some(standing), ..Seen::default() });
            };
            if matches!(operands, Operands::Test { holds: false, blocks: false }) {
                failed.try_reserve(1)?;
                failed.push((space.tables.claim(transition), standing));
            }
            moves |= !matches!(operands, Operands::Barrier { .. }) && space.enabled(world, state, rank, &operands)?;
        }
        may_stay &= !moves || goes_round(space.tables, rank, state);
    }
    Ok(Seen { fault: None, failed, may_stay })
}
