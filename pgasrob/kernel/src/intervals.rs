//! Intervals of values, and what an expression may be when its registers lie in some (`pgasrob/analysis/meanwhile.py`).

use crate::code::{GREATEST, Instruction, LEAST, Program, Relation, Type, Value};
use crate::commands::Expression;
use crate::memory::{Error, Result};

/// From the least to the greatest value, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub low: Value,
    pub high: Value,
}

pub const ZERO: Interval = Interval::only(0);
/// Whatever fits 64 bits.
pub const ANY: Interval = Interval { low: LEAST, high: GREATEST };
const EITHER: Interval = Interval { low: 0, high: 1 };

impl Interval {
    pub const fn only(value: Value) -> Self {
        Interval { low: value, high: value }
    }

    pub fn is_single(self) -> bool {
        self.low == self.high
    }

    pub fn contains(self, other: Interval) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    pub fn joined(self, other: Interval) -> Self {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// With both bounds no greater than `most`.
    pub fn at_most(self, most: Value) -> Self {
        Interval { low: self.low.min(most), high: self.high.min(most) }
    }

    /// What lies between 0 and `end`, `end` left out; None when nothing does.
    pub fn below(self, end: usize) -> Option<std::ops::Range<usize>> {
        let (low, high) = (self.low.max(0), self.high.min(end as Value - 1));
        (low <= high).then(|| low as usize..high as usize + 1)
    }

    /// The values of a type that these wrap to.
    pub fn wrapped(self, kind: Type) -> Self {
        let (low, high) = (kind.wrap(self.low), kind.wrap(self.high));
        // One turn around for all of them keeps them together.
        if high - low == self.high - self.low {
            return Interval { low, high };
        }
        let greatest: Value = if kind.signed { (1 << (kind.bits - 1)) - 1 } else { (1 << kind.bits) - 1 };
        Interval { low: if kind.signed { -greatest - 1 } else { 0 }, high: greatest }
    }

    pub fn plus(self, other: Interval) -> Self {
        Interval { low: self.low + other.low, high: self.high + other.high }
    }

    fn minus(self, other: Interval) -> Self {
        Interval { low: self.low - other.high, high: self.high - other.low }
    }

    /// Whether some of these may have the relation to some of `other`; and some not.
    pub fn may_be(self, relation: Relation, other: Interval) -> bool {
        match relation {
            Relation::Equal => self.low <= other.high && other.low <= self.high,
            Relation::NotEqual => !(self.is_single() && self == other),
            Relation::Less => self.low < other.high,
            Relation::LessEqual => self.low <= other.high,
            Relation::Greater => self.high > other.low,
            Relation::GreaterEqual => self.high >= other.low,
        }
    }

    /// Those of these that may have the relation to some of `other`, of which there are some.
    pub fn related(self, relation: Relation, other: Interval) -> Self {
        let Interval { low, high } = self;
        match relation {
            Relation::Equal => Interval { low: low.max(other.low), high: high.min(other.high) },
            Relation::Less => Interval { low, high: high.min(other.high - 1) },
            Relation::LessEqual => Interval { low, high: high.min(other.high) },
            Relation::Greater => Interval { low: low.max(other.low + 1), high },
            Relation::GreaterEqual => Interval { low: low.max(other.low), high },
            Relation::NotEqual if !other.is_single() => self,
            Relation::NotEqual if low == other.low => Interval { low: low + 1, high },
            Relation::NotEqual if high == other.low => Interval { low, high: high - 1 },
            Relation::NotEqual => self,
        }
    }

    fn truth(self, of_zero: bool) -> Self {
        if self == ZERO {
            Interval::only(Value::from(of_zero))
        } else if self.low <= 0 && 0 <= self.high {
            EITHER
        } else {
            Interval::only(Value::from(!of_zero))
        }
    }
}

/// An entry of the stack: what it may be, and the register that it is, if it is just that.
type Entry = (Interval, Option<usize>);

/// A comparison of two operands.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    pub relation: Relation,
    pub left: Entry,
    pub right: Entry,
}

/// What expressions are evaluated with.
#[derive(Debug, Default)]
pub struct Evaluation {
    values: Vec<Value>,
    entries: Vec<Entry>,
}

impl Evaluation {
    /// What an expression may be; None when it has no value. Exact where all registers that it looks at are; anything
    /// where it does more than add, multiply, compare and convert integers.
    pub fn value(&mut self, expression: &Expression, file: &[Interval]) -> Result<Option<Interval>> {
        match expression {
            &Expression::Constant(value) => Ok(Some(Interval::only(value))),
            &Expression::Register(index) => Ok(Some(file[index])),
            Expression::Code(code) => {
                if code.registers().all(|index| file[index].is_single()) {
                    let value = code.evaluate(|index| file[index].low, &mut self.values)?;
                    return Ok(value.map(Interval::only));
                }
                Ok(Some(self.rough(code, file)?.map_or(ANY, |(interval, _)| interval)))
            }
        }
    }

    /// The comparison that a condition is, if it is one.
    pub fn comparison(&mut self, condition: &Expression, file: &[Interval]) -> Result<Option<Compared>> {
        let Expression::Code(code) = condition else { return Ok(None) };
        Ok(self.rough(code, file)?.and_then(|(_, compared)| compared))
    }

    /// What some code comes to, step by step, and the comparison that it ends with; None where there are other
    /// instructions.
    fn rough(&mut self, code: &Program, file: &[Interval]) -> Result<Option<(Interval, Option<Compared>)>> {
        let stack = &mut self.entries;
        stack.clear();
        stack.try_reserve(code.instructions().len())?;
        let mut compared = None;
        for &instruction in code.instructions() {
            let mut last = None;
            let entry = match instruction {
                Instruction::Push(value) => (Interval::only(value), None),
                Instruction::Register(index) => (file[index], Some(index)),
                Instruction::Not => {
                    last = compared.map(|Compared { relation, left, right }| Compared {
                        relation: relation.negated(),
                        left,
                        right,
                    });
                    (pop(stack)?.0.truth(true), None)
                }
                Instruction::Cast(kind) => (pop(stack)?.0.wrapped(kind), None),
                Instruction::Negate(kind) => (ZERO.minus(pop(stack)?.0).wrapped(kind), None),
                Instruction::Add(_) | Instruction::Subtract(_) | Instruction::Multiply(_) | Instruction::Compare(_) => {
                    let (right, left) = (pop(stack)?, pop(stack)?);
                    match instruction {
                        Instruction::Add(kind) => (left.0.plus(right.0).wrapped(kind), None),
                        Instruction::Subtract(kind) => (left.0.minus(right.0).wrapped(kind), None),
                        Instruction::Multiply(kind) => (multiplied(left.0, right.0).wrapped(kind), None),
                        Instruction::Compare(relation) => {
                            last = Some(Compared { relation, left, right });
                            let yes = left.0.may_be(relation, right.0);
                            let no = left.0.may_be(relation.negated(), right.0);
                            (if yes && no { EITHER } else { Interval::only(Value::from(yes)) }, None)
                        }
                        _ => return Ok(None),
                    }
                }
                _ => return Ok(None),
            };
            compared = last;
            stack.push(entry);
        }
        Ok(Some((pop(stack)?.0, compared)))
    }
}

/// Operands have 65 bits at most, so the products fit.
fn multiplied(left: Interval, right: Interval) -> Interval {
    let narrow = |interval: Interval| LEAST <= interval.low && interval.high <= -LEAST;
    if !narrow(left) || !narrow(right) {
        return ANY;
    }
    let products = [left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high];
    products.into_iter().map(Interval::only).fold(Interval::only(products[0]), Interval::joined)
}

/// The check of the code rules the error out.
fn pop(stack: &mut Vec<Entry>) -> Result<Entry> {
    stack.pop().ok_or_else(|| Error::Malformed("the stack of an expression ran dry".into()))
}
