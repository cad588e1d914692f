//! A command with its expressions evaluated, which happens once, at issue (`Operands` in `program/instance.py`).

use crate::code::{Relation, Type, Value};
use crate::intern::{Slots, ValueId, Values};
use crate::memory::{Budget, Result};
use crate::tables::{Command, Expression, Operand, Tables, Update};

/// What the search learns on the way and needs to evaluate and pack states.
#[derive(Debug)]
pub struct World {
    pub values: Values,
    pub slots: Slots,
    pub budget: Budget,
    stack: Vec<Value>,
}

impl World {
    pub fn new(tables: &Tables, limit: Option<usize>) -> Result<Self> {
        let slots = Slots::new(tables.nodes)?;
        Ok(World { values: Values::default(), slots, budget: Budget::new(limit), stack: Vec::new() })
    }

    /// A copy that gives no numbers itself.
    pub fn frozen(&self) -> Result<Self> {
        let mut copy =
            World { values: Values::default(), slots: Slots::default(), budget: Budget::new(None), stack: Vec::new() };
        copy.catch_up(self)?;
        Ok(copy)
    }

    /// Learns the numbers that `other` has given since this became a copy of it.
    pub fn catch_up(&mut self, other: &World) -> Result<()> {
        self.slots.follow(&other.slots);
        self.values.follow(&other.values)
    }

    pub fn number(&mut self, value: Value) -> Result<ValueId> {
        self.values.number(value, &mut self.budget)
    }
}

/// A read or write: popa reads `source`, popb writes `destination`.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub write: bool,
    pub source: usize,
    pub destination: usize,
    pub queue: u64,
    pub target: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum NewValue {
    Add { amount: Value, kind: Type },
    Swap { new: ValueId },
    CompareSwap { expected: ValueId, new: ValueId },
}

#[derive(Clone, Copy, Debug)]
pub enum Operands {
    Load { register: usize, cell: usize },
    Store { cell: usize, value: ValueId },
    Assign { register: usize, value: ValueId },
    Assume { holds: bool },
    Assert { holds: bool },
    Transfer(Transfer),
    Barrier,
    Wait { queue: u64, local: bool },
    Fence { queue: u64, target: Option<u32> },
    Await { cell: usize, relation: Relation, value: Value },
    Atomic { register: usize, cell: usize, new: NewValue },
}

/// Evaluates `command` of `rank` under its `registers`; None for a fault.
pub fn evaluate(
    tables: &Tables,
    world: &mut World,
    rank: usize,
    command: Command,
    registers: &[ValueId],
) -> Result<Option<Operands>> {
    let mut evaluation = Evaluation { tables, world, rank, registers };
    // A fault of one operand is a fault of the command, so the order in which they are evaluated does not show.
    macro_rules! some {
        ($operand:expr) => {
            match $operand {
                Some(operand) => operand,
                None => return Ok(None),
            }
        };
    }
    Ok(Some(match command {
        Command::Load { register, address } => Operands::Load { register, cell: some!(evaluation.cell_here(address)?) },
        Command::Store { address, value } => {
            Operands::Store { cell: some!(evaluation.cell_here(address)?), value: some!(evaluation.id(value)?) }
        }
        Command::Assign { register, value } => Operands::Assign { register, value: some!(evaluation.id(value)?) },
        Command::Assume { condition } => Operands::Assume { holds: some!(evaluation.value(condition)?) != 0 },
        Command::Assert { condition } => Operands::Assert { holds: some!(evaluation.value(condition)?) != 0 },
        Command::Transfer { write, local, rank, remote, queue } => {
            let target = some!(evaluation.rank(rank)?);
            let (here, there) = (some!(evaluation.cell_here(local)?), some!(evaluation.cell(target as usize, remote)?));
            let (source, destination) = if write { (here, there) } else { (there, here) };
            let queue = some!(evaluation.queue(queue)?);
            Operands::Transfer(Transfer { write, source, destination, queue, target })
        }
        Command::Barrier => Operands::Barrier,
        Command::Wait { queue, local } => Operands::Wait { queue: some!(evaluation.queue(queue)?), local },
        Command::Fence { queue, rank } => {
            let target = match rank {
                Some(rank) => Some(some!(evaluation.rank(rank)?)),
                None => None,
            };
            Operands::Fence { queue: some!(evaluation.queue(queue)?), target }
        }
        Command::Await { address, relation, value } => Operands::Await {
            cell: some!(evaluation.cell_here(address)?),
            relation,
            value: some!(evaluation.value(value)?),
        },
        Command::Atomic { register, rank, address, update } => {
            let node = some!(evaluation.rank(rank)?);
            let cell = some!(evaluation.cell(node as usize, address)?);
            let new = match update {
                Update::Add { amount, kind } => NewValue::Add { amount: some!(evaluation.value(amount)?), kind },
                Update::Swap { new } => NewValue::Swap { new: some!(evaluation.id(new)?) },
                Update::CompareSwap { expected, new } => {
                    NewValue::CompareSwap { expected: some!(evaluation.id(expected)?), new: some!(evaluation.id(new)?) }
                }
            };
            Operands::Atomic { register, cell, new }
        }
    }))
}

/// Operands of one command; each is None when it faults.
struct Evaluation<'a> {
    tables: &'a Tables,
    world: &'a mut World,
    rank: usize,
    registers: &'a [ValueId],
}

impl Evaluation<'_> {
    fn value(&mut self, operand: Operand) -> Result<Option<Value>> {
        let World { values, stack, .. } = &mut *self.world;
        match &self.tables.expressions[operand] {
            &Expression::Constant(value) => Ok(Some(value)),
            &Expression::Register(index) => Ok(Some(values.get(self.registers[index]))),
            Expression::Code(code) => code.evaluate(|index| values.get(self.registers[index]), stack),
        }
    }

    /// The number of the operand's value.
    fn id(&mut self, operand: Operand) -> Result<Option<ValueId>> {
        match self.tables.expressions[operand] {
            Expression::Register(index) => Ok(Some(self.registers[index])),
            Expression::Constant(_) | Expression::Code(_) => match self.value(operand)? {
                Some(value) => self.world.number(value).map(Some),
                None => Ok(None),
            },
        }
    }

    fn below(&mut self, operand: Operand, end: usize) -> Result<Option<usize>> {
        Ok(self.value(operand)?.and_then(|value| usize::try_from(value).ok()).filter(|&value| value < end))
    }

    fn rank(&mut self, operand: Operand) -> Result<Option<u32>> {
        Ok(self.below(operand, self.tables.nodes)?.map(|rank| rank as u32))
    }

    fn queue(&mut self, operand: Operand) -> Result<Option<u64>> {
        Ok(self.value(operand)?.and_then(|value| u64::try_from(value).ok()))
    }

    fn cell_here(&mut self, address: Operand) -> Result<Option<usize>> {
        self.cell(self.rank, address)
    }

    fn cell(&mut self, node: usize, address: Operand) -> Result<Option<usize>> {
        let size = self.tables.size;
        Ok(self.below(address, size)?.map(|address| node * size + address))
    }
}
