//! A recorded trace from its bytes to its answers, segment by segment (`proofs/recorded-traces.md`, section 8).
//!
//! What calls do is said by Python (`pgasrob/recording/streamed.py`), once for calls that are alike. What is not as it
//! should be, or not covered here, is left to the reader in Python.

pub mod log;
pub mod pieces;
pub mod places;
pub mod ranges;
pub mod reading;
pub mod segment;
pub mod template;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::rc::Rc;
use std::time::Instant;

use crate::recorded::answers::Answers;
use crate::recorded::events::{Command, Recorded};
use crate::recorded::stream::log::{Log, Next};
use crate::recorded::stream::pieces::{all_in_conflict, in_cells, some_commute};
use crate::recorded::stream::places::{Places, Sure};
use crate::recorded::stream::reading::Called;
use crate::recorded::stream::segment::{Form, Segment};
use crate::recorded::stream::template::Template;

/// What is needed to go on. `Chunk`: of the log of a rank. `Record`: what Python makes of a record of a rank. `Call`: what
/// a call of a rank does, of which a template is made, from its record and that of its return, if it does it then. `Form`: what an access of
/// a rank with this pc is; its kind, flags and whether it is to its own memory.
#[derive(Debug)]
pub enum Ask {
    Chunk(usize),
    Record(usize, Vec<u64>),
    Call(usize, Vec<u64>, Vec<u64>),
    Form(usize, u64, u64),
    Segment,
    Done,
}

/// What was found in a segment: `done`: all was looked at; `races`: some are between places of which there was none before;
/// `attack`: there may be one.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub done: bool,
    pub races: bool,
    pub attack: bool,
}

/// How a trace is looked at. `every`: updates of one kind conflict, too.
#[derive(Clone, Copy, Debug)]
pub struct Looks {
    pub attacks: bool,
    pub strict: bool,
    pub every: bool,
}

pub struct Stream {
    nodes: usize,
    openshmem: bool,
    clock: i64,
    logs: Vec<Log>,
    waiting: BinaryHeap<Reverse<(i64, usize)>>,
    current: Option<usize>,
    turn: i64,
    last: i64,
    places: Places,
    templates: Vec<HashMap<Vec<u64>, Rc<Template>>>,
    formed: Vec<HashMap<(u64, u64), u32>>,
    forms: Vec<Form>,
    called: Vec<Called>,
    /// Of each rank the records of buffers that Python has not seen.
    unseen: Vec<Vec<Vec<u64>>>,
    sites: Vec<HashSet<u64>>,
    segment: Segment,
    ended: bool,
    pending: Vec<HashSet<i64>>,
    arrived: HashMap<u32, usize>,
    stands: Vec<bool>,
    /// Of each rank the queues of operations on its private memory, and whether that is complete with a local wait.
    private: Vec<HashSet<(i64, bool)>>,
    known: HashSet<(u32, u32)>,
    /// Of each rank whether its next call does not do the same when it is made again.
    changing: Vec<bool>,
    pub events: u64,
    /// Those that were kept of them.
    pub kept: u64,
}

impl Stream {
    /// `chunks`: how many the log of each rank has; `private`: the place of its private memory.
    pub fn new(chunks: &[usize], private: &[u64], clock: i64, openshmem: bool) -> Self {
        let nodes = chunks.len();
        Stream {
            nodes,
            openshmem,
            clock,
            logs: chunks.iter().map(|&chunks| Log::new(chunks)).collect(),
            waiting: (0..nodes).map(|rank| Reverse((-1, rank))).collect(),
            current: None,
            turn: -1,
            last: -1,
            places: Places::new(private),
            templates: vec![HashMap::new(); nodes],
            formed: vec![HashMap::new(); nodes],
            forms: Vec::new(),
            called: vec![Called::default(); nodes],
            unseen: vec![Vec::new(); nodes],
            sites: vec![HashSet::new(); nodes],
            segment: Segment::default(),
            ended: false,
            pending: vec![HashSet::new(); nodes],
            arrived: HashMap::new(),
            stands: vec![false; nodes],
            private: vec![HashSet::new(); nodes],
            known: HashSet::new(),
            changing: vec![false; nodes],
            events: 0,
            kept: 0,
        }
    }

    pub fn nodes(&self) -> usize {
        self.nodes
    }

    pub fn give(&mut self, rank: usize, words: Vec<u64>) -> Sure<()> {
        self.logs[rank].give(words)
    }

    /// Goes on until something is needed.
    pub fn run(&mut self) -> Sure<Ask> {
        loop {
            if self.ended {
                return Ok(Ask::Segment);
            }
            let rank = match self.current {
                Some(rank) => rank,
                None => {
                    let Some(Reverse((number, rank))) = self.waiting.pop() else { return self.done() };
                    self.turn = number;
                    self.current = Some(rank);
                    rank
                }
            };
            match self.logs[rank].next()? {
                Next::Chunk => return Ok(Ask::Chunk(rank)),
                Next::End if self.logs[rank].ended => self.current = None,
                Next::End => return Err("a log that was cut off"),
                Next::Record(size) => {
                    if let Some(ask) = self.record(rank, size)? {
                        return Ok(ask);
                    }
                }
            }
        }
    }

    fn done(&self) -> Sure<Ask> {
        if self.called.iter().any(Called::is_left) {
            return Err("a call that has not returned");
        }
        Ok(if self.segment.is_empty() { Ask::Done } else { Ask::Segment })
    }

    /// Adds the commands of a call, whose addresses in the segment begin with the number `first`.
    fn issue(&mut self, rank: usize, template: Rc<Template>, first: usize) -> Sure<()> {
        if template.commands.is_empty() {
            return Ok(());
        }
        if self.stands[rank] {
            return Err("a rank went on before all had come to a barrier");
        }
        self.events += template.commands.len() as u64;
        for (number, each) in template.commands.iter().enumerate() {
            match &each.command {
                Command::Transfer { queue, steps, .. } => {
                    self.pending[rank].insert(*queue);
                    for (step, access) in steps.iter().enumerate() {
                        let end = template.starts[number] + each.command.bound() + step;
                        let own = template.ends[end].owner as usize == rank;
                        if own && self.places.is_private(rank, self.segment.addresses[first + end]) {
                            self.private[rank].insert((*queue, access.local));
                        }
                    }
                }
                Command::Wait { queue, local } => {
                    self.private[rank].remove(&(*queue, true));
                    if !local {
                        self.private[rank].remove(&(*queue, false));
                        self.pending[rank].remove(queue);
                    }
                }
                Command::Barrier | Command::Immediate { .. } | Command::Fence { .. } | Command::Bundle => {}
            }
        }
        let barrier = template.barrier;
        self.segment.call(template, first);
        if let Some(name) = barrier {
            self.arrive(rank, name);
        }
        Ok(())
    }

    fn arrive(&mut self, rank: usize, name: u32) {
        self.stands[rank] = true;
        let here = self.arrived.entry(name).or_default();
        *here += 1;
        if *here < self.nodes {
            return;
        }
        *here = 0;
        self.stands.fill(false);
        self.segment.barrier();
        self.ended = self.pending.iter().all(HashSet::is_empty) && self.arrived.values().all(|&here| here == 0);
    }

    /// Answers for the segment that has ended, of which nothing is kept then.
    pub fn look(&mut self, looks: Looks, excluded: &[u8], until: Option<Instant>, limit: u64) -> Sure<Found> {
        if self.ended && self.called.iter().any(Called::is_left) {
            return Err("a call that has not returned");
        }
        let nodes = self.nodes;
        let barrier = Recorded { rank: 0, place: 0, issued: true, command: Command::Barrier };
        let (mut commands, cells) = {
            let kept = self.segment.kept(&self.forms, nodes, &barrier)?;
            let mut cuts = Vec::new();
            self.segment.cuts(&kept, &mut cuts)?;
            in_cells(&kept.wholes, &kept.ends, cuts)?
        };
        self.segment.clear();
        self.ended = false;
        self.kept += commands.len() as u64;
        let mut found = Found { done: true, races: false, attack: false };
        let mut look = |commands: Vec<Recorded>, races: bool, attacks: bool| {
            let mut answers = Answers::new(commands, nodes, cells, looks.strict, excluded, limit);
            answers.known = std::mem::take(&mut self.known);
            found.done &= answers.look(races, attacks, until).is_ok();
            found.races |= !answers.races.is_empty();
            found.attack |= !answers.attacks.is_empty();
            self.known = answers.known;
        };
        let apart = !looks.every && some_commute(&commands);
        if apart && looks.attacks {
            look(commands.clone(), false, true);
        }
        if apart || looks.every {
            all_in_conflict(&mut commands);
        }
        look(commands, true, looks.attacks && !apart);
        Ok(found)
    }
}
