//! The numbers that values and slots have been given, and the memory that is left.

use crate::code::Value;
use crate::intern::{Slots, ValueId, Values};
use crate::memory::{Budget, Result};

/// What the search learns on the way and needs to evaluate and pack states.
#[derive(Debug)]
pub struct World {
    pub values: Values,
    pub slots: Slots,
    pub budget: Budget,
    /// Where expressions are evaluated.
    pub stack: Vec<Value>,
}

impl World {
    /// For so many `nodes`. `limit` bounds the bytes of what is stored.
    pub fn new(nodes: usize, limit: Option<usize>) -> Result<Self> {
        let slots = Slots::new(nodes)?;
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
