//! What decides whether two accesses race, besides cells and ways (`pgasrob/races/racing_pairs.py`).

use crate::memory::{Result, filled};
use crate::raw::{below, collect, malformed, number, offsets, rows};
use crate::touch::{self, Ways};

/// The rules as they come from Python (`pgasrob/races/native_races.py`, which documents their format).
#[derive(Clone, Debug, Default)]
pub struct RawRules {
    pub starts: Vec<i64>,
    pub accesses: Vec<i64>,
    pub kinds: Vec<i64>,
    pub facts: i64,
    pub excluded: Vec<i64>,
    pub made_up: Vec<i64>,
    pub strict: bool,
}

/// One access of a command, whatever its cell.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Where its command stands in the source.
    pub place: usize,
    /// The number of what is known of it.
    fact: usize,
    atomic: bool,
    /// It is about the value that comes.
    waits: bool,
    /// It is made at the issue, else by a step.
    pub stands: bool,
    pub ways: Ways,
}

/// An access that is next: of which kind, to a cell of another rank or not.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    pub kind: usize,
    pub cell: usize,
    pub remote: bool,
}

#[derive(Debug)]
pub struct Rules {
    /// For every transition the kinds of its accesses in their order: pieces.
    starts: Vec<usize>,
    accesses: Vec<usize>,
    pub kinds: Vec<Kind>,
    /// For every two facts whether accesses of which they are known never race.
    excluded: Vec<bool>,
    facts: usize,
    /// For every address whether its cells never race.
    made_up: Vec<bool>,
    strict: bool,
}

const WAITS: usize = 1;
const ATOMIC: usize = 2;
const STANDS: usize = 4;

impl Rules {
    /// For commands of so many `transitions`, in memories of so many cells.
    pub fn new(raw: &RawRules, transitions: usize, size: usize) -> Result<Self> {
        let facts = number(raw.facts, "facts", 0, 1 << 16)?;
        let kinds = collect(rows::<4>(&raw.kinds, "kinds")?.map(|row| {
            let flags = number(row[2], "kinds", 0, WAITS | ATOMIC | STANDS)?;
            Ok(Kind {
                place: number(row[0], "kinds", 0, usize::MAX)?,
                fact: below(row[1], "kinds", facts)?,
                waits: flags & WAITS != 0,
                atomic: flags & ATOMIC != 0,
                stands: flags & STANDS != 0,
                ways: number(row[3], "kinds", 0, touch::ALL as usize)? as Ways,
            })
        }))?;
        let accesses = collect(raw.accesses.iter().map(|&kind| below(kind, "accesses", kinds.len())))?;
        let starts = offsets(&raw.starts, transitions, accesses.len(), "accesses")?;
        if raw.excluded.len() != facts * facts {
            return malformed("excluded must have an entry for every two facts");
        }
        let mut made_up = filled(false, size)?;
        for &address in &raw.made_up {
            made_up[below(address, "made_up", size)?] = true;
        }
        let excluded = collect(raw.excluded.iter().map(|&excluded| Ok(excluded != 0)))?;
        Ok(Rules { starts, accesses, kinds, excluded, facts, made_up, strict: raw.strict })
    }

    /// The kind of the access number `place` of the command of a transition, those at the issue counted.
    pub fn kind(&self, transition: usize, place: usize) -> Result<usize> {
        let accesses = &self.accesses[self.starts[transition]..self.starts[transition + 1]];
        match accesses.get(place) {
            Some(&kind) => Ok(kind),
            None => malformed("accesses leaves out one of a command"),
        }
    }

    /// Whether two accesses to one cell, one of which writes, race.
    pub fn race(&self, size: usize, one: Next, other: Next) -> bool {
        let (first, second) = (&self.kinds[one.kind], &self.kinds[other.kind]);
        if self.made_up[one.cell % size] || self.excluded[first.fact * self.facts + second.fact] {
            return false;
        }
        self.strict || !((first.waits && self.arrives(other)) || (second.waits && self.arrives(one)))
    }

    /// Whether an await may race with it, as far as no type is asked for.
    pub fn counts_for_awaits(&self, next: Next) -> bool {
        self.strict || !self.arrives(next)
    }

    /// Whether it is a value that arrives: somebody else's, or that of an operation, or an atomic one.
    fn arrives(&self, next: Next) -> bool {
        let kind = &self.kinds[next.kind];
        kind.ways & touch::CHANGED != 0 && (next.remote || kind.atomic || !kind.stands)
    }

    /// Whether the two conflict, of one cell.
    pub fn conflict(&self, one: Next, other: Next) -> bool {
        one.cell == other.cell && touch::against(self.kinds[one.kind].ways) & self.kinds[other.kind].ways != 0
    }
}
