//! The rows of the tables that are commands and expressions, read and checked.

use crate::code::{FUNCTIONS, FUNCTIONS_OF_TWO, Instruction, Program, Relation, Type, Value};
use crate::commands::{Command, Expression, Immediate, MOST_STEPS, Operand, Phase, Step, Steps, Transfer, Update};
use crate::memory::{Error, Result};
use crate::raw::{Raw, below, collect, malformed, number, offsets, rows};
use crate::touch::{self, Ways};
use crate::updates::Operation;

/// The shapes of commands by their number in the tables (`pgasrob/program/core.py`).
pub const SHAPES: [&str; 8] = ["assign", "test", "immediate", "transfer", "wait", "fence", "bundle", "barrier"];
/// Instructions by their number in the tables; the relations follow, first between integers and then between doubles,
/// and then the functions of one double and those of two.
pub const INSTRUCTIONS: [&str; 29] = [
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
    "bits32",
    "of_bits32",
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
/// Integers per row of `commands` and `code`.
const COMMAND_ROW: usize = 7 + OPERANDS + STEP_ROW * MOST_STEPS;
const OPERANDS: usize = 6;
const STEP_ROW: usize = 5;
const CODE_ROW: usize = 4;
/// The stages of a FIFO queue, the last one for results.
pub const STAGES: usize = 3;

/// The flags of a command and of a step.
mod flag {
    pub const BLOCKS: usize = 1;
    pub const READS: usize = 2;
    pub const WRITES: usize = 4;
    pub const EVERYWHERE: usize = 8;
    pub const LOCAL: usize = 16;
    pub const ENDS: usize = 32;
    pub const AT_TARGET: usize = 1;
    pub const STEP_READS: usize = 2;
    pub const STEP_WRITES: usize = 4;
    pub const STEP_LOCAL: usize = 8;
    pub const FENCED: usize = 16;
    pub const AFTER_WRITES: usize = 32;
    pub const AFTER_BUNDLE: usize = 64;
    pub const LOCATED: usize = 128;
}

/// The commands over so many `expressions` and `registers`.
pub fn commands(raw: &Raw, expressions: usize, registers: usize) -> Result<Vec<Command>> {
    let rows = rows::<COMMAND_ROW>(&raw.commands, "commands")?;
    collect(rows.map(|row| Row::new(row, expressions)?.command(registers)))
}

/// The expressions over `values` and so many `registers`.
pub fn expressions(raw: &Raw, values: &[Value], registers: usize) -> Result<Vec<Expression>> {
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
    let last = INSTRUCTIONS.len() + 2 * relations + FUNCTIONS.len() + FUNCTIONS_OF_TWO.len();
    let number = below(number, "code", last)?;
    if let Some(place) = number.checked_sub(INSTRUCTIONS.len() + 2 * relations) {
        return Ok(match place.checked_sub(FUNCTIONS.len()) {
            Some(place) => Instruction::FunctionOfTwo(place),
            None => Instruction::Function(place),
        });
    }
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
        "bits32" => Instruction::ToBits,
        "of_bits32" => Instruction::OfBits,
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
                let blocks = self.has(flag::BLOCKS);
                let claim = if blocks { 0 } else { below(self.register, "commands", usize::MAX)? };
                Command::Test { condition: operand(0)?, blocks, ends: self.has(flag::ENDS), claim }
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
