//! What is known of a program before the search, for the reductions (`pgasrob/reference/reduced_search.py`).
//!
//! Like the tables it comes from Python and is checked once. Wrong analyses can make the search wrong, never unsafe.

use crate::code::Value;
use crate::memory::{Error, Result, copied, filled};
use crate::raw::{Raw, below, collect, malformed, number, offsets, rows};
use crate::tables::Tables;
use crate::touch::{self, Ways};

/// Which reductions are on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reductions {
    pub persistent: bool,
    pub merging: bool,
    pub liveness: bool,
    pub symmetry: bool,
}

impl Reductions {
    pub const NAMES: [&str; 4] = ["persistent", "merging", "liveness", "symmetry"];

    pub fn new(names: &[String]) -> Result<Self> {
        if let Some(name) = names.iter().find(|name| !Self::NAMES.contains(&name.as_str())) {
            return malformed(format!("no reduction {name}"));
        }
        let on = |name: &str| names.iter().any(|known| known == name);
        Ok(Reductions {
            persistent: on("persistent"),
            merging: on("merging"),
            liveness: on("liveness"),
            symmetry: on("symmetry"),
        })
    }
}

/// How later commands of a rank use a queue, bits.
pub mod usage {
    pub const WAITED: u8 = 1;
    pub const WAITED_LOCAL: u8 = 2;
    pub const ISSUED: u8 = 4;
    pub const FENCED: u8 = 8;
    /// By a notification that comes after writes in it.
    pub const NOTIFIED: u8 = 16;
    /// What does not depend on the queue: there are signals, located steps.
    pub const SIGNALLED: u8 = 32;
    pub const LOCATED: u8 = 64;
    pub const ALL: u8 = 127;
}

/// What a row of [`Analyses::queues`] tells the use of: a queue, any that there are, or what the queues have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Used {
    Queue(u64),
    Any,
    Rank,
}

/// A set of cells read and one of cells written, a bit per cell.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Cells {
    /// For every 64 cells a number per way, in the order of the bits of [`touch`], with a bit per cell.
    words: Vec<u64>,
    ways: usize,
}

impl Cells {
    /// No accesses, in programs with so many `kinds` of updates that commute.
    pub fn new(cells: usize, kinds: usize) -> Result<Self> {
        let ways = 2 + kinds;
        Ok(Cells { words: filled(0, cells.div_ceil(64) * ways)?, ways })
    }

    /// No accesses.
    pub fn empty(&self) -> Result<Self> {
        Ok(Cells { words: filled(0, self.words.len())?, ways: self.ways })
    }

    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    pub fn add(&mut self, other: &Cells) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    fn enter(&mut self, cell: usize, ways: Ways) {
        let first = cell / 64 * self.ways;
        for (way, word) in self.words[first..first + self.ways].iter_mut().enumerate() {
            *word |= (ways >> way & 1) << (cell % 64);
        }
    }

    fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// In which ways a cell is accessed, bits of [`touch`].
    pub fn ways(&self, cell: usize) -> Ways {
        let first = cell / 64 * self.ways;
        let words = self.words[first..first + self.ways].iter().enumerate();
        words.fold(0, |ways, (way, word)| ways | (word >> (cell % 64) & 1) << way)
    }

    /// The ways that conflict with one of the accesses to a cell.
    pub fn met(&self, cell: usize) -> Ways {
        let ways = self.ways(cell);
        let one = |way: usize| 1 << way & ways;
        (0..self.ways).map(one).filter(|&way| way != 0).fold(0, |met, way| met | touch::against(way))
    }
}

/// Which ranks are interchangeable, and what moves when they change places.
#[derive(Debug, Default)]
pub struct Symmetry {
    pub classes: Vec<Vec<usize>>,
    /// The class of every rank.
    pub class_of: Vec<Option<usize>>,
    /// The addresses whose cells move with their rank, ascending.
    pub moving: Vec<usize>,
    /// For every address its place in `moving`.
    pub place: Vec<Option<usize>>,
    /// Registers and addresses that hold a rank plus so much.
    pub registers: Vec<Option<Value>>,
    pub cells: Vec<Option<Value>>,
    /// Whether targets of operations are ranks that change places.
    pub targets: bool,
}

#[derive(Debug)]
pub struct Analyses {
    pub on: Reductions,
    /// Kinds of updates that commute with their own.
    pub kinds: usize,
    /// For every control state the numbers of two of the `sets`.
    soon: Vec<usize>,
    ever: Vec<usize>,
    sets: Vec<Cells>,
    /// Whether a rank can still make an access or take part in a barrier.
    acts_later: Vec<bool>,
    barrier_later: Vec<bool>,
    live_starts: Vec<usize>,
    live: Vec<usize>,
    /// For every cell whether its value may decide anything.
    relevant: Vec<bool>,
    queue_starts: Vec<usize>,
    queues: Vec<(Used, u8)>,
    /// Values at which an interval that grows comes to rest, ascending; and what a counter at an address does not exceed.
    pub landmarks: Vec<Value>,
    pub most: Vec<Value>,
    pub symmetry: Symmetry,
}

impl Analyses {
    pub fn new(raw: &Raw, tables: &Tables, on: Reductions) -> Result<Self> {
        let cells = tables.memory.len();
        let states: usize = tables.states.iter().map(|&count| count as usize).sum();
        let kinds = number(raw.kinds, "kinds", 0, touch::KINDS)?;
        let sets = sets(raw, cells, kinds)?;
        let number_of = |numbers: &[i64], count: usize, table: &str| -> Result<Vec<usize>> {
            if numbers.len() != count {
                return malformed(format!("{table} must have an entry per control state"));
            }
            collect(numbers.iter().map(|&set| below(set, table, sets.len())))
        };
        let soon = number_of(&raw.soon, if on.persistent || on.liveness { states } else { 0 }, "soon")?;
        let count = if on.liveness { states } else { 0 };
        let ever = number_of(&raw.ever, count, "ever")?;
        let live_starts = offsets(&raw.live_starts, count, raw.live.len(), "live")?;
        let live = collect(raw.live.iter().map(|&register| below(register, "live", tables.registers)))?;
        let mut relevant = filled(false, cells)?;
        for &cell in &raw.relevant {
            relevant[below(cell, "relevant", cells)?] = true;
        }
        let queues = collect(rows::<2>(&raw.queues, "queues")?.map(|row| {
            let used = match row[0] {
                -1 => Used::Any,
                -2 => Used::Rank,
                queue => Used::Queue(number(queue, "queues", 0, usize::MAX)? as u64),
            };
            Ok((used, number(row[1], "queues", 0, usage::ALL as usize)? as u8))
        }))?;
        let queue_starts = offsets(&raw.queue_starts, count, queues.len(), "queues")?;
        if raw.barrier_later.len() != count {
            return malformed("barrier_later must have an entry per control state");
        }
        let mut acts_later = filled(false, count)?;
        for (state, acts) in acts_later.iter_mut().enumerate() {
            let set = &sets[ever[state]];
            *acts = raw.barrier_later[state] != 0 || !set.is_empty();
        }
        let barrier_later = collect(raw.barrier_later.iter().map(|&later| Ok(later != 0)))?;
        if !raw.landmarks.is_sorted() {
            return malformed("landmarks must ascend");
        }
        if on.persistent && raw.most.len() != tables.size {
            return malformed("most must have an entry per address");
        }
        let symmetry = symmetry(raw, tables)?;
        Ok(Analyses {
            on,
            kinds,
            soon,
            ever,
            sets,
            acts_later,
            barrier_later,
            live_starts,
            live,
            relevant,
            queue_starts,
            queues,
            landmarks: copied(&raw.landmarks)?,
            most: copied(&raw.most)?,
            symmetry,
        })
    }

    /// Whether there are ranks that change places.
    pub fn renames(&self) -> bool {
        self.on.symmetry && !self.symmetry.classes.is_empty()
    }

    /// In which ways a cell may be accessed from a control state on, before the next barrier.
    pub fn soon(&self, control: usize, cell: usize) -> Ways {
        self.sets[self.soon[control]].ways(cell)
    }

    /// The cells that may be accessed from a control state on.
    pub fn ever(&self, control: usize) -> &Cells {
        &self.sets[self.ever[control]]
    }

    pub fn acts_later(&self, control: usize) -> bool {
        self.acts_later[control]
    }

    pub fn barrier_later(&self, control: usize) -> bool {
        self.barrier_later[control]
    }

    /// Whether the value of a cell may decide anything, as far as that is known.
    pub fn counts(&self, cell: usize) -> bool {
        !self.on.liveness || self.is_relevant(cell)
    }

    /// Whether the value of a cell may decide anything.
    pub fn is_relevant(&self, cell: usize) -> bool {
        self.relevant[cell]
    }

    /// The registers that may be read before they are set, and may decide anything.
    pub fn live(&self, control: usize) -> &[usize] {
        &self.live[self.live_starts[control]..self.live_starts[control + 1]]
    }

    /// How a queue is used from a control state on, bits of [`usage`].
    pub fn usage(&self, control: usize, queue: u64) -> u8 {
        self.uses(control, |used| used == Used::Any || used == Used::Queue(queue))
    }

    /// The same for what the queues have in common.
    pub fn rank_usage(&self, control: usize) -> u8 {
        self.uses(control, |used| used == Used::Rank)
    }

    fn uses(&self, control: usize, wanted: impl Fn(Used) -> bool) -> u8 {
        let rows = &self.queues[self.queue_starts[control]..self.queue_starts[control + 1]];
        rows.iter().filter(|row| wanted(row.0)).fold(0, |bits, row| bits | row.1)
    }
}

fn sets(raw: &Raw, cells: usize, kinds: usize) -> Result<Vec<Cells>> {
    let rows = collect(
        rows::<2>(&raw.sets, "sets")?
            .map(|row| Ok((below(row[0], "sets", cells)?, number(row[1], "sets", 0, (4 << kinds) - 1)? as Ways))),
    )?;
    let count = raw.set_starts.len().checked_sub(1).ok_or_else(|| Error::Malformed("set_starts is empty".into()))?;
    let starts = offsets(&raw.set_starts, count, rows.len(), "sets")?;
    let mut sets = Vec::new();
    sets.try_reserve_exact(count)?;
    for piece in starts.windows(2) {
        let mut set = Cells::new(cells, kinds)?;
        for &(cell, ways) in &rows[piece[0]..piece[1]] {
            set.enter(cell, ways);
        }
        sets.push(set);
    }
    Ok(sets)
}

fn symmetry(raw: &Raw, tables: &Tables) -> Result<Symmetry> {
    let ranks = collect(raw.classes.iter().map(|&rank| below(rank, "classes", tables.nodes)))?;
    let count =
        raw.class_starts.len().checked_sub(1).ok_or_else(|| Error::Malformed("class_starts is empty".into()))?;
    let starts = offsets(&raw.class_starts, count, ranks.len(), "classes")?;
    let mut class_of = filled(None, tables.processes)?;
    let mut classes = Vec::new();
    classes.try_reserve_exact(count)?;
    for (class, piece) in starts.windows(2).enumerate() {
        let members = &ranks[piece[0]..piece[1]];
        if members.is_empty() || !members.is_sorted_by(|one, two| one < two) {
            return malformed("a class must have ascending ranks");
        }
        for &rank in members {
            let same = |one: usize, two: usize| {
                let states = tables.states[one];
                states == tables.states[two]
                    && (0..states).all(|state| {
                        let (here, there) = (tables.leaving(one, state), tables.leaving(two, state));
                        let target = |transition: usize| tables.transitions[transition].target;
                        here.len() == there.len() && here.zip(there).all(|(one, two)| target(one) == target(two))
                    })
            };
            if class_of[rank].is_some() || !same(members[0], rank) {
                return malformed("ranks of a class must be in no other and have the same automaton");
            }
            class_of[rank] = Some(class);
        }
        classes.push(collect(members.iter().map(|&rank| Ok(rank)))?);
    }
    let moving = collect(raw.moving.iter().map(|&address| below(address, "moving", tables.size)))?;
    if !moving.is_sorted_by(|one, two| one < two) {
        return malformed("moving must ascend");
    }
    let mut place = filled(None, tables.size)?;
    for (index, &address) in moving.iter().enumerate() {
        place[address] = Some(index);
        // What one of them can be, the others can be: a record has room for no more.
        let touchable = |rank: usize| tables.touchable[rank * tables.size + address];
        if classes.iter().any(|members| members.iter().any(|&rank| touchable(rank) != touchable(members[0]))) {
            return malformed("touchable must be the same for the ranks of a class");
        }
    }
    let offsets = |flat: &[i64], table: &str, count: usize| -> Result<Vec<Option<Value>>> {
        let mut offsets = filled(None, count)?;
        for row in rows::<2>(flat, table)? {
            if row[1].unsigned_abs() > 1 << 32 {
                return malformed(format!("{table} has an offset of {}", row[1]));
            }
            offsets[below(row[0], table, count)?] = Some(Value::from(row[1]));
        }
        Ok(offsets)
    };
    Ok(Symmetry {
        classes,
        class_of,
        moving,
        place,
        registers: offsets(&raw.rank_registers, "rank_registers", tables.registers)?,
        cells: offsets(&raw.rank_cells, "rank_cells", tables.size)?,
        targets: raw.moving_targets != 0,
    })
}
