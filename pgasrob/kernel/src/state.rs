//! A state of the search, unpacked to be worked on and packed to be stored.
//!
//! A record is a string of bits: control states, the registers and cells that can change, each value by its number, and
//! in states with an attack the part that ALGORITHM, section 3, adds. States with and without an attack have records of
//! their own class, so the many SC states do not pay for what they do not have.

use crate::intern::{Slots, ValueId, Values};
use crate::memory::{Error, Result, filled};
use crate::operands::World;
use crate::tables::{Command, Tables, touch};

/// The step that the violation delays first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    pub cell: usize,
    pub writes: bool,
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
    pub touched: Vec<u8>,
    /// The bits of every slot; slots that are not there are zero.
    pub placement: Vec<u8>,
}

impl State {
    /// Every rank at its control state 0, registers all 0.
    pub fn initial(tables: &Tables, world: &mut World) -> Result<Self> {
        let zero = world.number(0)?;
        let mut memory = filled(zero, tables.memory.len())?;
        for (cell, &value) in memory.iter_mut().zip(&tables.memory) {
            *cell = world.number(tables.values[value])?;
        }
        let registers = tables.nodes.checked_mul(tables.registers).ok_or(Error::OutOfMemory)?;
        Ok(State {
            control: filled(0, tables.nodes)?,
            registers: filled(zero, registers)?,
            memory,
            source: None,
            tainted: filled(false, tables.nodes)?,
            touched: filled(0, tables.memory.len())?,
            placement: Vec::new(),
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
        };
        state.copy(self)?;
        Ok(state)
    }

    /// Bytes of an unpacked state.
    pub fn bytes(tables: &Tables) -> Result<usize> {
        let registers = tables.nodes.checked_mul(tables.registers).ok_or(Error::OutOfMemory)?;
        let numbers = registers.checked_add(tables.nodes + tables.memory.len()).ok_or(Error::OutOfMemory)?;
        let bytes = numbers.checked_mul(size_of::<u32>()).ok_or(Error::OutOfMemory)?;
        bytes.checked_add(tables.nodes + tables.memory.len()).ok_or(Error::OutOfMemory)
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
        Ok(())
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
        Ok(())
    }
}

/// What changes at all, and so stands in a record. Known from the tables.
#[derive(Debug)]
struct Shape {
    /// Bits of the control state of each rank.
    control: Vec<u32>,
    /// Registers and cells that some command may set.
    registers: Vec<usize>,
    cells: Vec<usize>,
    /// The cells that may be touched, each with one of its bits.
    touchable: Vec<(usize, u8)>,
    /// Bits of the number of a cell.
    cell: u32,
}

/// How states are packed: [`Shape`] with as many bits as there are values and slots so far, and some to spare.
#[derive(Debug)]
pub struct Layout {
    shape: Shape,
    /// Bits of a value's number.
    value: u32,
    /// Bits kept for the slots.
    slots: usize,
    /// Bytes of a record without an attack, and with one.
    pub bytes: [usize; 2],
}

/// Bits that tell `count` things apart.
fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

fn total(widths: &[u8]) -> usize {
    widths.iter().map(|&width| width as usize).sum()
}

impl Shape {
    fn new(tables: &Tables) -> Result<Self> {
        let mut assigned = filled(false, tables.nodes * tables.registers)?;
        let mut place = 0;
        let mut control = Vec::new();
        control.try_reserve_exact(tables.nodes)?;
        for (rank, &states) in tables.states.iter().enumerate() {
            control.push(bits_for(states as usize));
            for state in 0..states {
                for transition in tables.leaving(rank, state) {
                    if let Command::Load { register, .. }
                    | Command::Assign { register, .. }
                    | Command::Atomic { register, .. } = tables.command(transition)
                    {
                        assigned[place + register] = true;
                    }
                }
            }
            place += tables.registers;
        }
        let touchable = &tables.touchable;
        Ok(Shape {
            control,
            registers: places(assigned.iter().copied())?,
            cells: places(touchable.iter().map(|bits| bits & touch::WRITTEN != 0))?,
            touchable: touchable_bits(touchable)?,
            cell: bits_for(touchable.len()),
        })
    }
}

/// Where `chosen` is true.
fn places(chosen: impl Iterator<Item = bool> + Clone) -> Result<Vec<usize>> {
    let mut places = Vec::new();
    places.try_reserve_exact(chosen.clone().filter(|&chosen| chosen).count())?;
    places.extend(chosen.enumerate().filter(|&(_, chosen)| chosen).map(|(place, _)| place));
    Ok(places)
}

fn touchable_bits(touchable: &[u8]) -> Result<Vec<(usize, u8)>> {
    let mut bits = Vec::new();
    bits.try_reserve_exact(touchable.iter().map(|bits| bits.count_ones() as usize).sum())?;
    for (cell, &possible) in touchable.iter().enumerate() {
        let each = [touch::READ, touch::WRITTEN, touch::DELAYED_READ, touch::DELAYED_WRITTEN];
        bits.extend(each.into_iter().filter(|bit| possible & bit != 0).map(|bit| (cell, bit)));
    }
    Ok(bits)
}

impl Layout {
    pub fn new(tables: &Tables, values: &Values, slots: &Slots) -> Result<Self> {
        let mut layout = Layout { shape: Shape::new(tables)?, value: 0, slots: 0, bytes: [0; 2] };
        layout.grow(values, slots);
        Ok(layout)
    }

    /// Whether every state over these values and slots can be packed.
    pub fn fits(&self, values: &Values, slots: &Slots) -> bool {
        values.count() <= 1 << self.value && total(slots.widths()) <= self.slots
    }

    /// The layout with room for these values and slots; what is packed by the old one has to be packed anew.
    pub fn grow(&mut self, values: &Values, slots: &Slots) {
        self.value = bits_for(values.count()).max(self.value);
        let needed = total(slots.widths());
        if needed > self.slots {
            // A few slots are all there are, mostly. When they become many, some to spare save packing again and again.
            self.slots = if needed <= 64 { needed } else { needed + needed / 4 };
        }
        let shape = &self.shape;
        let control: usize = shape.control.iter().map(|&bits| bits as usize).sum();
        let plain = control + (shape.registers.len() + shape.cells.len()) * self.value as usize;
        let attack = shape.cell as usize + 1 + shape.control.len() + shape.touchable.len() + self.slots;
        self.bytes = [plain.div_ceil(8), (plain + attack).div_ceil(8)];
    }

    /// A copy of the numbers, to read old records with while the layout grows.
    pub fn widths(&self) -> Widths {
        Widths { value: self.value, slots: self.slots }
    }

    /// Packs `state` into `record`. The layout must fit.
    pub fn pack(&self, state: &State, slots: &Slots, record: &mut Vec<u8>) -> Result<()> {
        let shape = &self.shape;
        record.clear();
        record.try_reserve(self.bytes[1] + 8)?;
        let mut writer = Writer { record, word: 0, bits: 0 };
        for (&control, &bits) in state.control.iter().zip(&shape.control) {
            writer.write(control, bits);
        }
        for &register in &shape.registers {
            writer.write(state.registers[register], self.value);
        }
        for &cell in &shape.cells {
            writer.write(state.memory[cell], self.value);
        }
        if let Some(source) = state.source {
            writer.write(u32::try_from(source.cell)?, shape.cell);
            writer.write(source.writes.into(), 1);
            for &tainted in &state.tainted {
                writer.write(tainted.into(), 1);
            }
            for &(cell, bit) in &shape.touchable {
                writer.write((state.touched[cell] & bit != 0).into(), 1);
            }
            for (slot, &width) in slots.widths().iter().enumerate() {
                writer.write(state.slot(slot).into(), width.into());
            }
        }
        writer.finish();
        record.resize(self.bytes[usize::from(state.source.is_some())], 0);
        Ok(())
    }

    /// Unpacks a record, with an attack or without, packed by this layout when it had these `widths`.
    pub fn unpack(&self, record: &[u8], attack: bool, widths: Widths, slots: &Slots, state: &mut State) -> Result<()> {
        let shape = &self.shape;
        let mut reader = Reader { record, word: 0, bits: 0 };
        for (control, &bits) in state.control.iter_mut().zip(&shape.control) {
            *control = reader.read(bits);
        }
        for &register in &shape.registers {
            state.registers[register] = reader.read(widths.value);
        }
        for &cell in &shape.cells {
            state.memory[cell] = reader.read(widths.value);
        }
        if !attack {
            if state.source.is_some() {
                state.source = None;
                state.tainted.fill(false);
                state.touched.fill(0);
                state.placement.clear();
            }
            return Ok(());
        }
        state.source = Some(Source { cell: reader.read(shape.cell) as usize, writes: reader.read(1) == 1 });
        for tainted in &mut state.tainted {
            *tainted = reader.read(1) == 1;
        }
        for &(cell, bit) in &shape.touchable {
            state.touched[cell] = state.touched[cell] & !bit | if reader.read(1) == 1 { bit } else { 0 };
        }
        state.placement.clear();
        state.placement.try_reserve(slots.count())?;
        let mut left = widths.slots;
        for &width in slots.widths() {
            // A slot that did not fit was not there yet, nor any after it.
            let Some(rest) = left.checked_sub(width.into()) else { break };
            left = rest;
            state.placement.push(reader.read(width.into()) as u8);
        }
        Ok(())
    }
}

/// The parts of a layout that grow.
#[derive(Clone, Copy, Debug)]
pub struct Widths {
    value: u32,
    slots: usize,
}

/// Appends numbers of up to 32 bits to bytes, least bits first.
struct Writer<'a> {
    record: &'a mut Vec<u8>,
    word: u64,
    bits: u32,
}

impl Writer<'_> {
    fn write(&mut self, number: u32, bits: u32) {
        self.word |= u64::from(number) << self.bits;
        self.bits += bits;
        if self.bits >= 32 {
            self.record.extend_from_slice(&(self.word as u32).to_le_bytes());
            self.word >>= 32;
            self.bits -= 32;
        }
    }

    fn finish(self) {
        self.record.extend_from_slice(&self.word.to_le_bytes()[..self.bits.div_ceil(8) as usize]);
    }
}

/// Reads what [`Writer`] wrote; past the end there are zeros.
struct Reader<'a> {
    record: &'a [u8],
    word: u64,
    bits: u32,
}

impl Reader<'_> {
    fn read(&mut self, bits: u32) -> u32 {
        if self.bits < bits {
            let taken = self.record.len().min(4);
            let (bytes, rest) = self.record.split_at(taken);
            let mut word = [0; 4];
            word[..taken].copy_from_slice(bytes);
            self.word |= u64::from(u32::from_le_bytes(word)) << self.bits;
            self.bits += 32;
            self.record = rest;
        }
        let number = self.word & ((1 << bits) - 1);
        self.word >>= bits;
        self.bits -= bits;
        number as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let numbers = [(1, 1), (0, 0), (u32::MAX, 32), (5, 3), (u32::MAX, 32), (1, 31), (0, 7), (2, 2)];
        let mut record = Vec::new();
        let mut writer = Writer { record: &mut record, word: 0, bits: 0 };
        for (number, bits) in numbers {
            writer.write(number, bits);
        }
        writer.finish();
        assert_eq!(record.len(), (1 + 32 + 3 + 32 + 31 + 7 + 2_usize).div_ceil(8));
        let mut reader = Reader { record: &record, word: 0, bits: 0 };
        for (number, bits) in numbers {
            assert_eq!(reader.read(bits), number);
        }
        assert_eq!(reader.read(32) >> 8, 0);
    }

    #[test]
    fn bits_tell_things_apart() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(bits_for), [0, 0, 1, 2, 2, 3, 8, 9]);
    }
}
