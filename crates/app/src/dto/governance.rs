use crate::dto::named::NamedRef;
use serde::{Deserialize, Serialize};
use steward_core::governance::{Classification, Classified, DataAction, DataPolicy, MaskedKind, PiiKind};
use steward_core::spreadsheet::quoted_cell;
use utoipa::ToSchema;
use uuid::Uuid;

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

/// Where data of a classification is. It matches what fits any of its lists.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DataLabelInput {
    /// Its name, unique; shown wherever it decides.
    #[schema(min_length = 1, max_length = 80)]
    pub name: String,
    /// How closely it is to be kept.
    pub classification: Classification,
    /// Files of the workspace: `hr/**` is all below a folder, `*` stands for part of a name.
    #[serde(default)]
    #[schema(max_items = 200)]
    pub paths: Vec<String>,
    /// Names of tools and skills whose results are such data.
    #[serde(default)]
    #[schema(max_items = 200)]
    pub tools: Vec<String>,
    /// Names of tables: a statement that names one reads such data.
    #[serde(default)]
    #[schema(max_items = 200)]
    pub tables: Vec<String>,
    /// Words that mark such data where they stand in it, written as here: `CONFIDENTIAL`.
    #[serde(default)]
    #[schema(max_items = 200)]
    pub marks: Vec<String>,
    /// Agents, by id, or by the name that one has now: all that they do is about such data.
    #[serde(default)]
    #[schema(max_items = 200)]
    pub agents: Vec<String>,
    /// Kinds of personal data and secrets: a text in which one is found is such data.
    #[serde(default)]
    pub personal: Vec<PiiKind>,
}

/// The labels and policies over data of an installation.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DataRulesInput {
    /// That of the rules that were changed.
    pub version: u64,
    /// Where data of which classification is.
    #[serde(default)]
    #[schema(max_items = 200)]
    pub labels: Vec<DataLabelInput>,
    /// What follows from it.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub policies: Vec<DataPolicy>,
}

/// A label as it is kept.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DataLabelView {
    /// Its name, unique; shown wherever it decides.
    pub name: String,
    /// How closely it is to be kept.
    pub classification: Classification,
    /// Files of the workspace.
    pub paths: Vec<String>,
    /// Names of tools and skills whose results are such data.
    pub tools: Vec<String>,
    /// Names of tables.
    pub tables: Vec<String>,
    /// Words that mark such data where they stand in it.
    pub marks: Vec<String>,
    /// Agents: all that they do is about such data.
    pub agents: Vec<NamedRef>,
    /// Kinds of personal data and secrets.
    pub personal: Vec<PiiKind>,
}

/// The labels and policies over data of an installation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DataRulesView {
    /// Counts changes from 0; a change names the version it was made from.
    pub version: u64,
    /// Where data of which classification is.
    pub labels: Vec<DataLabelView>,
    /// What follows from it.
    pub policies: Vec<ResolvedPolicy>,
}

/// What a run would meet, to see what the rules say of it. Nothing is done.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DataCheck {
    /// Name or id of the agent.
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
    #[schema(nullable = false)]
    pub kinds: Option<Vec<PiiKind>>,
    /// Whether the values can be put back for a while: tokens in their place, and the list of them kept sealed.
    #[serde(default)]
    pub reversible: bool,
    /// For how many hours; a day if left out.
    #[schema(nullable = false, minimum = 1, maximum = 720)]
    pub hours: Option<u32>,
}

/// A text without personal data and secrets, as far as they were found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct MaskedText {
    /// With `[email]` in the place of an email.
    pub text: String,
    /// What was masked.
    pub masked: Vec<MaskedKind>,
    /// Id of the sealed list of tokens; null: nothing can be put back.
    #[schema(required)]
    pub map: Option<Uuid>,
    /// Until when, milliseconds since 1970 UTC.
    #[schema(required)]
    pub ends_at: Option<i64>,
}

/// A text whose tokens are to be replaced by what they stand for.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UnmaskInput {
    /// Id of the list of tokens that masking answered with.
    pub map: Uuid,
    /// A text with tokens.
    #[schema(max_length = 1_000_000)]
    pub text: String,
}

/// A text with the values back.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UnmaskedText {
    /// The text.
    pub text: String,
}

/// A name and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Named {
    /// The name.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// What a policy over data has done in a time. Of each run it counts what it did first by label, agent and week.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PolicyReport {
    /// Name of the policy.
    pub policy: String,
    /// What it does.
    pub action: DataAction,
    /// From this time on, milliseconds since 1970 UTC.
    pub from: i64,
    /// Before this time.
    pub to: i64,
    /// Runs that it held for.
    pub runs: u64,
    /// Calls of models, and requests to connections, that it refused.
    pub blocked: u64,
    /// Requests that went to a connection in the house because of it.
    pub routed: u64,
    /// Calls of models outside that were sent tokens because of it.
    pub masked_calls: u64,
    /// How often something of a kind was masked in them.
    pub masked: Vec<MaskedKind>,
    /// By the label that was met.
    pub by_label: Vec<Named>,
    /// By agent.
    pub by_agent: Vec<Named>,
    /// By week; the names are Mondays.
    pub by_week: Vec<Named>,
    /// Clauses of standards that it serves.
    pub references_resolved: Vec<ResolvedReference>,
    /// Whether all entries of the time were looked at.
    pub complete: bool,
}

impl PolicyReport {
    /// As a table of two columns under a group.
    pub fn csv(&self) -> String {
        let mut rows = vec![
            ("sum", "runs".to_owned(), self.runs),
            ("sum", "blocked".to_owned(), self.blocked),
            ("sum", "routed".to_owned(), self.routed),
            ("sum", "masked calls".to_owned(), self.masked_calls),
        ];
        rows.extend(self.masked.iter().map(|one| ("masked", one.kind.as_str().to_owned(), one.count)));
        for (group, list) in [("label", &self.by_label), ("agent", &self.by_agent), ("week", &self.by_week)] {
            rows.extend(list.iter().map(|one| (group, one.name.clone(), one.count)));
        }
        rows.extend(
            self.references_resolved.iter().map(|one| ("clause", format!("{} {}", one.standard, one.number), 1)),
        );
        let lines = rows.iter().map(|(group, name, count)| format!("{group},{},{count}\r\n", quoted_cell(name)));
        std::iter::once("group,name,count\r\n".to_owned()).chain(lines).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Named, PolicyReport};
    use steward_core::governance::DataAction;

    #[test]
    fn no_name_of_a_report_is_a_formula() {
        let named = |name: &str| vec![Named { name: name.to_owned(), count: 2 }];
        let report = PolicyReport {
            policy: "p".to_owned(),
            action: DataAction::Mask,
            from: 0,
            to: 1,
            runs: 1,
            blocked: 0,
            routed: 0,
            masked_calls: 0,
            masked: Vec::new(),
            by_label: named("\t=1"),
            by_agent: named(" @SUM(A1) \"x\""),
            by_week: named("2026-11-23"),
            references_resolved: Vec::new(),
            complete: true,
        };
        let expect = "group,name,count\r\n\
            sum,\"runs\",1\r\nsum,\"blocked\",0\r\nsum,\"routed\",0\r\nsum,\"masked calls\",0\r\n\
            label,\"'\t=1\",2\r\nagent,\"' @SUM(A1) \"\"x\"\"\",2\r\nweek,\"2026-11-23\",2\r\n";
        assert_eq!(report.csv(), expect);
    }
}
