//! What is numbered before a search begins.

use crate::code::Value;
use crate::commands::{Command, Expression, Immediate, Transfer};
use crate::intern::Place;
use crate::memory::Result;
use crate::tables::Tables;
use crate::world::World;

/// Numbers the values and slots that stand in the program. A record has room for them from the beginning, so that fewer
/// have to be packed anew.
pub fn foresee(tables: &Tables, attack: bool, world: &mut World) -> Result<()> {
    for (rank, &states) in tables.states.iter().enumerate() {
        for transition in (0..states).flat_map(|state| tables.leaving(rank, state)) {
            let stored = match *tables.command(transition) {
                Command::Assign { value, .. } => Some(value),
                Command::Immediate(Immediate { update: Some(update), .. }) if !update.computes() => update.operand,
                Command::Transfer(ref transfer) => {
                    if attack {
                        foresee_slots(tables, rank, transfer, world)?;
                    }
                    transfer.update.filter(|update| !update.computes()).and_then(|update| update.operand)
                }
                _ => None,
            };
            if let Some(value) = stored.and_then(|operand| constant(tables, operand)) {
                world.number(value)?;
            }
        }
    }
    Ok(())
}

/// The same for the slots in which the steps of a command of `rank` are placed, as far as its operands are constants.
fn foresee_slots(tables: &Tables, rank: usize, transfer: &Transfer, world: &mut World) -> Result<()> {
    let named = |operand| constant(tables, operand);
    let Some(queue) = named(transfer.queue).and_then(|queue| u64::try_from(queue).ok()) else { return Ok(()) };
    let World { slots, budget, .. } = world;
    let mut number = |place: Place| slots.number(rank, place, place.width(tables), budget).map(|_| ());
    number(Place::Queue(queue))?;
    if tables.signals {
        number(Place::Bundle)?;
    }
    let target = named(transfer.rank).and_then(|target| u32::try_from(target).ok());
    let Some(target) = target.filter(|&target| (target as usize) < tables.nodes) else { return Ok(()) };
    let fenced = transfer.steps.iter().any(|step| step.fenced);
    if fenced && (tables.notifies_everywhere || tables.is_unordered(queue)) {
        number(Place::Target(queue, target))?;
    }
    Ok(())
}

fn constant(tables: &Tables, operand: usize) -> Option<Value> {
    match tables.expressions[operand] {
        Expression::Constant(value) => Some(value),
        _ => None,
    }
}
