//! What a detector reports.

use std::ops::Range;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PiiKind {
    Email,
    Phone,
    Iban,
    PaymentCard,
    /// A number that a state gave to a person: for taxes, social insurance, an identity card or a passport.
    NationalId,
    PersonName,
    IpAddress,
    /// A date that is said to be a birthday; other dates are none.
    DateOfBirth,
    /// A password, key, token, or an address with a password in it.
    Secret,
}

impl PiiKind {
    pub const ALL: [Self; 9] = [
        Self::Email,
        Self::Phone,
        Self::Iban,
        Self::PaymentCard,
        Self::NationalId,
        Self::PersonName,
        Self::IpAddress,
        Self::DateOfBirth,
        Self::Secret,
    ];

    /// As in JSON, and in masks.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Iban => "iban",
            Self::PaymentCard => "payment_card",
            Self::NationalId => "national_id",
            Self::PersonName => "person_name",
            Self::IpAddress => "ip_address",
            Self::DateOfBirth => "date_of_birth",
            Self::Secret => "secret",
        }
    }
}

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
