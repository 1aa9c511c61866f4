//! Receipts: what an answer claims to have done, and what proves it.
//!
//! [`check`] finds the sentences and clauses in which the assistant claims an act of its own, and links each to the calls
//! of the run that prove it. Where no tool has run, two small classifiers decide whether there is such a claim at all;
//! else plain rules over words that are data (`data/receipts`). No model, no I/O, linear in the length of the answer.

mod check;
mod clause;
mod detect;
mod learned;
mod lexicon;
mod link;
mod object;
mod promise;
mod text;
mod token;
mod verb;
mod voice;
mod why;

use crate::tool::Receipt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use check::wants_tools;
pub use check::{check, false_completion};

/// Whether the claims of an answer are proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Each claim has a receipt.
    Verified,
    /// At least one has none.
    Unverified,
    /// It claims nothing.
    NoClaims,
}

impl Receipts {
    /// The verdict on these claims: a proved one names the calls that prove it.
    pub(crate) fn of(claims: Vec<Claim>) -> Self {
        let verdict = if claims.is_empty() {
            Verdict::NoClaims
        } else if claims.iter().all(|claim| !claim.calls.is_empty()) {
            Verdict::Verified
        } else {
            Verdict::Unverified
        };
        Self { verdict, claims }
    }
}

/// One claim of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Claim {
    /// The sentence or clause, as written.
    pub text: String,
    /// Where it begins in the answer, bytes.
    pub start: usize,
    /// Where it ends, bytes.
    pub end: usize,
    /// The kind of action claimed, such as `write`, `delete`, `send`, `run`.
    pub action: String,
    /// The calls that prove it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// Why it counts as proved or not, for a person.
    pub why: String,
}

/// The claims of an answer and the verdict on them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Receipts {
    /// The verdict.
    pub verdict: Verdict,
    /// The claims, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
}

/// One call of the run, as far as it can prove something.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub call_id: &'a str,
    pub tool: &'a str,
    pub arguments: &'a Value,
    pub receipt: Option<&'a Receipt>,
    pub ok: bool,
    pub undone: bool,
    pub content: &'a str,
}
