//! What a detector reports.

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use steward_core::governance::PiiKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// It looks like one, such as a given name alone.
    Possible,
    /// Its form and the words around it agree.
    Likely,
    /// Its check digits are right, or its form has no other meaning.
    Certain,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: PiiKind,
    /// In bytes of the text.
    pub range: Range<usize>,
    pub confidence: Confidence,
}

impl Finding {
    pub(super) const fn new(kind: PiiKind, range: Range<usize>, confidence: Confidence) -> Self {
        Self { kind, range, confidence }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DetectorError {
    /// A data file of this program is broken.
    #[error("the detectors' data \"{0}\" is broken: {1}")]
    Data(&'static str, String),
}
