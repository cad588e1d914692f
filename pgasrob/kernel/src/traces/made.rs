//! The accesses that a command makes with all its steps, and the conditions that these turn.

use crate::access::Access;
use crate::commands::Phase;
use crate::intern::ValueId;
use crate::memory::Result;
use crate::operands::Operands;
use crate::tables::Tables;
use crate::touch;
use crate::traces::subsets::Commuting;
use crate::updates::Given;
use crate::world::World;

/// An access as it was made. `before`: what the cell held; `after`: what it holds then, if it has been changed. Of a
/// condition that is turned `by` is the place of the change in the chain of its command.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub access: Access,
    pub before: ValueId,
    pub after: Option<ValueId>,
    pub update: Option<Commuting>,
    pub by: u8,
}

impl Made {
    pub fn reading(access: Access, before: ValueId) -> Self {
        Made { access, before, after: None, update: None, by: 0 }
    }
}

/// The accesses of a command, one after the other, where the cell of each holds what `held` says, by its place in the
/// chain, unless the command has changed it before.
pub fn made_by(
    world: &mut World,
    operands: &Operands<'_>,
    mut held: impl FnMut(&mut World, usize, usize) -> Result<ValueId>,
) -> Result<Vec<Made>> {
    let mut all: Vec<Made> = Vec::new();
    let mut hold = |world: &mut World, all: &[Made], cell: usize| {
        let own = all.iter().rev().find_map(|made| if made.access.cell == cell { made.after } else { None });
        own.map_or_else(|| held(world, all.len(), cell), Ok)
    };
    match operands {
        Operands::Immediate { access, update, .. } => {
            let before = hold(world, &all, access.cell)?;
            let after = if let Some(update) = update { Some(update.of(world, before)?) } else { None };
            all.push(Made { after, ..Made::reading(*access, before) });
        }
        Operands::Transfer(transfer) => {
            let mut value = 0;
            if let Some(access) = transfer.captured() {
                value = hold(world, &all, access.cell)?;
                all.push(Made::reading(access, value));
            }
            let mut update = transfer.update();
            for step in transfer.steps() {
                let access = transfer.access(step);
                let before = hold(world, &all, access.cell)?;
                let mut made = Made::reading(access, before);
                match (step.phase, &mut update) {
                    (Phase::Source, None) => value = before,
                    (Phase::Source, Some(update)) => (value, update.operand) = (before, Given::Number(before)),
                    (Phase::Expected, Some(update)) => update.expected = before,
                    (Phase::Destination, Some(update)) => {
                        if access.ways & !(touch::READ | touch::WRITTEN) != 0 {
                            let operand = update.operand.number(world)?;
                            made.update = Some(Commuting { operation: update.operation, kind: update.kind, operand });
                        }
                        made.after = Some(update.of(world, before)?);
                        value = before; // for the step that writes the result
                    }
                    (Phase::Expected, None) => {}
                    (Phase::Destination | Phase::Result, _) => made.after = Some(value),
                }
                all.push(made);
            }
        }
        _ => {}
    }
    Ok(all)
}

/// The conditions that a change turns, with their numbers, and that of the cell if it turns any and adds are tested there.
pub fn turned(tables: &Tables, world: &World, made: &Made) -> Vec<usize> {
    let Some(after) = made.after else { return Vec::new() };
    let (before, after) = (world.values.get(made.before), world.values.get(after));
    let conditions = tables.conditions_of(made.access.cell);
    let turns = conditions.filter(|(_, condition)| condition.turns(before, after));
    let mut numbers: Vec<usize> = turns.map(|(number, _)| number).collect();
    if !numbers.is_empty() {
        numbers.extend(tables.counted(made.access.cell));
    }
    numbers
}
