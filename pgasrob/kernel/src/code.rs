//! Expressions as stack code: C's operations on integers, each with a width and a signedness, and those on doubles.
//!
//! The meaning is that of `pgasrob/program/expressions.py`. Jumps go forward only, so evaluation always ends, and
//! [`Program::new`] checks that the stack never runs dry, so it needs no further checks.

use crate::memory::{Error, Result};

/// A value. Wider than the 64 bits of the widest type, so that every operand, signed or unsigned, is what it means and
/// only the result of an operation has to be brought into the range of its type.
pub type Value = i128;

pub const LEAST: Value = i64::MIN as Value;
pub const GREATEST: Value = u64::MAX as Value;

/// The deepest stack that an expression may need.
const MAX_DEPTH: usize = 4096;

/// An integer type of `bits` bits, two's complement when `signed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub bits: u32,
    pub signed: bool,
}

impl Type {
    pub fn new(bits: i64, signed: i64) -> Result<Self> {
        match (u32::try_from(bits), signed) {
            (Ok(bits @ 1..=64), 0 | 1) => Ok(Type { bits, signed: signed == 1 }),
            _ => Err(Error::Malformed(format!("no integer type has {bits} bits and signedness {signed}"))),
        }
    }

    /// `value` modulo 2^bits, in the range of the type.
    pub fn wrap(self, value: Value) -> Value {
        let unused = Value::BITS - self.bits;
        if self.signed { (value << unused) >> unused } else { ((value as u128) << unused >> unused) as Value }
    }
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Relation {
    pub const ALL: [(Relation, &'static str); 6] = [
        (Relation::Equal, "=="),
        (Relation::NotEqual, "!="),
        (Relation::Less, "<"),
        (Relation::LessEqual, "<="),
        (Relation::Greater, ">"),
        (Relation::GreaterEqual, ">="),
    ];

    /// The relation that holds between integers where this one does not.
    pub fn negated(self) -> Self {
        match self {
            Relation::Equal => Relation::NotEqual,
            Relation::NotEqual => Relation::Equal,
            Relation::Less => Relation::GreaterEqual,
            Relation::LessEqual => Relation::Greater,
            Relation::Greater => Relation::LessEqual,
            Relation::GreaterEqual => Relation::Less,
        }
    }

    /// The same relation with its sides exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Relation::Equal | Relation::NotEqual => self,
            Relation::Less => Relation::Greater,
            Relation::LessEqual => Relation::GreaterEqual,
            Relation::Greater => Relation::Less,
            Relation::GreaterEqual => Relation::LessEqual,
        }
    }

    /// Whether it holds, between integers or between doubles.
    pub fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::Less => left < right,
            Relation::LessEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterEqual => left >= right,
        }
    }
}

/// The double that the lower 64 bits of a value stand for.
pub fn float_value(bits: Value) -> f64 {
    f64::from_bits(bits as u64)
}

/// A double as a value: its bits as a signed integer. There is one NaN.
pub fn float_bits(value: f64) -> Value {
    const NAN: Value = 0x7FF8 << 48;
    if value.is_nan() { NAN } else { Value::from(value.to_bits() as i64) }
}

/// A double without its fraction; None when that is no number of the type. A value beyond 128 bits becomes the greatest
/// of these, which is in no type either.
fn truncated(value: f64, kind: Type) -> Option<Value> {
    let whole = value.trunc() as Value;
    (!value.is_nan() && kind.wrap(whole) == whole).then_some(whole)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    Push(Value),
    Register(usize),
    /// Pop, and go to the instruction when it was 0.
    JumpIfZero(usize),
    Jump(usize),
    /// 1 for anything but 0.
    Truth,
    Not,
    Complement(Type),
    Negate(Type),
    /// Between types: to an integer type, from an integer to a double, from a double to an integer type; to the
    /// precision of a float; and from a float, held as a double, to its bits and back.
    Cast(Type),
    ToFloat,
    ToInteger(Type),
    ToSingle,
    ToBits,
    OfBits,
    NegateFloat,
    Add(Type),
    Subtract(Type),
    Multiply(Type),
    Divide(Type),
    Remainder(Type),
    And(Type),
    Or(Type),
    Xor(Type),
    ShiftLeft(Type),
    ShiftRight(Type),
    AddFloats,
    SubtractFloats,
    MultiplyFloats,
    DivideFloats,
    Compare(Relation),
    CompareFloats(Relation),
    /// A function of one double, by its place in [`FUNCTIONS`], and one of two, in [`FUNCTIONS_OF_TWO`].
    Function(usize),
    FunctionOfTwo(usize),
}

type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;

/// The functions of one double that expressions may call, as the C library has them.
pub const FUNCTIONS: [(&str, OfOne); 19] = [
    ("sqrt.", f64::sqrt),
    ("round.", f64::round),
    ("rint.", f64::round_ties_even),
    ("sin.", f64::sin),
    ("cos.", f64::cos),
    ("tan.", f64::tan),
    ("asin.", f64::asin),
    ("acos.", f64::acos),
    ("atan.", f64::atan),
    ("sinh.", f64::sinh),
    ("cosh.", f64::cosh),
    ("tanh.", f64::tanh),
    ("exp.", f64::exp),
    ("exp2.", f64::exp2),
    ("expm1.", f64::exp_m1),
    ("log.", f64::ln),
    ("log2.", f64::log2),
    ("log10.", f64::log10),
    ("log1p.", f64::ln_1p),
];

/// Those of two.
pub const FUNCTIONS_OF_TWO: [(&str, OfTwo); 5] = [
    ("pow.", f64::powf),
    ("fmod.", |x, y| x % y),
    ("atan2.", f64::atan2),
    ("copysign.", f64::copysign),
    ("fdim.", |x, y| {
        if x.is_nan() || y.is_nan() {
            f64::NAN
        } else if x > y {
            x - y
        } else {
            0.0
        }
    }),
];

impl Instruction {
    /// How many values it pops and pushes.
    fn effect(self) -> (usize, usize) {
        match self {
            Instruction::Push(_) | Instruction::Register(_) => (0, 1),
            Instruction::JumpIfZero(_) => (1, 0),
            Instruction::Jump(_) => (0, 0),
            Instruction::Truth
            | Instruction::Not
            | Instruction::Complement(_)
            | Instruction::Negate(_)
            | Instruction::Cast(_)
            | Instruction::ToFloat
            | Instruction::ToInteger(_)
            | Instruction::ToSingle
            | Instruction::ToBits
            | Instruction::OfBits
            | Instruction::NegateFloat
            | Instruction::Function(_) => (1, 1),
            _ => (2, 1),
        }
    }
}

/// The code of one expression, checked.
#[derive(Clone, Debug)]
pub struct Program {
    instructions: Vec<Instruction>,
}

impl Program {
    /// Checks that every instruction is reached with a known number of values on the stack, at least as many as it
    /// pops, and that one is left at the end.
    pub fn new(instructions: Vec<Instruction>, registers: usize) -> Result<Self> {
        let broken = |place: usize, how: &str| Err(Error::Malformed(format!("instruction {place} {how}")));
        let end = instructions.len();
        let mut depths: Vec<Option<usize>> = crate::memory::filled(None, end + 1)?;
        depths[0] = Some(0);
        for (place, &instruction) in instructions.iter().enumerate() {
            let Some(depth) = depths[place] else { return broken(place, "is never reached") };
            let (pops, pushes) = instruction.effect();
            if depth < pops || depth - pops + pushes > MAX_DEPTH {
                return broken(place, "does not fit the stack");
            }
            if matches!(instruction, Instruction::Register(index) if index >= registers) {
                return broken(place, "reads a register that does not exist");
            }
            let after = depth - pops + pushes;
            let (jump, falls) = match instruction {
                Instruction::Jump(target) => (Some(target), false),
                Instruction::JumpIfZero(target) => (Some(target), true),
                _ => (None, true),
            };
            for next in jump.into_iter().chain(falls.then_some(place + 1)) {
                if next <= place || next > end {
                    return broken(place, "jumps out of the code or back");
                }
                if *depths[next].get_or_insert(after) != after {
                    return broken(place, "meets another stack where it goes");
                }
            }
        }
        if depths[end] != Some(1) {
            return broken(end, "(the end) is not reached with one value");
        }
        Ok(Program { instructions })
    }

    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The registers that it may look at.
    pub fn registers(&self) -> impl Iterator<Item = usize> {
        self.instructions.iter().filter_map(|instruction| match instruction {
            Instruction::Register(index) => Some(*index),
            _ => None,
        })
    }

    /// The value under the registers that `register` gives; None for a fault. `stack` is scratch space.
    pub fn evaluate(&self, register: impl Fn(usize) -> Value, stack: &mut Vec<Value>) -> Result<Option<Value>> {
        stack.clear();
        stack.try_reserve(self.instructions.len())?;
        let mut place = 0;
        while let Some(&instruction) = self.instructions.get(place) {
            place += 1;
            match instruction {
                Instruction::Push(value) => stack.push(value),
                Instruction::Register(index) => stack.push(register(index)),
                Instruction::JumpIfZero(target) => {
                    if pop(stack)? == 0 {
                        place = target;
                    }
                }
                Instruction::Jump(target) => place = target,
                Instruction::Truth
                | Instruction::Not
                | Instruction::Complement(_)
                | Instruction::Negate(_)
                | Instruction::Cast(_)
                | Instruction::ToFloat
                | Instruction::ToInteger(_)
                | Instruction::ToSingle
                | Instruction::ToBits
                | Instruction::OfBits
                | Instruction::NegateFloat
                | Instruction::Function(_) => {
                    let operand = pop(stack)?;
                    match unary(instruction, operand) {
                        Some(value) => stack.push(value),
                        None => return Ok(None),
                    }
                }
                _ => {
                    let (right, left) = (pop(stack)?, pop(stack)?);
                    match binary(instruction, left, right) {
                        Some(value) => stack.push(value),
                        None => return Ok(None),
                    }
                }
            }
        }
        pop(stack).map(Some)
    }
}

/// The check of the code rules the error out; it stands here so that a mistake there cannot become a panic.
fn pop(stack: &mut Vec<Value>) -> Result<Value> {
    stack.pop().ok_or_else(|| Error::Malformed("the stack of an expression ran dry".into()))
}

/// None for a fault: a double that does not fit the integer type that it is converted to.
#[inline]
fn unary(instruction: Instruction, operand: Value) -> Option<Value> {
    Some(match instruction {
        Instruction::Not => Value::from(operand == 0),
        Instruction::Complement(kind) => kind.wrap(!operand),
        Instruction::Negate(kind) => kind.wrap(operand.wrapping_neg()),
        Instruction::Cast(kind) => kind.wrap(operand),
        Instruction::Truth => Value::from(operand != 0),
        _ => return converted(instruction, operand),
    })
}

#[inline(never)]
fn converted(instruction: Instruction, operand: Value) -> Option<Value> {
    let value = float_value(operand);
    Some(match instruction {
        Instruction::ToFloat => float_bits(operand as f64),
        Instruction::ToInteger(kind) => truncated(value, kind)?,
        Instruction::ToSingle => float_bits(f64::from(value as f32)),
        Instruction::ToBits => Value::from((value as f32).to_bits() as i32),
        Instruction::OfBits => float_bits(f64::from(f32::from_bits(operand as u32))),
        Instruction::NegateFloat => float_bits(-value),
        Instruction::Function(place) => float_bits(FUNCTIONS.get(place)?.1(value)),
        _ => return None,
    })
}

/// None for a fault: division by zero, a shift outside the width. The wrapping operations lose nothing that matters:
/// they are exact modulo 2^128, and `wrap` takes the result modulo 2^64 or less.
#[inline]
fn binary(instruction: Instruction, left: Value, right: Value) -> Option<Value> {
    let shift = |kind: Type| u32::try_from(right).ok().filter(|&count| count < kind.bits);
    Some(match instruction {
        Instruction::Add(kind) => kind.wrap(left.wrapping_add(right)),
        Instruction::Subtract(kind) => kind.wrap(left.wrapping_sub(right)),
        Instruction::Multiply(kind) => kind.wrap(left.wrapping_mul(right)),
        Instruction::Divide(kind) => kind.wrap(left.checked_div(right)?),
        Instruction::Remainder(_) => left.checked_rem(right)?,
        Instruction::And(kind) => kind.wrap(left & right),
        Instruction::Or(kind) => kind.wrap(left | right),
        Instruction::Xor(kind) => kind.wrap(left ^ right),
        Instruction::ShiftLeft(kind) => kind.wrap(left.wrapping_shl(shift(kind)?)),
        Instruction::ShiftRight(kind) => kind.wrap(left.wrapping_shr(shift(kind)?)),
        Instruction::Compare(relation) => Value::from(relation.holds(left, right)),
        _ => return on_floats(instruction, float_value(left), float_value(right)),
    })
}

/// Apart from the others, which nearly every expression is made of.
#[inline(never)]
fn on_floats(instruction: Instruction, left: f64, right: f64) -> Option<Value> {
    Some(match instruction {
        Instruction::AddFloats => float_bits(left + right),
        Instruction::SubtractFloats => float_bits(left - right),
        Instruction::MultiplyFloats => float_bits(left * right),
        Instruction::DivideFloats => float_bits(left / right),
        Instruction::CompareFloats(relation) => Value::from(relation.holds(left, right)),
        Instruction::FunctionOfTwo(place) => float_bits(FUNCTIONS_OF_TWO.get(place)?.1(left, right)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Instruction::*;

    const INT32: Type = Type { bits: 32, signed: true };
    const UINT8: Type = Type { bits: 8, signed: false };
    const UINT64: Type = Type { bits: 64, signed: false };
    const INT64: Type = Type { bits: 64, signed: true };

    fn run(code: &[Instruction]) -> Option<Value> {
        Program::new(code.to_vec(), 2).unwrap().evaluate(|index| [7, 0][index], &mut Vec::new()).unwrap()
    }

    fn apply(left: Value, right: Value, instruction: Instruction) -> Option<Value> {
        run(&[Push(left), Push(right), instruction])
    }

    #[test]
    fn results_wrap_in_their_type() {
        let least = Value::from(i32::MIN);
        assert_eq!(apply(Value::from(i32::MAX), 1, Add(INT32)), Some(least));
        assert_eq!(apply(least, 1, Subtract(INT32)), Some(Value::from(i32::MAX)));
        assert_eq!(apply(least, -1, Divide(INT32)), Some(least));
        assert_eq!(apply(least, -1, Remainder(INT32)), Some(0));
        assert_eq!(apply(65_536, 65_536, Multiply(INT32)), Some(0));
        assert_eq!(run(&[Push(least), Negate(INT32)]), Some(least));
        assert_eq!(run(&[Push(0), Complement(UINT8)]), Some(255));
        assert_eq!(apply(200, 100, Add(UINT8)), Some(44));
        assert_eq!(apply(GREATEST, GREATEST, Multiply(UINT64)), Some(1));
        assert_eq!(apply(GREATEST, 1, Add(UINT64)), Some(0));
        assert_eq!(apply(LEAST, 1, Subtract(INT64)), Some(Value::from(i64::MAX)));
        assert_eq!(apply(LEAST, LEAST, Multiply(INT64)), Some(0));
    }

    #[test]
    fn division_truncates_and_faults_at_zero() {
        assert_eq!(apply(-7, 2, Divide(INT32)), Some(-3));
        assert_eq!(apply(-7, 2, Remainder(INT32)), Some(-1));
        assert_eq!(apply(7, -2, Remainder(INT32)), Some(1));
        assert_eq!(apply(7, 0, Divide(INT32)), None);
        assert_eq!(apply(7, 0, Remainder(INT32)), None);
    }

    #[test]
    fn shifts_fault_outside_the_width() {
        assert_eq!(apply(1, 31, ShiftLeft(INT32)), Some(Value::from(i32::MIN)));
        assert_eq!(apply(-8, 1, ShiftRight(INT32)), Some(-4));
        assert_eq!(apply(GREATEST, 63, ShiftLeft(UINT64)), Some(1 << 63));
        for count in [-1, 32, 1 << 40] {
            assert_eq!(apply(1, count, ShiftLeft(INT32)), None);
            assert_eq!(apply(1, count, ShiftRight(INT32)), None);
        }
    }

    #[test]
    fn jumps_leave_out_what_is_not_evaluated() {
        // r0 && 1 / 0, r1 && 1 / 0
        let and =
            |index| [Register(index), JumpIfZero(7), Push(1), Push(0), Divide(INT32), Truth, Jump(8), Push(0)].to_vec();
        assert_eq!(run(&and(0)), None);
        assert_eq!(run(&and(1)), Some(0));
        // r0 ? 3 : 4
        assert_eq!(run(&[Register(0), JumpIfZero(4), Push(3), Jump(5), Push(4)]), Some(3));
        assert_eq!(run(&[Register(1), JumpIfZero(4), Push(3), Jump(5), Push(4)]), Some(4));
    }

    #[test]
    fn comparisons_and_truth() {
        for (relation, expected) in Relation::ALL.map(|(relation, _)| relation).into_iter().zip([0, 1, 1, 1, 0, 0]) {
            assert_eq!(apply(-1, 1, Compare(relation)), Some(expected));
        }
        assert_eq!(run(&[Push(5), Truth]), Some(1));
        assert_eq!(run(&[Push(5), Not]), Some(0));
        assert_eq!(run(&[Push(0), Not]), Some(1));
    }

    #[test]
    fn doubles_are_their_bits() {
        let float = |value: f64| float_bits(value);
        assert_eq!(apply(float(0.1), float(0.2), AddFloats), Some(float(0.1 + 0.2)));
        assert_eq!(apply(float(1.0), float(-0.0), DivideFloats), Some(float(f64::NEG_INFINITY)));
        assert_eq!(apply(float(0.0), float(0.0), DivideFloats), Some(0x7FF8 << 48));
        assert_eq!(apply(float(-1.0), float(2.0), CompareFloats(Relation::Less)), Some(1));
        assert_eq!(apply(float(f64::NAN), float(f64::NAN), CompareFloats(Relation::Equal)), Some(0));
        assert_eq!(run(&[Push(float(0.0)), NegateFloat]), Some(LEAST));
        assert_eq!(run(&[Push(GREATEST), ToFloat]), Some(float(18_446_744_073_709_551_616.0)));
        assert_eq!(run(&[Push(float(0.1)), ToSingle]), Some(float(f64::from(0.1_f32))));
        assert_eq!(run(&[Push(float(1e300)), ToSingle]), Some(float(f64::INFINITY)));
        assert_eq!(run(&[Push(float(-1.5)), ToBits]), Some(Value::from(0xBFC0_0000_u32 as i32)));
        assert_eq!(run(&[Push(Value::from(0xBFC0_0000_u32 as i32)), OfBits]), Some(float(-1.5)));
        assert_eq!(run(&[Push(-1), Cast(UINT64)]), Some(GREATEST));
    }

    #[test]
    fn a_double_that_fits_no_integer_is_a_fault() {
        let integer = |value: f64, kind| run(&[Push(float_bits(value)), ToInteger(kind)]);
        assert_eq!([-1.9, 2.9].map(|value| integer(value, INT32)), [Some(-1), Some(2)]);
        assert_eq!([-0.9, 255.9].map(|value| integer(value, UINT8)), [Some(0), Some(255)]);
        assert_eq!([-1.0, 256.0].map(|value| integer(value, UINT8)), [None; 2]);
        assert_eq!(integer(-9_223_372_036_854_775_808.0, INT64), Some(LEAST));
        assert_eq!(integer(9_223_372_036_854_775_808.0, INT64), None);
        assert_eq!(integer(18_446_744_073_709_551_615.0, UINT64), None);
        assert_eq!([f64::NAN, f64::INFINITY, f64::MIN].map(|value| integer(value, UINT64)), [None; 3]);
    }

    #[test]
    fn broken_code_is_refused() {
        for code in [
            vec![],
            vec![Add(INT32)],
            vec![Push(1), Push(2)],
            vec![Push(1), Register(2), Add(INT32)],
            vec![Jump(0), Push(1)],
            vec![Push(1), Jump(3)],
            vec![Jump(2), Push(1), Push(2)],
            vec![Push(0), JumpIfZero(3), Push(1), Push(1)],
        ] {
            assert!(matches!(Program::new(code, 2), Err(Error::Malformed(_))));
        }
        assert!(Program::new(vec![Push(1); MAX_DEPTH + 1], 2).is_err());
        assert!(Type::new(0, 1).is_err() && Type::new(65, 0).is_err() && Type::new(8, 2).is_err());
    }
}
