//! Where the steps of a rank have been placed, as far as later commands depend on it
//! (`pgasrob/analysis/placement.py`): in part 1, or in D.

use crate::commands::Step;
use crate::intern::{Place, bits};
use crate::memory::Result;
use crate::operands::Transfer;
use crate::state::State;
use crate::tables::Tables;
use crate::world::World;

/// The bits of slots, as far as any are set.
pub trait Slotted {
    fn slot(&self, slot: usize) -> u8;
    fn set_slot(&mut self, slot: usize, bits: u8) -> Result<()>;
    fn clear_slot(&mut self, slot: usize) -> Result<()>;
}

impl Slotted for State {
    fn slot(&self, slot: usize) -> u8 {
        State::slot(self, slot)
    }

    fn set_slot(&mut self, slot: usize, bits: u8) -> Result<()> {
        State::set_slot(self, slot, bits)
    }

    fn clear_slot(&mut self, slot: usize) -> Result<()> {
        State::clear_slot(self, slot)
    }
}

impl Place {
    /// How many bits its slots have.
    pub fn width(self, tables: &Tables) -> u8 {
        match self {
            Place::Queue(queue) if tables.is_unordered(queue) => 2,
            Place::Queue(_) => 2 + tables.stages,
            Place::Target(..) => 2,
            Place::Bundle | Place::Location(_) => 1,
        }
    }
}

/// The bits of a place of `rank`; none when no step has been delayed there.
fn placed(world: &World, state: &impl Slotted, rank: usize, place: Place) -> u8 {
    world.slots.find(rank, place).map_or(0, |slot| state.slot(slot))
}

/// Whether a wait or wait_local of `rank` may be issued.
pub fn wait_is_over(world: &World, state: &impl Slotted, rank: usize, queue: u64, local: bool) -> bool {
    let waits_for = if local { bits::LOCAL_DELAYED } else { bits::DELAYED };
    placed(world, state, rank, Place::Queue(queue)) & waits_for == 0
}

/// The first step of a command of `rank` that a completion rule puts after D; the number of steps when there is none. A
/// chain is in order, so the steps after it come after D too.
pub fn first_bound(
    tables: &Tables,
    world: &World,
    state: &impl Slotted,
    rank: usize,
    transfer: &Transfer<'_>,
) -> usize {
    let placed = |place| placed(world, state, rank, place);
    let unordered = tables.is_unordered(transfer.queue);
    let queue = if unordered { 0 } else { placed(Place::Queue(transfer.queue)) };
    let bound = |step: &Step| {
        let target = || placed(Place::Target(transfer.queue, transfer.target));
        queue & bits::STAGE[step.stage] != 0
            || (unordered && step.fenced && target() & bits::FENCE_BOUND != 0)
            || (step.after_writes
                && if transfer.everywhere() {
                    is_written_to(world, state, rank, transfer.target)
                } else {
                    target() & bits::FENCED_DELAYED != 0
                })
            || (step.after_bundle && placed(Place::Bundle) != 0)
            || (step.located && placed(Place::Location(transfer.access(step).cell)) != 0)
    };
    transfer.steps().iter().position(bound).unwrap_or(transfer.steps().len())
}

/// Whether a fenced step to `target` is delayed, in any queue.
fn is_written_to(world: &World, state: &impl Slotted, rank: usize, target: u32) -> bool {
    world.slots.of_rank(rank).iter().any(|&(place, slot)| {
        matches!(place, Place::Target(_, to) if to == target) && state.slot(slot) & bits::FENCED_DELAYED != 0
    })
}

/// Notes in `next` that some last steps of a command of `rank` are `delayed`.
pub fn delay(
    tables: &Tables,
    world: &mut World,
    next: &mut impl Slotted,
    rank: usize,
    transfer: &Transfer<'_>,
    delayed: &[Step],
) -> Result<()> {
    let unordered = tables.is_unordered(transfer.queue);
    let mut set = |place: Place, bits| {
        let slot = world.slots.number(rank, place, place.width(tables), &mut world.budget)?;
        next.set_slot(slot, bits)
    };
    for step in delayed {
        if step.fenced && (unordered || tables.notifies_everywhere) {
            set(Place::Target(transfer.queue, transfer.target), bits::FENCED_DELAYED)?;
        }
        let local = if step.local { bits::LOCAL_DELAYED } else { 0 };
        let stage = if unordered { 0 } else { bits::STAGE[step.stage] };
        set(Place::Queue(transfer.queue), bits::DELAYED | local | stage)?;
        if tables.signals {
            set(Place::Bundle, bits::LATER)?;
        }
        if step.located {
            set(Place::Location(transfer.access(step).cell), bits::LATER)?;
        }
    }
    Ok(())
}

/// Notes in `next` a fence of `rank`: where fenced steps lie now, later ones cannot come before.
pub fn fence(
    world: &World,
    state: &impl Slotted,
    next: &mut impl Slotted,
    rank: usize,
    queue: u64,
    target: Option<u32>,
) -> Result<()> {
    for &(place, slot) in world.slots.of_rank(rank) {
        let fences = matches!(place, Place::Target(of, to) if of == queue && target.is_none_or(|only| only == to));
        if fences && state.slot(slot) & bits::FENCED_DELAYED != 0 {
            next.set_slot(slot, bits::FENCE_BOUND)?;
        }
    }
    Ok(())
}

/// Notes in `next` that `rank` begins a bundle: what has been delayed before binds no signal.
pub fn begin_bundle(world: &World, next: &mut impl Slotted, rank: usize) -> Result<()> {
    match world.slots.find(rank, Place::Bundle) {
        Some(slot) if next.slot(slot) != 0 => next.clear_slot(slot),
        _ => Ok(()),
    }
}
