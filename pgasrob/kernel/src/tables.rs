//! The program as tables of integers, checked once: whatever passes here cannot make the search panic.
//!
//! `pgasrob/robustness/kernel_tables.py` writes the tables and documents their format.

use std::collections::HashMap;

use crate::code::{GREATEST, LEAST, Relation, Value};
use crate::commands::{Command, Expression, Transfer};
use crate::memory::{Error, Result, append, filled};
use crate::races::rules::{RawRules, Rules};
use crate::raw::{Raw, below, collect, malformed, number, offsets, rows};
use crate::rows::{STAGES, commands, expressions};
use crate::touch::{self, Ways};

/// Changes with the format, so that a kernel and a package that do not belong together refuse each other.
pub const FORMAT: i64 = 19;
const MAX_NODES: usize = 1 << 16;
const MAX_CELLS: usize = 1 << 31;
/// Of all ranks together. Unlike cells they stand in no list whose length would bear out the number.
const MAX_REGISTERS: usize = 1 << 27;
const TRANSITION_ROW: usize = 3;

#[derive(Clone, Copy, Debug)]
pub struct Transition {
    pub command: usize,
    pub target: u32,
    /// Whether the process may end behind it, whatever is left.
    pub last: bool,
}

/// A program on N nodes. What takes turns are its processes, the threads of all ranks: process p < N is thread 0 of rank
/// p. Elsewhere they are called ranks, which is what they are where no rank has several threads.
#[derive(Debug)]
pub struct Tables {
    pub nodes: usize,
    pub processes: usize,
    /// The rank of each process, and the processes of each rank.
    pub home: Vec<usize>,
    pub of_rank: Vec<Vec<usize>>,
    /// Cells per node; cell `a` of rank `r` has the number `r * size + a`.
    pub size: usize,
    /// Registers per process.
    pub registers: usize,
    /// The initial value of every cell, by its place among the values.
    pub memory: Vec<usize>,
    pub values: Vec<Value>,
    /// In which ways every cell may be touched at all, bits of [`touch`].
    pub touchable: Vec<Ways>,
    /// Whether some command may wait for the value of a cell that updates may change which commute.
    pub waited: Vec<bool>,
    pub unordered: Vec<u64>,
    /// The kinds of sources, by what they do: in which ways steps access cells, each once, or for races their kinds.
    pub source_kinds: Vec<Ways>,
    /// In a search for races the rules of these.
    pub rules: Option<Rules>,
    /// Whether there are signals, and notifications that come after writes in every queue; the stages of a FIFO queue.
    pub signals: bool,
    pub notifies_everywhere: bool,
    pub stages: u8,
    /// The number of control states of every rank.
    pub states: Vec<u32>,
    pub transitions: Vec<Transition>,
    pub commands: Vec<Command>,
    pub expressions: Vec<Expression>,
    /// For every transition the steps that may be a source, as bits.
    sources: Vec<u8>,
    first_state: Vec<usize>,
    leaving: Vec<usize>,
    kept_starts: Vec<usize>,
    kept: Vec<usize>,
    uses_starts: Vec<usize>,
    uses: Vec<(usize, bool)>,
    /// For every control state whether the rank may come back to it without an end.
    pub endless: Vec<bool>,
    /// What is tested, where awaits are read so, and the cells to which tested adds add; by transitions what each tests.
    pub conditions: Vec<Condition>,
    counted: Vec<usize>,
    tests: Vec<Tests>,
    conditions_of: HashMap<usize, Vec<usize>>,
}

/// Whether a command tests a condition, and in which ways it changes its cell if it adds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tests {
    Nothing,
    Awaits,
    /// The condition with this number.
    Polls(usize),
    Adds(Ways),
}

/// That a cell compares to a value; an await tests it (`pgasrob/semantics/tested_conditions.py`).
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    pub cell: usize,
    relation: Relation,
    value: Value,
}

impl Condition {
    /// Whether it holds when the cell holds one of these values and not when it holds the other.
    pub fn turns(&self, before: Value, after: Value) -> bool {
        self.relation.holds(before, self.value) != self.relation.holds(after, self.value)
    }
}

impl Tables {
    /// The same, for a search for races.
    pub fn with_rules(mut self, raw: &RawRules) -> Result<Self> {
        let rules = Rules::new(raw, self.transitions.len(), self.size)?;
        self.source_kinds = collect(rules.kinds.iter().map(|kind| Ok(kind.ways)))?;
        self.rules = Some(rules);
        Ok(self)
    }

    /// The transitions that leave control state `state` of `rank`, by their numbers.
    #[inline]
    pub fn leaving(&self, rank: usize, state: u32) -> std::ops::Range<usize> {
        // A rank that has ended for good stands behind its last control state, where nothing leaves.
        if state >= self.states[rank] {
            return 0..0;
        }
        let place = self.control(rank, state);
        self.leaving[place]..self.leaving[place + 1]
    }

    /// The number of a control state among those of all ranks.
    pub fn control(&self, rank: usize, state: u32) -> usize {
        self.first_state[rank] + state as usize
    }

    /// Whether some rank has several threads.
    pub fn has_threads(&self) -> bool {
        self.processes > self.nodes
    }

    /// The process whose transition this is.
    pub fn process_of(&self, transition: usize) -> usize {
        self.first_state.partition_point(|&first| self.leaving[first] <= transition) - 1
    }

    /// The number of the transition of rank `to` that is what `transition` is for rank `from`, which has the same
    /// automaton.
    pub fn counterpart(&self, transition: usize, from: usize, to: usize) -> usize {
        let first = |rank: usize| self.leaving[self.first_state[rank]];
        transition - first(from) + first(to)
    }

    /// Whether the step `step` of the command of `transition` may be chosen as a source.
    pub fn may_be_source(&self, transition: usize, step: usize) -> bool {
        self.sources[transition] >> step & 1 == 1
    }

    /// The registers of `rank` whose values count in a control state.
    pub fn kept(&self, rank: usize, state: u32) -> &[usize] {
        if state >= self.states[rank] {
            return &[];
        }
        let place = self.control(rank, state);
        &self.kept[self.kept_starts[place]..self.kept_starts[place + 1]]
    }

    /// The registers that the command of a transition computes with, and whether each decides something by itself.
    pub fn uses(&self, transition: usize) -> &[(usize, bool)] {
        let command = self.transitions[transition].command;
        &self.uses[self.uses_starts[command]..self.uses_starts[command + 1]]
    }

    pub fn is_unordered(&self, queue: u64) -> bool {
        self.unordered.contains(&queue)
    }

    pub fn command(&self, transition: usize) -> &Command {
        &self.commands[self.transitions[transition].command]
    }

    /// The number of the condition that `transition` tests by comparing `cell` so, as that of a cell: those of conditions come behind all cells,
    /// and one that stands for everything.
    pub fn tested(&self, transition: usize, cell: usize, relation: Relation, value: Value) -> Option<usize> {
        let is_it = |&(_, condition): &(usize, &Condition)| (condition.relation, condition.value) == (relation, value);
        let tests = self.tests(transition) != Tests::Nothing;
        self.conditions_of(cell).filter(|_| tests).find(is_it).map(|(number, _)| number)
    }

    /// What a transition tests.
    pub fn tests(&self, transition: usize) -> Tests {
        self.tests[transition]
    }

    /// So many numbers of cells and conditions there are.
    pub fn places(&self) -> usize {
        self.memory.len() + 1 + self.conditions.len() + self.counted.len()
    }

    /// The cell of a condition, or of a cell itself.
    pub fn cell_of(&self, place: usize) -> usize {
        let Some(number) = place.checked_sub(self.memory.len() + 1) else { return place };
        match number.checked_sub(self.conditions.len()) {
            Some(counted) => self.counted[counted],
            None => self.conditions[number].cell,
        }
    }

    /// The number that a cell has beside it if tested adds add to it: they read it, and write it where they turn a
    /// condition.
    pub fn counted(&self, cell: usize) -> Option<usize> {
        let place = self.counted.iter().position(|&counted| counted == cell)?;
        Some(self.memory.len() + 1 + self.conditions.len() + place)
    }

    /// The conditions on a cell, with their numbers.
    pub fn conditions_of(&self, cell: usize) -> impl Iterator<Item = (usize, &Condition)> {
        let numbers = self.conditions_of.get(&cell).map_or(&[][..], |numbers| numbers);
        numbers.iter().map(|&number| (self.memory.len() + 1 + number, &self.conditions[number]))
    }

    /// What the assert of `transition` claims; 0 for other commands.
    pub fn claim(&self, transition: usize) -> usize {
        if let Command::Test { claim, .. } = *self.command(transition) { claim } else { 0 }
    }

    pub fn new(raw: &Raw) -> Result<Self> {
        if raw.format != FORMAT {
            return malformed(format!("format {}, but this kernel reads {FORMAT}", raw.format));
        }
        let nodes = number(raw.nodes, "nodes", 1, MAX_NODES)?;
        let size = number(raw.size, "size", 0, MAX_CELLS)?;
        let home = collect(raw.home.iter().map(|&rank| below(rank, "home", nodes)))?;
        let processes = number(home.len() as i64, "home", nodes, MAX_NODES)?;
        if home.iter().take(nodes).enumerate().any(|(process, &rank)| process != rank) {
            return malformed("home must begin with every rank");
        }
        let mut of_rank: Vec<Vec<usize>> = filled(Vec::new(), nodes)?;
        for (process, &rank) in home.iter().enumerate() {
            append(&mut of_rank[rank], process)?;
        }
        let registers = number(raw.registers, "registers", 0, MAX_REGISTERS / processes)?;
        let cells = nodes.checked_mul(size).filter(|&cells| cells <= MAX_CELLS);
        if [&raw.memory, &raw.touchable, &raw.waited].iter().any(|table| cells != Some(table.len())) {
            return malformed("memory, touchable and waited must have nodes * size entries");
        }
        let values = collect(raw.values.iter().map(|&value| match value {
            LEAST..=GREATEST => Ok(value),
            _ => malformed(format!("value {value} has more than 64 bits")),
        }))?;
        let memory = collect(raw.memory.iter().map(|&value| below(value, "memory", values.len())))?;
        let touchable = collect(raw.touchable.iter().map(|&bits| {
            let most = touch::ALL | touch::delayed(touch::ALL);
            Ok(number(bits, "touchable", 0, most as usize)? as Ways)
        }))?;
        let waited = collect(raw.waited.iter().map(|&waited| Ok(number(waited, "waited", 0, 1)? == 1)))?;
        let unordered = collect(raw.unordered.iter().map(|&queue| {
            u64::try_from(queue).map_err(|_| Error::Malformed("unordered has a negative queue".into()))
        }))?;
        let expressions = expressions(raw, &values, registers)?;
        let commands = commands(raw, expressions.len(), registers)?;
        let transfers = |wanted: fn(&Transfer) -> bool| {
            commands.iter().any(|command| matches!(command, Command::Transfer(transfer) if wanted(transfer)))
        };
        let mut step_ways = Vec::new();
        for command in &commands {
            if let Command::Transfer(transfer) = command {
                for step in transfer.steps.iter() {
                    if !step_ways.contains(&step.ways) {
                        step_ways.try_reserve(1)?;
                        step_ways.push(step.ways);
                    }
                }
            }
        }
        let (signals, notifies_everywhere, results) = (
            transfers(|transfer| transfer.steps.iter().any(|step| step.after_bundle)),
            transfers(|transfer| transfer.everywhere),
            transfers(|transfer| transfer.steps.iter().any(|step| step.stage == STAGES - 1)),
        );

        if raw.states.len() != processes {
            return malformed("states must have an entry per process");
        }
        let states =
            collect(raw.states.iter().map(|&count| Ok(number(count, "states", 1, u32::MAX as usize)? as u32)))?;
        let mut first_state = Vec::new();
        first_state.try_reserve_exact(processes)?;
        let mut all = 0_usize;
        for &count in &states {
            first_state.push(all);
            all += count as usize; // at most 2^16 times 2^32
        }
        let leaving = offsets(&raw.leaving, all, raw.transitions.len() / TRANSITION_ROW, "leaving")?;
        let mut transitions = collect(rows::<TRANSITION_ROW>(&raw.transitions, "transitions")?.map(|row| {
            Ok(Transition {
                command: below(row[0], "transitions", commands.len())?,
                target: below(row[1], "transitions", u32::MAX as usize)? as u32,
                last: number(row[2], "transitions", 0, 1)? == 1,
            })
        }))?;
        for (rank, &count) in states.iter().enumerate() {
            let (first, last) = (leaving[first_state[rank]], leaving[first_state[rank] + count as usize]);
            if transitions[first..last].iter_mut().any(|transition| transition.target >= count) {
                return malformed("transitions has a target that its rank does not have");
            }
        }
        if raw.sources.len() != transitions.len() {
            return malformed("sources must have an entry per transition");
        }
        let sources =
            collect(raw.sources.iter().map(|&steps| Ok(number(steps, "sources", 0, u8::MAX as usize)? as u8)))?;
        let kept_starts = offsets(&raw.kept_starts, all, raw.kept.len(), "kept")?;
        let kept = collect(raw.kept.iter().map(|&register| below(register, "kept", registers)))?;
        let uses = collect(
            rows::<2>(&raw.uses, "uses")?
                .map(|row| Ok((below(row[0], "uses", registers)?, number(row[1], "uses", 0, 1)? == 1))),
        )?;
        let uses_starts = offsets(&raw.uses_starts, commands.len(), uses.len(), "uses")?;
        if raw.endless.len() != all {
            return malformed("endless must have an entry per control state");
        }
        let endless = collect(raw.endless.iter().map(|&each| Ok(number(each, "endless", 0, 1)? == 1)))?;
        let conditions = collect(rows::<3>(&raw.conditions, "conditions")?.map(|row| {
            Ok(Condition {
                cell: below(row[0], "conditions", memory.len())?,
                relation: Relation::ALL[below(row[1], "conditions", Relation::ALL.len())?].0,
                value: values[below(row[2], "conditions", values.len())?],
            })
        }))?;
        if raw.tests.len() != transitions.len() {
            return malformed("tests must have an entry per transition");
        }
        let counted = collect(raw.counted.iter().map(|&cell| below(cell, "counted", memory.len())))?;
        let tests = collect(raw.tests.iter().map(|&tests| match tests {
            0 => Ok(Tests::Nothing),
            1 => Ok(Tests::Awaits),
            i64::MIN..0 => Ok(Tests::Polls(memory.len() + 1 + below(-(tests + 1), "tests", conditions.len())?)),
            _ => Ok(Tests::Adds(touch::updated(below(tests - 2, "tests", touch::KINDS)?))),
        }))?;
        let mut conditions_of: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, condition) in conditions.iter().enumerate() {
            conditions_of.entry(condition.cell).or_default().push(number);
        }
        Ok(Tables {
            conditions,
            counted,
            tests,
            conditions_of,
            nodes,
            processes,
            home,
            of_rank,
            size,
            registers,
            memory,
            values,
            touchable,
            waited,
            unordered,
            source_kinds: step_ways,
            rules: None,
            signals,
            notifies_everywhere,
            stages: if results { STAGES as u8 } else { STAGES as u8 - 1 },
            states,
            transitions,
            commands,
            expressions,
            sources,
            first_state,
            leaving,
            kept_starts,
            kept,
            uses_starts,
            uses,
            endless,
        })
    }
}
