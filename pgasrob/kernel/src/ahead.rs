//! Looking ahead with several threads: what states lead to is worked out before it is their turn.
//!
//! What a state leads to does not depend on what has been stored; whether that is new does. So threads work out the
//! first for the states next in turn, and the search then stores it in their order. States, their numbers and their
//! parents are those of a search without threads. A worker changes nothing but what is its own: a state that needs a
//! value or a slot without a number is left to the search.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::facts::{Seen, look_at};
use crate::memory::{Error, Result};
use crate::moves::{Move, Space, Successor};
use crate::persistent::Persistent;
use crate::races::look::Look;
use crate::reduction::Reduction;
use crate::rounds;
use crate::standstill::Standstill;
use crate::state::State;
use crate::store::Link;
use crate::visited::{ATTACK, SC, Visited};
use crate::world::World;

/// Barriers that a worker passes; states with more are left to the search.
const BARRIERS: u64 = 64;

/// States that a worker takes at a time.
const AT_A_TIME: usize = 32;

/// The rank in an edge by a barrier.
pub const ALL: usize = usize::MAX;

/// Where an edge leads.
#[derive(Clone, Copy, Debug)]
pub enum Met {
    /// The state after e.
    Found,
    /// An attack that leads nowhere.
    Dropped,
    /// A state that has been stored.
    Known,
    /// A record of a class, in [`Worker::bytes`].
    Record { class: usize, start: usize, end: usize },
}

#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub rank: usize,
    pub met: Met,
    /// It neither chooses a source nor is e.
    pub ordinary: bool,
    pub sc: bool,
}

/// What is known of a state before its turn.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What an SC state shows; whether it is a deadlock, if that has been looked at.
    pub seen: Option<Seen>,
    pub deadlock: Option<bool>,
    /// Whether accesses that are next race, or meet the source.
    pub races: bool,
    /// Its edges, and the ranks of the persistent set that they belong to; an empty set stands for all ranks.
    pub edges: (usize, usize),
    pub set: (usize, usize),
    /// Nothing is known: the search has to do it all.
    pub unknown: bool,
}

/// What one thread has for its work.
#[derive(Debug)]
pub struct Worker {
    world: World,
    reduction: Reduction,
    persistent: Persistent,
    look: Look,
    standstill: Standstill,
    state: State,
    next: State,
    record: Vec<u8>,
    /// By turn, and which turns these are.
    pub plans: Vec<Plan>,
    pub turns: Vec<usize>,
    pub edges: Vec<Edge>,
    pub sets: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Worker {
    pub fn new(world: &World, reduction: &Reduction, state: &State, standstill: &Standstill) -> Result<Self> {
        Ok(Worker {
            world: world.frozen()?,
            reduction: reduction.fork(state)?,
            persistent: Persistent::default(),
            look: Look::default(),
            standstill: standstill.fork(state)?,
            state: state.duplicate()?,
            next: state.duplicate()?,
            record: Vec::new(),
            plans: Vec::new(),
            turns: Vec::new(),
            edges: Vec::new(),
            sets: Vec::new(),
            bytes: Vec::new(),
        })
    }

    /// Learns the numbers that have been given since.
    pub fn catch_up(&mut self, world: &World) -> Result<()> {
        self.world.catch_up(world)
    }

    /// Works out what states behind `links` lead to, and with `deadlocks` whether they are any: of those that are `left`,
    /// as many as there are at a time, until there are none.
    pub fn look(
        &mut self,
        space: Space<'_>,
        visited: &Visited,
        links: &[Link],
        left: &AtomicUsize,
        deadlocks: bool,
    ) -> Result<()> {
        self.plans.clear();
        self.edges.clear();
        self.sets.clear();
        self.bytes.clear();
        self.turns.clear();
        loop {
            let first = left.fetch_add(AT_A_TIME, Ordering::Relaxed);
            let Some(some) = links.get(first..links.len().min(first + AT_A_TIME)).filter(|some| !some.is_empty())
            else {
                return Ok(());
            };
            self.turns.try_reserve(AT_A_TIME)?;
            self.turns.extend(first..first + some.len());
            self.look_at(space, visited, some, deadlocks)?;
        }
    }

    fn look_at(&mut self, space: Space<'_>, visited: &Visited, links: &[Link], deadlocks: bool) -> Result<()> {
        for &link in links {
            let (edges, sets) = (self.edges.len(), self.sets.len());
            let plan = match self.plan(space, visited, link, deadlocks) {
                Err(Error::Unnumbered) => {
                    self.edges.truncate(edges);
                    self.sets.truncate(sets);
                    None
                }
                plan => plan?,
            };
            let nothing = Plan {
                seen: None,
                deadlock: None,
                races: false,
                edges: (edges, edges),
                set: (sets, sets),
                unknown: true,
            };
            self.plans.try_reserve(1)?;
            self.plans.push(plan.unwrap_or(nothing));
        }
        Ok(())
    }

    /// Whether the state at hand is a deadlock; None where that is not known here.
    fn is_deadlock(&mut self, space: Space<'_>) -> Result<Option<bool>> {
        let Worker { standstill, reduction, world, state, .. } = self;
        let counts = |cell| reduction.analyses.counts(cell);
        let found = standstill.is_deadlock(rounds::Look { space, counts: &counts }, world, state);
        if matches!(found, Err(Error::Unnumbered)) {
            return Ok(None);
        }
        if standstill.undecided() {
            // What is open changes how much is looked at, so this is for the search to know.
            self.standstill = standstill.fork(&self.state)?;
            return Ok(None);
        }
        found.map(Some)
    }

    fn plan(&mut self, space: Space<'_>, visited: &Visited, link: Link, deadlocks: bool) -> Result<Option<Plan>> {
        visited.load(link, &self.world, &mut self.state)?;
        self.next.mix();
        let (edges, sets) = (self.edges.len(), self.sets.len());
        let seen = if link.class() == SC { Some(look_at(space, &mut self.world, &self.state)?) } else { None };
        let may_stay = deadlocks && seen.as_ref().is_some_and(|seen| seen.may_stay);
        let deadlock = if may_stay { self.is_deadlock(space)? } else { None };
        let mut races = false;
        if let Some(rules) = &space.tables.rules {
            self.look.at(space, rules, &mut self.world, &self.state)?;
            races = self.look.harmless || !self.look.pairs.is_empty();
        }
        if self.reduction.analyses.on.persistent {
            self.persistent.look(space, &mut self.world, &self.state, &self.reduction.analyses)?;
            if self.persistent.find(space, &self.world, &self.state, &self.reduction.analyses)? {
                self.sets.try_reserve(self.persistent.set().len())?;
                self.sets.extend_from_slice(self.persistent.set());
            }
        }
        let alone = self.sets.len() > sets;
        if !alone && space.barriers(&self.state) > BARRIERS {
            return Ok(None);
        }
        for place in 0..if alone { self.sets.len() - sets } else { space.tables.processes } {
            let rank = if alone { self.sets[sets + place] } else { place };
            self.follow(space, visited, link, rank)?;
        }
        if !alone {
            for choice in 0..space.barriers(&self.state) {
                space.pass_barrier(&self.state, choice, &mut self.next)?;
                let kept = self.reduction.normalise(space, &mut self.world, &mut self.next, None, None)?;
                let base = visited.stores[link.class()].record(link.index());
                let sc = link.class() == SC;
                let Worker { world, next, record, edges, bytes, .. } = self;
                let met = if kept { meet(visited, base, !sc, world, next, record, bytes)? } else { Met::Dropped };
                add(edges, Edge { rank: ALL, met, ordinary: true, sc })?;
            }
        }
        let (edges, set) = ((edges, self.edges.len()), (sets, self.sets.len()));
        Ok(Some(Plan { seen, deadlock, races, edges, set, unknown: false }))
    }

    fn follow(&mut self, space: Space<'_>, visited: &Visited, link: Link, rank: usize) -> Result<()> {
        let Worker { world, reduction, state, next, record, edges, bytes, .. } = self;
        let (begun, base) = (link.class() == ATTACK, visited.stores[link.class()].record(link.index()));
        let mut visit = |world: &mut World, _: Move, successor: Successor<'_>| {
            let edge = match successor {
                Successor::Found => Edge { rank, met: Met::Found, ordinary: false, sc: false },
                Successor::State(next) => {
                    let (sc, ordinary) = (next.source.is_none(), next.source.is_some() == begun);
                    let kept = reduction.normalise(space, world, next, Some(rank), None)?;
                    let met = if kept { meet(visited, base, begun, world, next, record, bytes)? } else { Met::Dropped };
                    Edge { rank, met, ordinary, sc }
                }
            };
            add(edges, edge)?;
            Ok(ControlFlow::Continue(()))
        };
        let _ = space.commands(world, state, rank, next, &mut visit)?;
        Ok(())
    }
}

/// Packs `next`, and says whether it has been stored.
fn meet(
    visited: &Visited,
    base: &[u8],
    begun: bool,
    world: &World,
    next: &State,
    record: &mut Vec<u8>,
    bytes: &mut Vec<u8>,
) -> Result<Met> {
    if !visited.layout.fits(&world.values, &world.slots) {
        return Err(Error::Unnumbered);
    }
    visited.layout.patch(base, begun, next, &world.slots, record)?;
    let class = if next.source.is_some() { ATTACK } else { SC };
    if visited.stores[class].contains(record) {
        return Ok(Met::Known);
    }
    let start = bytes.len();
    bytes.try_reserve(record.len())?;
    bytes.extend_from_slice(record);
    Ok(Met::Record { class, start, end: bytes.len() })
}

fn add(edges: &mut Vec<Edge>, edge: Edge) -> Result<()> {
    edges.try_reserve(1)?;
    edges.push(edge);
    Ok(())
}
