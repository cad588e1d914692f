//! A state of the search, unpacked to be worked on.

use crate::access::{Access, Source};
use crate::intern::ValueId;
use crate::memory::{Error, Result, filled};
use crate::tables::Tables;
use crate::touch::{self, Ways};
use crate::world::World;

/// A part of a state that a move may change.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    Control(usize),
    Register(usize),
    Cell(usize),
    Tainted(usize),
    Touched(usize),
    Slot(usize),
}

/// Control, registers and memory of sigma without D, and once a source is chosen what there is to know of the attack.
/// Without a source the last three are all zero.
#[derive(Debug)]
pub struct State {
    pub control: Vec<u32>,
    /// Rank by rank.
    pub registers: Vec<ValueId>,
    pub memory: Vec<ValueId>,
    pub source: Option<Source>,
    /// The ranks whose further commands happen after the source's command (T).
    pub tainted: Vec<bool>,
    /// How each cell has been touched by tainted commands and by D: bits of [`touch`].
    pub touched: Vec<Ways>,
    /// The bits of every slot; slots that are not there are zero.
    pub placement: Vec<u8>,
    /// What may differ from the state that this one was copied from, besides the source; a field may be listed twice.
    changes: Vec<Field>,
    /// More than that may differ.
    mixed: bool,
}

impl State {
    /// Every rank at its control state 0, registers all 0.
    pub fn initial(tables: &Tables, world: &mut World) -> Result<Self> {
        let zero = world.number(0)?;
        let mut memory = filled(zero, tables.memory.len())?;
        for (cell, &value) in memory.iter_mut().zip(&tables.memory) {
            *cell = world.number(tables.values[value])?;
        }
        let registers = tables.processes.checked_mul(tables.registers).ok_or(Error::OutOfMemory)?;
        Ok(State {
            control: filled(0, tables.processes)?,
            registers: filled(zero, registers)?,
            memory,
            source: None,
            tainted: filled(false, tables.processes)?,
            touched: filled(0, tables.memory.len())?,
            placement: Vec::new(),
            changes: Vec::new(),
            mixed: true,
        })
    }

    /// A new state equal to this one.
    pub fn duplicate(&self) -> Result<Self> {
        let mut state = State {
            control: filled(0, self.control.len())?,
            registers: filled(0, self.registers.len())?,
            memory: filled(0, self.memory.len())?,
            source: None,
            tainted: filled(false, self.tainted.len())?,
            touched: filled(0, self.touched.len())?,
            placement: Vec::new(),
            changes: Vec::new(),
            mixed: true,
        };
        state.copy(self)?;
        Ok(state)
    }

    /// Bytes of an unpacked state.
    pub fn bytes(tables: &Tables) -> Result<usize> {
        let registers = tables.processes.checked_mul(tables.registers).ok_or(Error::OutOfMemory)?;
        let numbers = registers.checked_add(tables.processes + tables.memory.len()).ok_or(Error::OutOfMemory)?;
        let bytes = numbers.checked_mul(size_of::<u32>()).ok_or(Error::OutOfMemory)?;
        bytes.checked_add(tables.processes + tables.memory.len() * size_of::<Ways>()).ok_or(Error::OutOfMemory)
    }

    /// Becomes equal to `other`, a state of the same tables.
    pub fn copy(&mut self, other: &State) -> Result<()> {
        self.control.copy_from_slice(&other.control);
        self.registers.copy_from_slice(&other.registers);
        self.memory.copy_from_slice(&other.memory);
        if self.source.is_some() || other.source.is_some() {
            self.tainted.copy_from_slice(&other.tainted);
            self.touched.copy_from_slice(&other.touched);
            self.placement.clear();
            self.placement.try_reserve(other.placement.len())?;
            self.placement.extend_from_slice(&other.placement);
        }
        self.source = other.source;
        self.changes.clear();
        self.mixed = false;
        Ok(())
    }

    /// Becomes equal to `base`, of which it was the last copy. Cheaper than to copy it again when little has changed.
    #[inline]
    pub fn reset(&mut self, base: &State) -> Result<()> {
        if self.mixed {
            return self.copy(base);
        }
        for index in 0..self.changes.len() {
            match self.changes[index] {
                Field::Control(rank) => self.control[rank] = base.control[rank],
                Field::Register(register) => self.registers[register] = base.registers[register],
                Field::Cell(cell) => self.memory[cell] = base.memory[cell],
                Field::Tainted(rank) => self.tainted[rank] = base.tainted[rank],
                Field::Touched(cell) => self.touched[cell] = base.touched[cell],
                Field::Slot(slot) => self.placement[slot] = base.slot(slot),
            }
        }
        self.changes.clear();
        self.source = base.source;
        Ok(())
    }

    /// What may differ from the state that it was last copied from, besides the source; None for more than is listed.
    pub fn changes(&self) -> Option<&[Field]> {
        if self.mixed { None } else { Some(&self.changes) }
    }

    /// The cells that are listed among what may differ.
    pub fn changed_cells(&self) -> impl Iterator<Item = usize> {
        self.changes.iter().filter_map(|field| match *field {
            Field::Cell(cell) => Some(cell),
            _ => None,
        })
    }

    /// Says that it is changed in ways that are not listed.
    pub fn mix(&mut self) {
        self.mixed = true;
    }

    fn change(&mut self, field: Field) -> Result<()> {
        self.changes.try_reserve(1)?;
        self.changes.push(field);
        Ok(())
    }

    pub fn set_control(&mut self, rank: usize, control: u32) -> Result<()> {
        self.control[rank] = control;
        self.change(Field::Control(rank))
    }

    pub fn set_register(&mut self, register: usize, value: ValueId) -> Result<()> {
        self.registers[register] = value;
        self.change(Field::Register(register))
    }

    pub fn set_cell(&mut self, cell: usize, value: ValueId) -> Result<()> {
        self.memory[cell] = value;
        self.change(Field::Cell(cell))
    }

    /// Puts `rank` into T.
    pub fn taint(&mut self, rank: usize) -> Result<()> {
        self.tainted[rank] = true;
        self.change(Field::Tainted(rank))
    }

    /// Adds `bits` of [`touch`] to a cell.
    pub fn touch(&mut self, cell: usize, bits: Ways) -> Result<()> {
        self.touched[cell] |= bits;
        self.change(Field::Touched(cell))
    }

    /// Whether an access conflicts with what tainted commands have accessed without delay (t).
    pub fn meets_done(&self, access: Access) -> bool {
        self.touched[access.cell] & access.against() != 0
    }

    /// Whether it conflicts with a step in D (d).
    pub fn meets_delayed(&self, access: Access) -> bool {
        self.touched[access.cell] & touch::delayed(access.against()) != 0
    }

    /// Enters it into t, or into d.
    pub fn enter(&mut self, tables: &Tables, access: Access, delayed: bool) -> Result<()> {
        let bits = if delayed { touch::delayed(access.ways) } else { access.ways };
        if bits & !tables.touchable[access.cell] != 0 {
            return Err(Error::Malformed(format!("touchable leaves out an access to cell {}", access.cell)));
        }
        self.touch(access.cell, bits)
    }

    /// The bits of a slot.
    pub fn slot(&self, slot: usize) -> u8 {
        self.placement.get(slot).copied().unwrap_or(0)
    }

    pub fn set_slot(&mut self, slot: usize, bits: u8) -> Result<()> {
        if slot >= self.placement.len() {
            self.placement.try_reserve(slot + 1 - self.placement.len())?;
            self.placement.resize(slot + 1, 0);
        }
        self.placement[slot] |= bits;
        self.change(Field::Slot(slot))
    }

    /// Takes all bits out of a slot that has some.
    pub fn clear_slot(&mut self, slot: usize) -> Result<()> {
        self.placement[slot] = 0;
        self.change(Field::Slot(slot))
    }
}
