//! The traces of the maximal SC runs, one run of each (`pgasrob/reference/exploration.py`).

use crate::access::Access;
use crate::memory::{Error, Result};
use crate::tables::Tables;
use crate::traces::run::{BARRIER, Run};
use crate::traces::standing::Next;
use crate::world::World;

/// A command that has been tried before, in a run that comes to the same: of a rank, what it does and looks at.
#[derive(Clone, Debug)]
struct Asleep {
    rank: usize,
    transition: usize,
    footprint: Vec<Access>,
}

/// What has been tried at a node: commands by rank and transition, ways through a barrier by BARRIER and their number;
/// last what was followed last.
pub type Tried = Vec<(usize, usize)>;

/// A part of an exploration: what there is to try at the node to which the last of each but the last lead, beside what
/// the last has. The empty one is the whole.
pub type Part = Vec<Tried>;

/// Events of the way to a part, at most: who begins with it goes that way again.
const LONGEST_WAY: usize = 1_000;

/// Behind whose event its own event of the same number comes, for each process (`pgasrob/analysis/line_up.py`).
pub type Behind = Vec<Option<(usize, usize)>>;

/// What to go through: up to runs of a `longest` length, in events, at which it is asked whether its ranks come back to
/// where they have been; a `part` of the whole; `behind` nobody where it is empty.
pub struct Asked {
    pub longest: usize,
    pub part: Part,
    pub behind: Behind,
}

/// A state on the way.
#[derive(Debug, Default)]
struct Node {
    /// Whose commands are to be tried here.
    ranks: Vec<usize>,
    asleep: Vec<Asleep>,
    /// How many of these slept from the beginning; the others are what has been tried here.
    slept: usize,
    /// In how many ways a barrier has been passed here.
    barriers: usize,
}

impl Node {
    fn sleeps(&self, rank: usize, transition: usize) -> bool {
        self.asleep.iter().any(|asleep| (asleep.rank, asleep.transition) == (rank, transition))
    }

    fn bytes(&self) -> usize {
        let footprints: usize = self.asleep.iter().map(|asleep| size_of_val(&asleep.footprint[..])).sum();
        size_of::<Node>() + size_of_val(&self.asleep[..]) + footprints
    }
}

/// What may come next.
enum Choice {
    Command(usize, Next),
    Barrier(Vec<usize>),
}

/// What has been come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// To another event.
    On,
    /// To the end of a trace that has not been seen.
    Trace,
    /// There are no more traces.
    Over,
}

/// Goes through the traces. What it cannot find out is an error of the caller's: see [`Exploration::go_on`].
pub struct Exploration {
    pub run: Run,
    nodes: Vec<Node>,
    pub events: u64,
    pub traces: u64,
    /// Runs given up since they come to what has been followed.
    pub redundant: u64,
    begun: bool,
    behind: Behind,
    /// The first node of which there is more to try here. What others try at those above it is all that can be tried, so
    /// that nobody has to ask for more there.
    base: usize,
    /// Whether there was too much to look at somewhere.
    pub gave_up: bool,
    /// The length of a run, in events, at which it is asked next whether its ranks come back to where they have been;
    /// whether they do, so that the run is not followed any further.
    longest: usize,
    pub too_long: bool,
    /// Whether all traces have been seen.
    pub complete: bool,
}

fn nowhere() -> Error {
    Error::Malformed("a part goes a way that is not there".into())
}

fn independent(one: &[Access], other: &[Access]) -> bool {
    !one.iter().any(|made| other.iter().any(|its| made.cell == its.cell && made.against() & its.ways != 0))
}

impl Exploration {
    pub fn new(tables: &Tables, world: &mut World, asked: Asked) -> Result<Self> {
        let Asked { longest, part, behind } = asked;
        let run = Run::new(tables, world)?;
        let mut exploration = Exploration {
            run,
            nodes: Vec::new(),
            events: 0,
            traces: 0,
            redundant: 0,
            begun: !part.is_empty(),
            behind,
            base: part.len().saturating_sub(1),
            gave_up: false,
            longest,
            too_long: false,
            complete: false,
        };
        exploration.enter(tables, world, Vec::new())?;
        for (at, tried) in part.iter().enumerate() {
            if at > 0 {
                exploration.go_as(tables, world, &part[at - 1])?;
            }
            exploration.note_tried(tables, world, tried)?;
        }
        if !part.is_empty() {
            exploration.begin_with_all();
            // What there is on the way here is for whoever went it first.
            exploration.run.fault = None;
        }
        Ok(exploration)
    }

    /// Gives away what there is to try at the first node where there is anything beside what is being followed, as a part
    /// for others; None where there is nothing.
    pub fn split(&mut self, tables: &Tables, world: &mut World) -> Result<Option<Part>> {
        let last = self.nodes.len().saturating_sub(1).min(LONGEST_WAY);
        if self.base >= last {
            return Ok(None);
        }
        let used = world.budget.used();
        let whole = Asked { longest: usize::MAX, part: Vec::new(), behind: self.behind.clone() };
        let mut way = Exploration::new(tables, world, whole)?;
        let (mut part, mut found) = (Vec::new(), false);
        for at in 0..last {
            part.push(self.tried(at));
            way.note_tried(tables, world, &part[at])?;
            if at >= self.base {
                way.begin_with_all();
                found = way.choice(tables, world)?.is_some();
            }
            if found {
                self.base = at + 1;
                break;
            }
            way.go_as(tables, world, &part[at])?;
        }
        if !found {
            // Nothing else can be tried at these nodes, so nothing need be asked for there.
            self.base = last;
        }
        world.budget.give(world.budget.used().saturating_sub(used));
        Ok(found.then_some(part))
    }

    /// What has been tried at a node, what is followed there last.
    fn tried(&self, at: usize) -> Tried {
        let node = &self.nodes[at];
        let commands = node.asleep[node.slept..].iter().map(|asleep| (asleep.rank, asleep.transition));
        let barriers = (0..node.barriers).map(|number| (BARRIER, number));
        if self.run.events[at].rank == BARRIER {
            commands.chain(barriers).collect()
        } else {
            barriers.chain(commands).collect()
        }
    }

    /// Whether it does not go on.
    pub fn is_over(&self) -> bool {
        self.complete || self.too_long || self.gave_up
    }

    /// Goes on by one event, after runs that end have been taken back as far as there is more to try.
    pub fn go_on(&mut self, tables: &Tables, world: &mut World) -> Result<Came> {
        let came = self.come(tables, world)?;
        match came {
            Came::Over => self.complete = true,
            Came::On if self.run.events.len() > self.longest => {
                self.too_long = self.run.comes_back();
                self.longest = self.longest.saturating_mul(2);
            }
            Came::On | Came::Trace => {}
        }
        Ok(came)
    }

    fn come(&mut self, tables: &Tables, world: &mut World) -> Result<Came> {
        if !self.begun {
            self.begun = true;
            if self.ends(tables, world)? {
                return Ok(Came::Trace);
            }
        }
        loop {
            if self.nodes.len() <= self.base {
                return Ok(Came::Over);
            }
            let Some(choice) = self.choice(tables, world)? else {
                if let Some(node) = self.nodes.pop() {
                    world.budget.give(node.bytes());
                }
                if !self.nodes.is_empty() {
                    self.run.take_back(world);
                }
                continue;
            };
            self.follow(tables, world, choice)?;
            self.events += 1;
            return Ok(if self.ends(tables, world)? { Came::Trace } else { Came::On });
        }
    }

    /// The event behind which the next command of `rank` comes in whatever run is followed; nothing where it has not
    /// come yet, and the command comes too early.
    fn comes_behind(&self, rank: usize) -> Option<Option<usize>> {
        let &(before, place) = self.behind.get(rank)?.as_ref()?;
        let is_next = self.run.of_rank[rank].len() == place;
        is_next.then(|| self.run.of_rank[before].get(place).map(|&event| event as usize))
    }

    /// Whether `command` may be issued next by `rank`.
    fn enabled(&self, tables: &Tables, world: &mut World, rank: usize, command: &Next) -> Result<bool> {
        Ok(self.comes_behind(rank) != Some(None) && self.run.enabled(tables, world, rank, command)?)
    }

    /// What to try next at the last node.
    fn choice(&mut self, tables: &Tables, world: &mut World) -> Result<Option<Choice>> {
        let Some(node) = self.nodes.last() else { return Ok(None) };
        for &rank in &node.ranks {
            if rank == BARRIER {
                if let Some(transitions) = self.run.barrier(node.barriers)? {
                    return Ok(Some(Choice::Barrier(transitions)));
                }
                continue;
            }
            for &command in &self.run.at(rank).commands {
                if !node.sleeps(rank, command.transition) && self.enabled(tables, world, rank, &command)? {
                    return Ok(Some(Choice::Command(rank, command)));
                }
            }
        }
        Ok(None)
    }

    fn follow(&mut self, tables: &Tables, world: &mut World, choice: Choice) -> Result<()> {
        let at = self.nodes.len() - 1;
        match choice {
            Choice::Barrier(_) => {
                self.nodes[at].barriers += 1;
                // Who waits for a value as well may have had it before.
                self.find_all_earlier(tables, world)?;
            }
            Choice::Command(rank, command) => {
                self.find_races(tables, world, rank, &command)?;
                let footprint = self.run.footprint(tables, world, rank, &command)?;
                self.sleep(world, Asleep { rank, transition: command.transition, footprint })?;
            }
        }
        self.go(tables, world, choice)
    }

    /// Goes on by a choice that has been noted at the last node.
    fn go(&mut self, tables: &Tables, world: &mut World, choice: Choice) -> Result<()> {
        let before = &self.nodes[self.nodes.len() - 1].asleep;
        match choice {
            Choice::Barrier(transitions) => {
                let passes = |rank| transitions.iter().any(|&transition| tables.process_of(transition) == rank);
                let asleep = before.iter().filter(|asleep| !passes(asleep.rank)).cloned().collect();
                self.run.pass_barrier(tables, world, &transitions)?;
                self.enter(tables, world, asleep)
            }
            Choice::Command(rank, command) => {
                let issued = before[before.len() - 1].footprint.clone();
                let kept = |asleep: &&Asleep| asleep.rank != rank && independent(&asleep.footprint, &issued);
                let mut asleep = before.iter().filter(kept).cloned().collect();
                self.run.issue(tables, world, rank, &command)?;
                if command.counts {
                    asleep = self.still_asleep(tables, world, asleep, &issued)?;
                }
                self.enter(tables, world, asleep)
            }
        }
    }

    /// Goes on by the last that has been `tried` at the last node.
    fn go_as(&mut self, tables: &Tables, world: &mut World, tried: &Tried) -> Result<()> {
        let choice = match tried.last() {
            Some(&(BARRIER, number)) => self.run.barrier(number)?.map(Choice::Barrier),
            Some(&(rank, transition)) => self.command(rank, transition).map(|command| Choice::Command(rank, command)),
            None => None,
        };
        self.go(tables, world, choice.ok_or_else(nowhere)?)
    }

    /// Notes at the last node what has been tried there.
    fn note_tried(&mut self, tables: &Tables, world: &mut World, tried: &Tried) -> Result<()> {
        for &(rank, transition) in tried {
            if rank == BARRIER {
                let at = self.nodes.len() - 1;
                self.nodes[at].barriers += 1;
            } else {
                let command = self.command(rank, transition).ok_or_else(nowhere)?;
                let footprint = self.run.footprint(tables, world, rank, &command)?;
                self.sleep(world, Asleep { rank, transition, footprint })?;
            }
        }
        Ok(())
    }

    fn command(&self, rank: usize, transition: usize) -> Option<Next> {
        let next = &self.run.standing.get(rank)?.last()?.commands;
        next.iter().find(|command| command.transition == transition).copied()
    }

    fn sleep(&mut self, world: &mut World, asleep: Asleep) -> Result<()> {
        let at = self.nodes.len() - 1;
        world.budget.give(self.nodes[at].bytes());
        self.nodes[at].asleep.push(asleep);
        world.budget.take(self.nodes[at].bytes())
    }

    /// Those `asleep` that do not conflict with what was `issued` where they come after it, either: of two adds that are
    /// only compared the second one may turn a condition, whichever that is.
    fn still_asleep(
        &self,
        tables: &Tables,
        world: &mut World,
        asleep: Vec<Asleep>,
        issued: &[Access],
    ) -> Result<Vec<Asleep>> {
        let mut found = Vec::new();
        for each in asleep {
            let commands = &self.run.at(each.rank).commands;
            let Some(command) = commands.iter().find(|command| command.transition == each.transition) else { continue };
            let footprint = self.run.footprint(tables, world, each.rank, command)?;
            if independent(&footprint, issued) {
                found.push(Asleep { footprint, ..each });
            }
        }
        Ok(found)
    }

    /// Notes the node to which the run has come.
    fn enter(&mut self, tables: &Tables, world: &mut World, asleep: Vec<Asleep>) -> Result<()> {
        let mut node = Node { slept: asleep.len(), asleep, ..Node::default() };
        node.ranks = self.begun_with(tables, world, &node)?;
        world.budget.take(node.bytes())?;
        self.nodes.push(node);
        Ok(())
    }

    /// Whose commands to try first: one rank is enough, the next after the last one, if none of its commands is asleep.
    fn begun_with(&self, tables: &Tables, world: &mut World, node: &Node) -> Result<Vec<usize>> {
        let count = self.run.control.len();
        let barrier = self.run.at_barrier();
        let passing = if barrier { self.run.barrier(0)?.unwrap_or_default() } else { Vec::new() };
        let passes = |rank| passing.iter().any(|&transition| tables.process_of(transition) == rank);
        let last = self.run.events.last().map(|event| event.lead);
        let first = last.map_or(0, |last| last + 1);
        let mut awake = Vec::new();
        for rank in (first..count).chain(0..first.min(count)) {
            let (mut some, mut sleepy) = (false, false);
            for command in &self.run.at(rank).commands {
                if self.enabled(tables, world, rank, command)? {
                    let sleeps = node.sleeps(rank, command.transition);
                    sleepy |= sleeps;
                    some |= !sleeps;
                }
            }
            if some && !sleepy && !passes(rank) {
                return Ok(vec![rank]);
            }
            if some {
                awake.push(rank);
            }
        }
        awake.sort_unstable();
        if barrier {
            awake.push(BARRIER);
        }
        Ok(awake)
    }

    /// Has every command be tried at the last node; or those of the rank alone of which some have been, if no other rank
    /// can ever make a difference to them, nor they to it.
    fn begin_with_all(&mut self) {
        let at = self.nodes.len() - 1;
        let node = &self.nodes[at];
        let (slept, tried) = node.asleep.split_at(node.slept);
        let public = |command: &Next| command.barrier.is_some() || !command.accesses.all().is_empty() || command.waits;
        let alone = |&rank: &usize| {
            let commands = &self.run.at(rank).commands;
            node.barriers == 0
                && tried.iter().all(|each| each.rank == rank)
                && !slept.iter().any(|each| each.rank == rank)
                && !commands.iter().any(|command| public(command) || !self.run.looks(rank, command).is_empty())
        };
        let all = || (0..self.run.control.len()).chain([BARRIER]).collect();
        self.nodes[at].ranks = tried.first().map(|each| each.rank).filter(alone).map_or_else(all, |rank| vec![rank]);
    }

    /// Whether the run ends here, and is a trace that has not been seen.
    fn ends(&mut self, tables: &Tables, world: &mut World) -> Result<bool> {
        if self.nodes.last().is_some_and(|node| !node.ranks.is_empty()) {
            return Ok(false);
        }
        // What has been disabled will not be issued, so this is where it is met.
        self.find_all_earlier(tables, world)?;
        let mut goes_on = self.run.at_barrier();
        for rank in 0..self.run.control.len() {
            for command in &self.run.at(rank).commands {
                goes_on |= self.enabled(tables, world, rank, command)?;
            }
        }
        if goes_on {
            self.redundant += 1;
        } else {
            self.traces += 1;
        }
        Ok(!goes_on)
    }

    /// Sees to the runs in which a command that waits for a value comes before some event so far, for all of them.
    fn find_all_earlier(&mut self, tables: &Tables, world: &mut World) -> Result<()> {
        for rank in 0..self.run.control.len() {
            for place in 0..self.run.at(rank).commands.len() {
                let command = self.run.at(rank).commands[place];
                if command.waits {
                    self.find_earlier(tables, world, rank, &command)?;
                }
            }
        }
        Ok(())
    }

    /// Sees to the runs in which `command`, or another one of its rank, comes before some event so far.
    fn find_races(&mut self, tables: &Tables, world: &mut World, rank: usize, command: &Next) -> Result<()> {
        for other in self.run.at(rank).commands.clone() {
            if other.waits {
                self.find_earlier(tables, world, rank, &other)?;
            }
        }
        let last = self.run.last(rank);
        let mut seen = self.run.looks(rank, command);
        seen.extend(self.run.would_turn(tables, world, rank, command)?);
        if !command.waits || command.counts {
            seen.extend(command.accesses.all());
        }
        let mut met: Vec<usize> = Vec::new();
        for access in seen {
            for entry in self.run.cells.met_by(access) {
                if !met.contains(&entry.event) && !self.run.events[entry.event].is_in(&last) {
                    met.push(entry.event);
                }
            }
        }
        for &event in &met {
            let before = |&other: &usize| other != event && self.run.events[event].is_in(&self.run.events[other].clock);
            let follows = self.comes_behind(rank) == Some(Some(event));
            if !follows && !met.iter().any(before) && self.passes_without(tables, world, rank, command, event)? {
                self.reverse(tables, &[event], rank, command);
            }
        }
        Ok(())
    }

    /// Sees to it that a run is followed with `command` before the events `out`, and without what comes after them:
    /// from where the first of them was issued, by somebody who is the first to go on there.
    pub(super) fn reverse(&mut self, tables: &Tables, out: &[usize], rank: usize, command: &Next) {
        let run = &self.run;
        let Some(&first) = out.iter().min() else { return };
        if first < self.base {
            return;
        }
        let is_left = |number: usize| out.iter().any(|&left| run.events[left].is_in(&run.events[number].clock));
        // Its own rank goes on with it, unless something of that rank, or that it conflicts with, comes before it there.
        let goes_on = run.of_rank[rank].get(run.before(rank, first)).is_none_or(|&own| is_left(own as usize));
        let own = goes_on && !self.meets(tables, first, rank, command, is_left);
        let initials = || run.initials(first).filter(|number| !out.contains(number));
        let node = &self.nodes[first];
        let is_tried = |&tried: &usize| match tried {
            BARRIER => initials().any(|number| run.events[number].rank == BARRIER),
            _ => tried == rank && own || run.initial_of(tried, first).is_some_and(|number| !out.contains(&number)),
        };
        if !own && initials().next().is_none() || node.ranks.iter().any(is_tried) {
            return;
        }
        let slept = &node.asleep[..node.slept];
        let sleeps_in_part = |rank: usize| {
            let sleeps =
                |command: &Next| slept.iter().any(|each| (each.rank, each.transition) == (rank, command.transition));
            let commands = || run.standing[rank][run.before(rank, first)].commands.iter();
            commands().any(sleeps) && !commands().all(sleeps)
        };
        let ranks = own.then_some(rank).into_iter().chain(initials().map(|number| run.events[number].rank));
        let whole = ranks.into_iter().find(|&rank| rank == BARRIER || !sleeps_in_part(rank));
        let nodes = run.control.len();
        let ranks = &mut self.nodes[first].ranks;
        match whole {
            Some(rank) => ranks.push(rank),
            // What sleeps may be woken by another rank, and is gone when its own one goes on.
            None => *ranks = (0..nodes).chain([BARRIER]).collect(),
        }
        ranks.sort_unstable();
    }

    /// Whether `command` of `rank` conflicts with an event from `first` on that is not left out.
    fn meets(
        &self,
        tables: &Tables,
        first: usize,
        rank: usize,
        command: &Next,
        is_left: impl Fn(usize) -> bool,
    ) -> bool {
        let run = &self.run;
        // Which conditions it turns depends on what its cells hold there.
        let may_turn: Vec<Access> = run.may_turn(tables, command).collect();
        let footprint = [command.accesses.all(), &may_turn, &run.looks(rank, command)].concat();
        footprint.iter().any(|access| {
            let entries = run.cells.layers(access.cell).iter().rev().flat_map(|layer| layer.entries.iter().rev());
            entries
                .map(|entry| entry.event)
                .take_while(|&number| number >= first)
                .any(|number| run.seen(number).any(|made| !independent(&[made], &footprint)) && !is_left(number))
        })
    }
}
