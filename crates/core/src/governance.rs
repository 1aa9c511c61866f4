//! Which data is confidential, and what follows for runs that have seen it: labels say where such data lies, policies what
//! may still happen. What a run has seen stays with it, with its conversation, with runs that it delegates to and with the
//! files that it writes.

mod label;
mod mask_map;

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use strum::IntoStaticStr;

pub use label::{DataLabel, Seen};
pub use mask_map::{FoundData, MaskMap, each_text};

/// Where the labels and policies are kept among the settings.
pub const DATA_RULES_SETTING: &str = "governance.data_rules";

/// How closely data is to be kept; each level is above those before it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
    strum::Display,
    IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Classification {
    /// Anybody may see it.
    Public,
    /// For everybody in the organisation.
    Internal,
    /// For those who need it.
    Confidential,
    /// For few, by name.
    Restricted,
}

impl Classification {
    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Kinds of personal data and secrets that are found in text.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PiiKind {
    /// An email address.
    Email,
    /// A telephone number.
    Phone,
    /// An account number.
    Iban,
    /// The number of a payment card.
    PaymentCard,
    /// A number that a state gave to a person: for taxes, social insurance, an identity card or a passport.
    NationalId,
    /// The name of a person.
    PersonName,
    /// A network address.
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

    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a run has seen, and by which label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Classified {
    /// How closely it is to be kept.
    pub classification: Classification,
    /// Name of the label that says so.
    pub label: String,
    /// What it was seen in: a file, a tool, the request.
    pub source: String,
}

/// What a policy does with runs that have seen such data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DataAction {
    /// Only connections in the house are asked.
    LocalOnly,
    /// Calls that send something out wait for a person, each by itself.
    AskOutside,
    /// Calls that send something out are refused.
    DenyOutside,
    /// Connections outside the house are sent tokens in the place of personal data; those in the house see it.
    Mask,
    /// The run ends before a model sees the data.
    Block,
}

impl DataAction {
    /// Whether it is about what models see; else it is about what tools send out.
    pub fn is_about_models(self) -> bool {
        matches!(self, Self::LocalOnly | Self::Mask | Self::Block)
    }
}

/// What follows from a classification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DataPolicy {
    /// Its name, unique; shown wherever it decides.
    #[schema(min_length = 1, max_length = 80)]
    pub name: String,
    /// For data of this classification and above.
    pub from: Classification,
    /// What it does.
    pub action: DataAction,
    /// With `mask`: which kinds; empty for all but names of persons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 9)]
    pub mask_kinds: Vec<PiiKind>,
    /// Ids of the clauses of standards that it serves.
    #[serde(default)]
    #[schema(max_items = 500)]
    pub references: Vec<String>,
}

impl DataPolicy {
    /// The kinds of personal data that it masks.
    pub fn masked_kinds(&self) -> Vec<PiiKind> {
        if self.mask_kinds.is_empty() {
            return PiiKind::ALL.into_iter().filter(|kind| *kind != PiiKind::PersonName).collect();
        }
        self.mask_kinds.clone()
    }
}

/// How often something of a kind was masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MaskedKind {
    /// The kind.
    pub kind: PiiKind,
    /// How often.
    pub count: u64,
}

/// The labels and policies of an installation. `version` counts their changes, so that two administrators don't overwrite
/// each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DataRules {
    /// Counts changes from 0; a change names the version it was made from.
    pub version: u64,
    /// Where data of which classification is.
    #[serde(default)]
    #[schema(max_items = 200)]
    pub labels: Vec<DataLabel>,
    /// What follows from it.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub policies: Vec<DataPolicy>,
}

impl DataRules {
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.policies.is_empty()
    }

    /// Whether any label is for personal data, so that texts have to be searched for it.
    pub fn looks_for_personal_data(&self) -> bool {
        self.labels.iter().any(|label| !label.personal.is_empty())
    }

    /// Whether any label is for files by their paths, so that those which a program opens have to be told.
    pub fn label_files(&self) -> bool {
        self.labels.iter().any(|label| !label.paths.is_empty())
    }

    /// The highest classification of what was seen.
    pub fn classify(&self, seen: &Seen<'_>) -> Option<Classified> {
        self.highest(|label| label.matches(seen))
    }

    /// The highest classification of a text, by what stands in it.
    pub fn classify_text(&self, text: &str, personal: &[PiiKind]) -> Option<Classified> {
        self.highest(|label| label.matches_text(text, personal))
    }

    fn highest(&self, source_of: impl Fn(&DataLabel) -> Option<String>) -> Option<Classified> {
        let labels = self.labels.iter().filter_map(|label| Some((label, source_of(label)?)));
        labels.max_by_key(|(label, _)| label.classification).map(|(label, source)| Classified {
            classification: label.classification,
            label: label.name.clone(),
            source,
        })
    }

    /// Whether texts alone can have a classification that a policy keeps from models.
    pub fn keeps_texts(&self) -> bool {
        let by_text = |label: &DataLabel| !label.marks.is_empty() || !label.personal.is_empty();
        self.labels.iter().any(by_text) && self.policies.iter().any(|policy| policy.action.is_about_models())
    }

    /// The first policy that does this with data of such a classification.
    pub fn demanding(&self, action: DataAction, classification: Classification) -> Option<&DataPolicy> {
        self.policies.iter().find(|policy| policy.action == action && policy.from <= classification)
    }

    /// The names of all policies that hold for such data.
    pub fn holding(&self, classification: Classification) -> Vec<String> {
        self.policies.iter().filter(|policy| policy.from <= classification).map(|policy| policy.name.clone()).collect()
    }

    /// The policy that keeps data of this classification from a connection; `None`: it may be asked.
    pub fn keeps_from(&self, in_house: bool, classification: Classification) -> Option<&DataPolicy> {
        self.demanding(DataAction::LocalOnly, classification).filter(|_| !in_house)
    }

    /// The same where nothing can be masked on the way.
    pub fn keeps_whole_from(&self, in_house: bool, classification: Classification) -> Option<&DataPolicy> {
        let masks = || self.demanding(DataAction::Mask, classification).filter(|_| !in_house);
        self.keeps_from(in_house, classification).or_else(masks)
    }

    /// The first policy that masks such data, and the kinds of all that do.
    pub fn masks(&self, classification: Classification) -> Option<(&DataPolicy, Vec<PiiKind>)> {
        let first = self.demanding(DataAction::Mask, classification)?;
        let all = self.policies.iter().filter(|one| one.action == DataAction::Mask && one.from <= classification);
        let kinds: BTreeSet<PiiKind> = all.flat_map(DataPolicy::masked_kinds).collect();
        Some((first, kinds.into_iter().collect()))
    }
}

/// The higher of two.
pub fn higher(one: Option<Classified>, other: Option<Classified>) -> Option<Classified> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.classification > one.classification { other } else { one }),
        (one, other) => one.or(other),
    }
}
