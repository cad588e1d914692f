//! Sets of addresses as ranges.

/// Ranges in order that neither meet nor overlap.
#[derive(Clone, Debug, Default)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    pub fn new(mut all: Vec<(u64, u64)>) -> Self {
        all.sort_unstable();
        let mut found: Vec<(u64, u64)> = Vec::new();
        for (begin, end) in all {
            match found.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => found.push((begin, end)),
            }
        }
        Ranges(found)
    }

    pub fn joined(&self, other: &Ranges) -> Ranges {
        Ranges::new(self.0.iter().chain(&other.0).copied().collect())
    }

    /// Those that have an address from `begin` on and before `end`.
    pub fn in_reach(&self, begin: u64, end: u64) -> &[(u64, u64)] {
        let first = self.0.partition_point(|range| range.1 <= begin);
        let last = self.0.partition_point(|range| range.0 < end);
        &self.0[first..last.max(first)]
    }

    pub fn meets(&self, begin: u64, end: u64) -> bool {
        !self.in_reach(begin, end).is_empty()
    }
}

/// `size` bytes at `address`, and again so far on, so many `rounds`.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub address: u64,
    pub size: u64,
    pub stride: i64,
    pub rounds: u64,
}

impl Row {
    pub fn at(&self, round: u64) -> u64 {
        self.address.wrapping_add_signed(self.stride.wrapping_mul(round as i64))
    }

    /// From the least address to behind the greatest.
    pub fn hull(&self) -> (u64, u64) {
        let (first, last) = (self.address, self.at(self.rounds - 1));
        (first.min(last), first.max(last) + self.size.max(1))
    }

    /// The rounds that reach into a range: from the first to behind the last.
    pub fn rounds_in(&self, (begin, end): (u64, u64)) -> (u64, u64) {
        let size = self.size.max(1);
        let (low, high) = self.hull();
        if end <= low || high <= begin {
            return (0, 0);
        }
        if self.stride == 0 {
            return (0, self.rounds);
        }
        let step = self.stride.unsigned_abs();
        // Counted from the least address on.
        let first = (begin + 1).saturating_sub(low + size).div_ceil(step);
        let behind = (end - low).div_ceil(step).min(self.rounds);
        if first >= behind {
            return (0, 0);
        }
        if self.stride > 0 { (first, behind) } else { (self.rounds - behind, self.rounds - first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_those_that_reach_into_a_range() {
        for stride in -5..=5_i64 {
            for size in 0..4 {
                for rounds in 1..5 {
                    let row = Row { address: 40, size, stride, rounds };
                    for begin in 10..70 {
                        for end in begin + 1..72 {
                            let inside = |round: &u64| row.at(*round) < end && begin < row.at(*round) + size.max(1);
                            let wanted: Vec<u64> = (0..rounds).filter(inside).collect();
                            let (first, behind) = row.rounds_in((begin, end));
                            assert_eq!((first..behind).collect::<Vec<_>>(), wanted, "{row:?} {begin} {end}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn ranges_that_overlap_are_one() {
        let ranges = Ranges::new(vec![(5, 7), (1, 2), (6, 9), (2, 3)]);
        assert_eq!(ranges.0, [(1, 3), (5, 9)]);
        assert!(ranges.meets(8, 9) && ranges.meets(0, 2) && !ranges.meets(3, 5) && !ranges.meets(9, 20));
        assert_eq!(ranges.joined(&Ranges::new(vec![(3, 5)])).0, [(1, 9)]);
    }
}
