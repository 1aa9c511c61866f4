//! Finds personal data and secrets in text, and masks them.

mod announced;
mod check_digits;
mod context;
mod dates;
mod detector;
mod evidence;
mod finding;
mod identifiers;
mod lexicon;
mod mask;
mod name_parts;
mod names;
mod network;
mod numbers;
mod patterns;
mod payments;
mod phones;
mod scan;
mod secrets;
mod shared;
mod tables;

pub use detector::Detector;
pub use finding::{Confidence, DetectorError, Finding, PiiKind};
pub use mask::{Mask, MaskStyle, Masked, unmask};
pub use shared::SharedDetector;
