//! Calls drafted for requests whose kind is known, over a workspace as the tools read it.

use async_trait::async_trait;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use steward_app::WorkspaceTables;
use steward_core::Cancellation;
use steward_core::ports::{EmbedError, Embedder, ToolScope, WorkspaceReader};
use steward_core::{AgentId, TenantId, Timestamp};
use steward_intent::{Draft, View, Wanted, draft};

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

async fn view(workspace: &Path) -> View {
    let scope = ToolScope {
        tenant: TenantId::DEFAULT,
        run: None,
        agent: AgentId(uuid::Uuid::nil()),
        conversation: None,
        workspace: workspace.to_owned(),
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
    let reader: Arc<dyn WorkspaceReader> = Arc::new(WorkspaceTables::new(Arc::new(Blind)));
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
    drafted_in(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/workspace"), kind, text, sure).await
}

async fn drafted_in(workspace: &Path, kind: &str, text: &str, sure: bool) -> Option<Draft> {
    let asking = asking();
    let wanted = Wanted { kind, text, sure, earlier: &[], asking: &asking };
    draft(wanted, &view(workspace).await, &Blind).await
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
    let count = json!([{"fn": "count", "as": "value"}]);
    for (kind, text, query) in [
        ("count", "How many customers are there?", json!({"domain": "customer", "aggregate": count})),
        (
            "rows",
            "Which customers live in Prague?",
            json!({"domain": "customer", "where": [{"field": "city", "op": "eq", "value": "Prague"}], "limit": 200}),
        ),
        (
            "count",
            "How many albums by Iron Maiden are there?",
            json!({"domain": "album", "aggregate": count, "where": [{"field": "artist.name", "op": "eq", "value": "Iron Maiden"}]}),
        ),
    ] {
        let made = drafted(kind, text, true).await.unwrap();
        assert_eq!(made.query, Some(query), "{text}: {made:?}");
        let (_, arguments) = made.call.unwrap();
        assert!(arguments["query"]["sql"].as_str().unwrap().starts_with("SELECT "), "{text}: {arguments}");
    }
}

/// Names with quotes, values with what SQL would read, and keys that nobody declared.
#[tokio::test]
async fn odd_names_and_values_stay_names_and_values() {
    let folder = tempfile::tempdir().unwrap();
    rusqlite::Connection::open(folder.path().join("shop.db"))
        .unwrap()
        .execute_batch(
            "create table author(id integer primary key, name text);
             create table book(id integer primary key, title text, author_id integer, price real);
             create table \"odd\"\"name\"(id integer primary key, \"a%b\" text);
             insert into author values(1, 'O''Brien\" --'), (2, 'Ann');
             insert into book values(1, 'One', 1, 2.5), (2, 'Two', 1, 3), (3, 'Six', 2, 4);
             insert into \"odd\"\"name\" values(1, '20_6%'), (2, '2016');",
        )
        .unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("shop.db")).unwrap();
    for (kind, text, expect) in [
        ("count", "How many books are by \"O'Brien\" --\"?", None),
        ("count", "How many books are by Ann?", Some("1")),
        ("average", "average price of the books by Ann", Some("4.0")),
        ("rows", "the author with the most books", Some("O'Brien\" --")),
        ("count", "how many odd names are \"20_6%\"?", Some("1")),
    ] {
        let made = drafted_in(folder.path(), kind, text, true).await.unwrap();
        let shown = made.call.as_ref().map(|(_, arguments)| {
            let sql = arguments["query"]["sql"].as_str().unwrap();
            connection.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0)).map(|value| match value {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Real(number) => format!("{number:?}"),
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            })
        });
        match expect {
            Some(expect) => assert_eq!(shown, Some(Ok(expect.to_owned())), "{text}: {made:?}"),
            None => assert!(
                shown.is_none_or(|shown| shown.is_ok_and(|count| count == "0" || count == "2")),
                "{text}: {made:?}"
            ),
        }
    }
}

/// A question of a single file needs no name of it.
#[tokio::test]
async fn rows_of_a_file_are_counted_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let sales = "city,sold_on,litres,temp_max,temp_min\nOslo,2023-05-02,10,12,3\nBergen,2024-05-09,7,15,-1\nOslo,2024-06-01,5,20,8\n";
    std::fs::write(folder.path().join("sales.csv"), sales).unwrap();
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "create table sales(city text, sold_on text, litres integer, temp_max integer, temp_min integer);
             insert into sales values('Oslo','2023-05-02',10,12,3),('Bergen','2024-05-09',7,15,-1),('Oslo','2024-06-01',5,20,8);",
        )
        .unwrap();
    for (kind, text, frame, number) in [
        ("count", "how many rows does sales.csv have?", "rows_of", Some(3)),
        ("lines", "combien de lignes a sales.csv ?", "rows_of", Some(3)),
        ("sum", "the litres", "data_number", Some(22)),
        ("count", "how many sales were there in May?", "data_number", Some(2)),
        ("count", "wie viele sales gab es im Juni?", "data_number", Some(1)),
        ("count", "how many sales were there in May 2024?", "data_number", Some(1)),
        ("count", "how many sales in March?", "data_number", Some(0)),
        ("extreme", "the lowest temperature in sales.csv", "rows", None),
        ("sum", "sum of bananas in sales.csv", "not_found", None),
        ("average", "the average in sales.csv", "which_column", None),
        ("columns", "which columns does sales.csv have?", "columns", None),
    ] {
        let made = drafted_in(folder.path(), kind, text, true).await.unwrap();
        let sql = made.call.as_ref().and_then(|(_, arguments)| arguments["query"]["sql"].as_str());
        assert_eq!(made.frame, frame, "{text}: {made:?}");
        if let Some(number) = number {
            assert_eq!(connection.query_row(sql.unwrap(), [], |row| row.get(0)), Ok(number), "{text}: {made:?}");
        }
        if kind == "extreme" {
            assert_eq!(made.query.unwrap()["order"], json!([{"field": "temp_min"}]), "{text}");
        }
    }
}

#[tokio::test]
async fn what_is_not_understood_is_asked_back() {
    for (kind, text, frame) in [
        ("count", "How many customers are from Atlantis?", "not_found"),
        ("read", "Read the minutes of Friday.txt", "no_file"),
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
