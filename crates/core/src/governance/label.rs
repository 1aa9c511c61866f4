use super::{Classification, PiiKind};
use crate::AgentId;
use crate::workspace_path::{in_workspace, paths_in};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where data of a classification is. It matches what fits any of its lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DataLabel {
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
    /// Agents, by id: all that they do is about such data.
    #[serde(default)]
    #[schema(max_items = 200)]
    pub agents: Vec<AgentId>,
    /// Kinds of personal data and secrets: a text in which one is found is such data.
    #[serde(default)]
    pub personal: Vec<PiiKind>,
}

/// What a run meets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen<'a> {
    /// Its id, and the name that people are told.
    pub agent: Option<(AgentId, &'a str)>,
    /// Name of the tool that was called; empty: none.
    pub tool: &'a str,
    pub arguments: Option<&'a Value>,
    /// What it said, or a request.
    pub text: &'a str,
    pub workspace: &'a str,
    /// The folder of the workspace that paths may be relative to.
    pub folder: &'a str,
    /// Files of the workspace that it read and wrote, by their real paths.
    pub files: &'a [String],
    /// What of personal data was found in the text.
    pub personal: &'a [PiiKind],
}

impl Seen<'_> {
    /// All that may be paths of the workspace here.
    fn paths(&self) -> Vec<String> {
        let mut paths = paths_in(self.arguments.unwrap_or(&Value::Null), self.text, self.workspace);
        paths.extend(self.files.iter().filter_map(|path| in_workspace(path, self.workspace)));
        if !self.folder.is_empty() {
            paths.extend(paths.iter().map(|path| format!("{}/{path}", self.folder)).collect::<Vec<_>>());
        }
        paths
    }
}

impl DataLabel {
    /// What it was found in.
    pub(super) fn matches(&self, seen: &Seen<'_>) -> Option<String> {
        if let Some((_, name)) = seen.agent.filter(|(id, _)| self.agents.contains(id)) {
            return Some(format!("the agent {name}"));
        }
        if !seen.tool.is_empty() && self.tools.iter().any(|tool| tool == seen.tool) {
            return Some(format!("the tool {}", seen.tool));
        }
        if let Some(source) = self.matches_text(seen.text, seen.personal) {
            return Some(source);
        }
        let arguments = seen.arguments.unwrap_or(&Value::Null);
        if !self.paths.is_empty() {
            let paths = seen.paths();
            if let Some(path) = paths.into_iter().find(|path| self.paths.iter().any(|glob| fits(glob, path))) {
                return Some(path);
            }
        }
        let table = self.tables.iter().find(|table| names_table(arguments, table))?;
        Some(format!("the table {table}"))
    }

    /// What in a text it is found in. `personal`: what of personal data the text has.
    pub(super) fn matches_text(&self, text: &str, personal: &[PiiKind]) -> Option<String> {
        if let Some(mark) = self.marks.iter().find(|mark| has_word(text, mark)) {
            return Some(format!("a text with the mark {mark}"));
        }
        let kind = self.personal.iter().find(|kind| personal.contains(kind))?;
        Some(format!("a text with personal data ({})", kind.as_str()))
    }
}

/// Whether a statement among the arguments names a table, in whatever case and quotes.
fn names_table(arguments: &Value, table: &str) -> bool {
    match arguments {
        Value::String(text) => has_word(&text.to_lowercase(), &table.to_lowercase()),
        Value::Array(items) => items.iter().any(|item| names_table(item, table)),
        Value::Object(fields) => fields.values().any(|field| names_table(field, table)),
        _ => false,
    }
}

/// Whether `word` stands in `text` with no letter, digit or underscore on either side.
fn has_word(text: &str, word: &str) -> bool {
    let within = |c: char| c.is_alphanumeric() || c == '_';
    !word.is_empty()
        && text
            .match_indices(word)
            .any(|(at, _)| !text[..at].ends_with(within) && !text[at + word.len()..].starts_with(within))
}

/// Whether a path fits a pattern; both are plainly written. A folder that is named brings in what is below it.
fn fits(glob: &str, path: &str) -> bool {
    let parts = |text: &str| text.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (glob, path) = (parts(glob), parts(path));
    fits_parts(&glob, &path)
}

fn fits_parts(glob: &[String], path: &[String]) -> bool {
    match (glob, path) {
        // Whoever names the folder above, or the folder itself, may see all of it.
        (_, []) => true,
        ([], [_, ..]) => false,
        ([any], _) if any == "**" => true,
        ([any, rest @ ..], [_, below @ ..]) if any == "**" => {
            fits_parts(rest, path) || (!below.is_empty() && fits_parts(glob, below))
        }
        ([part, rest @ ..], [name, below @ ..]) => fits_name(part, name) && fits_parts(rest, below),
    }
}

fn fits_name(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern.eq_ignore_ascii_case(name);
    };
    let (name, first) = (name.to_lowercase(), first.to_lowercase());
    let Some(mut name) = name.strip_prefix(&first) else {
        return false;
    };
    let rest = rest.to_lowercase();
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = name.find(piece) else {
            return false;
        };
        name = &name[at + piece.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{DataLabel, Seen, fits};
    use crate::AgentId;
    use serde_json::{Value, json};
    use uuid::Uuid;

    #[test]
    fn paths_fit_patterns() {
        for (glob, path, expect) in [
            ("hr/**", "hr/a.csv", true),
            ("hr/**", "hr/2026/a.csv", true),
            ("hr/**", "hr", true),
            ("hr/**", "hrx/a.csv", false),
            ("hr/*.csv", "hr/a.CSV", true),
            ("hr/*.csv", "hr/a.txt", false),
            ("hr/*.csv", "hr/b/a.csv", false),
            ("**/pay*.xlsx", "x/y/payroll-26.xlsx", true),
            ("**/pay*.xlsx", "payroll.xlsx", true),
            ("**/pay*.xlsx", "repay.xlsx", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("clinic.db", "Clinic.db", true),
            ("hr/salaries.csv", "", true),
        ] {
            assert_eq!(fits(glob, path), expect, "{glob} {path}");
        }
    }

    #[test]
    fn what_was_read_counts_whatever_the_call_said() {
        let label: DataLabel =
            serde_json::from_value(json!({"name": "people", "classification": "confidential", "paths": ["hr/**"]}))
                .expect("a label");
        for (file, expect) in [("hr/pay.csv", true), ("/srv/w/hr/pay.csv", true), ("own.md", false), (".", true)] {
            let files = [file.to_owned()];
            let seen = Seen { tool: "terminal", files: &files, workspace: "/srv/w", ..Seen::default() };
            assert_eq!(label.matches(&seen).is_some(), expect, "{file}");
        }
    }

    #[test]
    fn a_label_matches_by_any_of_its_lists() {
        let label: DataLabel = serde_json::from_value(json!({
            "name": "people", "classification": "confidential", "paths": ["hr/**"], "tools": ["hr_see"],
            "tables": ["Patients"], "marks": ["CONFIDENTIAL"], "agents": [AgentId(Uuid::from_u128(1))],
        }))
        .expect("a label");
        let seen = |agent: &str, tool: &str, arguments: Value, text: &str| {
            let id = AgentId(Uuid::from_u128(if agent == "nurse" { 1 } else { 2 }));
            let agent = Some((id, agent));
            let seen = Seen {
                agent,
                tool,
                arguments: Some(&arguments),
                text,
                workspace: "/srv/w",
                folder: "",
                files: &[],
                personal: &[],
            };
            label.matches(&seen)
        };
        for (agent, tool, arguments, text, expect) in [
            ("desk", "read", json!({"path": "hr/pay.csv"}), "", Some("hr/pay.csv")),
            ("desk", "read", json!({"path": "/srv/w/./hr/pay.csv"}), "", Some("hr/pay.csv")),
            ("desk", "read", json!({"path": "shop/pay.csv"}), "", None),
            ("desk", "shell", json!({"command": "cat 'hr/pay.csv' | head"}), "", Some("hr/pay.csv")),
            ("desk", "grep", json!({"pattern": "x", "path": "."}), "hr/pay.csv:3: Ann 90000", Some("hr/pay.csv")),
            ("desk", "sql", json!({"query": {"sql": "select * from \"patients\" p"}}), "", Some("Patients")),
            ("desk", "sql", json!({"query": {"sql": "select * from outpatients_view"}}), "", None),
            ("desk", "hr_see", json!({}), "", Some("hr_see")),
            ("nurse", "", json!({}), "", Some("nurse")),
            ("desk", "read", json!({"path": "a"}), "Class: CONFIDENTIAL.", Some("CONFIDENTIAL")),
            ("desk", "read", json!({"path": "a"}), "keep it confidential, CONFIDENTIALLY", None),
        ] {
            let found = seen(agent, tool, arguments.clone(), text);
            assert_eq!(found.is_some(), expect.is_some(), "{tool} {arguments} {text}");
            assert!(found.unwrap_or_default().contains(expect.unwrap_or_default()), "{tool} {arguments} {text}");
        }
    }
}
