//! States packed to be stored.
//!
//! A record is a string of bits: control states, the registers and cells that can change, each value by its number, and
//! in states with an attack the part that an attack adds. States with and without an attack have records of
//! their own class, so the many SC states do not pay for what they do not have.

use crate::access::Source;
use crate::analyses::{Analyses, Reductions};
use crate::code::Value;
use crate::commands::{Command, Immediate};
use crate::intern::{Slots, Values};
use crate::memory::{Result, copied, filled};
use crate::state::{Field, State};
use crate::tables::Tables;
use crate::touch::{self, Ways};

/// What changes at all, and so stands in a record. Known from the tables and the reductions.
#[derive(Debug)]
struct Shape {
    /// Bits of the control state of each rank.
    control: Vec<u32>,
    /// Registers and cells that some command may set.
    registers: Vec<usize>,
    cells: Vec<usize>,
    /// The cells that may be touched, each with one of its bits.
    touchable: Vec<(usize, Ways)>,
    /// The ways in which a source may access its cell.
    ways: Vec<Ways>,
    /// Bits of the number of a cell, and of the place in `ways`.
    cell: u32,
    way: u32,
    /// For every rank the bits before its control state.
    control_at: Vec<usize>,
    /// For every register and cell its place in `registers` and `cells`, for every cell the place of its first bit in
    /// `touchable`.
    register_place: Vec<Option<usize>>,
    cell_place: Vec<Option<usize>>,
    touched_place: Vec<usize>,
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

/// The number of bits that number `count` things.
fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

impl Shape {
    fn new(tables: &Tables, analyses: &Analyses) -> Result<Self> {
        let Reductions { liveness: ended, .. } = analyses.on;
        // Values that stand for ranks change when ranks change places, even where no command sets them.
        let named = |offset: Option<Value>| analyses.renames() && offset.is_some();
        let mut assigned = filled(false, tables.processes * tables.registers)?;
        let mut place = 0;
        let mut control = Vec::new();
        control.try_reserve_exact(tables.processes)?;
        for (rank, &states) in tables.states.iter().enumerate() {
            control.push(bits_for(states as usize + usize::from(ended)));
            for state in 0..states {
                for transition in tables.leaving(rank, state) {
                    if let Command::Assign { register, .. }
                    | Command::Immediate(Immediate { register: Some(register), .. }) = *tables.command(transition)
                    {
                        assigned[place + register] = true;
                    }
                }
            }
            place += tables.registers;
        }
        if tables.registers > 0 {
            for ranks in assigned.chunks_exact_mut(tables.registers) {
                for (assigned, &offset) in ranks.iter_mut().zip(&analyses.symmetry.registers) {
                    *assigned |= named(offset);
                }
            }
        }
        let touchable = &tables.touchable;
        let changes = |(cell, bits): (usize, &Ways)| {
            bits & touch::CHANGED != 0 || named(analyses.symmetry.cells[cell % tables.size])
        };
        let registers = places(assigned.iter().copied())?;
        let cells = places(touchable.iter().enumerate().map(changes))?;
        let mut control_at = filled(0, control.len())?;
        for rank in 1..control.len() {
            control_at[rank] = control_at[rank - 1] + control[rank - 1] as usize;
        }
        let mut touched_place = filled(0, touchable.len())?;
        for cell in 1..touchable.len() {
            touched_place[cell] = touched_place[cell - 1] + touchable[cell - 1].count_ones() as usize;
        }
        Ok(Shape {
            control,
            register_place: inverse(&registers, assigned.len())?,
            registers,
            cell_place: inverse(&cells, touchable.len())?,
            cells,
            // In search for races nothing is tainted.
            touchable: if tables.rules.is_none() { touchable_bits(touchable)? } else { Vec::new() },
            cell: bits_for(touchable.len()),
            way: bits_for(tables.source_kinds.len()),
            ways: copied(&tables.source_kinds)?,
            control_at,
            touched_place,
        })
    }

    fn control_bits(&self) -> usize {
        self.control_at.last().map_or(0, |at| at + self.control[self.control.len() - 1] as usize)
    }
}

/// For each of `count` things where it stands in `list`.
fn inverse(list: &[usize], count: usize) -> Result<Vec<Option<usize>>> {
    let mut places = filled(None, count)?;
    for (place, &thing) in list.iter().enumerate() {
        places[thing] = Some(place);
    }
    Ok(places)
}

/// Where `chosen` is true.
fn places(chosen: impl Iterator<Item = bool> + Clone) -> Result<Vec<usize>> {
    let mut places = Vec::new();
    places.try_reserve_exact(chosen.clone().filter(|&chosen| chosen).count())?;
    places.extend(chosen.enumerate().filter(|&(_, chosen)| chosen).map(|(place, _)| place));
    Ok(places)
}

fn touchable_bits(touchable: &[Ways]) -> Result<Vec<(usize, Ways)>> {
    let mut bits = Vec::new();
    bits.try_reserve_exact(touchable.iter().map(|bits| bits.count_ones() as usize).sum())?;
    for (cell, &possible) in touchable.iter().enumerate() {
        let each = (0..Ways::BITS).map(|place| 1 << place);
        bits.extend(each.filter(|bit| possible & bit != 0).map(|bit| (cell, bit)));
    }
    Ok(bits)
}

impl Layout {
    /// There is room for what reductions make of states, the control state of ranks that have ended for good say.
    pub fn new(tables: &Tables, analyses: &Analyses, values: &Values, slots: &Slots) -> Result<Self> {
        let mut layout = Layout { shape: Shape::new(tables, analyses)?, value: 0, slots: 0, bytes: [0; 2] };
        layout.grow(values, slots);
        Ok(layout)
    }

    /// Whether every state over these values and slots can be packed.
    pub fn fits(&self, values: &Values, slots: &Slots) -> bool {
        values.count() <= 1 << self.value && slots.bits() <= self.slots
    }

    /// The layout with room for these values and slots; what is packed by the old one has to be packed anew.
    pub fn grow(&mut self, values: &Values, slots: &Slots) {
        self.value = bits_for(values.count()).max(self.value);
        let needed = slots.bits();
        if needed > self.slots {
            // A few slots are all there are, mostly. When they become many, some to spare save packing again and again.
            self.slots = if needed <= 64 { needed } else { needed + needed / 4 };
        }
        let shape = &self.shape;
        let attack = (shape.cell + shape.way) as usize + shape.control.len() + shape.touchable.len() + self.slots;
        self.bytes = [self.plain().div_ceil(8), (self.plain() + attack).div_ceil(8)];
    }

    /// Bits of the part without an attack.
    fn plain(&self) -> usize {
        let shape = &self.shape;
        shape.control_bits() + (shape.registers.len() + shape.cells.len()) * self.value as usize
    }

    /// Packs `state`, given the record `base` of the state that it was last copied from, packed by this layout. What
    /// has not changed is not looked at.
    pub fn patch(&self, base: &[u8], begun: bool, state: &State, slots: &Slots, record: &mut Vec<u8>) -> Result<()> {
        let Some(changes) = state.changes() else { return self.pack(state, slots, record) };
        let (shape, value) = (&self.shape, self.value);
        let attack = self.plain();
        let tainted = attack + (shape.cell + shape.way) as usize;
        let touched = tainted + shape.control.len();
        let placed = touched + shape.touchable.len();
        let bytes = self.bytes[usize::from(state.source.is_some())];
        record.clear();
        record.try_reserve(self.bytes[1] + WINDOW)?;
        record.extend_from_slice(base);
        // Room for the last numbers to be written with a window around them.
        record.resize(self.bytes[1] + WINDOW, 0);
        if let (false, Some(source)) = (begun, state.source) {
            poke(record, attack, shape.cell, u32::try_from(source.cell)?);
            poke(record, attack + shape.cell as usize, shape.way, u32::try_from(source.kind)?);
        }
        for &change in changes {
            match change {
                Field::Control(rank) => poke(record, shape.control_at[rank], shape.control[rank], state.control[rank]),
                Field::Register(register) => {
                    if let Some(place) = shape.register_place[register] {
                        let at = shape.control_bits() + place * value as usize;
                        poke(record, at, value, state.registers[register]);
                    }
                }
                Field::Cell(cell) => {
                    if let Some(place) = shape.cell_place[cell] {
                        let at = shape.control_bits() + (shape.registers.len() + place) * value as usize;
                        poke(record, at, value, state.memory[cell]);
                    }
                }
                Field::Tainted(rank) => poke(record, tainted + rank, 1, state.tainted[rank].into()),
                Field::Touched(cell) => {
                    let first = shape.touched_place[cell];
                    let bits = shape.touchable[first..].iter().take_while(|(of, _)| *of == cell);
                    for (place, (_, bit)) in bits.enumerate() {
                        poke(record, touched + first + place, 1, (state.touched[cell] & bit != 0).into());
                    }
                }
                Field::Slot(slot) => {
                    poke(record, placed + slots.start(slot), slots.widths()[slot].into(), state.slot(slot).into());
                }
            }
        }
        record.truncate(bytes);
        Ok(())
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
            writer.write(u32::try_from(source.kind)?, shape.way);
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
        let (cell, way) = (reader.read(shape.cell) as usize, reader.read(shape.way) as usize);
        state.source = Some(Source { cell, ways: shape.ways[way], kind: way });
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

/// Bytes that are read and written at a time to change a few bits.
const WINDOW: usize = 8;

/// Writes `number` over the `bits` from bit `at` on.
fn poke(record: &mut [u8], at: usize, bits: u32, number: u32) {
    let Some(window) = record[at / 8..].first_chunk_mut::<WINDOW>() else { return };
    let mask = ((1 << bits) - 1) << (at % 8);
    let word = u64::from_le_bytes(*window) & !mask | u64::from(number) << (at % 8) & mask;
    *window = word.to_le_bytes();
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
