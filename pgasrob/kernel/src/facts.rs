//! What is true of the SC runs: faults, failed assertions, deadlocks (`pgasrob/semantics/sequential.py`).
//!
//! The states without an attack are the states of the SC runs, and in breadth-first order they come in the order in
//! which a search over SC runs alone meets them: an attack state leads to no other.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::commands::{Command, Immediate};
use crate::memory::Result;
use crate::moves::{PlayedMove, Space};
use crate::operands::Operands;
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
    pub deadlock: bool,
    /// Whether the next commands of some rank are all assumes.
    pub stopped: bool,
}

/// The first of each kind that was met, with the run that leads there.
///
/// The runs are worked out at once: they are few, and a search that runs out of memory later still has them.
#[derive(Debug)]
pub struct Facts {
    pub checks_deadlock: bool,
    /// Whether assumes are guesses of a front end: a run in which one turns out wrong is none, nor is it a deadlock.
    pub guesses: bool,
    pub fault: Option<(Standing, Vec<PlayedMove>)>,
    /// By claim.
    pub failed: BTreeMap<usize, (Standing, Vec<PlayedMove>)>,
    pub deadlock: Option<Vec<PlayedMove>>,
}

impl Facts {
    pub fn new(tables: &Tables, guesses: bool) -> Self {
        let some = |wanted: fn(&Command) -> bool| {
            (0..tables.transitions.len()).any(|transition| wanted(tables.command(transition)))
        };
        Facts {
            checks_deadlock: some(|command| {
                matches!(command, Command::Barrier { .. } | Command::Immediate(Immediate { condition: Some(_), .. }))
            }),
            guesses,
            fault: None,
            failed: BTreeMap::new(),
            deadlock: None,
        }
    }

    /// What is new in what a state shows. A fault ends it: what comes after is not looked at any more.
    pub fn news(&self, mut seen: Seen) -> Seen {
        if self.fault.is_some() {
            return Seen::default();
        }
        seen.failed.retain(|(claim, _)| !self.failed.contains_key(claim));
        Seen {
            fault: seen.fault,
            failed: seen.failed,
            deadlock: seen.deadlock
                && self.checks_deadlock
                && self.deadlock.is_none()
                && !(self.guesses && seen.stopped),
            ..Seen::default()
        }
    }
}

/// Looks at a state of the SC runs.
pub fn look_at(space: Space<'_>, world: &mut World, state: &State) -> Result<Seen> {
    let (mut failed, mut moves, mut stuck) = (Vec::new(), space.barriers(state) > 0, Stuck::default());
    for rank in 0..space.tables.nodes {
        let leaving = space.tables.leaving(rank, state.control[rank]);
        stuck.stands(space.tables, leaving.clone());
        for transition in leaving {
            let standing = Standing { rank, transition };
            let Some(operands) = space.operands(world, state, rank, transition)? else {
                return Ok(Seen { fault: Some(standing), ..Seen::default() });
            };
            if matches!(operands, Operands::Test { holds: false, blocks: false }) {
                failed.try_reserve(1)?;
                failed.push((space.tables.claim(transition), standing));
            }
            // A rank that polls goes on, if only without getting anywhere.
            let polls = matches!(space.tables.command(transition), Command::Immediate(Immediate { spins: true, .. }));
            moves |= polls
                || (!matches!(operands, Operands::Barrier { .. }) && space.enabled(world, state, rank, &operands)?);
        }
    }
    Ok(Seen { fault: None, failed, deadlock: !moves && stuck.is_deadlock(), stopped: stuck.stopped })
}

/// The next commands of ranks when none of them can move.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stuck {
    waits: bool,
    ended: bool,
    /// The next commands of some rank are all assumes.
    pub stopped: bool,
}

impl Stuck {
    /// Adds a rank whose next transitions are `leaving`.
    pub fn stands(&mut self, tables: &Tables, leaving: Range<usize>) {
        let ends = |transition| matches!(tables.command(transition), Command::Test { ends: true, .. });
        self.ended |= leaving.clone().any(ends);
        // A rank whose every next command is an assume is stuck by the program's own will, and others may still wait
        // for each other.
        if !leaving.is_empty() {
            let assume =
                |transition| matches!(tables.command(transition), Command::Test { blocks: true, ends: false, .. });
            let assumes = leaving.clone().all(assume);
            self.waits |= !assumes;
            self.stopped |= assumes;
        }
    }

    /// Whether some rank waits for ever, and none has ended the run.
    pub fn is_deadlock(&self) -> bool {
        self.waits && !self.ended
    }
}
