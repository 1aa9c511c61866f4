use std::collections::BTreeMap;

/// The scripted likelihood of a candidate; without one, shorter is likelier.
pub fn logprob(scores: &BTreeMap<String, f32>, candidate: &str) -> f32 {
    let length = u16::try_from(candidate.len()).unwrap_or(u16::MAX);
    scores.get(candidate).copied().unwrap_or(-f32::from(length))
}
