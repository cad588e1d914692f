//! The order of a recorded trace: what comes before each event, and the accesses by cells.

use std::collections::HashMap;

use crate::recorded::events::{Access, Command, Recorded};
use crate::recorded::slots::Slot;

pub struct Event {
    pub rank: usize,
    pub place: u32,
    pub command: Command,
    /// Its place among the events of its rank (of a barrier: nothing).
    pub index: u32,
    /// Which of the pasts is its own, but for what its rank has of it: of all that comes before in the trace, and of what
    /// has to be issued before.
    past: u32,
    issued_after: u32,
    /// For each step what has to be issued before it is next, and before it has happened.
    steps: Box<[(u32, u32)]>,
}

impl Event {
    pub fn is_barrier(&self) -> bool {
        matches!(self.command, Command::Barrier)
    }
}

/// An access to a cell: `place` in the chain of its command, which is number `index` of its rank.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub event: u32,
    pub index: u32,
    pub place: u8,
    pub step: bool,
}

/// The accesses to one cell: in layers of such as follow each other and do not conflict, and by ranks.
#[derive(Default)]
pub struct Cell {
    layers: Vec<Vec<Entry>>,
    pub of_rank: Vec<(usize, Vec<Entry>)>,
}

pub struct Trace {
    pub nodes: usize,
    pub events: Vec<Event>,
    /// How many of them have happened; the others are the next commands of ranks at the end.
    pub been: usize,
    pub of_rank: Vec<Vec<u32>>,
    /// Of each rank the indexes of the events that matter to delayed steps.
    synchronising: Vec<Vec<u32>>,
    pub cells: Vec<Cell>,
    layer_of: Vec<[u32; 4]>,
    pasts: Vec<u32>,
}

impl Trace {
    pub fn new(recorded: Vec<Recorded>, nodes: usize, cells: usize) -> Self {
        let mut trace = Trace {
            nodes,
            events: Vec::with_capacity(recorded.len()),
            been: 0,
            of_rank: vec![Vec::new(); nodes],
            synchronising: vec![Vec::new(); nodes],
            cells: (0..cells).map(|_| Cell::default()).collect(),
            layer_of: Vec::with_capacity(recorded.len()),
            pasts: vec![0; nodes],
        };
        let mut latest = vec![0; nodes];
        let mut issues = Issues { latest: vec![0; nodes], slots: vec![HashMap::new(); nodes] };
        let (been, standing): (Vec<_>, Vec<_>) = recorded.into_iter().partition(|each| each.issued);
        for each in been {
            trace.add(each, &mut latest, &mut issues);
        }
        trace.been = trace.events.len();
        for Recorded { rank, place, command, .. } in standing {
            let index = trace.of_rank[rank].len() as u32;
            let number = trace.events.len() as u32;
            for (chained, access) in command.accesses().enumerate() {
                let step = chained >= command.bound();
                trace.enter(rank, access.cell, Entry { event: number, index, place: chained as u8, step });
            }
            trace.layer_of.push([0; 4]);
            let (past, issued_after) = (latest[rank], issues.latest[rank]);
            trace.events.push(Event { rank, place, command, index, past, issued_after, steps: Box::new([]) });
        }
        trace
    }

    fn add(&mut self, Recorded { rank, place, command, .. }: Recorded, latest: &mut [u32], issues: &mut Issues) {
        let number = self.events.len() as u32;
        if let Command::Barrier = command {
            let mut joined = vec![0; self.nodes];
            for (each, &of) in latest.iter().enumerate() {
                self.join(&mut joined, of);
                joined[each] = joined[each].max(self.of_rank[each].len() as u32);
            }
            let past = self.keep(joined.iter().map(|count| count + 1));
            let mut before = vec![0; self.nodes];
            for (each, &of) in issues.latest.iter().enumerate() {
                self.join(&mut before, of);
                before[each] = before[each].max(self.of_rank[each].len() as u32);
            }
            let issued_after = self.keep(before.iter().map(|count| count + 1));
            latest.fill(past);
            issues.latest.fill(issued_after);
            for events in &mut self.of_rank {
                events.push(number);
            }
            self.layer_of.push([0; 4]);
            self.events.push(Event { rank, place, command, index: 0, past, issued_after, steps: Box::new([]) });
            return;
        }
        let index = self.of_rank[rank].len() as u32;
        let mut met: Vec<u32> = Vec::new();
        for access in command.accesses() {
            met.extend(self.met_by(access));
        }
        let own = latest[rank];
        let ahead = met.iter().any(|&event| {
            let from = &self.events[event as usize];
            from.rank != rank
                && (0..self.nodes).any(|of| of != rank && self.count(from, of, false) > self.known(own, of))
        });
        if ahead {
            let mut joined = vec![0; self.nodes];
            self.join(&mut joined, own);
            for event in met {
                let from = &self.events[event as usize];
                for (of, count) in joined.iter_mut().enumerate() {
                    *count = (*count).max(self.count(from, of, false));
                }
            }
            latest[rank] = self.keep(joined.into_iter());
        }
        let steps = self.issue(rank, index, &command, issues);
        let mut layers = [0; 4];
        for (chained, access) in command.accesses().enumerate() {
            let entry = Entry { event: number, index, place: chained as u8, step: chained >= command.bound() };
            layers[chained] = self.layer(access, entry, &command);
            self.enter(rank, access.cell, entry);
        }
        self.layer_of.push(layers);
        self.of_rank[rank].push(number);
        if command.synchronises() {
            self.synchronising[rank].push(index);
        }
        let issued_after = issues.latest[rank];
        self.events.push(Event { rank, place, command, index, past: latest[rank], issued_after, steps });
    }

    /// Takes down what has to be issued before a command, and before each of its steps.
    fn issue(&mut self, rank: usize, index: u32, command: &Command, issues: &mut Issues) -> Box<[(u32, u32)]> {
        let mut past = vec![0; self.nodes];
        self.join(&mut past, issues.latest[rank]);
        let own = past.clone();
        if let Some(made) = command.at_issue() {
            self.join_met(&mut past, made);
        }
        if let Command::Wait { queue, local } = *command
            && let Some(there) = issues.slots[rank].get(&Slot::waited_for(queue, local))
        {
            join_all(&mut past, there);
        }
        if (0..self.nodes).any(|of| of != rank && past[of] > own[of]) {
            issues.latest[rank] = self.keep(past.iter().copied());
        }
        match *command {
            Command::Bundle => {
                issues.slots[rank].remove(&Slot::Bundled);
            }
            Command::Fence { queue, target, unordered: true } => {
                let found: Vec<(Slot, Vec<u32>)> = issues.slots[rank]
                    .iter()
                    .filter_map(|(slot, there)| Some((slot.behind_fence(queue, target)?, there.clone())))
                    .collect();
                for (slot, there) in found {
                    issues.enter(rank, slot, &there);
                }
            }
            _ => {}
        }
        past[rank] = index + 1;
        let mut found = Vec::new();
        let mut entering: Vec<(Slot, Vec<u32>)> = Vec::new();
        for step in command.steps() {
            for (slot, there) in &issues.slots[rank] {
                if slot.bounds(command, step) {
                    join_all(&mut past, there);
                }
            }
            let before = self.keep(past.iter().copied());
            self.join_met(&mut past, &step.access);
            let after = self.keep(past.iter().copied());
            found.push((before, after));
            entering.extend(Slot::entered(command, step).map(|slot| (slot, past.clone())));
        }
        for (slot, there) in entering {
            issues.enter(rank, slot, &there);
        }
        found.into()
    }

    /// Joins the issues that come before an access, were it next.
    fn join_met(&self, past: &mut [u32], access: &Access) {
        let layers = &self.cells[access.cell as usize].layers;
        let met = layers.iter().rev().find(|layer| self.access(&layer[0]).conflicts(access));
        for entry in met.into_iter().flatten() {
            let event = &self.events[entry.event as usize];
            for (of, count) in past.iter_mut().enumerate() {
                let there = if entry.step {
                    self.known(event.steps[entry.place as usize - event.command.bound()].1, of)
                } else {
                    self.count(event, of, true)
                };
                *count = (*count).max(there);
            }
        }
    }

    /// What has to be issued before a step is next, and before it has happened.
    pub fn before_step(&self, event: &Event, step: usize) -> (&[u32], &[u32]) {
        let past = |of: u32| &self.pasts[of as usize * self.nodes..][..self.nodes];
        let (before, after) = event.steps[step];
        (past(before), past(after))
    }

    fn known(&self, past: u32, of: usize) -> u32 {
        self.pasts[past as usize * self.nodes + of]
    }

    fn join(&self, joined: &mut [u32], past: u32) {
        for (of, count) in joined.iter_mut().enumerate() {
            *count = (*count).max(self.known(past, of));
        }
    }

    fn keep(&mut self, past: impl Iterator<Item = u32>) -> u32 {
        self.pasts.extend(past);
        (self.pasts.len() / self.nodes - 1) as u32
    }

    /// The events of the last layer that conflicts with an access, were it next.
    fn met_by(&self, access: &Access) -> impl Iterator<Item = u32> {
        let layers = &self.cells[access.cell as usize].layers;
        let met = layers.iter().rev().find(|layer| self.access(&layer[0]).conflicts(access));
        met.into_iter().flatten().map(|entry| entry.event)
    }

    /// Adds an access to a layer of its cell and says which.
    fn layer(&mut self, access: &Access, entry: Entry, command: &Command) -> u32 {
        let conflicts = match self.cells[access.cell as usize].layers.last() {
            Some(last) if last[0].event == entry.event => command.access(last[0].place as usize).conflicts(access),
            Some(last) => self.access(&last[0]).conflicts(access),
            None => true,
        };
        let layers = &mut self.cells[access.cell as usize].layers;
        if conflicts {
            layers.push(Vec::new());
        }
        let layer = layers.len() - 1;
        layers[layer].push(entry);
        layer as u32
    }

    fn enter(&mut self, rank: usize, cell: u32, entry: Entry) {
        let ranks = &mut self.cells[cell as usize].of_rank;
        match ranks.iter_mut().find(|(of, _)| *of == rank) {
            Some((_, entries)) => entries.push(entry),
            None => ranks.push((rank, vec![entry])),
        }
    }

    pub fn access(&self, entry: &Entry) -> &Access {
        self.events[entry.event as usize].command.access(entry.place as usize)
    }

    /// How many events of rank `of` come before `event`, itself included.
    ///
    /// `issues`: of those that have to be issued before.
    pub fn count(&self, event: &Event, of: usize, issues: bool) -> u32 {
        if !event.is_barrier() && event.rank == of {
            event.index + 1
        } else {
            self.known(if issues { event.issued_after } else { event.past }, of)
        }
    }

    /// How many events of rank `of` come before a rank has done the first `events` of its own.
    pub fn count_after(&self, rank: usize, events: u32, of: usize, issues: bool) -> u32 {
        match events {
            0 => 0,
            some => self.count(&self.events[self.of_rank[rank][some as usize - 1] as usize], of, issues),
        }
    }

    /// How many of the first events of `rank` have at most `most` events of rank `of` before them.
    pub fn with_at_most(&self, rank: usize, of: usize, most: u32, issues: bool) -> u32 {
        let events = &self.of_rank[rank];
        events.partition_point(|&event| self.count(&self.events[event as usize], of, issues) <= most) as u32
    }

    /// The next event of `rank` from `index` on that matters to delayed steps.
    pub fn next_synchronising(&self, rank: usize, index: u32) -> Option<u32> {
        let all = &self.synchronising[rank];
        let next = all.get(all.partition_point(|&each| each < index))?;
        Some(self.of_rank[rank][*next as usize])
    }

    /// The accesses directly after one of an event that conflict with it.
    pub fn next_to(&self, event: u32, place: usize) -> &[Entry] {
        let layer = self.layer_of[event as usize][place] as usize + 1;
        let cell = self.events[event as usize].command.access(place).cell;
        self.cells[cell as usize].layers.get(layer).map_or(&[], |entries| entries)
    }

    /// Whether an access of an event has its layer for itself.
    pub fn is_alone(&self, event: u32, place: usize) -> bool {
        let layer = self.layer_of[event as usize][place] as usize;
        let cell = self.events[event as usize].command.access(place).cell;
        self.cells[cell as usize].layers[layer].iter().all(|entry| entry.event == event)
    }
}

/// What is known of issues as a trace grows: of each rank the latest past, and what has to be issued before the steps in
/// each slot have happened.
struct Issues {
    latest: Vec<u32>,
    slots: Vec<HashMap<Slot, Vec<u32>>>,
}

impl Issues {
    fn enter(&mut self, rank: usize, slot: Slot, past: &[u32]) {
        match self.slots[rank].get_mut(&slot) {
            Some(there) => join_all(there, past),
            None => {
                self.slots[rank].insert(slot, past.to_vec());
            }
        }
    }
}

fn join_all(past: &mut [u32], other: &[u32]) {
    for (count, &there) in past.iter_mut().zip(other) {
        *count = (*count).max(there);
    }
}
