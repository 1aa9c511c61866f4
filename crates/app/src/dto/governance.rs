use serde::{Deserialize, Serialize};
use steward_core::governance::{Classification, Classified, DataAction, DataLabel, MaskedKind, PiiKind};
use utoipa::ToSchema;

/// A standard, and clauses of it that policies can refer to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Standard {
    /// Lower case.
    pub id: String,
    /// Short.
    pub name: String,
    /// In full.
    pub title: String,
    /// What it is for.
    pub scope: String,
    /// Those that are about what Steward does.
    #[serde(rename(deserialize = "clause"))]
    pub clauses: Vec<Clause>,
}

/// A clause of a standard.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Clause {
    /// The standard's id, a colon, and the number.
    pub id: String,
    /// As it is cited.
    pub number: String,
    /// What it is called.
    pub title: String,
    /// What it asks for.
    pub about: String,
    /// What it is about, in single words.
    pub topics: Vec<String>,
}

/// A clause that a policy refers to, with its standard.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ResolvedReference {
    /// The clause's id.
    pub id: String,
    /// The standard's short name.
    pub standard: String,
    /// The standard's full name.
    pub standard_title: String,
    /// As the clause is cited.
    pub number: String,
    /// What the clause is called.
    pub title: String,
    /// What it asks for.
    pub about: String,
}

/// A policy over data, with the clauses that it serves.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ResolvedPolicy {
    /// Its name.
    pub name: String,
    /// For data of this classification and above.
    pub from: Classification,
    /// What it does.
    pub action: DataAction,
    /// With `mask`: which kinds; empty for all but names of persons.
    pub mask_kinds: Vec<PiiKind>,
    /// Ids of clauses.
    pub references: Vec<String>,
    /// The clauses themselves; what is not known any more is left out.
    pub references_resolved: Vec<ResolvedReference>,
}

/// The labels and policies over data of an installation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DataRulesView {
    /// Counts changes from 0; a change names the version it was made from.
    pub version: u64,
    /// Where data of which classification is.
    pub labels: Vec<DataLabel>,
    /// What follows from it.
    pub policies: Vec<ResolvedPolicy>,
}

/// What a run would meet, to see what the rules say of it. Nothing is done.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DataCheck {
    /// Name of the agent.
    #[serde(default)]
    #[schema(max_length = 64)]
    pub agent: String,
    /// Name of the tool that is called.
    #[serde(default)]
    #[schema(max_length = 100)]
    pub tool: String,
    /// A path, a statement or another argument of the call.
    #[serde(default)]
    #[schema(max_length = 10_000)]
    pub argument: String,
    /// What the call says, or what somebody asks.
    #[serde(default)]
    #[schema(max_length = 100_000)]
    pub text: String,
}

/// What the rules say.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DataChecked {
    /// The most confidential that it is; null: nothing that has a label.
    #[schema(required)]
    pub classified: Option<Classified>,
    /// Names of the policies that would hold.
    pub policies: Vec<String>,
    /// Names of the connections that could still be asked.
    pub connections: Vec<String>,
    /// Personal data and secrets that are found in the text.
    pub personal: Vec<PiiKind>,
}

/// A text whose personal data and secrets are to be masked. Nothing of it is kept.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MaskInput {
    /// The text.
    #[schema(max_length = 1_000_000)]
    pub text: String,
    /// Which kinds; all if left out.
    #[serde(default)]
    #[schema(nullable = false)]
    pub kinds: Option<Vec<PiiKind>>,
}

/// A text without personal data and secrets, as far as they were found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct MaskedText {
    /// With `[email]` in the place of an email.
    pub text: String,
    /// What was masked.
    pub masked: Vec<MaskedKind>,
}
