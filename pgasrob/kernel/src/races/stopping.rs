//! What remains of a trace when a step stops (`Stopping` in `pgasrob/reference/race_traces.py`).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::access::Access;
use crate::commands::Command;
use crate::memory::Result;
use crate::operands::{Operands, evaluate};
use crate::placement::{begin_bundle, delay, fence, first_bound, wait_is_over};
use crate::tables::Tables;
use crate::touch::Ways;
use crate::traces::delaying::{Left, Order, Placed, Source};
use crate::traces::run::{BARRIER, Run};
use crate::world::World;

pub struct Stopping {
    /// The rank of the source.
    rank: usize,
    /// What has to be left out.
    pub left: Left,
    /// Of operations of the source's rank of which a step stops, how many of their steps happen.
    now: HashMap<usize, usize>,
    /// How the steps that have stopped access each cell.
    stopped: HashMap<usize, Ways>,
    /// After how many events of the source's rank its steps lie so.
    placements: Vec<(u32, Placed)>,
    waiting: BinaryHeap<Reverse<usize>>,
    /// How many events have been looked at.
    pub looked: u64,
}

const NOWHERE: &Placed = &Placed::NOWHERE;

impl Stopping {
    /// Stops `source`. Whenever more is left out, `matters` says whether that is still of any use; if not, it ends.
    pub fn new(
        tables: &Tables,
        world: &mut World,
        run: &Run,
        order: &Order,
        source: Source,
        matters: impl Fn(&Left) -> bool,
    ) -> Result<Self> {
        let mut stopping = Stopping {
            rank: run.events[source.event].rank,
            left: Left::default(),
            now: HashMap::new(),
            stopped: HashMap::new(),
            placements: Vec::new(),
            waiting: BinaryHeap::from([Reverse(source.event)]),
            looked: 0,
        };
        let mut latest = None;
        while let Some(Reverse(event)) = stopping.waiting.pop() {
            if latest != Some(event) {
                latest = Some(event);
                stopping.looked += 1;
                if stopping.look_at(tables, world, run, order, source, event)? && !matters(&stopping.left) {
                    break;
                }
            }
        }
        Ok(stopping)
    }

    /// Where the steps of the first `events` of `rank` lie.
    pub fn placement(&self, rank: usize, events: u32) -> &Placed {
        let placements = if rank == self.rank { &self.placements[..] } else { &[] };
        placements.iter().rev().find(|(after, _)| *after <= events).map_or(NOWHERE, |(_, placement)| placement)
    }

    /// How many steps of an event that remains happen.
    pub fn now(&self, run: &Run, event: usize) -> usize {
        self.now.get(&event).copied().unwrap_or_else(|| run.steps(event))
    }

    fn hits(&self, access: Access) -> bool {
        self.stopped.get(&access.cell).is_some_and(|ways| ways & access.against() != 0)
    }

    /// Goes on with an event that waits for a step that has stopped, conflicts with one or may stop; whether it is left
    /// out because of that itself.
    fn look_at(
        &mut self,
        tables: &Tables,
        world: &mut World,
        run: &Run,
        order: &Order,
        source: Source,
        number: usize,
    ) -> Result<bool> {
        let event = &run.events[number];
        if self.left.has(&event.clock) {
            return Ok(false);
        }
        let rank = self.rank;
        if event.rank == BARRIER {
            self.go_on(run, order, event.clock.count(rank));
            return Ok(false);
        }
        let (index, all) = (event.index, run.chain(number));
        if event.rank != rank {
            let hit = all.iter().any(|made| self.hits(made.access));
            if hit {
                self.left.add(event.rank, index);
            }
            return Ok(hit);
        }
        let command = tables.command(run.next_of(number).transition);
        let operands = match command {
            Command::Assign { .. } | Command::Test { .. } | Command::Immediate(_) => None,
            Command::Transfer(_) | Command::Wait { .. } | Command::Fence { .. } | Command::Bundle => {
                evaluate(tables, world, rank, command, &run.standing[rank][index as usize].registers)?
            }
            Command::Barrier { .. } => None,
        };
        let before = self.placement(rank, index).clone();
        let mut placement = before.clone();
        // What stops here as well meets nothing that has stopped.
        let mut happen = all.len();
        if let Some(Operands::Transfer(transfer)) = &operands {
            let count = transfer.steps().len();
            let free = first_bound(tables, world, &before, rank, transfer);
            happen -= count - if number == source.event { free.min(source.step) } else { free };
        }
        let waits = match operands {
            Some(Operands::Wait { queue, local }) => !wait_is_over(world, &before, rank, queue, local),
            _ => false,
        };
        if waits || number != source.event && all[..happen].iter().any(|made| self.hits(made.access)) {
            self.left.add(rank, index);
            return Ok(true);
        }
        match operands {
            Some(Operands::Transfer(transfer)) if happen < all.len() => {
                let steps = transfer.steps();
                let bound = all.len() - steps.len();
                let now = happen - bound;
                delay(tables, world, &mut placement, rank, &transfer, &steps[now..])?;
                let again = number != source.event && event.transition == run.events[source.event].transition;
                if again && transfer.access(&steps[source.step]).cell == source.access.cell {
                    // What is behind it is looked at where it is the source, when the same stops there.
                    let mut alone = NOWHERE.clone();
                    delay(tables, world, &mut alone, rank, &transfer, &steps[source.step..])?;
                    if alone == placement {
                        self.left.add(rank, index);
                        return Ok(true);
                    }
                }
                self.now.insert(number, now);
                for (step, stops) in steps.iter().enumerate().skip(now) {
                    let access = transfer.access(stops);
                    *self.stopped.entry(access.cell).or_default() |= access.ways;
                    let later = order.cells.layers(access.cell).get(order.layer_of(number, bound + step) + 1);
                    let entries = later.map_or(&[][..], |layer| &layer.entries);
                    self.waiting.extend(entries.iter().map(|entry| Reverse(entry.event)));
                }
            }
            Some(Operands::Fence { queue, target }) => fence(world, &before, &mut placement, rank, queue, target)?,
            Some(Operands::Bundle) => begin_bundle(world, &mut placement, rank)?,
            _ => {}
        }
        if placement != before {
            self.placements.push((index + 1, placement));
        }
        self.go_on(run, order, index + 1);
        Ok(false)
    }

    fn go_on(&mut self, run: &Run, order: &Order, index: u32) {
        self.waiting.extend(order.next_that_matters(run, self.rank, index).map(Reverse));
    }
}
