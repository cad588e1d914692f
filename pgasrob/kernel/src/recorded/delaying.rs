//! What happens in a recorded trace when a step is delayed (`pgasrob/reference/delaying.py`).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::recorded::events::{Access, Command, Step};
use crate::recorded::order::{Event, Trace};
use crate::recorded::slots::Slot;

/// A slot is in force for the events of its rank from `since` on and before `until`.
#[derive(Clone, Copy, Debug)]
struct Placed {
    slot: Slot,
    since: u32,
    until: u32,
}

/// How steps that are delayed access a cell; it counts in the pass with the number `stamp`.
#[derive(Clone, Copy, Default)]
struct Mark {
    stamp: u32,
    reads: bool,
    writes: bool,
    kinds: u64,
}

/// The passes over one trace, one at a time.
pub struct Delaying {
    stamp: u32,
    marks: Vec<Mark>,
    placed: Vec<(u32, Vec<Placed>)>,
    waiting: BinaryHeap<Reverse<u32>>,
    /// Of some ranks the event with this number that is left out, with all that comes after it.
    pub cuts: Vec<(usize, u32)>,
    /// Of operations the first of their steps that is delayed.
    pub first_delayed: HashMap<u32, u8>,
    /// Whether what is left out is what is issued later, or, for attacks, all that comes after it in the trace.
    issues: bool,
    /// The events that have been looked at in all passes.
    pub looked_at: u64,
}

impl Delaying {
    pub fn new(trace: &Trace) -> Self {
        Delaying {
            stamp: 0,
            marks: vec![Mark::default(); trace.cells.len()],
            placed: vec![(0, Vec::new()); trace.nodes],
            waiting: BinaryHeap::new(),
            cuts: Vec::new(),
            first_delayed: HashMap::new(),
            issues: false,
            looked_at: 0,
        }
    }

    /// Delays the step number `step` of an event. `issues`: only what cannot be issued then is left out.
    pub fn delay(&mut self, trace: &Trace, source: u32, step: usize, issues: bool) {
        self.issues = issues;
        self.stamp += 1;
        self.cuts.clear();
        self.first_delayed.clear();
        self.waiting.clear();
        self.waiting.push(Reverse(source));
        let mut looked = u32::MAX;
        while let Some(Reverse(number)) = self.waiting.pop() {
            if number != looked {
                looked = number;
                self.looked_at += 1;
                self.look_at(trace, number, if number == source { step } else { usize::MAX });
            }
        }
    }

    /// Whether an event is left out.
    pub fn is_left(&self, trace: &Trace, event: &Event) -> bool {
        self.cuts.iter().any(|&(rank, index)| trace.count(event, rank, self.issues) > index)
    }

    /// Whether an event of another rank that is left out is among those of a past.
    pub fn is_after(&self, past: &[u32]) -> bool {
        self.cuts.iter().any(|&(rank, index)| past[rank] > index)
    }

    /// How many of the events of a rank are there.
    pub fn there(&self, trace: &Trace, rank: usize) -> u32 {
        let all = trace.of_rank[rank].len() as u32;
        self.cuts.iter().map(|&(of, index)| trace.with_at_most(rank, of, index, self.issues)).min().unwrap_or(all)
    }

    /// Whether the completion rules put a step of `command` of `rank`, which has had `events` before it, behind one that
    /// is delayed.
    pub fn is_bound(&self, rank: usize, events: u32, command: &Command, step: &Step) -> bool {
        let (stamp, placed) = &self.placed[rank];
        *stamp == self.stamp
            && placed.iter().any(|each| each.since <= events && events < each.until && each.slot.bounds(command, step))
    }

    fn look_at(&mut self, trace: &Trace, number: u32, source: usize) {
        let event = &trace.events[number as usize];
        if event.is_barrier() || self.is_left(trace, event) {
            return;
        }
        let (rank, index) = (event.rank, event.index);
        let over = if let Command::Wait { queue, local } = event.command {
            !self.has(rank, Slot::waited_for(queue, local))
        } else {
            true
        };
        if !over || event.command.at_issue().is_some_and(|made| self.hits(made)) {
            self.cut(rank, index);
            return;
        }
        match &event.command {
            Command::Transfer { steps, .. } => {
                let delayed = steps.iter().enumerate().position(|(place, step)| {
                    place == source || self.hits(&step.access) || self.is_bound(rank, index, &event.command, step)
                });
                if let Some(first) = delayed {
                    self.first_delayed.insert(number, first as u8);
                    for (place, step) in steps.iter().enumerate().skip(first) {
                        self.mark(&step.access);
                        self.place(rank, index, &event.command, step);
                        let next = trace.next_to(number, event.command.bound() + place);
                        self.waiting.extend(next.iter().map(|entry| Reverse(entry.event)));
                    }
                }
            }
            Command::Fence { queue, target, unordered: true } => self.fence(rank, index, *queue, *target),
            Command::Bundle => self.begin_bundle(rank, index),
            Command::Fence { .. } | Command::Wait { .. } | Command::Immediate { .. } | Command::Barrier => {}
        }
        if self.placed[rank].0 == self.stamp
            && let Some(next) = trace.next_synchronising(rank, index + 1)
        {
            self.waiting.push(Reverse(next));
        }
    }

    fn cut(&mut self, rank: usize, index: u32) {
        match self.cuts.iter_mut().find(|(of, _)| *of == rank) {
            Some((_, least)) => *least = (*least).min(index),
            None => self.cuts.push((rank, index)),
        }
    }

    fn hits(&self, access: &Access) -> bool {
        let mark = &self.marks[access.cell as usize];
        if mark.stamp != self.stamp {
            return false;
        }
        if access.kind != 0 {
            return mark.reads || mark.writes || mark.kinds & !(1 << access.kind) != 0;
        }
        mark.writes || mark.kinds != 0 || (access.writes && mark.reads)
    }

    fn mark(&mut self, access: &Access) {
        let mark = &mut self.marks[access.cell as usize];
        if mark.stamp != self.stamp {
            *mark = Mark { stamp: self.stamp, ..Mark::default() };
        }
        if access.kind != 0 {
            mark.kinds |= 1 << access.kind;
        } else {
            mark.writes |= access.writes;
            mark.reads |= !access.writes;
        }
    }

    fn has(&self, rank: usize, slot: Slot) -> bool {
        let (stamp, placed) = &self.placed[rank];
        *stamp == self.stamp && placed.iter().any(|each| each.slot == slot && each.until == u32::MAX)
    }

    fn enter(&mut self, rank: usize, index: u32, slot: Slot) {
        if self.has(rank, slot) {
            return;
        }
        let (stamp, placed) = &mut self.placed[rank];
        if *stamp != self.stamp {
            *stamp = self.stamp;
            placed.clear();
        }
        placed.push(Placed { slot, since: index + 1, until: u32::MAX });
    }

    /// Enters a step that is delayed into its slots.
    fn place(&mut self, rank: usize, index: u32, command: &Command, step: &Step) {
        for slot in Slot::entered(command, step) {
            self.enter(rank, index, slot);
        }
    }

    fn fence(&mut self, rank: usize, index: u32, queue: i64, target: i64) {
        let (stamp, placed) = &self.placed[rank];
        if *stamp != self.stamp {
            return;
        }
        let fenced: Vec<Slot> = placed.iter().filter_map(|each| each.slot.behind_fence(queue, target)).collect();
        for slot in fenced {
            self.enter(rank, index, slot);
        }
    }

    fn begin_bundle(&mut self, rank: usize, index: u32) {
        let (stamp, placed) = &mut self.placed[rank];
        if *stamp == self.stamp {
            for each in placed.iter_mut().filter(|each| each.slot == Slot::Bundled && each.until == u32::MAX) {
                each.until = index + 1;
            }
        }
    }
}
