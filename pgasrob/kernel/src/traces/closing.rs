//! Whether an attack hides in a trace (`pgasrob/reference/closing.py`).

use std::collections::HashMap;

use crate::access::Access;
use crate::intern::ValueId;
use crate::memory::Result;
use crate::moves::PlayedMove;
use crate::operands::{Operands, evaluate};
use crate::placement::first_bound;
use crate::tables::{Condition, Tables};
use crate::touch;
use crate::traces::delaying::{Delaying, Left, Order, Source};
use crate::traces::layers::Entry;
use crate::traces::made::{Made, made_by, turned};
use crate::traces::run::{BARRIER, Event, Run};
use crate::traces::standing::{Next, passes};
use crate::traces::subsets::{MOST_SETS, Updates, combinations, value_after};
use crate::world::World;

/// A command that `rank` may issue after `events` of its events; `number` among those there.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    rank: usize,
    events: u32,
    number: usize,
}

/// The sets of further sources that are tried for one source, whoever waits for it.
const MOST_FURTHER: usize = 1 << 12;

/// What has been looked at for one source: sets of further sources, and events in their passes.
#[derive(Default)]
struct Spent {
    sets: usize,
    events: u64,
}

/// A trace in which attacks are looked for, source by source.
pub struct Prepared {
    order: Order,
    /// By cells, a list for each rank that accesses it, in the order of their places.
    by_cell: HashMap<usize, Vec<Vec<Candidate>>>,
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
        let left_into = |source: &Source| turned_by(run, *source).chain([source.access.cell]).collect::<Vec<_>>();
        let mut by_cell: HashMap<usize, Vec<Vec<Candidate>>> =
            sources.iter().flat_map(left_into).map(|cell| (cell, Vec::new())).collect();
        for (rank, places) in run.standing.iter().enumerate() {
            for (events, standing) in places.iter().enumerate() {
                for (number, command) in standing.commands.iter().enumerate() {
                    let accesses = command.accesses.all();
                    for (place, access) in accesses.iter().enumerate() {
                        if accesses[..place].iter().any(|before| before.cell == access.cell) {
                            continue;
                        }
                        let Some(lists) = by_cell.get_mut(&access.cell) else { continue };
                        if lists.last().is_none_or(|list| list[0].rank != rank) {
                            lists.push(Vec::new());
                        }
                        if let Some(list) = lists.last_mut() {
                            list.push(Candidate { rank, events: events as u32, number });
                        }
                    }
                }
            }
        }
        let looked = run.events.len() as u64;
        Ok(Prepared { order: Order::new(tables, run)?, by_cell, sources, next: 0, undecided: Vec::new(), looked })
    }

    /// Whether all sources have been looked at.
    pub fn is_done(&self) -> bool {
        self.next == self.sources.len()
    }
}

/// The steps that may be delayed, last those of operations on the rank's own memory alone: a run in which ranks meet
/// says more.
fn sources(tables: &Tables, run: &Run) -> Vec<Source> {
    let (mut sources, mut at_home) = (Vec::new(), Vec::new());
    for (event, issued) in run.events.iter().enumerate() {
        if issued.rank == BARRIER {
            continue;
        }
        let accesses = run.next_of(event).accesses;
        let stays = accesses.steps().iter().all(|access| access.cell / tables.size == tables.home[issued.rank]);
        let found = if stays { &mut at_home } else { &mut sources };
        for (step, &access) in accesses.steps().iter().enumerate() {
            if tables.may_be_source(issued.transition, step) {
                found.push(Source { event, step, access });
            }
        }
    }
    sources.append(&mut at_home);
    sources
}

/// The conditions that a source turns.
fn turned_by(run: &Run, source: Source) -> impl Iterator<Item = usize> + '_ {
    let accesses = &run.next_of(source.event).accesses;
    let place = source.step + accesses.bound();
    let conditions = run.chain(source.event)[accesses.all().len()..].iter();
    conditions.filter(move |made| made.by as usize == place).map(|made| made.access.cell)
}

/// Whether the cycle may leave by this access into a source.
fn leaves(run: &Run, access: &Access, source: Source) -> bool {
    access.cell == source.access.cell && access.against() & source.access.ways != 0
        || access.cell >= run.memory.len() && turned_by(run, source).any(|condition| condition == access.cell)
}

/// For each number of accesses of a candidate that go before the source whether some condition is turned.
#[derive(Default)]
struct Conditions(Vec<bool>);

impl Conditions {
    fn turned(&self, before: usize) -> bool {
        self.0.get(before).is_some_and(|&turned| turned)
    }
}

/// Looks for attacks in one trace.
pub struct Closing<'a> {
    pub tables: &'a Tables,
    pub run: &'a Run,
    pub prepared: &'a mut Prepared,
}

impl<'a> Closing<'a> {
    /// The moves of a run with an attack on the next source; None when there is none.
    pub fn attack(&mut self, world: &mut World) -> Result<Option<Vec<PlayedMove>>> {
        let source = self.prepared.sources[self.prepared.next];
        self.prepared.next += 1;
        self.attack_on(world, source)
    }

    fn command(&self, candidate: Candidate) -> &'a Next {
        &self.run.standing[candidate.rank][candidate.events as usize].commands[candidate.number]
    }

    /// The event of its rank that a candidate comes directly after.
    fn event_before(&self, candidate: Candidate) -> Option<&'a Event> {
        let before = (candidate.events as usize).checked_sub(1)?;
        Some(&self.run.events[self.run.of_rank[candidate.rank][before] as usize])
    }

    fn attack_on(&mut self, world: &mut World, source: Source) -> Result<Option<Vec<PlayedMove>>> {
        let run = self.run;
        let clock = &run.events[source.event].clock;
        let leaves = |candidate: &Candidate| {
            let accesses = run.standing[candidate.rank][candidate.events as usize].commands[candidate.number].accesses;
            accesses.all().iter().any(|made| leaves(run, made, source))
        };
        // Only where the source's command can have been issued.
        let mut looked = 0;
        let lists: Vec<&[Candidate]> = [source.access.cell]
            .into_iter()
            .chain(turned_by(run, source))
            .flat_map(|cell| &self.prepared.by_cell[&cell])
            .map(|list| &list[list.partition_point(|candidate| candidate.events < clock.count(candidate.rank))..])
            .filter_map(|list| {
                let first = list.iter().position(leaves);
                looked += first.map_or(list.len(), |first| first + 1) as u64;
                first.map(|first| &list[first..])
            })
            .collect();
        self.prepared.looked += looked;
        if lists.is_empty() {
            return Ok(None);
        }
        let is_in_time = |delaying: &Delaying, candidate: &Candidate| candidate.events <= delaying.end(candidate.rank);
        let matters = |delaying: &Delaying| lists.iter().any(|list| is_in_time(delaying, &list[0]));
        // What comes before the first command of each rank is enough to see that the rank does not get there.
        let firsts: Vec<&Event> = lists.iter().filter_map(|list| self.event_before(list[0])).collect();
        if firsts.len() == lists.len() {
            let within = |event: &Event| firsts.iter().any(|first| event.is_in(&first.clock));
            let near = Delaying::new(self.tables, world, run, &self.prepared.order, &[source], within, matters)?;
            self.prepared.looked += near.events();
            if !matters(&near) {
                return Ok(None);
            }
        }
        let delaying = Delaying::new(self.tables, world, run, &self.prepared.order, &[source], |_| true, matters)?;
        let in_time = lists.iter().flat_map(|list| list.iter().take_while(|each| is_in_time(&delaying, each)));
        let candidates: Vec<Candidate> = in_time.copied().collect();
        self.prepared.looked += delaying.events() + candidates.len() as u64;
        let mut spent = Spent::default();
        for candidate in candidates.into_iter().filter(leaves) {
            let Some(first) = self.first_part(world, &delaying, source, candidate, &Left::default())? else { continue };
            if !self.command(candidate).waits {
                return Ok(Some(self.moves(&delaying, candidate, &Left::default(), first)));
            }
            let before = spent.events;
            let waiting = self.with_what_it_waits_for(world, &delaying, source, candidate, &mut spent)?;
            self.prepared.looked += spent.events - before;
            match waiting {
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
        let hits = |access: &Access| {
            let ways = delaying.touched(self.run, access.cell, &without);
            let against = access.against();
            (ways & against != 0, ways & touch::delayed(against) != 0)
        };
        let conditions =
            if tainted { Conditions::default() } else { self.conditions(world, delaying, candidate, &without)? };
        let enters = |now: usize| {
            tainted
                || conditions.turned(bound.len() + now)
                || bound.iter().chain(&steps[..now]).any(|access| hits(access).0)
                || steps[now..].iter().any(|access| {
                    let (done, delayed) = hits(access);
                    done || delayed
                })
        };
        if bound.iter().any(|access| leaves(self.run, access, source)) && enters(0) {
            return Ok(Some(0));
        }
        Ok((1..=free).find(|&now| leaves(self.run, &steps[now - 1], source) && enters(now)))
    }

    /// Which of the conditions that are tested in I, behind the source, the changes of a candidate turn.
    fn conditions(
        &self,
        world: &mut World,
        delaying: &Delaying,
        candidate: Candidate,
        without: &Left,
    ) -> Result<Conditions> {
        let (tables, command) = (self.tables, self.command(candidate));
        let tested =
            |&(number, _): &(usize, &Condition)| delaying.touched(self.run, number, without) & touch::READ != 0;
        let changes = |access: &Access| access.ways & touch::CHANGED != 0;
        let mut changed = command.accesses.all().iter().filter(|access| changes(access));
        if !changed.any(|access| tables.conditions_of(access.cell).any(|condition| tested(&condition))) {
            return Ok(Conditions::default());
        }
        let registers = &self.run.standing[candidate.rank][candidate.events as usize].registers;
        let command = tables.command(command.transition);
        let Some(operands) = evaluate(tables, world, candidate.rank, command, registers)? else {
            return Ok(Conditions::default());
        };
        let mut found = Conditions::default();
        for before in 0..=self.command(candidate).accesses.all().len() {
            let made = made_by(world, &operands, |world, place, cell| {
                self.held(world, delaying, without, cell, place >= before)
            })?;
            let changes_before = made[..before.min(made.len())].iter().any(|made| made.after.is_some());
            let turns = |world: &World, place: usize, made: &Made| {
                // What D finds when something has been changed before it is another matter: anything may be turned.
                let any = place >= before && changes_before && made.after.is_some();
                tables
                    .conditions_of(made.access.cell)
                    .filter(tested)
                    .any(|(number, _)| any || turned(tables, world, made).contains(&number))
            };
            found.0.push(made.iter().enumerate().any(|(place, made)| turns(world, place, made)));
        }
        Ok(found)
    }

    /// What a cell holds after I, with what is delayed there or without.
    fn held(
        &self,
        world: &mut World,
        delaying: &Delaying,
        without: &Left,
        cell: usize,
        delayed: bool,
    ) -> Result<ValueId> {
        let run = self.run;
        let is_there = |entry: &&Entry| {
            let clock = &run.events[entry.event].clock;
            let step = (entry.place as usize).checked_sub(run.next_of(entry.event).accesses.bound());
            let now = step.is_none_or(|step| delaying.is_done(entry.event, step));
            run.chain(entry.event)[entry.place as usize].after.is_some()
                && !delaying.left.has(clock)
                && !without.has(clock)
                && (delayed || now)
        };
        for layer in self.prepared.order.cells.layers(cell).iter().rev() {
            let there: Vec<&Entry> = layer.entries.iter().filter(is_there).collect();
            let Some(last) = there.last() else { continue };
            return match run.chain(last.event)[last.place as usize].after {
                Some(after) if !layer.commutes() => Ok(after),
                _ => value_after(world, layer.before, there.iter().filter_map(|entry| entry.update)),
            };
        }
        world.number(self.tables.values[self.tables.memory[cell]])
    }

    /// The run with the attack that a candidate ends.
    fn moves(&self, delaying: &Delaying, candidate: Candidate, without: &Left, first: usize) -> Vec<PlayedMove> {
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
            moves.push(self.run.play(number, parts(steps, now)));
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
        spent: &mut Spent,
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
        let most = MOST_FURTHER.min(spent.sets + MOST_SETS);
        for count in 0..=others.len() {
            for further in combinations(&numbers, count, MOST_SETS + 1) {
                if spent.sets == most {
                    return Ok(Waiting::TooMany);
                }
                spent.sets += 1;
                match self.with_further(world, source, candidate, layer.before, &others, &further, &mut spent.events)? {
                    Waiting::None => {}
                    found => return Ok(found),
                }
            }
        }
        Ok(Waiting::None)
    }

    /// The same with some of the `others` as further sources; `looked` counts the events of the pass.
    #[allow(clippy::too_many_arguments)]
    fn with_further(
        &self,
        world: &mut World,
        source: Source,
        candidate: Candidate,
        before: ValueId,
        others: &[Entry],
        further: &[usize],
        looked: &mut u64,
    ) -> Result<Waiting> {
        let run = self.run;
        let step = |entry: &Entry| entry.place as usize - run.next_of(entry.event).accesses.bound();
        let mut sources = vec![source];
        sources.extend(further.iter().map(|&number| {
            let entry = others[number];
            Source { event: entry.event, step: step(&entry), access: source.access }
        }));
        let delaying = Delaying::new(self.tables, world, run, &self.prepared.order, &sources, |_| true, |_| true)?;
        *looked += delaying.events();
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
    Found(Vec<PlayedMove>),
    None,
    TooMany,
}
