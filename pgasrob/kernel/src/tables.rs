//! The program as tables of integers, checked once: whatever passes here cannot make the search panic.
//!
//! `pgasrob/robustness/tables.py` writes the tables and documents their format.

use crate::code::{GREATEST, Instruction, LEAST, Program, Relation, Type, Value};
use crate::memory::{Error, Result};
use crate::races::rules::{RawRules, Rules};
use crate::steps::{MOST_STEPS, Phase, Step, Steps};
use crate::tables::touch::Ways;
use crate::updates::Operation;

/// Changes with the format, so that a kernel and a package that do not belong together refuse each other.
pub const FORMAT: i64 = 10;
/// The shapes of commands by their number in the tables (`pgasrob/program/core.py`).
pub const SHAPES: [&str; 8] = ["assign", "test", "immediate", "transfer", "wait", "fence", "bundle", "barrier"];
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
const COMMAND_ROW: usize = 7 + OPERANDS + STEP_ROW * MOST_STEPS;
const OPERANDS: usize = 6;
const STEP_ROW: usize = 5;
const CODE_ROW: usize = 4;
const TRANSITION_ROW: usize = 2;
/// The stages of a FIFO queue, the last one for results.
const STAGES: usize = 3;

/// The flags of a command and of a step.
mod flag {
    pub const BLOCKS: usize = 1;
    pub const READS: usize = 2;
    pub const WRITES: usize = 4;
    pub const EVERYWHERE: usize = 8;
    pub const LOCAL: usize = 16;
    pub const SPINS: usize = 32;
    pub const ENDS: usize = 64;
    pub const AT_TARGET: usize = 1;
    pub const STEP_READS: usize = 2;
    pub const STEP_WRITES: usize = 4;
    pub const STEP_LOCAL: usize = 8;
    pub const FENCED: usize = 16;
    pub const AFTER_WRITES: usize = 32;
    pub const AFTER_BUNDLE: usize = 64;
    pub const LOCATED: usize = 128;
}

/// In which ways a cell may be touched, bits of [`Tables::touchable`] and of the state's sets (`proofs/attack.md`).
///
/// The lower half is for what is not delayed, t, and the upper one for the steps in D, d. In each there is a bit for
/// reads, one for writes, and one for every kind of update that commutes with its own.
pub mod touch {
    pub type Ways = u64;
    pub const READ: Ways = 1;
    pub const WRITTEN: Ways = 2;
    /// Kinds of updates there may be, so that a number of 63 bits has them all.
    pub const KINDS: usize = 29;
    const HALF: u32 = 32;
    /// All ways, not delayed.
    pub const ALL: Ways = (1 << (KINDS + 2)) - 1;
    /// Those that change the cell.
    pub const CHANGED: Ways = ALL & !READ;

    /// The way of the updates of a kind.
    pub fn updated(kind: usize) -> Ways {
        4 << kind
    }

    /// The same ways, of steps in D.
    pub fn delayed(ways: Ways) -> Ways {
        ways << HALF
    }

    /// The ways that conflict with an access of these `ways`, of which one is to commute, if any.
    pub fn against(ways: Ways) -> Ways {
        if ways & !(READ | WRITTEN) != 0 {
            ALL & !ways
        } else if ways & WRITTEN != 0 {
            ALL
        } else {
            CHANGED
        }
    }
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
    pub waited: Vec<i64>,
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
    pub kinds: i64,
    pub landmarks: Vec<Value>,
    pub most: Vec<Value>,
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

/// A command with steps.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The address here that it reads at its issue.
    pub captured: Option<Operand>,
    pub rank: Operand,
    pub queue: Operand,
    /// Its operands are the ones that are values.
    pub update: Option<Update>,
    pub everywhere: bool,
    pub steps: Steps,
}

/// A command that accesses a cell at its issue: when it satisfies the condition if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Immediate {
    pub address: Operand,
    /// None: its own.
    pub rank: Option<Operand>,
    pub condition: Option<(Relation, Operand)>,
    pub update: Option<Update>,
    /// What gets the value that the cell held.
    pub register: Option<usize>,
    /// What has to hold of the registers then.
    pub until: Option<Operand>,
    /// While that does not hold, the rank goes round a loop.
    pub spins: bool,
    pub ways: Ways,
}

#[derive(Clone, Copy, Debug)]
pub enum Command {
    Assign {
        register: usize,
        value: Operand,
    },
    /// An assume, which blocks unless the condition holds, or an assert. A rank before one that `ends` has ended the run
    /// of all.
    Test {
        condition: Operand,
        blocks: bool,
        ends: bool,
    },
    Immediate(Immediate),
    Transfer(Transfer),
    Wait {
        queue: Operand,
        local: bool,
    },
    Fence {
        queue: Operand,
        rank: Option<Operand>,
    },
    Bundle,
    Barrier {
        name: usize,
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
    pub touchable: Vec<Ways>,
    /// Whether some command may wait for the value of a cell that updates may change which commute.
    pub waited: Vec<bool>,
    pub unordered: Vec<u64>,
    /// The kinds of sources, by what they do: in which ways steps access cells, each once, or for races their kinds.
    pub source_kinds: Vec<Ways>,
    /// In a search for races the rules of these.
    pub rules: Option<Rules>,
    /// Whether there are signals, and notifications that come after writes in every queue; the stages of a FIFO queue.
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
    /// The same, for a search for races.
    pub fn with_rules(mut self, raw: &RawRules) -> Result<Self> {
        let rules = Rules::new(raw, &self)?;
        self.source_kinds = collect(rules.kinds.iter().map(|kind| Ok(kind.ways)))?;
        self.rules = Some(rules);
        Ok(self)
    }

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
        if [&raw.memory, &raw.touchable, &raw.waited].iter().any(|table| cells != Some(table.len())) {
            return malformed("memory, touchable and waited must have nodes * size entries");
        }
        let values = collect(raw.values.iter().map(|&value| match value {
            LEAST..=GREATEST => Ok(value),
            _ => malformed(format!("value {value} has more than 64 bits")),
        }))?;
        let memory = collect(raw.memory.iter().map(|&value| below(value, "memory", values.len())))?;
        let touchable = collect(raw.touchable.iter().map(|&bits| {
            let most = touch::ALL | touch::delayed(touch::ALL);
            Ok(number(bits, "touchable", 0, most as usize)? as Ways)
        }))?;
        let waited = collect(raw.waited.iter().map(|&waited| Ok(number(waited, "waited", 0, 1)? == 1)))?;
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
        let mut step_ways = Vec::new();
        for command in &commands {
            if let Command::Transfer(transfer) = command {
                for step in transfer.steps.iter() {
                    if !step_ways.contains(&step.ways) {
                        step_ways.try_reserve(1)?;
                        step_ways.push(step.ways);
                    }
                }
            }
        }
        let (signals, notifies_everywhere, results) = (
            transfers(|transfer| transfer.steps.iter().any(|step| step.after_bundle)),
            transfers(|transfer| transfer.everywhere),
            transfers(|transfer| transfer.steps.iter().any(|step| step.stage == STAGES - 1)),
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
            waited,
            unordered,
            source_kinds: step_ways,
            rules: None,
            signals,
            notifies_everywhere,
            stages: if results { STAGES as u8 } else { STAGES as u8 - 1 },
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

/// One row of `commands`: shape, register, relation, operation, bits, signed, flags, expressions and steps; -1 where there
/// is none.
struct Row<'a> {
    shape: &'static str,
    register: i64,
    relation: i64,
    operation: i64,
    bits: i64,
    signed: i64,
    flags: usize,
    operands: [Option<Operand>; OPERANDS],
    steps: &'a [i64],
    expressions: usize,
}

impl<'a> Row<'a> {
    fn new(row: &'a [i64; COMMAND_ROW], expressions: usize) -> Result<Self> {
        let [shape, register, relation, operation, bits, signed, flags, rest @ ..] = row;
        let (exprs, steps) = rest.split_at(OPERANDS);
        let mut operands = [None; OPERANDS];
        for (operand, &expression) in operands.iter_mut().zip(exprs) {
            *operand = optional(expression, expressions)?;
        }
        Ok(Row {
            shape: SHAPES[below(*shape, "commands", SHAPES.len())?],
            register: *register,
            relation: *relation,
            operation: *operation,
            bits: *bits,
            signed: *signed,
            flags: number(*flags, "commands", 0, 127)?,
            operands,
            steps,
            expressions,
        })
    }

    fn operand(&self, place: usize) -> Result<Operand> {
        self.operands[place].ok_or_else(|| Error::Malformed("an operand is missing in commands".into()))
    }

    fn has(&self, flag: usize) -> bool {
        self.flags & flag != 0
    }

    fn command(&self, registers: usize) -> Result<Command> {
        let operand = |place| self.operand(place);
        let register = || below(self.register, "commands", registers);
        Ok(match self.shape {
            "assign" => Command::Assign { register: register()?, value: operand(0)? },
            "test" => {
                Command::Test { condition: operand(0)?, blocks: self.has(flag::BLOCKS), ends: self.has(flag::ENDS) }
            }
            "immediate" => Command::Immediate(Immediate {
                address: operand(0)?,
                rank: self.operands[1],
                condition: match self.operands[2] {
                    Some(value) => Some((self.relation()?, value)),
                    None => None,
                },
                update: self.update(false)?,
                register: if self.register == -1 { None } else { Some(register()?) },
                until: self.operands[3],
                spins: self.has(flag::SPINS),
                ways: ways(self.has(flag::READS), self.has(flag::WRITES), -1)?,
            }),
            "transfer" => Command::Transfer(self.transfer()?),
            "wait" => Command::Wait { queue: operand(0)?, local: self.has(flag::LOCAL) },
            "fence" => Command::Fence { queue: operand(0)?, rank: self.operands[1] },
            "bundle" => Command::Bundle,
            _ => Command::Barrier { name: below(self.register, "commands", usize::MAX)? },
        })
    }

    fn relation(&self) -> Result<Relation> {
        Ok(Relation::ALL[below(self.relation, "commands", Relation::ALL.len())?].0)
    }

    /// What is done to a cell; a transfer may read the operands in steps.
    fn update(&self, in_steps: bool) -> Result<Option<Update>> {
        if self.operation == -1 {
            return Ok(None);
        }
        let operation = Operation::ALL[below(self.operation, "commands", Operation::ALL.len())?].0;
        let [.., operand, expected] = self.operands;
        let complete = match operation {
            Operation::Fetch => true,
            Operation::CompareSwap => operand.is_some() && expected.is_some(),
            _ => operand.is_some(),
        };
        if !complete && !in_steps {
            return malformed("an operand is missing in commands");
        }
        Ok(Some(Update { operation, kind: Type::new(self.bits, self.signed)?, operand, expected }))
    }

    fn transfer(&self) -> Result<Transfer> {
        let (steps, []) = self.steps.as_chunks::<STEP_ROW>() else {
            return malformed("a step in commands is cut short");
        };
        let steps = steps.iter().take_while(|[kind, ..]| *kind != -1);
        let steps = steps.enumerate().map(|(place, row)| self.step(place, row)).collect::<Result<Vec<_>>>()?;
        let captured = self.operands[0];
        if steps.len() + usize::from(captured.is_some()) > MOST_STEPS {
            return malformed("a transfer in commands has too many accesses");
        }
        let Some(steps) = Steps::new(&steps) else { return malformed("a transfer in commands has no step") };
        Ok(Transfer {
            captured,
            rank: self.operand(1)?,
            queue: self.operand(2)?,
            update: self.update(true)?,
            everywhere: self.has(flag::EVERYWHERE),
            steps,
        })
    }

    fn step(&self, place: usize, row: &[i64; STEP_ROW]) -> Result<Step> {
        let [kind, address, stage, commutes, flags] = *row;
        let flags = number(flags, "commands", 0, 255)?;
        Ok(Step {
            place,
            phase: Phase::ALL[below(kind, "commands", Phase::ALL.len())?].0,
            address: below(address, "commands", self.expressions)?,
            at_target: flags & flag::AT_TARGET != 0,
            stage: below(stage, "commands", STAGES)?,
            ways: ways(flags & flag::STEP_READS != 0, flags & flag::STEP_WRITES != 0, commutes)?,
            local: flags & flag::STEP_LOCAL != 0,
            fenced: flags & flag::FENCED != 0,
            after_writes: flags & flag::AFTER_WRITES != 0,
            after_bundle: flags & flag::AFTER_BUNDLE != 0,
            located: flags & flag::LOCATED != 0,
        })
    }
}

/// The ways of an access; `commutes` is the kind of an update that does, or -1.
fn ways(reads: bool, writes: bool, commutes: i64) -> Result<Ways> {
    if commutes != -1 {
        return Ok(touch::updated(below(commutes, "commands", touch::KINDS)?));
    }
    Ok(if reads { touch::READ } else { 0 } | if writes { touch::WRITTEN } else { 0 })
}

fn optional(expression: i64, expressions: usize) -> Result<Option<Operand>> {
    if expression == -1 { Ok(None) } else { below(expression, "commands", expressions).map(Some) }
}
