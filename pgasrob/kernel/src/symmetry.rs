//! Symmetry: states that differ in the names of interchangeable ranks have one representative.
//!
//! The same order as `pgasrob/reference/renaming.py`, number for number, so that both store the same states.

use crate::access::Source;
use crate::analyses::Symmetry as Known;
use crate::code::Value;
use crate::intern::{Place, ValueId};
use crate::memory::{Result, filled};
use crate::state::State;
use crate::tables::Tables;
use crate::world::World;

#[derive(Debug)]
pub struct Symmetry {
    colours: Vec<Value>,
    keys: Vec<Vec<Value>>,
    order: Vec<usize>,
    old: State,
    /// The place of every rank in the representative.
    pub places: Vec<usize>,
}

impl Symmetry {
    pub fn new(tables: &Tables, state: &State) -> Result<Self> {
        Self::of(tables.processes, state)
    }

    /// One for another thread.
    pub fn fork(&self, state: &State) -> Result<Self> {
        Self::of(self.places.len(), state)
    }

    fn of(nodes: usize, state: &State) -> Result<Self> {
        let mut places = filled(0, nodes)?;
        for (rank, place) in places.iter_mut().enumerate() {
            *place = rank;
        }
        Ok(Symmetry {
            colours: filled(0, nodes)?,
            keys: filled(Vec::new(), nodes)?,
            order: Vec::new(),
            old: state.duplicate()?,
            places,
        })
    }

    /// Turns `state` into its representative, and says in `places` where every rank has gone.
    pub fn represent(&mut self, tables: &Tables, known: &Known, world: &mut World, state: &mut State) -> Result<()> {
        self.colour(tables, known, world, state)?;
        let mut moves = false;
        for class in &known.classes {
            self.order.clear();
            self.order.try_reserve(class.len())?;
            self.order.extend_from_slice(class);
            let colours = &self.colours;
            self.order.sort_unstable_by_key(|&rank| (colours[rank], rank));
            for (&rank, &place) in self.order.iter().zip(class) {
                self.places[rank] = place;
                moves |= rank != place;
            }
        }
        if moves { self.permute(tables, known, world, state) } else { Ok(()) }
    }

    /// Colours the ranks of the classes: by what is in them, then by the colours of those they refer to, until no two
    /// ranks of a colour can be distinguished so.
    fn colour(&mut self, tables: &Tables, known: &Known, world: &World, state: &State) -> Result<()> {
        let classes = known.classes.iter().enumerate();
        for (class, &rank) in classes.flat_map(|(class, ranks)| ranks.iter().map(move |rank| (class, rank))) {
            self.colours[rank] = class as Value;
        }
        let mut count = known.classes.len();
        loop {
            self.order.clear();
            self.order.try_reserve(tables.processes)?;
            self.order.extend(known.classes.iter().flatten());
            for &rank in &self.order {
                self.keys[rank].clear();
                let mut key =
                    Key { known, colours: &self.colours, rank, nodes: tables.processes, key: &mut self.keys[rank] };
                key.fill(tables, world, state)?;
            }
            let keys = &self.keys;
            self.order.sort_unstable_by(|&one, &two| keys[one].cmp(&keys[two]));
            let mut colour = 0;
            for (index, &rank) in self.order.iter().enumerate() {
                if index > 0 && keys[rank] != keys[self.order[index - 1]] {
                    colour += 1;
                }
                self.colours[rank] = colour;
            }
            let distinct = colour as usize + 1;
            if distinct == count || distinct == self.order.len() {
                return Ok(());
            }
            count = distinct;
        }
    }

    fn permute(&mut self, tables: &Tables, known: &Known, world: &mut World, state: &mut State) -> Result<()> {
        let Symmetry { old, places, .. } = self;
        old.copy(state)?;
        let (size, registers) = (tables.size, tables.registers);
        let renamed = |world: &mut World, id: ValueId, offset: Option<Value>| -> Result<ValueId> {
            match rank_in(world.values.get(id), offset, tables.processes) {
                Some((rank, offset)) if places[rank] != rank => world.number(places[rank] as Value + offset),
                _ => Ok(id),
            }
        };
        for (rank, &place) in places.iter().enumerate() {
            state.control[place] = old.control[rank];
            for (register, &offset) in known.registers.iter().enumerate() {
                state.registers[place * registers + register] =
                    renamed(world, old.registers[rank * registers + register], offset)?;
            }
            for (address, &offset) in known.cells.iter().enumerate() {
                let home = if known.place[address].is_some() { place } else { rank };
                state.memory[home * size + address] = renamed(world, old.memory[rank * size + address], offset)?;
            }
        }
        let Some(source) = old.source else { return Ok(()) };
        let home = |cell: usize| match known.place[cell % size] {
            Some(_) => places[cell / size] * size + cell % size,
            None => cell,
        };
        state.source = Some(Source { cell: home(source.cell), ..source });
        for (cell, &touched) in old.touched.iter().enumerate() {
            state.touched[home(cell)] = touched;
        }
        state.placement.fill(0);
        for rank in 0..tables.processes {
            state.tainted[places[rank]] = old.tainted[rank];
            for index in 0..world.slots.of_rank(rank).len() {
                let (place, slot) = world.slots.of_rank(rank)[index];
                if old.slot(slot) == 0 {
                    continue;
                }
                let moved = match place {
                    Place::Target(queue, to) if known.targets => Place::Target(queue, places[to as usize] as u32),
                    Place::Location(cell) => Place::Location(home(cell)),
                    place => place,
                };
                let slot_there = world.slots.number(places[rank], moved, place.width(tables), &mut world.budget)?;
                state.set_slot(slot_there, old.slot(slot))?;
            }
        }
        Ok(())
    }
}

/// The rank that a value stands for, with the offset that is added to it.
fn rank_in(value: Value, offset: Option<Value>, nodes: usize) -> Option<(usize, Value)> {
    let offset = offset?;
    let rank = usize::try_from(value - offset).ok().filter(|&rank| rank < nodes)?;
    Some((rank, offset))
}

/// What tells a rank from others: numbers that are compared in order.
struct Key<'a> {
    known: &'a Known,
    colours: &'a [Value],
    rank: usize,
    nodes: usize,
    key: &'a mut Vec<Value>,
}

impl Key<'_> {
    fn fill(&mut self, tables: &Tables, world: &World, state: &State) -> Result<()> {
        let (known, rank, size) = (self.known, self.rank, tables.size);
        let slots = world.slots.of_rank(rank);
        self.key
            .try_reserve(8 + 2 * tables.registers + 3 * known.moving.len() + 4 * slots.len() + tables.memory.len())?;
        let tainted = state.source.is_some() && state.tainted[rank];
        self.key.extend([self.colours[rank], state.control[rank].into(), tainted.into()]);
        for (register, &offset) in known.registers.iter().enumerate() {
            let value = world.values.get(state.registers[rank * tables.registers + register]);
            self.mark(value, offset);
        }
        for &address in &known.moving {
            let cell = rank * size + address;
            self.mark(world.values.get(state.memory[cell]), known.cells[address]);
            self.key.push(if state.source.is_some() { state.touched[cell].into() } else { 0 });
        }
        let source = state.source.filter(|source| source.cell / size == rank);
        let source = source.and_then(|source| known.place[source.cell % size]);
        self.key.push(source.map_or(0, |place| 1 + place as Value));
        if state.source.is_some() {
            self.placements(world, state, size)?;
        }
        self.key.push(Value::MIN); // less than a queue: a shorter list comes first
        for (cell, &value) in state.memory.iter().enumerate() {
            let address = cell % size;
            if known.place[address].is_none() && known.cells[address].is_some() {
                let stands_for = rank_in(world.values.get(value), known.cells[address], self.nodes);
                self.key.push(Value::from(stands_for.is_some_and(|(named, _)| named == rank)));
            }
        }
        Ok(())
    }

    /// The placement of the rank as rows (queue, what it is about, bits), in the order of the reference.
    fn placements(&mut self, world: &World, state: &State, size: usize) -> Result<()> {
        let slots = world.slots.of_rank(self.rank);
        let mut entries = Vec::new();
        entries.try_reserve_exact(slots.len())?;
        for &(place, slot) in slots {
            let bits = state.slot(slot);
            if bits == 0 {
                continue;
            }
            let (queue, of) = match place {
                Place::Queue(queue) => (queue.into(), [-1, 0]),
                Place::Target(queue, to) => (queue.into(), self.marked(to.into(), self.known.targets.then_some(0))),
                Place::Bundle => (-1, [-1, 0]),
                Place::Location(cell) => {
                    let (owner, address) = (cell / size, cell % size);
                    let moves = self.known.place[address].is_some();
                    (-2 - address as Value, self.marked(owner as Value, moves.then_some(0)))
                }
            };
            entries.push([queue, of[0], of[1], bits.into()]);
        }
        entries.sort_unstable();
        self.key.extend(entries.iter().flatten());
        Ok(())
    }

    fn mark(&mut self, value: Value, offset: Option<Value>) {
        let mark = self.marked(value, offset);
        self.key.extend(mark);
    }

    /// A value in terms that do not change when ranks change places.
    fn marked(&self, value: Value, offset: Option<Value>) -> [Value; 2] {
        match rank_in(value, offset, self.nodes) {
            None => [0, value],
            Some((rank, _)) if rank == self.rank => [1, 0],
            Some((rank, _)) if self.known.class_of[rank].is_some() => [2, self.colours[rank]],
            Some((rank, _)) => [3, rank as Value],
        }
    }
}
