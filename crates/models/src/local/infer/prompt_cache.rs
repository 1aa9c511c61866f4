//! Tracks which prompts are in the KV cache, so that a new one evaluates only what is new in it.
//!
//! A run alternates between a few prompts (choosing a tool, filling arguments, answering) that share only their
//! beginning; in a single slot they would push each other out.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Placement {
    pub slot: usize,
    /// Tokens of the prompt that need no evaluation.
    pub keep: usize,
    /// Slot that shares its first `keep` tokens with `slot`, which is cleared before.
    pub share_from: Option<usize>,
    pub evict: Vec<usize>,
}

#[derive(Debug)]
struct Slot<T> {
    tokens: Vec<T>,
    used: u64,
}

#[derive(Debug)]
pub(super) struct Slots<T> {
    held: Vec<Slot<T>>,
    capacity: usize,
    clock: u64,
}

/// A slot that would lose more tokens than this is kept, and another one is used.
const WORTH_KEEPING: usize = 32;

impl<T: Copy + Eq> Slots<T> {
    /// `capacity`: tokens that the whole cache holds.
    pub fn new(count: usize, capacity: usize) -> Self {
        let held = (0..count).map(|_| Slot { tokens: Vec::new(), used: 0 }).collect();
        Self { held, capacity, clock: 0 }
    }

    /// Chooses a slot for a prompt and records it. The last token is evaluated again, since its output is needed.
    pub fn place(&mut self, prompt: &[T]) -> Placement {
        self.clock += 1;
        let most = prompt.len().saturating_sub(1);
        let (best, common) = self
            .held
            .iter()
            .enumerate()
            .map(|(i, slot)| (i, common_prefix(&slot.tokens, prompt).min(most)))
            .max_by_key(|(i, common)| (*common, std::cmp::Reverse(self.held[*i].used)))
            .unwrap_or((0, 0));
        let lost = self.held[best].tokens.len() - common;
        let oldest = self.oldest(&[best]);
        let (slot, share_from) = match oldest {
            Some(other) if lost > WORTH_KEEPING && common > 0 => (other, Some(best)),
            Some(other) if common == 0 && self.held[other].used < self.held[best].used => (other, None),
            _ => (best, None),
        };
        let kept = prompt[..common].to_vec();
        self.held[slot].tokens = kept;
        self.held[slot].used = self.clock;
        let evict = self.make_room(slot, prompt.len() - common);
        Placement { slot, keep: common, share_from, evict }
    }

    pub fn extend(&mut self, slot: usize, tokens: &[T]) {
        self.held[slot].tokens.extend_from_slice(tokens);
    }

    pub fn truncate(&mut self, slot: usize, keep: usize) {
        self.held[slot].tokens.truncate(keep);
    }

    pub fn len(&self, slot: usize) -> usize {
        self.held[slot].tokens.len()
    }

    /// Clears other slots until `more` tokens fit; returns them. Shared tokens count twice, so there is always room.
    pub fn make_room(&mut self, slot: usize, more: usize) -> Vec<usize> {
        let mut evict = Vec::new();
        while self.total() + more > self.capacity {
            let mut spared = evict.clone();
            spared.push(slot);
            let Some(victim) = self.oldest(&spared) else {
                break;
            };
            self.held[victim].tokens.clear();
            self.held[victim].used = 0;
            evict.push(victim);
        }
        evict
    }

    pub fn clear(&mut self) {
        for slot in &mut self.held {
            slot.tokens.clear();
            slot.used = 0;
        }
    }

    fn total(&self) -> usize {
        self.held.iter().map(|s| s.tokens.len()).sum()
    }

    fn oldest(&self, spared: &[usize]) -> Option<usize> {
        (0..self.held.len()).filter(|i| !spared.contains(i)).min_by_key(|i| self.held[*i].used)
    }
}

pub(super) fn common_prefix<T: Eq>(a: &[T], b: &[T]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(parts: &[(u32, usize)]) -> Vec<u32> {
        parts.iter().flat_map(|(value, times)| std::iter::repeat_n(*value, *times)).collect()
    }

    fn put(slots: &mut Slots<u32>, tokens: &[u32]) -> Placement {
        let placement = slots.place(tokens);
        slots.extend(placement.slot, &tokens[placement.keep..]);
        placement
    }

    #[test]
    fn a_longer_conversation_stays_in_its_slot() {
        let mut slots = Slots::new(3, 1000);
        let first = put(&mut slots, &prompt(&[(1, 50)]));
        assert_eq!(first.keep, 0);
        let second = put(&mut slots, &prompt(&[(1, 50), (2, 20)]));
        assert_eq!((second.slot, second.keep), (first.slot, 50));
        assert_eq!(second.share_from, None);
    }

    #[test]
    fn the_same_prompt_evaluates_one_token() {
        let mut slots = Slots::new(3, 1000);
        put(&mut slots, &prompt(&[(1, 50)]));
        assert_eq!(put(&mut slots, &prompt(&[(1, 50)])).keep, 49);
    }

    #[test]
    fn two_prompts_with_one_beginning_are_both_kept() {
        let mut slots = Slots::new(3, 1000);
        let a = put(&mut slots, &prompt(&[(1, 100), (2, 60)]));
        let b = put(&mut slots, &prompt(&[(1, 100), (3, 60)]));
        assert_eq!((b.keep, b.share_from), (100, Some(a.slot)));
        assert_ne!(a.slot, b.slot);
        assert_eq!(put(&mut slots, &prompt(&[(1, 100), (2, 60)])).keep, 159);
        assert_eq!(put(&mut slots, &prompt(&[(1, 100), (3, 60)])).keep, 159);
    }

    #[test]
    fn unrelated_prompts_take_the_oldest_slot() {
        let mut slots = Slots::new(2, 1000);
        let a = put(&mut slots, &prompt(&[(1, 50)]));
        let b = put(&mut slots, &prompt(&[(2, 50)]));
        assert_ne!(a.slot, b.slot);
        let c = put(&mut slots, &prompt(&[(3, 50)]));
        assert_eq!(c.slot, a.slot);
        assert_eq!(put(&mut slots, &prompt(&[(2, 50)])).keep, 49);
    }

    #[test]
    fn the_cache_never_overflows() {
        let mut slots = Slots::new(3, 120);
        put(&mut slots, &prompt(&[(1, 50)]));
        put(&mut slots, &prompt(&[(2, 50)]));
        let c = put(&mut slots, &prompt(&[(3, 60)]));
        assert_eq!(c.evict.len(), 1);
        assert!(slots.total() <= 120);
        let evicted = slots.make_room(c.slot, 60);
        assert!(slots.total() + 60 <= 120, "{evicted:?}");
    }
}
