//! A command with its expressions evaluated, which happens once, at issue (`Operands` in `program/instance.py`).

use crate::access::Access;
use crate::code::{Relation, Value};
use crate::commands::{self, Command, Expression, MOST_STEPS, Operand, Step};
use crate::intern::ValueId;
use crate::memory::Result;
use crate::tables::Tables;
use crate::updates::{Given, Update};
use crate::world::World;

/// A command with steps.
#[derive(Clone, Copy, Debug)]
pub struct Transfer<'a> {
    command: &'a commands::Transfer,
    /// The cell that it reads at its issue, and those of its steps. There are 2^31 cells at most.
    captured: u32,
    cells: [u32; MOST_STEPS],
    pub queue: u64,
    pub target: u32,
    /// The values that its update takes; any for what a step reads.
    operand: ValueId,
    expected: ValueId,
}

impl<'a> Transfer<'a> {
    pub fn steps(&self) -> &'a [Step] {
        &self.command.steps
    }

    pub fn access(&self, step: &Step) -> Access {
        Access { cell: self.cells[step.place] as usize, ways: step.ways }
    }

    /// What it accesses at its issue: a put reads its source.
    pub fn captured(&self) -> Option<Access> {
        self.command.captured.map(|_| Access::reading(self.captured as usize))
    }

    /// What its destination step does with the cell; None: it writes what has been read.
    pub fn update(&self) -> Option<Update> {
        let (operand, expected) = (Given::Number(self.operand), self.expected);
        self.command.update.map(|commands::Update { operation, kind, .. }| Update {
            operation,
            kind,
            operand,
            expected,
        })
    }

    /// Whether it is a notification that comes after writes in every queue.
    pub fn everywhere(&self) -> bool {
        self.command.everywhere
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Operands<'a> {
    Assign {
        register: usize,
        value: ValueId,
    },
    Test {
        holds: bool,
        blocks: bool,
    },
    Immediate {
        access: Access,
        condition: Option<(Relation, Value)>,
        update: Option<Update>,
        register: Option<usize>,
        until: Option<Operand>,
    },
    Transfer(Transfer<'a>),
    Wait {
        queue: u64,
        local: bool,
    },
    Fence {
        queue: u64,
        target: Option<u32>,
    },
    Bundle,
    Barrier {
        name: usize,
    },
}

/// Evaluates `command` of `rank` under its `registers`; None for a fault.
pub fn evaluate<'a>(
    tables: &'a Tables,
    world: &mut World,
    rank: usize,
    command: &'a Command,
    registers: &[ValueId],
) -> Result<Option<Operands<'a>>> {
    let mut evaluation = Evaluation { tables, world, rank: tables.home[rank], registers };
    // A fault of one operand is a fault of the command, so the order in which they are evaluated does not show.
    macro_rules! some {
        ($operand:expr) => {
            match $operand {
                Some(operand) => operand,
                None => return Ok(None),
            }
        };
    }
    Ok(Some(match *command {
        Command::Assign { register, value } => Operands::Assign { register, value: some!(evaluation.id(value)?) },
        Command::Test { condition, blocks, .. } => {
            Operands::Test { holds: some!(evaluation.value(condition)?) != 0, blocks }
        }
        Command::Transfer(ref transfer) => Operands::Transfer(some!(evaluation.transfer(transfer)?)),
        Command::Bundle => Operands::Bundle,
        Command::Barrier { name } => Operands::Barrier { name },
        Command::Wait { queue, local } => Operands::Wait { queue: some!(evaluation.queue(queue)?), local },
        Command::Fence { queue, rank } => {
            let target = match rank {
                Some(rank) => Some(some!(evaluation.rank(rank)?)),
                None => None,
            };
            Operands::Fence { queue: some!(evaluation.queue(queue)?), target }
        }
        Command::Immediate(ref immediate) => {
            let node = match immediate.rank {
                Some(rank) => some!(evaluation.rank(rank)?) as usize,
                None => evaluation.rank,
            };
            let cell = some!(evaluation.cell(node, immediate.address)?);
            let condition = match immediate.condition {
                Some((relation, value)) => Some((relation, some!(evaluation.value(value)?))),
                None => None,
            };
            let update = match immediate.update {
                Some(update) => Some(some!(evaluation.update(update)?)),
                None => None,
            };
            let access = Access { cell, ways: immediate.ways };
            Operands::Immediate { access, condition, update, register: immediate.register, until: immediate.until }
        }
    }))
}

/// The value of an operand over other registers than those of a state; None when it faults.
pub fn value_after(
    tables: &Tables,
    world: &mut World,
    operand: Operand,
    register: impl Fn(usize) -> ValueId,
) -> Result<Option<Value>> {
    let World { values, stack, .. } = world;
    match &tables.expressions[operand] {
        &Expression::Constant(value) => Ok(Some(value)),
        &Expression::Register(index) => Ok(Some(values.get(register(index)))),
        Expression::Code(code) => code.evaluate(|index| values.get(register(index)), stack),
    }
}

/// Operands of one command; each is None when it faults.
struct Evaluation<'a> {
    tables: &'a Tables,
    world: &'a mut World,
    /// On whose node it is.
    rank: usize,
    registers: &'a [ValueId],
}

impl Evaluation<'_> {
    fn transfer<'a>(&mut self, command: &'a commands::Transfer) -> Result<Option<Transfer<'a>>> {
        let (Some(target), Some(queue)) = (self.rank(command.rank)?, self.queue(command.queue)?) else {
            return Ok(None);
        };
        let mut captured = 0;
        if let Some(address) = command.captured {
            let Some(found) = self.cell(self.rank, address)? else { return Ok(None) };
            captured = found as u32;
        }
        let mut cells = [0; MOST_STEPS];
        for (cell, step) in cells.iter_mut().zip(command.steps.iter()) {
            let node = if step.at_target { target as usize } else { self.rank };
            let Some(found) = self.cell(node, step.address)? else { return Ok(None) };
            *cell = found as u32;
        }
        let (mut operand, mut expected) = (0, 0);
        if let Some(update) = command.update {
            let Some(update) = self.update(update)? else { return Ok(None) };
            (operand, expected) = (update.operand.number(self.world)?, update.expected);
        }
        Ok(Some(Transfer { command, captured, cells, queue, target, operand, expected }))
    }

    fn update(&mut self, command: commands::Update) -> Result<Option<Update>> {
        let commands::Update { operation, kind, operand, expected } = command;
        // What is none of its operands, a step reads before it is needed.
        let mut update = Update { operation, kind, operand: Given::Number(0), expected: 0 };
        if let Some(operand) = operand {
            update.operand = match self.tables.expressions[operand] {
                Expression::Register(index) => Given::Number(self.registers[index]),
                _ => match self.value(operand)? {
                    Some(value) => Given::Value(value),
                    None => return Ok(None),
                },
            };
        }
        if let Some(expected) = expected {
            let Some(number) = self.id(expected)? else { return Ok(None) };
            update.expected = number;
        }
        Ok(Some(update))
    }

    fn value(&mut self, operand: Operand) -> Result<Option<Value>> {
        value_after(self.tables, self.world, operand, |index| self.registers[index])
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

    fn cell(&mut self, node: usize, address: Operand) -> Result<Option<usize>> {
        let size = self.tables.size;
        Ok(self.below(address, size)?.map(|address| node * size + address))
    }
}
