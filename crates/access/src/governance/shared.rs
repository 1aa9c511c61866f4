use super::detector::Detector;
use super::finding::{Confidence, PiiKind};
use std::collections::BTreeSet;
use steward_core::ports::PersonalData;

/// The detector that comes with the program, for the engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SharedDetector;

impl PersonalData for SharedDetector {
    /// A given name alone is not enough. With a broken detector every text has everything: nothing gets out by that.
    fn kinds_in(&self, text: &str) -> Vec<PiiKind> {
        let detector = match Detector::shared() {
            Ok(detector) => detector,
            Err(error) => {
                tracing::error!(%error, "texts can't be searched for personal data");
                return PiiKind::ALL.to_vec();
            }
        };
        let sure = detector.find(text).into_iter().filter(|finding| finding.confidence >= Confidence::Likely);
        let kinds: BTreeSet<PiiKind> = sure.map(|finding| finding.kind).collect();
        kinds.into_iter().collect()
    }
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
