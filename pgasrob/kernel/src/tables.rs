//! The program as tables of integers, checked once: whatever passes here cannot make the search panic.
//!
//! `pgasrob/robustness/tables.py` writes the tables and documents their format.

use crate::code::{GREATEST, Instruction, LEAST, Program, Relation, Type, Value};
use crate::memory::{Error, Result};
use crate::steps::{Phase, Step, Steps};
use crate::updates::Operation;

/// Changes with the format, so that a kernel and a package that do not belong together refuse each other.
pub const FORMAT: i64 = 5;
/// Commands by their number in the tables.
pub const KINDS: [&str; 24] = [
    "load",
    "store",
    "assign",
    "assume",
    "assert",
    "read",
    "write",
    "put",
    "update",
    "update_from",
    "notify",
    "bundle",
    "signal",
    "barrier",
    "wait",
    "wait_local",
    "fence",
    "await",
    "await_add",
    "fetch",
    "fetch_update",
    "fetch_add",
    "swap",
    "compare_swap",
];
/// Instructions by their number in the tables; the relations follow, first between integers and then between doubles.
pub const INSTRUCTIONS: [&str; 27] = [
    "push",
    "register",
    "jump_if_zero",
    "jump",
    "truth",
    "!",
    "~",
    "negate",
    "cast",
    "float",
    "int",
    "float32",
    "negate.",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "+.",
    "-.",
    "*.",
    "/.",
];
const MAX_NODES: usize = 1 << 16;
const MAX_CELLS: usize = 1 << 31;
/// Of all ranks together. Unlike cells they stand in no list whose length would bear out the number.
const MAX_REGISTERS: usize = 1 << 27;
/// Integers per row of `commands` and `code`.
const COMMAND_ROW: usize = 7 + OPERANDS;
const OPERANDS: usize = 6;
const CODE_ROW: usize = 4;
const TRANSITION_ROW: usize = 2;

/// In which ways a cell may be touched, bits of [`Tables::touchable`] and of the state's sets.
pub mod touch {
    /// By the commands that are not delayed: t_r and t_w (`proofs/attack.md`).
    pub const READ: u8 = 1;
    pub const WRITTEN: u8 = 2;
    /// By the steps in D: d_r and d_w.
    pub const DELAYED_READ: u8 = 4;
    pub const DELAYED_WRITTEN: u8 = 8;
    pub const ALL: u8 = 15;
}

/// The tables as they come from Python.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    pub format: i64,
    pub nodes: i64,
    pub size: i64,
    pub registers: i64,
    pub values: Vec<Value>,
    pub memory: Vec<i64>,
    pub touchable: Vec<i64>,
    pub unordered: Vec<i64>,
    pub states: Vec<i64>,
    pub leaving: Vec<i64>,
    pub transitions: Vec<i64>,
    pub sources: Vec<i64>,
    pub commands: Vec<i64>,
    pub expressions: Vec<i64>,
    pub code: Vec<i64>,
    pub set_starts: Vec<i64>,
    pub sets: Vec<i64>,
    pub soon: Vec<i64>,
    pub ever: Vec<i64>,
    pub barrier_later: Vec<i64>,
    pub live_starts: Vec<i64>,
    pub live: Vec<i64>,
    pub relevant: Vec<i64>,
    pub queue_starts: Vec<i64>,
    pub queues: Vec<i64>,
    pub class_starts: Vec<i64>,
    pub classes: Vec<i64>,
    pub moving: Vec<i64>,
    pub rank_registers: Vec<i64>,
    pub rank_cells: Vec<i64>,
    pub moving_targets: i64,
}

/// An operand: most are constants or a register, which need no code.
#[derive(Clone, Debug)]
pub enum Expression {
    Constant(Value),
    Register(usize),
    Code(Program),
}

/// The number of an expression in [`Tables::expressions`].
pub type Operand = usize;

/// What an atomic does with a cell, and the operands it takes if any.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    pub operation: Operation,
    pub kind: Type,
    pub operand: Option<Operand>,
    pub expected: Option<Operand>,
}

impl Update {
    /// Whether what it stores is computed, and not an operand.
    pub fn computes(&self) -> bool {
        !matches!(self.operation, Operation::Set | Operation::CompareSwap)
    }
}

/// The places at which a command with steps accesses memory: three addresses here, of the source, or of a read the
/// destination; of what a compare_swap expects; of the result. And one at another rank.
pub const LOCAL: usize = 0;
pub const EXPECTED: usize = 1;
pub const RESULT: usize = 2;
pub const REMOTE: usize = 3;
pub const PLACES: usize = 4;

/// A command with steps.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The addresses at [`LOCAL`], [`EXPECTED`] and [`RESULT`].
    pub here: [Option<Operand>; 3],
    pub rank: Operand,
    pub remote: Operand,
    pub queue: Operand,
    /// Its operands are the ones that are values.
    pub update: Option<Update>,
    pub everywhere: bool,
    /// It reads the local cell at its issue.
    pub captures: bool,
    /// With places for cells.
    pub steps: Steps,
}

#[derive(Clone, Copy, Debug)]
pub enum Command {
    Load {
        register: usize,
        address: Operand,
    },
    Store {
        address: Operand,
        value: Operand,
    },
    Assign {
        register: usize,
        value: Operand,
    },
    Assume {
        condition: Operand,
    },
    Assert {
        condition: Operand,
    },
    Transfer(Transfer),
    Bundle,
    Barrier,
    Wait {
        queue: Operand,
        local: bool,
    },
    Fence {
        queue: Operand,
        rank: Option<Operand>,
    },
    Await {
        address: Operand,
        relation: Relation,
        value: Operand,
    },
    /// At its issue, when the cell satisfies the condition if there is one.
    Atomic {
        register: Option<usize>,
        rank: Operand,
        address: Operand,
        condition: Option<(Relation, Operand)>,
        update: Update,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct Transition {
    pub command: usize,
    pub target: u32,
}

/// A program on N nodes.
#[derive(Debug)]
pub struct Tables {
    pub nodes: usize,
    /// Cells per node; cell `a` of rank `r` has the number `r * size + a`.
    pub size: usize,
    /// Registers per rank.
    pub registers: usize,
    /// The initial value of every cell, by its place among the values.
    pub memory: Vec<usize>,
    pub values: Vec<Value>,
    /// In which ways every cell may be touched at all, bits of [`touch`].
    pub touchable: Vec<u8>,
    pub unordered: Vec<u64>,
    /// Whether there are steps that read and write, signals, and notifications that come after writes in every queue; the
    /// stages of a FIFO queue.
    pub updates: bool,
    pub signals: bool,
    pub notifies_everywhere: bool,
    pub stages: u8,
    /// The number of control states of every rank.
    pub states: Vec<u32>,
    pub transitions: Vec<Transition>,
    pub commands: Vec<Command>,
    pub expressions: Vec<Expression>,
    /// For every transition the steps that may be a source, as bits.
    sources: Vec<u8>,
    first_state: Vec<usize>,
    leaving: Vec<usize>,
}

impl Tables {
    /// The transitions that leave control state `state` of `rank`, by their numbers.
    #[inline]
    pub fn leaving(&self, rank: usize, state: u32) -> std::ops::Range<usize> {
        // A rank that has ended for good stands behind its last control state, where nothing leaves.
        if state >= self.states[rank] {
            return 0..0;
        }
        let place = self.control(rank, state);
        self.leaving[place]..self.leaving[place + 1]
    }

    /// The number of a control state among those of all ranks.
    pub fn control(&self, rank: usize, state: u32) -> usize {
        self.first_state[rank] + state as usize
    }

    /// The number of the transition of rank `to` that is what `transition` is for rank `from`, which has the same
    /// automaton.
    pub fn counterpart(&self, transition: usize, from: usize, to: usize) -> usize {
        let first = |rank: usize| self.leaving[self.first_state[rank]];
        transition - first(from) + first(to)
    }

    /// Whether the step `step` of the command of `transition` may be chosen as a source.
    pub fn may_be_source(&self, transition: usize, step: usize) -> bool {
        self.sources[transition] >> step & 1 == 1
    }

    pub fn is_unordered(&self, queue: u64) -> bool {
        self.unordered.contains(&queue)
    }

    pub fn command(&self, transition: usize) -> &Command {
        &self.commands[self.transitions[transition].command]
    }

    pub fn new(raw: &Raw) -> Result<Self> {
        if raw.format != FORMAT {
            return malformed(format!("format {}, but this kernel reads {FORMAT}", raw.format));
        }
        let nodes = number(raw.nodes, "nodes", 1, MAX_NODES)?;
        let size = number(raw.size, "size", 0, MAX_CELLS)?;
        let registers = number(raw.registers, "registers", 0, MAX_REGISTERS / nodes)?;
        let cells = nodes.checked_mul(size).filter(|&cells| cells <= MAX_CELLS);
        if cells != Some(raw.memory.len()) || cells != Some(raw.touchable.len()) {
            return malformed("memory and touchable must have nodes * size entries");
        }
        let values = collect(raw.values.iter().map(|&value| match value {
            LEAST..=GREATEST => Ok(value),
            _ => malformed(format!("value {value} has more than 64 bits")),
        }))?;
        let memory = collect(raw.memory.iter().map(|&value| below(value, "memory", values.len())))?;
        let touchable =
            collect(raw.touchable.iter().map(|&bits| Ok(number(bits, "touchable", 0, touch::ALL as usize)? as u8)))?;
        let unordered = collect(raw.unordered.iter().map(|&queue| {
            u64::try_from(queue).map_err(|_| Error::Malformed("unordered has a negative queue".into()))
        }))?;
        let expressions = expressions(raw, &values, registers)?;
        let commands = collect(
            rows::<COMMAND_ROW>(&raw.commands, "commands")?
                .map(|row| Row::new(row, expressions.len())?.command(registers)),
        )?;
        let transfers = |wanted: fn(&Transfer) -> bool| {
            commands.iter().any(|command| matches!(command, Command::Transfer(transfer) if wanted(transfer)))
        };
        let (updates, signals, notifies_everywhere, results) = (
            transfers(|transfer| transfer.steps.iter().any(|step| step.reads && step.writes)),
            transfers(|transfer| transfer.steps.iter().any(|step| step.after_bundle)),
            transfers(|transfer| transfer.everywhere),
            transfers(|transfer| transfer.here[RESULT].is_some()),
        );

        if raw.states.len() != nodes {
            return malformed("states must have an entry per rank");
        }
        let states =
            collect(raw.states.iter().map(|&count| Ok(number(count, "states", 1, u32::MAX as usize)? as u32)))?;
        let mut first_state = Vec::new();
        first_state.try_reserve_exact(nodes)?;
        let mut all = 0_usize;
        for &count in &states {
            first_state.push(all);
            all += count as usize; // at most 2^16 times 2^32
        }
        let leaving = offsets(&raw.leaving, all, raw.transitions.len() / TRANSITION_ROW, "leaving")?;
        let mut transitions = collect(rows::<TRANSITION_ROW>(&raw.transitions, "transitions")?.map(|row| {
            Ok(Transition {
                command: below(row[0], "transitions", commands.len())?,
                target: below(row[1], "transitions", u32::MAX as usize)? as u32,
            })
        }))?;
        for (rank, &count) in states.iter().enumerate() {
            let (first, last) = (leaving[first_state[rank]], leaving[first_state[rank] + count as usize]);
            if transitions[first..last].iter_mut().any(|transition| transition.target >= count) {
                return malformed("transitions has a target that its rank does not have");
            }
        }
        if raw.sources.len() != transitions.len() {
            return malformed("sources must have an entry per transition");
        }
        let sources =
            collect(raw.sources.iter().map(|&steps| Ok(number(steps, "sources", 0, u8::MAX as usize)? as u8)))?;
        Ok(Tables {
            nodes,
            size,
            registers,
            memory,
            values,
            touchable,
            unordered,
            updates,
            signals,
            notifies_everywhere,
            stages: if results { 3 } else { 2 },
            states,
            transitions,
            commands,
            expressions,
            sources,
            first_state,
            leaving,
        })
    }
}

pub fn malformed<T>(how: impl Into<String>) -> Result<T> {
    Err(Error::Malformed(how.into()))
}

pub fn number(value: i64, table: &str, least: usize, greatest: usize) -> Result<usize> {
    match usize::try_from(value) {
        Ok(number) if (least..=greatest).contains(&number) => Ok(number),
        _ => malformed(format!("{value} in {table} is outside {least}..{greatest}")),
    }
}

pub fn below(value: i64, table: &str, end: usize) -> Result<usize> {
    match usize::try_from(value) {
        Ok(number) if number < end => Ok(number),
        _ => malformed(format!("{value} in {table} names nothing")),
    }
}

pub fn collect<T>(items: impl ExactSizeIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut collected = Vec::new();
    collected.try_reserve_exact(items.len())?;
    for item in items {
        collected.push(item?);
    }
    Ok(collected)
}

pub fn rows<'a, const ROW: usize>(
    flat: &'a [i64],
    table: &str,
) -> Result<impl ExactSizeIterator<Item = &'a [i64; ROW]> + use<'a, ROW>> {
    let (rows, rest) = flat.as_chunks::<ROW>();
    if rest.is_empty() { Ok(rows.iter()) } else { malformed(format!("{table} must have rows of {ROW}")) }
}

/// `count` pieces of a table of `length` rows, given by where each begins and the end of the last.
pub fn offsets(flat: &[i64], count: usize, length: usize, table: &str) -> Result<Vec<usize>> {
    if flat.len() != count + 1 {
        return malformed(format!("{table} must have {} entries", count + 1));
    }
    let offsets = collect(flat.iter().map(|&offset| number(offset, table, 0, length)))?;
    if offsets[0] != 0 || offsets[count] != length || !offsets.is_sorted() {
        return malformed(format!("{table} must ascend from 0 to {length}"));
    }
    Ok(offsets)
}

fn expressions(raw: &Raw, values: &[Value], registers: usize) -> Result<Vec<Expression>> {
    let Some(count) = raw.expressions.len().checked_sub(1) else {
        return malformed("expressions must have at least one entry");
    };
    let starts = offsets(&raw.expressions, count, raw.code.len() / CODE_ROW, "expressions")?;
    let code = collect(rows::<CODE_ROW>(&raw.code, "code")?.map(|row| Ok(*row)))?;
    collect(starts.windows(2).map(|piece| {
        let code = &code[piece[0]..piece[1]];
        let instructions = collect(code.iter().map(|row| instruction(row, values)))?;
        Ok(match *instructions {
            [Instruction::Push(value)] => Expression::Constant(value),
            [Instruction::Register(index)] if index < registers => Expression::Register(index),
            _ => Expression::Code(Program::new(instructions, registers)?),
        })
    }))
}

/// One row of `code`: instruction, argument, bits, signed.
fn instruction(row: &[i64; CODE_ROW], values: &[Value]) -> Result<Instruction> {
    let [number, argument, bits, signed] = *row;
    let relations = Relation::ALL.len();
    let number = below(number, "code", INSTRUCTIONS.len() + 2 * relations)?;
    if let Some(place) = number.checked_sub(INSTRUCTIONS.len()) {
        let relation = Relation::ALL[place % relations].0;
        let floats = place >= relations;
        return Ok(if floats { Instruction::CompareFloats(relation) } else { Instruction::Compare(relation) });
    }
    let kind = || Type::new(bits, signed);
    let place = || below(argument, "code", usize::MAX);
    Ok(match INSTRUCTIONS[number] {
        "push" => Instruction::Push(values[below(argument, "code", values.len())?]),
        "register" => Instruction::Register(place()?),
        "jump_if_zero" => Instruction::JumpIfZero(place()?),
        "jump" => Instruction::Jump(place()?),
        "truth" => Instruction::Truth,
        "!" => Instruction::Not,
        "~" => Instruction::Complement(kind()?),
        "negate" => Instruction::Negate(kind()?),
        "cast" => Instruction::Cast(kind()?),
        "float" => Instruction::ToFloat,
        "int" => Instruction::ToInteger(kind()?),
        "float32" => Instruction::ToSingle,
        "negate." => Instruction::NegateFloat,
        "+" => Instruction::Add(kind()?),
        "-" => Instruction::Subtract(kind()?),
        "*" => Instruction::Multiply(kind()?),
        "/" => Instruction::Divide(kind()?),
        "%" => Instruction::Remainder(kind()?),
        "&" => Instruction::And(kind()?),
        "|" => Instruction::Or(kind()?),
        "^" => Instruction::Xor(kind()?),
        "<<" => Instruction::ShiftLeft(kind()?),
        ">>" => Instruction::ShiftRight(kind()?),
        "+." => Instruction::AddFloats,
        "-." => Instruction::SubtractFloats,
        "*." => Instruction::MultiplyFloats,
        _ => Instruction::DivideFloats,
    })
}

/// One row of `commands`: kind, register, relation, operation, bits, signed, whether it is located (1) and everywhere (2),
/// and expressions in the order of the fields of the command; -1 where there is none.
struct Row {
    kind: &'static str,
    register: i64,
    relation: i64,
    operation: i64,
    bits: i64,
    signed: i64,
    flags: usize,
    operands: [Option<Operand>; OPERANDS],
}

impl Row {
    fn new(row: &[i64; COMMAND_ROW], expressions: usize) -> Result<Self> {
        let [kind, register, relation, operation, bits, signed, flags, operands @ ..] = *row;
        let mut row = Row {
            kind: KINDS[below(kind, "commands", KINDS.len())?],
            register,
            relation,
            operation,
            bits,
            signed,
            flags: number(flags, "commands", 0, 3)?,
            operands: [None; OPERANDS],
        };
        for (operand, expression) in row.operands.iter_mut().zip(operands) {
            if expression != -1 {
                *operand = Some(below(expression, "commands", expressions)?);
            }
        }
        Ok(row)
    }

    fn operand(&self, place: usize) -> Result<Operand> {
        self.operands[place].ok_or_else(|| Error::Malformed("an operand is missing in commands".into()))
    }

    fn relation(&self) -> Result<Relation> {
        Ok(Relation::ALL[below(self.relation, "commands", Relation::ALL.len())?].0)
    }

    fn operation(&self) -> Result<Operation> {
        Ok(Operation::ALL[below(self.operation, "commands", Operation::ALL.len())?].0)
    }

    fn kind(&self) -> Result<Type> {
        Type::new(self.bits, self.signed)
    }

    fn command(&self, registers: usize) -> Result<Command> {
        let operand = |place| self.operand(place);
        let register = || below(self.register, "commands", registers);
        Ok(match self.kind {
            "load" => Command::Load { register: register()?, address: operand(0)? },
            "store" => Command::Store { address: operand(0)?, value: operand(1)? },
            "assign" => Command::Assign { register: register()?, value: operand(0)? },
            "assume" => Command::Assume { condition: operand(0)? },
            "assert" => Command::Assert { condition: operand(0)? },
            "read" | "write" | "put" | "update" | "update_from" | "notify" | "signal" => {
                Command::Transfer(self.transfer()?)
            }
            "bundle" => Command::Bundle,
            "barrier" => Command::Barrier,
            "wait" => Command::Wait { queue: operand(0)?, local: false },
            "wait_local" => Command::Wait { queue: operand(0)?, local: true },
            "fence" => Command::Fence { queue: operand(0)?, rank: self.operands[1] },
            "await" => Command::Await { address: operand(0)?, relation: self.relation()?, value: operand(1)? },
            kind => Command::Atomic {
                register: if kind == "await_add" { None } else { Some(register()?) },
                rank: operand(0)?,
                address: operand(1)?,
                condition: if kind == "await_add" { Some((self.relation()?, operand(2)?)) } else { None },
                update: self.update_at_issue()?,
            },
        })
    }

    fn update_at_issue(&self) -> Result<Update> {
        let (operation, operand, expected) = match self.kind {
            "await_add" => (Operation::Add, Some(self.operand(3)?), None),
            "fetch" => (Operation::Fetch, None, None),
            "fetch_add" => (Operation::Add, Some(self.operand(2)?), None),
            "swap" => (Operation::Set, Some(self.operand(2)?), None),
            "compare_swap" => (Operation::CompareSwap, Some(self.operand(3)?), Some(self.operand(2)?)),
            _ => (self.operation()?, Some(self.operand(2)?), None),
        };
        if self.kind == "fetch_update" && matches!(operation, Operation::CompareSwap | Operation::Fetch) {
            return malformed("a fetch_update in commands has an operation of its own");
        }
        Ok(Update { operation, kind: self.kind()?, operand, expected })
    }

    fn transfer(&self) -> Result<Transfer> {
        let [first, .., result, expected] = self.operands;
        let operation = match self.kind {
            "read" | "write" | "put" => None,
            _ => Some(self.operation()?),
        };
        if operation == Some(Operation::CompareSwap) && expected.is_none() {
            return malformed("a compare_swap in commands expects nothing");
        }
        if first.is_none() && operation != Some(Operation::Fetch) {
            return malformed("an operand is missing in commands");
        }
        // Operands are values, or lie in cells here.
        let (values, here) = match (operation, self.kind) {
            (None, _) => ([None, None], [first, None, None]),
            (_, "update_from") => ([None, None], [first, expected, result]),
            _ => ([first, expected], [None, None, result]),
        };
        let update = match operation {
            Some(operation) => Some(Update { operation, kind: self.kind()?, operand: values[0], expected: values[1] }),
            None => None,
        };
        Ok(Transfer {
            here,
            rank: self.operand(1)?,
            remote: self.operand(2)?,
            queue: self.operand(3)?,
            update,
            everywhere: self.flags & 2 != 0,
            captures: self.kind == "put",
            steps: self.steps(operation, here),
        })
    }

    /// The steps of a command that accesses places `here`, as `pgasrob/semantics/steps.py` has them.
    fn steps(&self, operation: Option<Operation>, here: [Option<Operand>; 3]) -> Steps {
        let (kind, located) = (self.kind, self.flags & 1 != 0);
        let reads_there = kind == "read" || operation == Some(Operation::Fetch);
        let source = match kind {
            _ if reads_there => Some(REMOTE),
            "put" => None,
            _ => here[LOCAL].map(|_| LOCAL),
        };
        let destination = match kind {
            "read" => Some(LOCAL),
            _ => Some(REMOTE).filter(|_| !reads_there),
        };
        Steps::new([
            // A fetch reads at its target: nothing there is ready for reuse, the result is what arrives.
            source.map(|place| Step {
                located: located && reads_there,
                ..Step::new(Phase::Source, place, false, !reads_there)
            }),
            here[EXPECTED].map(|_| Step::new(Phase::Expected, EXPECTED, false, true)),
            destination.map(|place| Step {
                reads: operation.is_some_and(|operation| operation != Operation::Set),
                fenced: !matches!(kind, "read" | "notify"),
                after_writes: kind == "notify",
                after_bundle: kind == "signal",
                located,
                ..Step::new(Phase::Destination, place, true, kind == "read")
            }),
            here[RESULT].map(|_| Step::new(Phase::Result, RESULT, true, true)),
        ])
    }
}
