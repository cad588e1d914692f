//! Which accesses of a recorded trace race, and whether an attack hides in it (`pgasrob/reference/recordings.py`).

use std::collections::HashSet;
use std::time::Instant;

use crate::recorded::delaying::Delaying;
use crate::recorded::events::{Access, Recorded};
use crate::recorded::order::{Entry, Event, Trace};

/// Two accesses that are next at once. `source`: the step that is pending, of the event of `one`.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    pub one: Entry,
    pub other: Entry,
}

/// An event that closes a cycle: with the first `taken` steps of `last`, before the step `step` of `source`.
///
/// `waits`: it does so if the cell of the source lets it pass.  `through`: the event by whose access the cycle enters, if it
/// does by a conflict.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    pub source: u32,
    pub step: u8,
    pub last: u32,
    pub taken: u8,
    pub through: Option<u32>,
    pub waits: bool,
}

pub struct Answers {
    pub trace: Trace,
    delaying: Delaying,
    strict: bool,
    /// Of two facts whether accesses with them never race, and how many facts there are.
    excluded: Vec<u8>,
    facts: usize,
    /// The pairs of places for which there is a race already.
    pub known: HashSet<(u32, u32)>,
    pub races: Vec<Race>,
    pub attacks: Vec<Attack>,
    /// How many events have been looked at, and may be: beyond that nobody waits.
    effort: u64,
    limit: u64,
    /// When the time is up.
    until: Option<Instant>,
}

/// How much is looked at between two looks at the clock.
const BETWEEN_LOOKS: u64 = 1 << 14;

/// Too much to look at.
pub struct GaveUp;

impl Answers {
    pub fn new(commands: Vec<Recorded>, nodes: usize, cells: usize, strict: bool, excluded: &[u8], limit: u64) -> Self {
        let trace = Trace::new(commands, nodes, cells);
        let delaying = Delaying::new(&trace);
        Answers {
            trace,
            delaying,
            strict,
            excluded: excluded.to_vec(),
            facts: excluded.len().isqrt(),
            known: HashSet::new(),
            races: Vec::new(),
            attacks: Vec::new(),
            effort: 0,
            limit,
            until: None,
        }
    }

    /// Looks for races, one for each pair of places, and for attacks, up to the first that waits for nothing, until then.
    pub fn look(&mut self, races: bool, attacks: bool, until: Option<Instant>) -> std::result::Result<(), GaveUp> {
        self.until = until;
        if races {
            self.both_stand()?;
        }
        let mut attacked = !attacks;
        for number in 0..self.trace.been as u32 {
            let steps = self.trace.events[number as usize].command.steps().len();
            for step in 0..steps {
                if !races && attacked {
                    return Ok(());
                }
                let source = self.source(number, step);
                if !self.is_met(&source, !attacked) {
                    continue;
                }
                if races {
                    self.delaying.delay(&self.trace, number, step, true);
                    self.take(0)?;
                    self.with_pending(source)?;
                }
                if !attacked {
                    self.delaying.delay(&self.trace, number, step, false);
                    self.take(0)?;
                    attacked = self.attack(source)?;
                }
            }
        }
        Ok(())
    }

    /// The events before each of `roots`, themselves included where that is said, in the order of the run, and of each
    /// the first step that is delayed with that of `source`.
    pub fn ideal(&mut self, roots: &[(u32, bool)], source: Option<(u32, usize)>) -> Vec<(u32, u8)> {
        let trace = &self.trace;
        let mut counts = vec![0; trace.nodes];
        for &(root, itself) in roots {
            let event = &trace.events[root as usize];
            for (rank, count) in counts.iter_mut().enumerate() {
                let before = if itself {
                    trace.count(event, rank, false)
                } else {
                    trace.count_after(event.rank, event.index, rank, false)
                };
                *count = (*count).max(before);
            }
        }
        let mut found: Vec<u32> = counts
            .iter()
            .enumerate()
            .flat_map(|(rank, &count)| &trace.of_rank[rank][..count as usize])
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        if let Some((event, step)) = source {
            self.delaying.delay(&self.trace, event, step, false);
        }
        let delayed = |event: &u32| match source {
            Some(_) => self.delaying.first_delayed.get(event).copied().unwrap_or(u8::MAX),
            None => u8::MAX,
        };
        found.iter().map(|event| (*event, delayed(event))).collect()
    }

    /// The events that are issued before both of two accesses can be next, and of each the first step that does not happen.
    pub fn before(&mut self, sides: [(u32, Option<usize>); 2]) -> Vec<(u32, u8)> {
        let mut counts = vec![0; self.trace.nodes];
        let mut delayed: Vec<(u32, u8)> = Vec::new();
        for (number, step) in sides {
            let event = &self.trace.events[number as usize];
            for (rank, count) in counts.iter_mut().enumerate() {
                let before = match step {
                    Some(step) => self.trace.before_step(event, step).0[rank],
                    None => self.trace.count_after(event.rank, event.index, rank, true),
                };
                *count = (*count).max(before);
            }
            if let Some(step) = step {
                self.delaying.delay(&self.trace, number, step, true);
                delayed.extend(self.delaying.first_delayed.iter().map(|(&event, &first)| (event, first)));
            }
        }
        let trace = &self.trace;
        let mut found: Vec<u32> = counts
            .iter()
            .enumerate()
            .flat_map(|(rank, &count)| &trace.of_rank[rank][..count as usize])
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        let first = |number: u32| {
            let event = &trace.events[number as usize];
            let happens = |step: &usize| {
                trace.before_step(event, *step).1.iter().zip(&counts).all(|(needed, there)| needed <= there)
            };
            let steps = (0..event.command.steps().len()).take_while(happens).count();
            delayed.iter().filter(|(of, _)| *of == number).map(|&(_, first)| first).fold(steps as u8, u8::min)
        };
        found.into_iter().map(|number| (number, first(number))).collect()
    }

    fn take(&mut self, more: u64) -> std::result::Result<(), GaveUp> {
        self.effort += more;
        self.may_go_on(0)
    }

    /// Whether so many more may be looked at.
    fn may_go_on(&self, more: u64) -> std::result::Result<(), GaveUp> {
        let late = self.until.is_some_and(|until| Instant::now() > until);
        if late || self.effort + more + self.delaying.looked_at > self.limit { Err(GaveUp) } else { Ok(()) }
    }

    fn source(&self, number: u32, step: usize) -> Entry {
        let event = &self.trace.events[number as usize];
        Entry { event: number, index: event.index, place: (event.command.bound() + step) as u8, step: true }
    }

    fn event(&self, entry: &Entry) -> &Event {
        &self.trace.events[entry.event as usize]
    }

    /// Whether anybody else accesses the cell of a step so that it matters.
    fn is_met(&self, source: &Entry, attacks: bool) -> bool {
        let access = self.trace.access(source);
        let cell = &self.trace.cells[access.cell as usize];
        if !attacks && access.fact.never_races {
            return false;
        }
        let accesses: usize = cell.of_rank.iter().map(|(_, entries)| entries.len()).sum();
        accesses > 1
    }

    fn races(&self, one: &Entry, other: &Entry) -> bool {
        let (first, second) = (self.trace.access(one), self.trace.access(other));
        if !first.conflicts(second) || first.fact.never_races {
            return false;
        }
        let (a, b) = (&first.fact, &second.fact);
        if self.excluded[a.number as usize * self.facts + b.number as usize] != 0 {
            return false;
        }
        let arrives = |access: &Access, step: bool| access.writes && (access.fact.remote || access.fact.atomic || step);
        self.strict || !((a.waits && arrives(second, other.step)) || (b.waits && arrives(first, one.step)))
    }

    fn places(&self, one: &Entry, other: &Entry) -> (u32, u32) {
        let (first, second) = (self.event(one).place, self.event(other).place);
        (first.min(second), first.max(second))
    }

    fn report(&mut self, one: Entry, other: Entry) {
        if self.known.insert(self.places(&one, &other)) {
            self.races.push(Race { one, other });
        }
    }

    /// The races between next commands of two ranks.
    fn both_stand(&mut self) -> std::result::Result<(), GaveUp> {
        let (mut found, mut looked, mut then) = (Vec::new(), 0, BETWEEN_LOOKS);
        for cell in 0..self.trace.cells.len() {
            let ranks = &self.trace.cells[cell].of_rank;
            let mut seen = HashSet::new();
            for (own, (rank, entries)) in ranks.iter().enumerate() {
                for (of, others) in &ranks[..own] {
                    for entry in entries.iter().filter(|entry| !entry.step) {
                        // Those of the other rank that can be next when this is: what its past has not, and whose past
                        // has not this.
                        let from = self.trace.count_after(*rank, entry.index, *of, true);
                        let start = others.partition_point(|each| each.index < from);
                        for other in &others[start..] {
                            looked += 1;
                            if self.trace.count_after(*of, other.index, *rank, true) > entry.index {
                                break;
                            }
                            let places = self.places(other, entry);
                            if !other.step
                                && self.races(other, entry)
                                && !self.known.contains(&places)
                                && seen.insert(places)
                            {
                                found.push((*other, *entry));
                            }
                        }
                        if looked > then {
                            self.may_go_on(looked)?;
                            then = looked + BETWEEN_LOOKS;
                        }
                    }
                }
            }
            for (one, other) in found.drain(..) {
                self.report(one, other);
            }
        }
        self.take(looked)
    }

    /// The races of a pending step, with next commands of ranks and with later steps.
    fn with_pending(&mut self, source: Entry) -> std::result::Result<(), GaveUp> {
        let mut found = Vec::new();
        let mut looked = 0;
        let (trace, delaying) = (&self.trace, &self.delaying);
        let event = self.event(&source);
        let cell = trace.access(&source).cell as usize;
        let (before, _) = trace.before_step(event, source.place as usize - event.command.bound());
        for (rank, entries) in &trace.cells[cell].of_rank {
            let there = delaying.there(trace, *rank);
            let start = entries.partition_point(|entry| entry.index < before[*rank] && entry.event <= source.event);
            for entry in &entries[start..] {
                looked += 1;
                if entry.index > there {
                    break;
                }
                if entry.event == source.event
                    || !self.races(&source, entry)
                    || self.known.contains(&self.places(&source, entry))
                {
                    continue;
                }
                let next = if entry.step {
                    source.event < entry.event && (entry.event as usize) < trace.been && self.is_next(entry)
                } else {
                    before[*rank] <= entry.index
                };
                if next {
                    found.push(*entry);
                }
            }
        }
        for other in found {
            self.report(source, other);
        }
        self.take(looked)
    }

    /// Whether a step is next when all that need not be delayed has happened.
    fn is_next(&self, entry: &Entry) -> bool {
        let event = self.event(entry);
        let step = entry.place as usize - event.command.bound();
        let first = self.delaying.first_delayed.get(&entry.event).copied().unwrap_or(u8::MAX);
        let (before, _) = self.trace.before_step(event, step);
        first as usize >= step
            && !self.delaying.is_after(before)
            && !self.delaying.is_bound(event.rank, entry.index, &event.command, &event.command.steps()[step])
    }

    /// Looks for commands that close a cycle before `source`; whether one does that waits for nothing.
    fn attack(&mut self, source: Entry) -> std::result::Result<bool, GaveUp> {
        let mut looked = 0;
        let (trace, delaying) = (&self.trace, &self.delaying);
        let event = self.event(&source);
        let access = trace.access(&source);
        let step = source.place - event.command.bound() as u8;
        let mut found = Vec::new();
        'ranks: for (rank, entries) in &trace.cells[access.cell as usize].of_rank {
            let there = delaying.there(trace, *rank);
            let first = trace.count(event, *rank, false);
            let start = entries.partition_point(|entry| entry.index < first);
            let mut tried = u32::MAX;
            for entry in &entries[start..] {
                looked += 1;
                if entry.index > there {
                    break;
                }
                if entry.event == tried || !trace.access(entry).conflicts(access) {
                    continue;
                }
                tried = entry.event;
                if let Some((taken, through)) = self.first_part(&source, entry, &mut looked) {
                    let waits = self.event(entry).command.waits();
                    found.push(Attack { source: source.event, step, last: entry.event, taken, through, waits });
                    if !waits {
                        break 'ranks;
                    }
                }
            }
        }
        let closed = found.iter().any(|attack| !attack.waits);
        self.attacks.extend(found);
        self.take(looked)?;
        Ok(closed)
    }

    /// With how many of its steps the command of `entry` goes before the source and closes the cycle, and through whose
    /// access that enters it (`first_part` of `pgasrob/reference/attack.py`).
    fn first_part(&self, source: &Entry, entry: &Entry, looked: &mut u64) -> Option<(u8, Option<u32>)> {
        let (from, event) = (self.event(source), self.event(entry));
        let access = self.trace.access(source);
        let command = &event.command;
        let bound = command.bound();
        let tainted = self.trace.count_after(event.rank, entry.index, from.rank, false) > source.index;
        for (place, leaving) in command.accesses().enumerate() {
            let taken = (place + 1).saturating_sub(bound);
            if taken > 0 && self.delaying.is_bound(event.rank, entry.index, command, &command.steps()[taken - 1]) {
                return None;
            }
            if !leaving.conflicts(access) {
                continue;
            }
            if tainted {
                return Some((taken as u8, None));
            }
            for (other, made) in command.accesses().enumerate() {
                if let Some(through) = self.hit(source, event.rank, entry.index, made, other >= bound + taken, looked) {
                    return Some((taken as u8, Some(through)));
                }
            }
        }
        None
    }

    /// An event after the source's command, or that, which has accessed the cell of `access` so that it conflicts, before
    /// the event `index` of `rank`; `late`: what is delayed counts, too.
    fn hit(
        &self,
        source: &Entry,
        rank: usize,
        index: u32,
        access: &Access,
        late: bool,
        looked: &mut u64,
    ) -> Option<u32> {
        let (trace, delaying) = (&self.trace, &self.delaying);
        let from = self.event(source);
        for (of, entries) in &trace.cells[access.cell as usize].of_rank {
            // Of this rank the events that come after the source's command, and are there.
            let first = trace.with_at_most(*of, from.rank, source.index, false);
            let end = delaying.there(trace, *of).min(trace.with_at_most(*of, rank, index, false));
            let start = entries.partition_point(|entry| entry.index < first);
            for entry in entries[start..].iter().take_while(|entry| entry.index < end) {
                *looked += 1;
                if !trace.access(entry).conflicts(access) {
                    continue;
                }
                let delayed = entry.step
                    && delaying.first_delayed.get(&entry.event).is_some_and(|&first| {
                        entry.place as usize - self.event(entry).command.bound() >= first as usize
                    });
                if late || !delayed {
                    return Some(entry.event);
                }
            }
        }
        None
    }
}
