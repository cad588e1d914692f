//! The races of a program trace by trace (`pgasrob/reference/race_traces.py`; `proofs/races.md`, section 8).

use std::collections::{HashMap, HashSet};

use crate::facts::Standing;
use crate::memory::Result;
use crate::moves::PlayedMove;
use crate::operands::{Operands, evaluate};
use crate::placement::first_bound;
use crate::races::rules::{Next, RawRules, Rules};
use crate::races::stopping::Stopping;
use crate::raw::Raw;
use crate::search::FoundRace;
use crate::tables::Tables;
use crate::traces::delaying::{Left, Order, Source};
use crate::traces::exploration::{Asked, Came, Exploration};
use crate::traces::run::{Event, Run};
use crate::world::World;

/// An access of the next command of a rank after so many `events`: which command there, which of its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: usize,
    events: u32,
    number: usize,
    place: usize,
}

/// Those of one rank that are of one kind, in their order.
struct Alike {
    next: Next,
    candidates: Vec<Candidate>,
}

/// A trace in which races are looked for.
struct Looking {
    order: Order,
    /// The candidates of each cell, by ranks, the cells in the order in which they are met.
    cells: Vec<Vec<Alike>>,
    numbers: HashMap<usize, usize>,
    next_cell: usize,
    next_event: usize,
    bytes: usize,
}

pub struct TraceRaces {
    tables: Tables,
    rules: Rules,
    world: World,
    pub exploration: Exploration,
    /// Whether it goes on after the first race.
    all: bool,
    pub races: Vec<FoundRace>,
    known: HashSet<(usize, usize)>,
    /// A source conflicts with what is next, and that is no race.
    pub harmless: bool,
    pub fault: Option<(Standing, Vec<PlayedMove>)>,
    looked: u64,
    looking: Option<Looking>,
}

impl TraceRaces {
    pub fn new(raw: &Raw, rules: &RawRules, all: bool, longest: usize, limit: Option<usize>) -> Result<Self> {
        let tables = Tables::new(raw)?;
        let rules = Rules::new(rules, tables.transitions.len(), tables.size)?;
        let mut world = World::new(tables.processes, limit)?;
        let whole = Asked { longest, part: Vec::new(), behind: Vec::new() };
        let exploration = Exploration::new(&tables, &mut world, whole)?;
        let mut search = TraceRaces {
            tables,
            rules,
            world,
            exploration,
            all,
            races: Vec::new(),
            known: HashSet::new(),
            harmless: false,
            fault: None,
            looked: 0,
            looking: None,
        };
        search.note_fault();
        Ok(search)
    }

    pub fn memory(&self) -> usize {
        self.world.budget.used()
    }

    /// The events that have been looked at, on the way and when steps stop, and the candidates.
    pub fn effort(&self) -> u64 {
        self.exploration.events + self.looked
    }

    fn is_over(&self) -> bool {
        let ends = self.exploration.is_over() && self.looking.is_none();
        self.fault.is_some() || (!self.all && !self.races.is_empty()) || ends
    }

    /// Goes on until it has taken `effort` more; whether the search is over.
    pub fn run(&mut self, effort: u64) -> Result<bool> {
        let most = self.effort().saturating_add(effort);
        while !self.is_over() && self.effort() < most {
            if let Some(mut looking) = self.looking.take() {
                if self.look(&mut looking)? {
                    self.looking = Some(looking);
                } else {
                    self.world.budget.give(looking.bytes);
                }
                continue;
            }
            let came = self.exploration.go_on(&self.tables, &mut self.world)?;
            self.note_fault();
            if came == Came::Trace {
                self.looking = Some(self.prepared()?);
            }
        }
        Ok(self.is_over())
    }

    fn note_fault(&mut self) {
        let run = &self.exploration.run;
        if let (None, Some((rank, transition))) = (&self.fault, run.fault) {
            self.fault = Some((Standing { rank, transition }, run.played()));
        }
    }

    fn prepared(&mut self) -> Result<Looking> {
        let run = &self.exploration.run;
        let (mut cells, mut numbers): (Vec<Vec<Alike>>, _) = (Vec::new(), HashMap::new());
        let mut count = 0;
        for (rank, places) in run.standing.iter().enumerate() {
            for (events, standing) in places.iter().enumerate() {
                for (number, command) in standing.commands.iter().enumerate() {
                    for (place, access) in command.accesses.all().iter().enumerate() {
                        let kind = self.rules.kind(command.transition, place)?;
                        let remote =
                            !self.rules.kinds[kind].stands || access.cell / self.tables.size != self.tables.home[rank];
                        let cell = *numbers.entry(access.cell).or_insert(cells.len());
                        if cell == cells.len() {
                            cells.push(Vec::new());
                        }
                        let lists: &mut Vec<Alike> = &mut cells[cell];
                        let own = lists.iter_mut().rev().take_while(|list| list.candidates[0].rank == rank);
                        let candidate = Candidate { rank, events: events as u32, number, place };
                        match own.into_iter().find(|list| list.next.kind == kind) {
                            Some(list) => list.candidates.push(candidate),
                            None => {
                                let next = Next { kind, cell: access.cell, remote };
                                lists.push(Alike { next, candidates: vec![candidate] });
                            }
                        }
                        count += 1;
                    }
                }
            }
        }
        let bytes = count * size_of::<Candidate>();
        self.world.budget.take(bytes)?;
        self.looked += run.events.len() as u64;
        Ok(Looking { order: Order::new(&self.tables, run)?, cells, numbers, next_cell: 0, next_event: 0, bytes })
    }

    /// Looks at the next cell or the next event; whether there was one.
    fn look(&mut self, looking: &mut Looking) -> Result<bool> {
        if let Some(lists) = looking.cells.get(looking.next_cell) {
            looking.next_cell += 1;
            self.look_at_standing(lists);
            return Ok(true);
        }
        let event = looking.next_event;
        looking.next_event += 1;
        if event == self.exploration.run.events.len() {
            return Ok(false);
        }
        for step in 0..self.exploration.run.steps(event) {
            if self.all || self.races.is_empty() {
                self.look_at_source(looking, event, step)?;
            }
        }
        Ok(true)
    }

    fn places(&self, one: Next, other: Next) -> (usize, usize) {
        let (one, other) = (self.rules.kinds[one.kind].place, self.rules.kinds[other.kind].place);
        (one.min(other), one.max(other))
    }

    /// Compares the next commands of ranks that access one cell.
    fn look_at_standing(&mut self, lists: &[Alike]) {
        let mut found = Vec::new();
        let stands = |list: &&Alike| self.rules.kinds[list.next.kind].stands;
        for (number, one) in lists.iter().enumerate().filter(|(_, list)| stands(list)) {
            for other in lists[number + 1..].iter().filter(stands) {
                let (first, second) = (one.next, other.next);
                if one.candidates[0].rank != other.candidates[0].rank
                    && self.rules.conflict(first, second)
                    && self.rules.race(self.tables.size, first, second)
                    && !self.known.contains(&self.places(first, second))
                {
                    let (pair, looked) = first_unordered(&self.exploration.run, &one.candidates, &other.candidates);
                    self.looked += looked;
                    found.extend(pair.map(|(one, other)| (one, other, self.places(first, second))));
                }
            }
        }
        found.sort_unstable();
        for (one, other, places) in found {
            if self.known.insert(places) {
                let run = &self.exploration.run;
                let pasts = [before(run, one), before(run, other)];
                let there = |event: &Event| pasts.iter().flatten().any(|past| event.is_in(&past.clock));
                let moves = played(run, there, |event| run.steps(event));
                let standing = [one, other].map(|each| self.standing(each)).to_vec();
                self.races.push(FoundRace { places, run: moves, standing });
            }
        }
    }

    fn standing(&self, Candidate { rank, events, number, .. }: Candidate) -> Standing {
        let transition = self.exploration.run.standing[rank][events as usize].commands[number].transition;
        Standing { rank, transition }
    }

    /// Compares a step with the next commands of ranks when it stops.
    fn look_at_source(&mut self, looking: &Looking, event: usize, step: usize) -> Result<()> {
        let Self { tables, rules, exploration, known, .. } = self;
        let run = &exploration.run;
        let command = run.next_of(event);
        let (bound, access) = (command.accesses.bound(), command.accesses.steps()[step]);
        let next = Next { kind: rules.kind(command.transition, bound + step)?, cell: access.cell, remote: true };
        let places = |other: Next| {
            let (one, other) = (rules.kinds[next.kind].place, rules.kinds[other.kind].place);
            (one.min(other), one.max(other))
        };
        // Only what is news, and only where the source's command can have been issued.
        let clock = &run.events[event].clock;
        let mut lists: Vec<(bool, Next, &[Candidate])> = Vec::new();
        for list in &looking.cells[looking.numbers[&access.cell]] {
            if !rules.conflict(next, list.next) {
                continue;
            }
            let race = rules.race(tables.size, next, list.next);
            let is_known = if race { known.contains(&places(list.next)) } else { self.harmless };
            let first = clock.count(list.candidates[0].rank);
            let start = list.candidates.partition_point(|candidate| candidate.events < first);
            if !is_known && start < list.candidates.len() {
                lists.push((race, list.next, &list.candidates[start..]));
            }
        }
        self.looked += 1;
        if lists.is_empty() {
            return Ok(());
        }
        let in_time =
            |left: &Left, candidate: Candidate| before(run, candidate).is_none_or(|event| !left.has(&event.clock));
        let matters = |left: &Left| lists.iter().any(|(_, _, candidates)| in_time(left, candidates[0]));
        let source = Source { event, step, access };
        let stopping = Stopping::new(tables, &mut self.world, run, &looking.order, source, matters)?;
        self.looked += stopping.looked;
        let mut found = Vec::new();
        for &(race, other, candidates) in &lists {
            for &candidate in candidates.iter().take_while(|&&candidate| in_time(&stopping.left, candidate)) {
                self.looked += 1;
                if let Some(now) = next_to(tables, &mut self.world, run, &stopping, candidate)? {
                    found.push((candidate, now, race, places(other)));
                    break;
                }
            }
        }
        found.sort_unstable();
        for (candidate, now, race, places) in found {
            if !race {
                self.harmless = true;
                continue;
            }
            if !self.known.insert(places) {
                continue;
            }
            let past = before(run, candidate);
            let there = |event: &Event| event.is_in(clock) || past.is_some_and(|past| event.is_in(&past.clock));
            let mut moves = played(run, there, |event| stopping.now(run, event));
            let command = &run.standing[candidate.rank][candidate.events as usize].commands[candidate.number];
            let mut standing = Vec::new();
            match now {
                None => standing.push(Standing { rank: candidate.rank, transition: command.transition }),
                Some(now) => {
                    let parts = parts(command.accesses.steps().len(), now);
                    moves.push((Some(candidate.rank), vec![command.transition], parts));
                }
            }
            self.races.push(FoundRace { places, run: moves, standing });
        }
        Ok(())
    }
}

/// Whether an access comes first when its command is next: None when not, else, of a step, how many of the
/// steps have happened.
fn next_to(
    tables: &Tables,
    world: &mut World,
    run: &Run,
    stopping: &Stopping,
    Candidate { rank, events, number, place }: Candidate,
) -> Result<Option<Option<usize>>> {
    let standing = &run.standing[rank][events as usize];
    let command = &standing.commands[number];
    let Some(step) = place.checked_sub(command.accesses.bound()) else { return Ok(Some(None)) };
    let operands = evaluate(tables, world, rank, tables.command(command.transition), &standing.registers)?;
    let Some(Operands::Transfer(transfer)) = operands else { return Ok(None) };
    let free = first_bound(tables, world, stopping.placement(rank, events), rank, &transfer);
    Ok((step < free).then_some(Some(step)))
}

/// The event that a rank has behind it where it stands.
fn before(run: &Run, candidate: Candidate) -> Option<&Event> {
    let index = (candidate.events as usize).checked_sub(1)?;
    Some(&run.events[run.of_rank[candidate.rank][index] as usize])
}

/// The first two, of two ranks, that are next at once in some run, and how many pairs have been looked at.
fn first_unordered(run: &Run, one: &[Candidate], other: &[Candidate]) -> (Option<(Candidate, Candidate)>, u64) {
    let mut start = 0;
    for (number, &first) in one.iter().enumerate() {
        let events = before(run, first).map_or(0, |event| event.clock.count(other[0].rank));
        start += other[start..].partition_point(|second| second.events < events);
        // If that one comes after more of the first rank's events, so do those behind it.
        let Some(&second) = other.get(start) else { return (None, number as u64 + 1) };
        if before(run, second).is_none_or(|event| event.clock.count(first.rank) <= first.events) {
            return (Some((first, second)), number as u64 + 1);
        }
    }
    (None, one.len() as u64)
}

/// The events that are `there` as moves, with so many of their steps.
fn played(run: &Run, there: impl Fn(&Event) -> bool, now: impl Fn(usize) -> usize) -> Vec<PlayedMove> {
    let events = run.events.iter().enumerate().filter(|(_, event)| there(event));
    events.map(|(number, _)| run.play(number, parts(run.steps(number), now(number)))).collect()
}

fn parts(steps: usize, now: usize) -> Vec<u8> {
    (0..steps).map(|step| if step < now { 1 } else { 2 }).collect()
}
