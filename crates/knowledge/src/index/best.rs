//! The best of many candidates, found in one pass.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Ordered so that the worst one is on top of a heap; of equal scores the first place is the best.
#[derive(Clone, Copy, PartialEq)]
pub struct Candidate<P> {
    pub score: f32,
    pub place: P,
}

impl<P: Ord> Eq for Candidate<P> {}

impl<P: Ord> PartialOrd for Candidate<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P: Ord> Ord for Candidate<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.place.cmp(&other.place))
    }
}

/// The best so far.
pub struct Best<P> {
    heap: BinaryHeap<Candidate<P>>,
    most: usize,
    /// What a further one must exceed.
    pub least: f32,
}

impl<P: Ord> Best<P> {
    pub fn new(most: usize) -> Self {
        Self { heap: BinaryHeap::new(), most, least: f32::MIN }
    }

    #[inline]
    pub fn push(&mut self, score: f32, place: P) {
        self.heap.push(Candidate { score, place });
        if self.heap.len() > self.most {
            self.heap.pop();
        }
        if self.heap.len() == self.most {
            self.least = self.heap.peek().map_or(self.least, |worst| worst.score);
        }
    }

    pub fn is_full(&self) -> bool {
        self.heap.len() >= self.most
    }

    /// In no order.
    pub fn into_vec(self) -> Vec<Candidate<P>> {
        self.heap.into_vec()
    }
}
