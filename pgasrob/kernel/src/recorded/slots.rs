//! What orders the steps of a rank with its later ones, in a recorded trace (`pgasrob/analysis/placement.py`).

use crate::recorded::events::{Command, Step};

/// What a slot says of the steps of a rank that are delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    Pending(i64),
    Local(i64),
    Stage(i64, u8),
    Fenced(i64, i64),
    Bound(i64, i64),
    Bundled,
    Located(u32),
}

impl Slot {
    /// Whether it bounds a step of a command from below.
    pub fn bounds(self, command: &Command, step: &Step) -> bool {
        let Command::Transfer { target, queue, unordered, everywhere, .. } = command else { return false };
        match self {
            Slot::Pending(_) | Slot::Local(_) => false,
            Slot::Stage(of, stage) => !unordered && of == *queue && stage == step.stage,
            Slot::Bound(of, to) => *unordered && step.fenced && of == *queue && to == *target,
            Slot::Fenced(of, to) => step.after_writes && to == *target && (*everywhere || of == *queue),
            Slot::Bundled => step.after_bundle,
            Slot::Located(cell) => step.located && cell == step.access.cell,
        }
    }

    /// Those that a step of a command enters.
    pub fn entered(command: &Command, step: &Step) -> impl Iterator<Item = Slot> {
        let (target, queue, unordered) = match *command {
            Command::Transfer { target, queue, unordered, .. } => (target, queue, unordered),
            _ => (-1, -1, true),
        };
        [
            Some(Slot::Pending(queue)),
            step.local.then_some(Slot::Local(queue)),
            (!unordered).then_some(Slot::Stage(queue, step.stage)),
            step.fenced.then_some(Slot::Fenced(queue, target)),
            Some(Slot::Bundled),
            step.located.then_some(Slot::Located(step.access.cell)),
        ]
        .into_iter()
        .flatten()
    }

    /// What a fence makes of it.
    pub fn behind_fence(self, queue: i64, target: i64) -> Option<Slot> {
        match self {
            Slot::Fenced(of, to) if of == queue && (target < 0 || to == target) => Some(Slot::Bound(of, to)),
            _ => None,
        }
    }

    /// That which keeps a wait from being over.
    pub fn waited_for(queue: i64, local: bool) -> Slot {
        if local { Slot::Local(queue) } else { Slot::Pending(queue) }
    }
}
