//! Whether an attack hides in a trace (`pgasrob/robustness/traces/closing.py`).

use std::collections::HashMap;

use crate::intern::ValueId;
use crate::memory::Result;
use crate::moves::Told;
use crate::operands::{Operands, World, evaluate};
use crate::placement::first_bound;
use crate::tables::{Tables, touch};
use crate::traces::delaying::{Delaying, Left, Order, Source};
use crate::traces::run::{BARRIER, Entry, Next, Run, passes};
use crate::traces::subsets::{MOST_SETS, Updates, combinations, value_after};

/// A command that `rank` may issue after `events` of its events; `number` among those there.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    rank: usize,
    events: u32,
    number: usize,
}

/// A trace in which attacks are looked for, source by source.
pub struct Prepared {
    order: Order,
    by_cell: HashMap<usize, Vec<Candidate>>,
    sources: Vec<Source>,
    /// The source to look at next.
    next: usize,
    /// The steps, by transitions, for which there is too much to choose from.
    pub undecided: Vec<(usize, usize)>,
    /// The events and candidates that have been looked at.
    pub looked: u64,
}

impl Prepared {
    pub fn new(tables: &Tables, run: &Run) -> Result<Self> {
        let sources = sources(tables, run);
        let mut by_cell: HashMap<usize, Vec<Candidate>> =
            sources.iter().map(|source| (source.access.cell, Vec::new())).collect();
        for (rank, places) in run.standing.iter().enumerate() {
            for (events, standing) in places.iter().enumerate() {
                for (number, command) in standing.commands.iter().enumerate() {
                    let accesses = command.accesses.all();
                    for (place, access) in accesses.iter().enumerate() {
                        if accesses[..place].iter().any(|before| before.cell == access.cell) {
                            continue;
                        }
                        if let Some(candidates) = by_cell.get_mut(&access.cell) {
                            candidates.push(Candidate { rank, events: events as u32, number });
                        }
                    }
                }
            }
        }
        let looked = run.events.len() as u64;
        Ok(Prepared { order: Order::new(run)?, by_cell, sources, next: 0, undecided: Vec::new(), looked })
    }

    /// Whether all sources have been looked at.
    pub fn is_done(&self) -> bool {
        self.next == self.sources.len()
    }
}

/// The steps that may be delayed.
fn sources(tables: &Tables, run: &Run) -> Vec<Source> {
    let mut sources = Vec::new();
    for (event, issued) in run.events.iter().enumerate() {
        if issued.rank == BARRIER {
            continue;
        }
        for (step, &access) in run.next_of(event).accesses.steps().iter().enumerate() {
            if tables.may_be_source(issued.transition, step) {
                sources.push(Source { event, step, access });
            }
        }
    }
    sources
}

/// Looks for attacks in one trace.
pub struct Closing<'a> {
    pub tables: &'a Tables,
    pub run: &'a Run,
    pub prepared: &'a mut Prepared,
}

impl<'a> Closing<'a> {
    /// The moves of a run with an attack on the next source; None when there is none.
    pub fn attack(&mut self, world: &mut World) -> Result<Option<Vec<Told>>> {
        let source = self.prepared.sources[self.prepared.next];
        self.prepared.next += 1;
        self.attack_on(world, source)
    }

    fn command(&self, candidate: Candidate) -> &'a Next {
        &self.run.standing[candidate.rank][candidate.events as usize].commands[candidate.number]
    }

    /// Whether the source is left out when a candidate takes the place of what its rank has issued there; that needs
    /// no pass to be seen.
    fn comes_before(&self, candidate: Candidate, source: Source) -> bool {
        self.run.events[source.event].clock.count(candidate.rank) > candidate.events
    }

    fn attack_on(&mut self, world: &mut World, source: Source) -> Result<Option<Vec<Told>>> {
        let mut delaying = None;
        for place in 0..self.prepared.by_cell[&source.access.cell].len() {
            let candidate = self.prepared.by_cell[&source.access.cell][place];
            let command = self.command(candidate);
            self.prepared.looked += 1;
            let leaves = |made: &crate::steps::Access| {
                made.cell == source.access.cell && made.against() & source.access.ways != 0
            };
            if !command.accesses.all().iter().any(leaves) || self.comes_before(candidate, source) {
                continue;
            }
            let delaying = match &mut delaying {
                Some(delaying) => &*delaying,
                none => {
                    let pass = Delaying::new(self.tables, world, self.run, &self.prepared.order, &[source])?;
                    self.prepared.looked += pass.events();
                    none.insert(pass)
                }
            };
            let Some(first) = self.first_part(world, delaying, source, candidate, &Left::default())? else { continue };
            if !command.waits {
                return Ok(Some(self.moves(delaying, candidate, &Left::default(), first)));
            }
            match self.with_what_it_waits_for(world, delaying, source, candidate)? {
                Waiting::Found(moves) => return Ok(Some(moves)),
                Waiting::None => {}
                Waiting::TooMany => {
                    let step = (self.run.events[source.event].transition, source.step);
                    if !self.prepared.undecided.contains(&step) {
                        self.prepared.undecided.push(step);
                    }
                }
            }
        }
        Ok(None)
    }

    /// With how many of its steps a candidate goes before the source and closes the cycle.
    fn first_part(
        &self,
        world: &mut World,
        delaying: &Delaying,
        source: Source,
        candidate: Candidate,
        without: &Left,
    ) -> Result<Option<usize>> {
        let Candidate { rank, events, .. } = candidate;
        let mut without = without.clone();
        without.add(rank, events);
        let left = |event: usize| {
            let clock = &self.run.events[event].clock;
            delaying.left.has(clock) || without.has(clock)
        };
        if events > 0 && left(self.run.of_rank[rank][events as usize - 1] as usize) || left(source.event) {
            return Ok(None);
        }
        let command = self.command(candidate);
        let (bound, steps) = command.accesses.all().split_at(command.accesses.bound());
        let mut free = steps.len();
        if !steps.is_empty() {
            let registers = &self.run.standing[rank][events as usize].registers;
            let operands = evaluate(self.tables, world, rank, self.tables.command(command.transition), registers)?;
            if let Some(Operands::Transfer(transfer)) = &operands {
                free = first_bound(self.tables, world, delaying.placement(rank, events), rank, transfer);
            }
        }
        let tainted = delaying.tainted(rank, events);
        let hits = |access: &crate::steps::Access| {
            let ways = delaying.touched(self.run, access.cell, &without);
            let against = access.against();
            (ways & against != 0, ways & touch::delayed(against) != 0)
        };
        let enters = |now: usize| {
            tainted
                || bound.iter().chain(&steps[..now]).any(|access| hits(access).0)
                || steps[now..].iter().any(|access| {
                    let (done, delayed) = hits(access);
                    done || delayed
                })
        };
        let leaves = |access: &crate::steps::Access| {
            access.cell == source.access.cell && access.against() & source.access.ways != 0
        };
        if bound.iter().any(leaves) && enters(0) {
            return Ok(Some(0));
        }
        Ok((1..=free).find(|&now| leaves(&steps[now - 1]) && enters(now)))
    }

    /// The run with the attack that a candidate ends.
    fn moves(&self, delaying: &Delaying, candidate: Candidate, without: &Left, first: usize) -> Vec<Told> {
        let mut without = without.clone();
        without.add(candidate.rank, candidate.events);
        let parts = |steps: usize, now: usize| (0..steps).map(|step| if step < now { 1 } else { 2 }).collect();
        let mut moves = Vec::new();
        for (number, event) in self.run.events.iter().enumerate() {
            if delaying.left.has(&event.clock) || without.has(&event.clock) {
                continue;
            }
            let steps = self.run.steps(number);
            let now = delaying.now.get(&number).copied().unwrap_or(steps);
            moves.push(self.run.tell(number, parts(steps, now)));
        }
        let command = self.command(candidate);
        moves.push((Some(candidate.rank), vec![command.transition], parts(command.accesses.steps().len(), first)));
        moves
    }

    /// For a candidate that waits for the value of the source's cell: which of the updates beside the source are left
    /// out, and which delayed with it.
    fn with_what_it_waits_for(
        &self,
        world: &mut World,
        delaying: &Delaying,
        source: Source,
        candidate: Candidate,
    ) -> Result<Waiting> {
        let bound = self.run.next_of(source.event).accesses.bound();
        let layer = self.prepared.order.layer_of(source.event, source.step + bound);
        let layer = &self.prepared.order.cells.layers(source.access.cell)[layer];
        let beside = layer.entries.iter().filter(|entry| layer.commutes() && entry.event != source.event);
        let others: Vec<Entry> = beside.copied().collect();
        if others.is_empty() {
            if !self.passes(world, candidate, layer.before)? {
                return Ok(Waiting::None);
            }
            let first = self.first_part(world, delaying, source, candidate, &Left::default())?;
            return Ok(first.map_or(Waiting::None, |first| {
                Waiting::Found(self.moves(delaying, candidate, &Left::default(), first))
            }));
        }
        let every = Updates::new(layer.before, others.iter().filter_map(|entry| entry.update));
        match every.any(world, &mut |world: &mut World, value| self.passes(world, candidate, value))? {
            None => return Ok(Waiting::TooMany),
            Some(false) => return Ok(Waiting::None),
            Some(true) => {}
        }
        let numbers: Vec<usize> = (0..others.len()).collect();
        let mut looked = 0;
        for count in 0..=others.len() {
            for further in combinations(&numbers, count, MOST_SETS + 1) {
                looked += 1;
                if looked > MOST_SETS {
                    return Ok(Waiting::TooMany);
                }
                match self.with_further(world, source, candidate, layer.before, &others, &further)? {
                    Waiting::None => {}
                    found => return Ok(found),
                }
            }
        }
        Ok(Waiting::None)
    }

    /// The same with some of the `others` as further sources.
    fn with_further(
        &self,
        world: &mut World,
        source: Source,
        candidate: Candidate,
        before: ValueId,
        others: &[Entry],
        further: &[usize],
    ) -> Result<Waiting> {
        let run = self.run;
        let step = |entry: &Entry| entry.place as usize - run.next_of(entry.event).accesses.bound();
        let mut sources = vec![source];
        sources.extend(further.iter().map(|&number| {
            let entry = others[number];
            Source { event: entry.event, step: step(&entry), access: source.access }
        }));
        let delaying = Delaying::new(self.tables, world, run, &self.prepared.order, &sources)?;
        if !delaying.valid {
            return Ok(Waiting::None);
        }
        let without = Left::of(candidate.rank, candidate.events);
        let there = others.iter().filter(|entry| {
            let clock = &run.events[entry.event].clock;
            !delaying.left.has(clock) && !without.has(clock) && delaying.is_done(entry.event, step(entry))
        });
        let mut needed: Vec<usize> = sources.iter().map(|source| source.event).collect();
        if candidate.events > 0 {
            needed.push(run.of_rank[candidate.rank][candidate.events as usize - 1] as usize);
        }
        let (forced, free): (Vec<Entry>, Vec<Entry>) = there
            .partition(|entry| needed.iter().any(|&event| run.events[entry.event].is_in(&run.events[event].clock)));
        let before = value_after(world, before, forced.iter().filter_map(|entry| entry.update))?;
        let updates = Updates::new(before, free.iter().filter_map(|entry| entry.update));
        let Some(sets) =
            updates.passing(world, &mut |world: &mut World, value| self.passes(world, candidate, value))?
        else {
            return Ok(Waiting::TooMany);
        };
        for chosen in sets {
            let mut left = Left::default();
            for (number, entry) in free.iter().enumerate() {
                if !chosen.contains(&number) {
                    left.add(run.events[entry.event].rank, run.events[entry.event].index);
                }
            }
            // With one update others go that come after it.
            let rest = free.iter().filter(|entry| !left.has(&run.events[entry.event].clock)).count();
            if rest != chosen.len() {
                continue;
            }
            if let Some(first) = self.first_part(world, &delaying, source, candidate, &left)? {
                return Ok(Waiting::Found(self.moves(&delaying, candidate, &left, first)));
            }
        }
        Ok(Waiting::None)
    }

    /// Whether the value of its cell is what a candidate waits for.
    fn passes(&self, world: &mut World, candidate: Candidate, value: ValueId) -> Result<bool> {
        let standing = &self.run.standing[candidate.rank][candidate.events as usize];
        passes(self.tables, world, candidate.rank, standing, self.command(candidate), value)
    }
}

enum Waiting {
    Found(Vec<Told>),
    None,
    TooMany,
}
