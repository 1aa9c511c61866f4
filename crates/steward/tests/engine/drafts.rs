//! Calls drafted for requests whose kind is known, over a workspace as the tools read it.

use async_trait::async_trait;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use steward_core::Cancellation;
use steward_core::ports::{EmbedError, Embedder, ToolScope, WorkspaceReader};
use steward_core::{AgentId, TenantId, Timestamp};
use steward_intent::{Draft, View, Wanted, draft};
use steward_tools::LocalWorkspaces;

/// Finds nothing alike: only letters count.
struct Blind;

#[async_trait]
impl Embedder for Blind {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(vec![vec![0.0]; texts.len()])
    }

    fn model(&self) -> &'static str {
        "blind"
    }

    fn dimension(&self) -> usize {
        1
    }
}

async fn view() -> View {
    let scope = ToolScope {
        tenant: TenantId::DEFAULT,
        run: None,
        agent: AgentId(uuid::Uuid::nil()),
        conversation: None,
        workspace: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/workspace"),
        folder: String::new(),
        now: Timestamp(1_795_248_000_000),
        utc_offset_minutes: 60,
        timeout_ms: 1000,
        user: None,
        consulted: steward_core::provenance::Consulted::default(),
        marked_files: std::sync::Arc::default(),
        references: 0,
        kept_for: None,
        provenance: steward_core::provenance::Provenance::default(),
        skill: None,
        cancellation: Cancellation::default(),
    };
    let reader: Arc<dyn WorkspaceReader> = Arc::new(LocalWorkspaces);
    View::look(&reader, &scope).await
}

fn asking() -> BTreeSet<String> {
    "how many rows has which who what is the in of from are there live read show me first lines wie viele quelle combien \
     de dans y find every line with album by on and not"
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

async fn drafted(kind: &str, text: &str, sure: bool) -> Option<Draft> {
    let asking = asking();
    let wanted = Wanted { kind, text, since: 0, sure, earlier: &[], asking: &asking };
    draft(wanted, &view().await, &Blind).await
}

#[tokio::test]
async fn arguments_come_from_the_request_and_the_workspace() {
    for (kind, text, tool, part) in [
        ("read", "Read notes/handover.md", "read", json!({"path": "notes/handover.md"})),
        ("list", "Which files are there?", "list", json!({})),
        (
            "search",
            "Find every line with ERROR in logs/app.log",
            "grep",
            json!({"pattern": "ERROR", "path": "logs/app.log"}),
        ),
        ("search_count", "how many errors are in logs/app.log", "grep", json!({"pattern": "ERROR"})),
        ("count", "How many customers are there in chinook.db?", "sql", json!({"database": "chinook.db"})),
        ("calc", "What is 12 * 7?", "terminal", json!({})),
    ] {
        let made = drafted(kind, text, true).await.unwrap();
        let (name, arguments) = made.call.unwrap_or_else(|| panic!("{text}: {}", made.frame));
        assert_eq!(name, tool, "{text}");
        for (key, value) in part.as_object().unwrap() {
            assert_eq!(&arguments[key], value, "{text}: {arguments}");
        }
    }
}

#[tokio::test]
async fn tables_are_asked_by_names_and_values() {
    for (kind, text, query) in [
        ("count", "How many customers are there?", json!({"from": "customer", "select": [{"aggregate": "count"}]})),
        (
            "rows",
            "Which customers live in Prague?",
            json!({"from": "customer", "where": [{"column": "city", "op": "eq", "value": "Prague"}], "limit": 40}),
        ),
        (
            "count",
            "How many albums by Iron Maiden are there?",
            json!({"from": "album", "select": [{"aggregate": "count"}], "where": [{"column": "name", "table": "artist", "op": "eq", "value": "Iron Maiden"}]}),
        ),
    ] {
        let made = drafted(kind, text, true).await.unwrap();
        let (_, arguments) = made.call.clone().unwrap_or_else(|| panic!("{text}: {made:?}"));
        assert_eq!(arguments["query"], query, "{text}");
    }
}

#[tokio::test]
async fn what_goes_on_changes_one_thing() {
    let asking = asking();
    let text = "Which customers live in Prague?\nand in Berlin?";
    let since = text.find("and").unwrap();
    let wanted = Wanted { kind: "rows", text, since, sure: true, earlier: &[], asking: &asking };
    let (_, arguments) = draft(wanted, &view().await, &Blind).await.unwrap().call.unwrap();
    assert_eq!(arguments["query"]["where"], json!([{"column": "city", "op": "eq", "value": "Berlin"}]));
}

#[tokio::test]
async fn what_is_not_understood_is_asked_back() {
    for (kind, text, frame) in [
        ("count", "How many customers are from Atlantis?", "not_found"),
        ("read", "Read the minutes of Friday.txt", "no_file"),
        ("count", "How many customers are not in Prague?", "not_found"),
        ("sum", "the total in invoices_2024.xlsx", "no_file"),
        ("search", "find every line", "which_words"),
        ("count", "How many rows are there?", "which_table"),
    ] {
        let made = drafted(kind, text, true).await.unwrap();
        assert_eq!((made.call, made.frame), (None, frame), "{text}");
    }
    assert_eq!(drafted("rows", "who is on call?", false).await, None);
    assert_eq!(drafted("list", "tell me a joke", false).await, None);
}
