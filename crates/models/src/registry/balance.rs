//! Who goes first among equals. No randomness: the same calls give the same turns.

use std::collections::BTreeMap;

use steward_core::ConnectionId;
use steward_core::model::Connection;

/// Whose turn it is, by model name: smooth weighted round robin, which spreads the turns of a heavy
/// one instead of giving them all at once.
#[derive(Debug, Default)]
pub(super) struct Turns {
    by_model: BTreeMap<String, BTreeMap<ConnectionId, i64>>,
}

impl Turns {
    /// Which of `equals` goes first; it is as if all were asked by turns, each as often as its weight
    /// says. `None` if all have weight 0.
    pub fn take(&mut self, model: &str, equals: &[&Connection]) -> Option<usize> {
        let turns = self.by_model.entry(model.to_owned()).or_default();
        let total: i64 = equals.iter().map(|one| i64::from(one.weight)).sum();
        let mut best: Option<(usize, i64)> = None;
        for (at, one) in equals.iter().enumerate().filter(|(_, one)| one.weight > 0) {
            let credit = turns.entry(one.id).or_default();
            *credit += i64::from(one.weight);
            if best.is_none_or(|(_, most)| *credit > most) {
                best = Some((at, *credit));
            }
        }
        let (at, _) = best?;
        if let Some(credit) = turns.get_mut(&equals[at].id) {
            *credit -= total;
        }
        Some(at)
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.by_model.clear();
    }
}

/// Puts `first` before the others, and those that are only a fallback last.
pub(super) fn by_turn(equals: &[&Connection], first: Option<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..equals.len()).collect();
    order.sort_by_key(|at| (Some(*at) != first, equals[*at].weight == 0));
    order
}

/// The quickest of late first; one that was not measured of late goes before, so that it is. Those
/// that are only a fallback come last.
pub(super) fn by_latency(equals: &[&Connection], recent_ms: impl Fn(ConnectionId) -> Option<u64>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..equals.len()).collect();
    order.sort_by_key(|at| (equals[*at].weight == 0, recent_ms(equals[*at].id).unwrap_or(0)));
    order
}
