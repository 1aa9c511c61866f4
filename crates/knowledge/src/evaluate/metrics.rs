//! How good rankings are, by judgements of people.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// For each query, how relevant documents are to it: 0 is not, more is more.
pub type Judgements = BTreeMap<String, HashMap<String, u32>>;

/// For each query the documents found, best first.
pub type Rankings = BTreeMap<String, Vec<String>>;

/// Means over all queries that have a relevant document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    pub queries: usize,
    pub ndcg_at_10: f64,
    pub recall_at_10: f64,
    pub recall_at_100: f64,
    /// One through the rank of the first relevant document, of the first 100.
    pub mrr: f64,
}

/// A query without one counts as having found nothing, and a
/// document that stands twice counts once.
pub fn quality(rankings: &Rankings, judgements: &Judgements) -> Quality {
    let mut sum = Quality::default();
    for (query, relevant) in judgements {
        if relevant.values().all(|gain| *gain == 0) {
            continue;
        }
        let mut seen = HashSet::new();
        let found = rankings.get(query).map(Vec::as_slice).unwrap_or_default();
        let found: Vec<u32> = found
            .iter()
            .filter(|document| seen.insert(document.as_str()))
            .map(|document| relevant.get(document.as_str()).copied().unwrap_or(0))
            .take(100)
            .collect();
        sum.queries += 1;
        sum.ndcg_at_10 += ndcg(&found, relevant, 10);
        sum.recall_at_10 += recall(&found, relevant, 10);
        sum.recall_at_100 += recall(&found, relevant, 100);
        let first = found.iter().position(|gain| *gain > 0);
        sum.mrr += first.map_or(0.0, |rank| 1.0 / float(rank + 1));
    }
    let queries = float(sum.queries.max(1));
    Quality {
        queries: sum.queries,
        ndcg_at_10: sum.ndcg_at_10 / queries,
        recall_at_10: sum.recall_at_10 / queries,
        recall_at_100: sum.recall_at_100 / queries,
        mrr: sum.mrr / queries,
    }
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn float(count: usize) -> f64 {
    count as f64
}

fn discounted(gains: impl Iterator<Item = u32>, most: usize) -> f64 {
    gains.take(most).enumerate().map(|(rank, gain)| f64::from(gain) / float(rank + 2).log2()).sum()
}

fn ndcg(found: &[u32], relevant: &HashMap<String, u32>, most: usize) -> f64 {
    let mut best: Vec<u32> = relevant.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    discounted(found.iter().copied(), most) / discounted(best.into_iter(), most)
}

fn recall(found: &[u32], relevant: &HashMap<String, u32>, most: usize) -> f64 {
    let all = relevant.values().filter(|gain| **gain > 0).count();
    float(found.iter().take(most).filter(|gain| **gain > 0).count()) / float(all)
}

#[cfg(test)]
mod tests {
    use super::{Judgements, Quality, Rankings, quality};
    use std::collections::HashMap;

    fn check(found: &[&str], relevant: &[(&str, u32)], expected: (f64, f64, f64, f64)) {
        let judgements: Judgements =
            [("q".to_owned(), relevant.iter().map(|(name, gain)| ((*name).to_owned(), *gain)).collect())].into();
        let found = found.iter().map(|name| (*name).to_owned()).collect();
        let Quality { ndcg_at_10, recall_at_10, recall_at_100, mrr, .. } =
            quality(&[("q".to_owned(), found)].into(), &judgements);
        for (is, expected) in
            [(ndcg_at_10, expected.0), (recall_at_10, expected.1), (recall_at_100, expected.2), (mrr, expected.3)]
        {
            assert!((is - expected).abs() < 1e-4, "{is} is not {expected}");
        }
    }

    #[test]
    fn known_rankings_have_known_figures() {
        check(&["a"], &[("a", 1)], (1.0, 1.0, 1.0, 1.0));
        check(&["x", "a"], &[("a", 1)], (0.6309, 1.0, 1.0, 0.5));
        check(&["a", "x", "b"], &[("a", 1), ("b", 1)], (0.9197, 1.0, 1.0, 1.0));
        check(&["b", "a"], &[("a", 2), ("b", 1)], (0.8597, 1.0, 1.0, 1.0));
        check(&["a", "a", "b"], &[("a", 1), ("b", 1)], (1.0, 1.0, 1.0, 1.0));
        check(&["x"], &[("a", 1)], (0.0, 0.0, 0.0, 0.0));
        let late: Vec<String> = (0..20).map(|at| format!("x{at}")).chain(["a".to_owned()]).collect();
        check(&late.iter().map(String::as_str).collect::<Vec<_>>(), &[("a", 1)], (0.0, 0.0, 1.0, 1.0 / 21.0));
    }

    #[test]
    fn queries_without_a_ranking_count_and_those_without_judgements_do_not() {
        let judge = |gain| HashMap::from([("a".to_owned(), gain)]);
        let judgements: Judgements =
            [("one".to_owned(), judge(1)), ("none".to_owned(), judge(1)), ("idle".to_owned(), judge(0))].into();
        let found = quality(&[("one".to_owned(), vec!["a".to_owned()])].into(), &judgements);
        assert_eq!(found.queries, 2);
        assert!((found.mrr - 0.5).abs() < 1e-9);
        assert_eq!(quality(&Rankings::new(), &Judgements::new()), Quality::default());
    }
}
