use super::detector::Detector;
use super::finding::{Confidence, Finding, PiiKind};
use std::collections::BTreeSet;
use steward_core::governance::FoundData;
use steward_core::ports::PersonalData;

/// The detector that comes with the program, for the engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SharedDetector;

impl PersonalData for SharedDetector {
    /// A given name alone is not enough. With a broken detector every text has everything: nothing gets out by that.
    fn kinds_in(&self, text: &str) -> Vec<PiiKind> {
        let Some(detector) = detector() else {
            return PiiKind::ALL.to_vec();
        };
        let kinds: BTreeSet<PiiKind> = sure(detector, text).map(|finding| finding.kind).collect();
        kinds.into_iter().collect()
    }

    fn find(&self, text: &str) -> Vec<FoundData> {
        let Some(detector) = detector() else {
            let all = PiiKind::ALL.map(|kind| FoundData { kind, range: 0..text.len() });
            return all.to_vec();
        };
        sure(detector, text).map(|finding| FoundData { kind: finding.kind, range: finding.range }).collect()
    }
}

fn detector() -> Option<&'static Detector> {
    match Detector::shared() {
        Ok(detector) => Some(detector),
        Err(error) => {
            tracing::error!(%error, "texts can't be searched for personal data");
            None
        }
    }
}

fn sure(detector: &Detector, text: &str) -> impl Iterator<Item = Finding> {
    detector.find(text).into_iter().filter(|finding| finding.confidence >= Confidence::Likely)
}

#[cfg(test)]
mod tests {
    use super::SharedDetector;
    use steward_core::governance::PiiKind;
    use steward_core::ports::PersonalData as _;

    #[test]
    fn kinds_are_told_once() {
        let text = "Write to ann@example.org or bob@example.org; account DE89 3704 0044 0532 0130 00.";
        assert_eq!(SharedDetector.kinds_in(text), [PiiKind::Email, PiiKind::Iban]);
        assert_eq!(SharedDetector.kinds_in("Two teas at 3.20, order 4711."), []);
    }
}
