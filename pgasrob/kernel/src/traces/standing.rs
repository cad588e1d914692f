//! Where ranks stand in a run, and what they may issue there.

use std::sync::Arc;

use crate::access::Access;
use crate::code::{Relation, Value};
use crate::commands::{MOST_STEPS, Operand};
use crate::intern::ValueId;
use crate::memory::Result;
use crate::operands::{Operands, evaluate, value_after};
use crate::tables::{Tables, Tests};
use crate::world::World;

/// The accesses of a command, the one at its issue first if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Accesses {
    all: [Access; MOST_STEPS],
    count: u8,
    bound: u8,
}

impl Accesses {
    pub fn of(operands: &Operands<'_>) -> Self {
        let mut made = Accesses { all: [Access { cell: 0, ways: 0 }; MOST_STEPS], count: 0, bound: 0 };
        match operands {
            Operands::Immediate { access, .. } => made.add(*access, true),
            Operands::Transfer(transfer) => {
                if let Some(captured) = transfer.captured() {
                    made.add(captured, true);
                }
                for step in transfer.steps() {
                    made.add(transfer.access(step), false);
                }
            }
            _ => {}
        }
        made
    }

    fn add(&mut self, access: Access, at_issue: bool) {
        self.all[self.count as usize] = access;
        self.count += 1;
        self.bound += u8::from(at_issue);
    }

    pub fn all(&self) -> &[Access] {
        &self.all[..self.count as usize]
    }

    /// How many are made at the issue.
    pub fn bound(&self) -> usize {
        self.bound as usize
    }

    /// Those of the steps.
    pub fn steps(&self) -> &[Access] {
        &self.all()[self.bound()..]
    }
}

/// What a rank may issue where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    pub transition: usize,
    /// Of an await that tests a condition: of that. Of an add that does: of its cell, of the number that this has beside
    /// it, and of the condition.
    pub accesses: Accesses,
    /// The cell that it accesses at its issue, if any, and what it waits for: that, or the condition that it tests.
    pub cell: usize,
    pub waits_at: usize,
    /// Whether it adds, and tests a condition.
    pub counts: bool,
    /// Whether it depends on the value of a cell whether it is enabled.
    pub waits: bool,
    /// Of a barrier its name.
    pub barrier: Option<usize>,
    /// Whether it is an assume that does not hold.
    pub blocked: bool,
    /// Whether it is an assertion that does not hold.
    pub fails: bool,
}

impl Next {
    /// The command of `transition` with these `operands`.
    pub fn of(tables: &Tables, transition: usize, operands: &Operands<'_>) -> Self {
        let mut accesses = Accesses::of(operands);
        let cell = accesses.all[0].cell;
        let (mut waits_at, mut counts) = (cell, false);
        if let Tests::Polls(condition) = tables.tests(transition) {
            waits_at = condition;
            accesses.all[0].cell = condition;
        }
        if let &Operands::Immediate { condition: Some((relation, value)), .. } = operands
            && let Some(condition) = tables.tested(transition, cell, relation, value)
        {
            waits_at = condition;
            match (tables.tests(transition), tables.counted(cell)) {
                (Tests::Adds(ways), Some(beside)) => {
                    accesses.all[0].ways = ways;
                    accesses.add(Access::reading(beside), true);
                    accesses.add(Access::reading(condition), true);
                    counts = true;
                }
                _ => accesses.all[0].cell = condition,
            }
        }
        Next {
            transition,
            accesses,
            cell,
            waits_at,
            counts,
            waits: matches!(operands, Operands::Immediate { condition, until, .. }
            if condition.is_some() || until.is_some()),
            barrier: if let &Operands::Barrier { name } = operands { Some(name) } else { None },
            blocked: matches!(operands, Operands::Test { holds: false, blocks: true }),
            fails: matches!(operands, Operands::Test { holds: false, blocks: false }),
        }
    }
}

/// Where a rank stands.
#[derive(Clone, Debug)]
pub struct Standing {
    pub control: u32,
    pub registers: Arc<[ValueId]>,
    pub commands: Vec<Next>,
}

/// Whether a command lets the value of its cell pass, or does not look at it.
pub fn passes(
    tables: &Tables,
    world: &mut World,
    rank: usize,
    standing: &Standing,
    command: &Next,
    value: ValueId,
) -> Result<bool> {
    let operands = evaluate(tables, world, rank, tables.command(command.transition), &standing.registers)?;
    let Some(Operands::Immediate { condition, register, until, .. }) = operands else { return Ok(true) };
    lets_pass(tables, world, &standing.registers, condition, register, until, value)
}

fn lets_pass(
    tables: &Tables,
    world: &mut World,
    registers: &[ValueId],
    condition: Option<(Relation, Value)>,
    register: Option<usize>,
    until: Option<Operand>,
    value: ValueId,
) -> Result<bool> {
    if !condition.is_none_or(|(relation, wanted)| relation.holds(world.values.get(value), wanted)) {
        return Ok(false);
    }
    let Some(until) = until else { return Ok(true) };
    let after = |index| if register == Some(index) { value } else { registers[index] };
    // Where it has no value, the rank is to fault by itself.
    Ok(value_after(tables, world, until, after)?.is_none_or(|holds| holds != 0))
}
