//! What happens in a trace when some steps are delayed (`pgasrob/reference/delaying.py`).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::access::Access;
use crate::commands::Command;
use crate::memory::Result;
use crate::operands::{Operands, evaluate};
use crate::placement::{Slotted, begin_bundle, delay, fence, first_bound, wait_is_over};
use crate::tables::Tables;
use crate::touch::{self, Ways};
use crate::traces::clock::Clock;
use crate::traces::layers::{Cells, Entry};
use crate::traces::run::{BARRIER, Event, Run};
use crate::world::World;

/// A step: its place among the steps of an event, and its access.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub event: usize,
    pub step: usize,
    pub access: Access,
}

/// An access of a command that comes after the sources' commands, or is one.
#[derive(Clone, Copy, Debug)]
struct Reached {
    event: usize,
    ways: Ways,
    delayed: bool,
}

/// What is left out of a run: of some ranks the event with this number among its own, and all that comes after it.
#[derive(Clone, Debug, Default)]
pub struct Left(Vec<(usize, u32)>);

impl Left {
    pub fn of(rank: usize, index: u32) -> Self {
        Left(vec![(rank, index)])
    }

    /// Whether the event with this past is left out.
    pub fn has(&self, clock: &Clock) -> bool {
        self.0.iter().any(|&(rank, index)| clock.count(rank) > index)
    }

    pub fn add(&mut self, rank: usize, index: u32) {
        match self.0.iter_mut().find(|(of, _)| *of == rank) {
            Some((_, least)) => *least = (*least).min(index),
            None => self.0.push((rank, index)),
        }
    }
}

/// Where the delayed steps of a rank lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed(Vec<(usize, u8)>);

impl Placed {
    pub const NOWHERE: Placed = Placed(Vec::new());
}

impl Slotted for Placed {
    fn slot(&self, slot: usize) -> u8 {
        self.0.iter().find(|(of, _)| *of == slot).map_or(0, |&(_, bits)| bits)
    }

    fn set_slot(&mut self, slot: usize, bits: u8) -> Result<()> {
        match self.0.iter_mut().find(|(of, _)| *of == slot) {
            Some((_, held)) => *held |= bits,
            None => self.0.push((slot, bits)),
        }
        Ok(())
    }

    fn clear_slot(&mut self, slot: usize) -> Result<()> {
        self.0.retain(|&(of, _)| of != slot);
        Ok(())
    }
}

/// The conflicts of a trace, cell by cell.
pub struct Order {
    pub cells: Cells,
    /// For each event where its accesses begin in `layers`, which has the layer of each.
    starts: Vec<usize>,
    layers: Vec<u32>,
    /// For each event of a rank its first one from there on that can stop it or be met by another rank.
    matters: Vec<Vec<u32>>,
}

impl Order {
    pub fn new(tables: &Tables, run: &Run) -> Result<Self> {
        let matters = first_that_matter(tables, run);
        let mut order = Order { cells: Cells::new(tables.places())?, starts: Vec::new(), layers: Vec::new(), matters };
        for event in 0..run.events.len() {
            order.starts.push(order.layers.len());
            for (place, made) in run.chain(event).iter().enumerate() {
                let entry = Entry { event, place: place as u8, update: made.update };
                order.layers.push(order.cells.enter(made.access, made.before, entry) as u32);
            }
        }
        Ok(order)
    }

    /// The events directly before one by a conflict.
    fn before<'a>(&'a self, run: &'a Run, event: usize) -> impl Iterator<Item = usize> + 'a {
        run.chain(event).iter().enumerate().flat_map(move |(place, made)| {
            let layer = self.layer_of(event, place).checked_sub(1);
            let layers = self.cells.layers(made.access.cell);
            layer.map_or(&[][..], |layer| &layers[layer].entries).iter().map(|entry| entry.event)
        })
    }

    pub fn layer_of(&self, event: usize, place: usize) -> usize {
        self.layers[self.starts[event] + place] as usize
    }

    /// The first event of a rank, from its place `index` on, that is more than what [`first_that_matter`] goes past.
    pub fn next_that_matters(&self, run: &Run, rank: usize, index: u32) -> Option<usize> {
        let next = *self.matters[rank].get(index as usize)?;
        run.of_rank[rank].get(next as usize).map(|&event| event as usize)
    }
}

/// For each event of a rank its first one from there on that is more than an access at its issue to a cell that nothing
/// but such accesses of the same rank touches: whoever comes to such an event goes past it.
fn first_that_matter(tables: &Tables, run: &Run) -> Vec<Vec<u32>> {
    const NOBODY: usize = usize::MAX;
    const SHARED: usize = usize::MAX - 1;
    let mut owners = vec![NOBODY; run.memory.len()];
    for (rank, places) in run.standing.iter().enumerate() {
        for accesses in places.iter().flat_map(|standing| &standing.commands).map(|command| command.accesses) {
            for (place, access) in accesses.all().iter().enumerate() {
                let owner = &mut owners[tables.cell_of(access.cell)];
                let alone = place < accesses.bound() && (*owner == NOBODY || *owner == rank);
                *owner = if alone { rank } else { SHARED };
            }
        }
    }
    let goes_past = |event: usize| {
        let issued = run.next_of(event);
        let immediate = matches!(
            tables.command(issued.transition),
            Command::Assign { .. } | Command::Test { .. } | Command::Immediate(_)
        );
        immediate && issued.accesses.all().iter().all(|access| owners[tables.cell_of(access.cell)] != SHARED)
    };
    let of_rank = |events: &Vec<u32>| {
        let mut first = events.len() as u32;
        let mut firsts: Vec<u32> = (0..first).collect();
        for (index, &event) in events.iter().enumerate().rev() {
            let event = event as usize;
            if run.has_looks() || run.events[event].rank == BARRIER || !goes_past(event) {
                first = index as u32;
            }
            firsts[index] = first;
        }
        firsts
    };
    run.of_rank.iter().map(of_rank).collect()
}

/// One pass: the sources are delayed.
pub struct Delaying {
    /// What the greatest usable ideal has not.
    pub left: Left,
    /// Of the operations that come after the sources how many of their steps are not delayed.
    pub now: HashMap<usize, usize>,
    /// The first event of each rank that comes after the sources, by its place.
    tainted: HashMap<usize, u32>,
    reached: HashMap<usize, Vec<Reached>>,
    touched: HashMap<usize, Ways>,
    /// By ranks, after how many events the steps lie so.
    placements: HashMap<usize, Vec<(u32, Placed)>>,
    waiting: BinaryHeap<Reverse<usize>>,
    /// Whether the events that have been looked at are left out.
    looked: HashMap<usize, bool>,
    /// By ranks the first of its events that has been looked at and is left out, by its place.
    ends: HashMap<usize, u32>,
    pub valid: bool,
}

const NOWHERE: &Placed = &Placed::NOWHERE;

impl Delaying {
    /// Delays `sources`. Only the events `within` are looked at, among them all that come before one of them. Whenever
    /// more is left out, `matters` says whether the pass is still of any use; if not, it ends.
    pub fn new(
        tables: &Tables,
        world: &mut World,
        run: &Run,
        order: &Order,
        sources: &[Source],
        within: impl Fn(&Event) -> bool,
        matters: impl Fn(&Self) -> bool,
    ) -> Result<Self> {
        let mut delaying = Delaying {
            left: Left::default(),
            now: HashMap::new(),
            tainted: HashMap::new(),
            reached: HashMap::new(),
            touched: HashMap::new(),
            placements: HashMap::new(),
            waiting: sources.iter().map(|source| Reverse(source.event)).collect(),
            looked: HashMap::new(),
            ends: HashMap::new(),
            valid: true,
        };
        while let Some(Reverse(event)) = delaying.waiting.pop() {
            if !delaying.looked.contains_key(&event) && within(&run.events[event]) {
                let left = delaying.is_left(run, order, sources, event)
                    || delaying.look_at(tables, world, run, order, sources, event)?;
                delaying.looked.insert(event, left);
                if left && delaying.ends_before(run, event) && !matters(&delaying) {
                    break;
                }
            }
        }
        delaying.valid = !sources.iter().any(|source| delaying.left.has(&run.events[source.event].clock));
        Ok(delaying)
    }

    /// Notes that an event is left out; whether that is the first of its rank.
    fn ends_before(&mut self, run: &Run, number: usize) -> bool {
        let event = &run.events[number];
        let mut first = false;
        for rank in run.ranks(event) {
            let index = if event.rank == BARRIER { event.clock.count(rank) - 1 } else { event.index };
            let end = self.ends.entry(rank).or_insert(u32::MAX);
            first |= index < *end;
            *end = index.min(*end);
        }
        first
    }

    /// So many events of `rank` are not left out, or fewer.
    pub fn end(&self, rank: usize) -> u32 {
        self.ends.get(&rank).copied().unwrap_or(u32::MAX)
    }

    /// How many events it has looked at.
    pub fn events(&self) -> u64 {
        self.looked.len() as u64
    }

    /// Whether one of the first `events` of `rank` comes after the sources' commands, or is one.
    pub fn tainted(&self, rank: usize, events: u32) -> bool {
        self.tainted.get(&rank).is_some_and(|&first| first < events)
    }

    /// Where the steps of the first `events` of `rank` lie.
    pub fn placement(&self, rank: usize, events: u32) -> &Placed {
        let known = self.placements.get(&rank).and_then(|all| all.iter().rev().find(|(after, _)| *after <= events));
        known.map_or(NOWHERE, |(_, placement)| placement)
    }

    /// In which ways a cell is touched by what comes after the sources, but for `without`; lower half: not delayed.
    pub fn touched(&self, run: &Run, cell: usize, without: &Left) -> Ways {
        let Some(reached) = self.reached.get(&cell) else { return 0 };
        reached.iter().fold(0, |ways, reached| {
            let clock = &run.events[reached.event].clock;
            if self.left.has(clock) || without.has(clock) {
                ways
            } else {
                ways | if reached.delayed { touch::delayed(reached.ways) } else { reached.ways }
            }
        })
    }

    /// Whether a step that is in the ideal happens now.
    pub fn is_done(&self, event: usize, step: usize) -> bool {
        self.now.get(&event).is_none_or(|&now| step < now)
    }

    fn hits(&self, access: Access, delayed: bool) -> bool {
        let against = if delayed { touch::delayed(access.against()) } else { access.against() };
        self.touched.get(&access.cell).is_some_and(|ways| ways & against != 0)
    }

    /// Whether an event comes after one that is left out: one directly before it is left out, or comes after such a one.
    fn is_left(&self, run: &Run, order: &Order, sources: &[Source], number: usize) -> bool {
        let event = &run.events[number];
        if event.rank == BARRIER || run.has_looks() {
            return self.left.has(&event.clock);
        }
        let is_left = |before: usize| match self.looked.get(&before) {
            Some(&left) => left,
            None => {
                let clock = &run.events[before].clock;
                sources.iter().any(|source| run.events[source.event].is_in(clock)) && self.left.has(clock)
            }
        };
        let own = event.index.checked_sub(1).map(|index| run.of_rank[event.rank][index as usize] as usize);
        own.is_some_and(is_left) || order.before(run, number).any(is_left)
    }

    /// Goes on with an event that may be reached; whether it is left out.
    fn look_at(
        &mut self,
        tables: &Tables,
        world: &mut World,
        run: &Run,
        order: &Order,
        sources: &[Source],
        number: usize,
    ) -> Result<bool> {
        let event = &run.events[number];
        if event.rank == BARRIER {
            for rank in run.ranks(event) {
                let count = event.clock.count(rank);
                self.tainted.entry(rank).or_insert(count - 1);
                self.go_on(run, order, rank, count);
            }
            return Ok(false);
        }
        let (rank, index) = (event.rank, event.index);
        let command = run.next_of(number);
        let operands = match tables.command(command.transition) {
            Command::Assign { .. } | Command::Test { .. } | Command::Immediate(_) => None,
            issued => evaluate(tables, world, rank, issued, &run.standing[rank][index as usize].registers)?,
        };
        let mut placement = self.placement(rank, index).clone();
        let waits = match operands {
            Some(Operands::Wait { queue, local }) => !wait_is_over(world, &placement, rank, queue, local),
            _ => false,
        };
        let (bound, steps) = command.accesses.all().split_at(command.accesses.bound());
        if waits || bound.iter().any(|&access| self.hits(access, true)) {
            self.left.add(rank, index);
            return Ok(true);
        }
        let source = sources.iter().find(|source| source.event == number);
        let mut now = steps.len();
        if let Some(Operands::Transfer(transfer)) = &operands {
            let hit = steps.iter().position(|&access| self.hits(access, true)).unwrap_or(now);
            now = first_bound(tables, world, &placement, rank, transfer).min(hit);
            now = source.map_or(now, |source| now.min(source.step));
        }
        let all = run.chain(number);
        let reached = source.is_some()
            || self.tainted(rank, index)
            || all.iter().any(|made| self.hits(made.access, false) || self.hits(made.access, true));
        if !reached {
            return Ok(false);
        }
        self.tainted.entry(rank).or_insert(index);
        for (place, made) in all.iter().enumerate() {
            let access = made.access;
            let by = if place < command.accesses.all().len() { place } else { made.by as usize };
            let delayed = by >= bound.len() + now;
            self.reached.entry(access.cell).or_default().push(Reached { event: number, ways: access.ways, delayed });
            let ways = if delayed { touch::delayed(access.ways) } else { access.ways };
            *self.touched.entry(access.cell).or_default() |= ways;
        }
        let before = placement.clone();
        match operands {
            Some(Operands::Transfer(transfer)) => {
                self.now.insert(number, now);
                delay(tables, world, &mut placement, rank, &transfer, &transfer.steps()[now..])?;
            }
            Some(Operands::Fence { queue, target }) => fence(world, &before, &mut placement, rank, queue, target)?,
            Some(Operands::Bundle) => begin_bundle(world, &mut placement, rank)?,
            _ => {}
        }
        if placement != before {
            self.placements.entry(rank).or_default().push((index + 1, placement));
        }
        self.go_on(run, order, rank, index + 1);
        for (place, made) in all.iter().enumerate() {
            if let Some(next) = order.cells.layers(made.access.cell).get(order.layer_of(number, place) + 1) {
                self.waiting.extend(next.entries.iter().map(|entry| Reverse(entry.event)));
            }
        }
        Ok(false)
    }

    fn go_on(&mut self, run: &Run, order: &Order, rank: usize, index: u32) {
        self.waiting.extend(order.next_that_matters(run, rank, index).map(Reverse));
    }
}
