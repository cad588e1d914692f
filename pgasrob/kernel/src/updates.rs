//! What an atomic does with a cell (`updated` in `pgasrob/semantics/effect.py`).

use crate::code::{Type, Value, float_bits, float_value};
use crate::intern::ValueId;
use crate::memory::Result;
use crate::world::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Set,
    Add,
    And,
    Or,
    Xor,
    Multiply,
    Least,
    Greatest,
    CompareSwap,
    Fetch,
    AddFloats,
    MultiplyFloats,
    LeastFloat,
    GreatestFloat,
}

impl Operation {
    /// The operations by their number in the tables.
    pub const ALL: [(Operation, &'static str); 14] = [
        (Operation::Set, "set"),
        (Operation::Add, "add"),
        (Operation::And, "and"),
        (Operation::Or, "or"),
        (Operation::Xor, "xor"),
        (Operation::Multiply, "mul"),
        (Operation::Least, "min"),
        (Operation::Greatest, "max"),
        (Operation::CompareSwap, "compare_swap"),
        (Operation::Fetch, "fetch"),
        (Operation::AddFloats, "add."),
        (Operation::MultiplyFloats, "mul."),
        (Operation::LeastFloat, "min."),
        (Operation::GreatestFloat, "max."),
    ];

    /// What is computed of the value of a cell and the operand. The wrapping operations are exact modulo 2^128.
    fn apply(self, kind: Type, old: Value, operand: Value) -> Value {
        let floats = |compute: fn(f64, f64) -> f64| float_bits(compute(float_value(old), float_value(operand)));
        let smaller = || float_value(old) < float_value(operand);
        let old_if = |kept: bool| if kept { old } else { operand };
        match self {
            Operation::Set | Operation::CompareSwap => operand,
            Operation::Fetch => old,
            Operation::Add => kind.wrap(old.wrapping_add(operand)),
            Operation::And => kind.wrap(old & operand),
            Operation::Or => kind.wrap(old | operand),
            Operation::Xor => kind.wrap(old ^ operand),
            Operation::Multiply => kind.wrap(old.wrapping_mul(operand)),
            Operation::Least => old.min(operand),
            Operation::Greatest => old.max(operand),
            Operation::AddFloats => floats(|left, right| left + right),
            Operation::MultiplyFloats => floats(|left, right| left * right),
            Operation::LeastFloat => old_if(smaller()),
            Operation::GreatestFloat => old_if(!smaller()),
        }
    }
}

/// An operand. What is not stored as it is needs no number.
#[derive(Clone, Copy, Debug)]
pub enum Given {
    Number(ValueId),
    Value(Value),
}

impl Given {
    fn value(self, world: &World) -> Value {
        match self {
            Given::Number(id) => world.values.get(id),
            Given::Value(value) => value,
        }
    }

    pub fn number(self, world: &mut World) -> Result<ValueId> {
        match self {
            Given::Number(id) => Ok(id),
            Given::Value(value) => world.number(value),
        }
    }
}

/// An operation in a type, with the values it takes.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    pub operation: Operation,
    pub kind: Type,
    pub operand: Given,
    /// Of a compare_swap; any number for others.
    pub expected: ValueId,
}

impl Update {
    /// The value of a cell that had the value `old`.
    pub fn of(self, world: &mut World, old: ValueId) -> Result<ValueId> {
        let Update { operation, kind, operand, expected } = self;
        match operation {
            Operation::Fetch => Ok(old),
            // Equal values have equal numbers.
            Operation::CompareSwap if old != expected => Ok(old),
            Operation::Set | Operation::CompareSwap => operand.number(world),
            _ => {
                let updated = operation.apply(kind, world.values.get(old), operand.value(world));
                world.number(updated)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT8: Type = Type { bits: 8, signed: true };
    const UINT64: Type = Type { bits: 64, signed: false };

    #[test]
    fn results_wrap_in_their_type() {
        assert_eq!(Operation::Add.apply(INT8, 127, 1), -128);
        assert_eq!(Operation::Multiply.apply(UINT64, Value::from(u64::MAX), Value::from(u64::MAX)), 1);
        assert_eq!(Operation::Xor.apply(INT8, 0x7F, 0xFF), -128);
        assert_eq!(Operation::Or.apply(UINT64, -1, 0), Value::from(u64::MAX));
    }

    #[test]
    fn the_lesser_of_doubles_is_one_of_them() {
        let (one, two, nan) = (float_bits(1.0), float_bits(-2.0), float_bits(f64::NAN));
        assert_eq!(Operation::LeastFloat.apply(UINT64, one, two), two);
        assert_eq!(Operation::GreatestFloat.apply(UINT64, one, two), one);
        assert_eq!(Operation::LeastFloat.apply(UINT64, one, nan), nan);
        assert_eq!(Operation::GreatestFloat.apply(UINT64, one, nan), one);
        assert_eq!(Operation::AddFloats.apply(UINT64, one, two), float_bits(-1.0));
    }
}
