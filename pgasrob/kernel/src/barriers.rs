//! The ways in which all ranks can take part in one barrier: they have to give it the same name.

use crate::memory::Result;

/// In how many ways all ranks can pass a barrier; `at` gives the next barriers of a rank, as name and transition.
pub fn count<I: Iterator<Item = (usize, usize)>>(nodes: usize, at: impl Fn(usize) -> I) -> u64 {
    names(&at).map(|name| count_of(nodes, &at, name)).fold(0, u64::saturating_add)
}

/// The transition of each rank in the way number `choice`, that of the last rank varies fastest; none when there are
/// no more.
pub fn nth<I: Iterator<Item = (usize, usize)>>(
    nodes: usize,
    at: impl Fn(usize) -> I,
    choice: u64,
) -> Result<Option<Vec<usize>>> {
    let mut left = choice;
    for name in names(&at) {
        let ways = count_of(nodes, &at, name);
        if left >= ways {
            left -= ways;
            continue;
        }
        let mut transitions = Vec::new();
        transitions.try_reserve_exact(nodes)?;
        for rank in (0..nodes).rev() {
            let own = of(&at, rank, name).count() as u64;
            transitions.extend(of(&at, rank, name).nth((left % own) as usize));
            left /= own;
        }
        transitions.reverse();
        return Ok(Some(transitions));
    }
    Ok(None)
}

/// The names that rank 0 gives, each once.
fn names<I: Iterator<Item = (usize, usize)>>(at: &impl Fn(usize) -> I) -> impl Iterator<Item = usize> {
    let new = |(place, (name, _))| (!at(0).take(place).any(|(other, _)| other == name)).then_some(name);
    at(0).enumerate().filter_map(new)
}

fn count_of<I: Iterator<Item = (usize, usize)>>(nodes: usize, at: &impl Fn(usize) -> I, name: usize) -> u64 {
    (0..nodes).map(|rank| of(at, rank, name).count() as u64).fold(1, u64::saturating_mul)
}

fn of<I: Iterator<Item = (usize, usize)>>(
    at: &impl Fn(usize) -> I,
    rank: usize,
    name: usize,
) -> impl Iterator<Item = usize> {
    at(rank).filter(move |&(its, _)| its == name).map(|(_, transition)| transition)
}
