//! Which subject asks for what, and the answers' fields as programs of OOS know them.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use steward_app::dto::domains::{SchemaSearch, TextInput};
use steward_app::dto::graphql::{GraphQlAnswer, GraphQlBody};
use steward_app::{App, AppError, Caller, ErrorKind};
use steward_core::datasource::DomainTextKind;

/// To be subscribed to. Others below `oos.cmd` may be answered by other programs; those of these families that there are
/// not get an error.
pub const NATS_SUBJECTS: [&str; 5] =
    ["oos.cmd.global", "oos.cmd.search", "oos.cmd.gql.*", "oos.cmd.domain.*", "oos.cmd.view.*"];
const PREFIX: &str = "oos.cmd.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// The standing instructions.
    Global,
    Search,
    /// By GraphQL.
    Query,
    List(DomainTextKind),
    Load(DomainTextKind),
    Save(DomainTextKind),
    Delete(DomainTextKind),
}

/// Which text.
#[derive(Deserialize)]
struct Named {
    id: String,
}

/// A text under its name.
#[derive(Deserialize)]
struct SentText {
    id: String,
    source: String,
    /// The version that was read; left out: whatever is there is replaced.
    version: Option<u64>,
}

impl Command {
    pub fn of(subject: &str) -> Result<Self, AppError> {
        let name = subject.strip_prefix(PREFIX).unwrap_or(subject);
        let (family, verb) = name.split_once('.').unwrap_or((name, ""));
        let kind = match family {
            "domain" => Some(DomainTextKind::Domain),
            "view" => Some(DomainTextKind::View),
            _ => None,
        };
        let command = match (family, verb, kind) {
            ("global", "", _) => Some(Self::Global),
            ("search", "", _) => Some(Self::Search),
            ("gql", "query", _) => Some(Self::Query),
            (_, "list", Some(kind)) => Some(Self::List(kind)),
            (_, "load", Some(kind)) => Some(Self::Load(kind)),
            (_, "save", Some(kind)) => Some(Self::Save(kind)),
            (_, "delete", Some(kind)) => Some(Self::Delete(kind)),
            _ => None,
        };
        command.ok_or_else(|| {
            let hint = if name == "gql.mutation" {
                "changes of records are proposed by POST /api/record-changes, and a person confirms them"
            } else {
                "there are oos.cmd.global, oos.cmd.search, oos.cmd.gql.query, and list, load, save and delete of oos.cmd.domain and oos.cmd.view"
            };
            AppError::new(ErrorKind::NotFound, format!("there is no subject `{subject}`"), hint)
        })
    }

    /// The name of what it does in the audit trail, as over the API; `None`: it changes nothing.
    pub fn action(self) -> Option<&'static str> {
        match self {
            Self::Save(_) => Some("domains.texts.change"),
            Self::Delete(_) => Some("domains.texts.delete"),
            _ => None,
        }
    }

    /// What it is done to, such as `domain/customer`.
    pub fn target(self, body: &Map<String, Value>) -> String {
        let id = body.get("id").and_then(Value::as_str).unwrap_or_default();
        match self {
            Self::Load(kind) | Self::Save(kind) | Self::Delete(kind) => format!("{kind}/{id}"),
            _ => String::new(),
        }
    }

    /// No payload at all is an empty object.
    pub fn body(self, payload: &[u8]) -> Result<Map<String, Value>, AppError> {
        let payload = payload.trim_ascii();
        if payload.is_empty() {
            return Ok(Map::new());
        }
        serde_json::from_slice(payload).map_err(|error| self.unreadable(&error))
    }

    pub async fn run(self, app: &App, caller: &Caller, body: Map<String, Value>) -> Result<Value, AppError> {
        match self {
            Self::Global => {
                let told = app.told_instructions(caller).await?.into_iter();
                let prompts: Vec<Value> = told.map(|one| json!({"name": one.name, "chunk": one.text})).collect();
                Ok(json!({"prompts": prompts}))
            }
            Self::Search => {
                let wanted: SchemaSearch = self.read(body)?;
                let found = app.search_domains(caller, &wanted).await?.into_iter();
                // Scores are from 0 to 2 as well, but the nearest has the greatest.
                let hits: Vec<Value> = found
                    .map(|one| json!({"context_name": one.domain, "chunk": one.text, "distance": 2.0 - one.score}))
                    .collect();
                Ok(json!({"hits": hits}))
            }
            Self::Query => {
                let asked: GraphQlBody = self.read(body)?;
                answered(app.graphql(caller, asked).await?.into())
            }
            Self::List(kind) => {
                let texts = app.domain_texts(caller).await?.into_iter();
                let ids: Vec<String> = texts.filter(|text| text.kind == kind).map(|text| text.name).collect();
                Ok(json!({"ids": ids}))
            }
            Self::Load(kind) => {
                let Named { id } = self.read(body)?;
                let text = app.domain_text(caller, kind, &id).await?;
                Ok(json!({"source": text.text, "version": text.version}))
            }
            Self::Save(kind) => {
                let SentText { id, source, version } = self.read(body)?;
                let saved = app.save_domain_text(caller, kind, id, TextInput { text: source, version }).await?;
                Ok(json!({"version": saved.text.version, "diff": saved.diff, "warnings": saved.warnings}))
            }
            Self::Delete(kind) => {
                let Named { id } = self.read(body)?;
                app.remove_domain_text(caller, kind, &id).await?;
                Ok(json!({}))
            }
        }
    }

    fn read<T: DeserializeOwned>(self, body: Map<String, Value>) -> Result<T, AppError> {
        serde_json::from_value(Value::Object(body)).map_err(|error| self.unreadable(&error))
    }

    fn unreadable(self, error: &serde_json::Error) -> AppError {
        let example = match self {
            Self::Global | Self::List(_) => "{}",
            Self::Search => r#"{"query": "open invoices", "limit": 5}"#,
            Self::Query => r#"{"query": "{ customer { name } }"}"#,
            Self::Load(_) | Self::Delete(_) => r#"{"id": "customer"}"#,
            Self::Save(_) => r#"{"id": "customer", "source": "domain customer from …"}"#,
        };
        let title = format!("the payload can't be read: {error}");
        AppError::new(ErrorKind::Invalid, title, format!("send JSON such as {example}"))
    }
}

/// An answer of GraphQL, with its errors also in one text.
fn answered(answer: GraphQlAnswer) -> Result<Value, AppError> {
    let errors = answer.errors.as_array().map(Vec::as_slice).unwrap_or_default();
    let messages = errors.iter().filter_map(|error| error["message"].as_str());
    let error = messages.collect::<Vec<_>>().join("\n");
    let found = serde_json::to_value(answer);
    let mut found = found.map_err(|error| AppError::unavailable(format!("the answer can't be written: {error}")))?;
    if !error.is_empty() {
        found["error"] = Value::String(error);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{Command, NATS_SUBJECTS};
    use steward_core::datasource::DomainTextKind::{Domain, View};

    /// As NATS does it: `*` is one word.
    fn is_subscribed(subject: &str) -> bool {
        NATS_SUBJECTS.iter().any(|pattern| {
            pattern.strip_suffix('*').map_or(*pattern == subject, |begin| {
                subject.strip_prefix(begin).is_some_and(|rest| !rest.is_empty() && !rest.contains('.'))
            })
        })
    }

    #[test]
    fn subjects_are_told_apart() {
        for (subject, command) in [
            ("oos.cmd.global", Command::Global),
            ("oos.cmd.search", Command::Search),
            ("oos.cmd.gql.query", Command::Query),
            ("oos.cmd.domain.list", Command::List(Domain)),
            ("oos.cmd.domain.load", Command::Load(Domain)),
            ("oos.cmd.domain.save", Command::Save(Domain)),
            ("oos.cmd.domain.delete", Command::Delete(Domain)),
            ("oos.cmd.view.list", Command::List(View)),
            ("oos.cmd.view.load", Command::Load(View)),
            ("oos.cmd.view.save", Command::Save(View)),
            ("oos.cmd.view.delete", Command::Delete(View)),
        ] {
            assert!(is_subscribed(subject), "{subject}");
            assert_eq!(Command::of(subject).unwrap(), command, "{subject}");
        }
        for (subject, hint) in [
            ("oos.cmd.gql.mutation", "a person confirms them"),
            ("oos.cmd.domain.rename", "there are oos.cmd.global"),
            ("oos.cmd.view.", "there are oos.cmd.global"),
        ] {
            let error = Command::of(subject).unwrap_err().to_string();
            assert!(error.contains(subject) && error.contains(hint), "{error}");
        }
        assert!(!is_subscribed("oos.cmd.event.insert"));
    }
}
