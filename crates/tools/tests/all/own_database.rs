use crate::fakes::{Bench, USER};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use steward_core::UserId;
use steward_core::agent::{Agent, KeptFor, OwnData};
use steward_core::governance::{Classification, Classified};
use steward_core::hash;
use steward_core::policy::RiskClass;
use steward_core::ports::{Authorized, Interrupted, Stage, Tools as _};
use steward_core::tool::{CallSource, Settled, Staged, ToolCall, ToolError, Undo};

async fn sql(bench: &Bench, sql: &str) -> Value {
    let output = bench.ok("db_query", json!({"sql": sql})).await;
    assert_eq!(Some(serde_json::from_str(&output.content).unwrap()), output.data, "{sql}");
    output.data.unwrap()
}

#[tokio::test]
async fn results_have_the_shape_of_the_statement() {
    let bench = Bench::new();
    for (statement, expect) in [
        ("CREATE TABLE ai_notes(id INTEGER PRIMARY KEY, text TEXT, n REAL)", json!({"success": true})),
        ("create index ai_by_text on ai_notes(text)", json!({"success": true})),
        ("INSERT INTO ai_notes(text, n) VALUES ('one', 1.5), ('two', NULL)", json!({"affectedRows": 2})),
        // Not by the first word: this one writes.
        ("WITH x AS (SELECT 'three' AS t) INSERT INTO ai_notes(text) SELECT t FROM x", json!({"affectedRows": 1})),
        ("-- only looks\nSELECT count(*) AS n FROM ai_notes", json!({"rows": [{"n": 3}]})),
        ("SELECT id, text, n FROM ai_notes WHERE n IS NOT NULL", json!({"rows": [{"id": 1, "text": "one", "n": 1.5}]})),
        ("SELECT id, id FROM ai_notes LIMIT 1", json!({"rows": [{"id": 1, "id_2": 1}]})),
        ("WITH x AS (SELECT 1 AS a) SELECT a FROM x", json!({"rows": [{"a": 1}]})),
        ("SELECT * FROM ai_notes WHERE id > 99", json!({"rows": []})),
        ("UPDATE ai_notes SET n = 0 WHERE id > 99", json!({"affectedRows": 0})),
        ("DELETE FROM ai_notes WHERE id = 3", json!({"affectedRows": 1})),
        ("ALTER TABLE ai_notes ADD COLUMN tag", json!({"success": true})),
        ("DROP INDEX ai_by_text", json!({"success": true})),
    ] {
        assert_eq!(sql(&bench, statement).await, expect, "{statement}");
    }
    let explained = sql(&bench, "EXPLAIN QUERY PLAN SELECT * FROM ai_notes").await;
    assert!(explained["rows"][0]["detail"].as_str().unwrap().contains("ai_notes"), "{explained}");
    for (statement, expect) in [
        ("SELECT * FROM chats", "your tables: ai_notes(id, text, n, tag)"),
        ("CREATE TABLE chats(a)", "begin with ai_"),
        ("SELECT * FROM sqlite_schema", "your tables: ai_notes"),
        ("PRAGMA table_info(ai_notes)", "PRAGMA table_info"),
        ("SELECT 1; DROP TABLE ai_notes", "one statement"),
        ("SELEC 1", "syntax error"),
        ("", "sql"),
    ] {
        let error = bench.refused("db_query", json!({"sql": statement})).await;
        assert!(error.contains(expect), "{statement}: {error}");
    }
}

#[tokio::test]
async fn what_is_judged_as_reading_can_only_read() {
    let bench = Bench::new();
    sql(&bench, "CREATE TABLE ai_n(n)").await;
    let spec = bench.tools.catalogue().into_iter().find(|spec| spec.name == "db_query").unwrap();
    for (statement, risk) in [
        ("SELECT n FROM ai_n", RiskClass::Read),
        ("  values (1)", RiskClass::Read),
        ("EXPLAIN DELETE FROM ai_n", RiskClass::Read),
        ("SELECT 1; DELETE FROM ai_n", RiskClass::Read),
        ("INSERT INTO ai_n VALUES (1)", RiskClass::Write),
        ("WITH x AS (SELECT 1) SELECT * FROM x", RiskClass::Write),
        ("/**/ SELECT 1", RiskClass::Write),
        ("SELECTED", RiskClass::Write),
        ("", RiskClass::Write),
    ] {
        let call = ToolCall::new("1", "db_query", json!({"sql": statement}), CallSource::Native);
        assert_eq!(spec.risk_of(&call), risk, "{statement}");
    }
    bench.refused("db_query", json!({"sql": "SELECT 1; DELETE FROM ai_n"})).await;
    let other = bench.tools.catalogue().into_iter().find(|spec| spec.name == "write").unwrap();
    let call = ToolCall::new("1", "write", json!({"sql": "SELECT 1"}), CallSource::Native);
    assert_eq!(other.risk_of(&call), other.risk);
}

#[tokio::test]
async fn a_preview_tells_and_an_undo_takes_back() {
    let bench = Bench::new();
    sql(&bench, "CREATE TABLE ai_n(n INT)").await;
    sql(&bench, "INSERT INTO ai_n VALUES (1), (2)").await;
    for (statement, action, expect) in [
        ("DELETE FROM ai_n", "deleted", "changes 2 rows of its own database; can be undone"),
        ("INSERT INTO ai_n VALUES (3)", "inserted", "changes 1 row of its own database; can be undone"),
        ("UPDATE ai_n SET n = 0 WHERE n = 1", "updated", "changes 1 row of its own database; can be undone"),
        ("DROP TABLE ai_n", "dropped", "drops the table ai_n in its own database; can be undone until"),
        ("CREATE TABLE ai_m(a)", "created", "creates the table ai_m in its own database; can be undone until"),
    ] {
        let preview = bench.preview("db_query", json!({"sql": statement})).await;
        assert!(preview.summary.contains(expect) && preview.reversible, "{statement}: {preview:?}");
        assert_eq!(sql(&bench, "SELECT count(*) AS c FROM ai_n").await, json!({"rows": [{"c": 2}]}), "{statement}");
        let done = bench.ok("db_query", json!({"sql": statement})).await;
        assert_eq!(done.receipt.as_ref().unwrap().action, action, "{statement}");
        bench.undo(&done).await.unwrap();
        assert_eq!(sql(&bench, "SELECT count(*) AS c FROM ai_n").await, json!({"rows": [{"c": 2}]}), "{statement}");
    }
    let preview = bench.preview("db_query", json!({"sql": "SELECT * FROM ai_n"})).await;
    assert!(preview.summary.contains("changes nothing"), "{preview:?}");
    let preview = bench.preview("db_query", json!({"sql": "DROP TABLE other"})).await;
    assert!(preview.summary.contains("would fail"), "{preview:?}");
    // Rows that were changed since stay.
    let done = bench.ok("db_query", json!({"sql": "UPDATE ai_n SET n = 5"})).await;
    sql(&bench, "UPDATE ai_n SET n = 6 WHERE rowid = 1").await;
    let error = bench.undo(&done).await.unwrap_err();
    assert!(error.to_string().contains("changed since"), "{error}");
    // More than can be kept.
    sql(&bench, "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3000) INSERT INTO ai_n SELECT n FROM c").await;
    let done = bench.ok("db_query", json!({"sql": "DELETE FROM ai_n"})).await;
    assert!(matches!(&done.undo, Some(Undo::Impossible { reason }) if reason.contains("2000 rows")), "{:?}", done.undo);
}

#[tokio::test]
async fn each_owner_has_a_database() {
    let mut bench = Bench::new();
    bench.scope.kept_for = Some(KeptFor::Everybody);
    bench.facts.editors.lock().unwrap().push(USER);
    sql(&bench, "CREATE TABLE ai_shared(a)").await;
    let users = [UserId(uuid::Uuid::from_u128(1)), UserId(uuid::Uuid::from_u128(2))];
    for (number, user) in users.into_iter().enumerate() {
        bench.ask_as(user);
        let error = bench.refused("db_query", json!({"sql": "INSERT INTO ai_shared VALUES (1)"})).await;
        assert!(error.contains("no such table") && error.contains("no tables yet"), "{error}");
        sql(&bench, "CREATE TABLE ai_mine(who)").await;
        sql(&bench, &format!("INSERT INTO ai_mine VALUES ({number})")).await;
        bench.ok("update_db_schema", json!({"schema": format!("of {number}")})).await;
    }
    bench.ask_as(users[0]);
    assert_eq!(sql(&bench, "SELECT who FROM ai_mine").await, json!({"rows": [{"who": 0}]}));
    bench.scope.agent = steward_core::AgentId(uuid::Uuid::from_u128(7));
    bench.refused("db_query", json!({"sql": "SELECT who FROM ai_mine"})).await;
}

#[tokio::test]
async fn what_is_kept_stays_as_confidential_as_what_was_seen() {
    let mut bench = Bench::new();
    let seen = Classified {
        classification: Classification::Confidential,
        label: "people".into(),
        source: "hr/pay.csv".into(),
    };
    sql(&bench, "CREATE TABLE ai_n(n)").await;
    assert_eq!(bench.ok("db_query", json!({"sql": "SELECT * FROM ai_n"})).await.provenance.level, None);
    bench.scope.provenance.level = Some(seen.clone());
    sql(&bench, "INSERT INTO ai_n VALUES (1)").await;
    bench.scope.provenance.level = None;
    sql(&bench, "INSERT INTO ai_n VALUES (2)").await;
    assert_eq!(bench.ok("db_query", json!({"sql": "SELECT * FROM ai_n"})).await.provenance.level, Some(seen));
}

#[tokio::test]
async fn the_documentation_has_a_limit_and_an_undo() {
    let bench = Bench::new();
    let done = bench.ok("update_db_schema", json!({"schema": "ai_n: numbers\n"})).await;
    assert_eq!(done.data.as_ref().unwrap()["success"], true);
    let error = bench.refused("update_db_schema", json!({"schema": "é".repeat(8001)})).await;
    assert!(error.contains("8001 characters") && error.contains("nothing was saved"), "{error}");
    bench.ok("update_db_schema", json!({"schema": "é".repeat(8000)})).await;
    let error = bench.undo(&done).await.unwrap_err();
    assert!(error.to_string().contains("changed since"), "{error}");
    let last = bench.ok("update_db_schema", json!({"schema": ""})).await;
    bench.undo(&last).await.unwrap();
    let preview = bench.preview("update_db_schema", json!({"schema": "é".repeat(8000)})).await;
    assert!(preview.summary.contains("already"), "{preview:?}");
}

/// Writes down what is staged; the process ends there, or goes on.
#[derive(Debug, Default)]
struct Journal {
    staged: std::sync::Mutex<Option<Staged>>,
    ends: AtomicBool,
}

#[async_trait]
impl Stage for Journal {
    async fn stage(&self, staged: Staged) -> Result<(), ToolError> {
        *self.staged.lock().unwrap() = Some(staged);
        if self.ends.load(Ordering::Relaxed) {
            return Err(ToolError::RespondToModel("the process ended here".to_owned()));
        }
        Ok(())
    }
}

#[tokio::test]
async fn after_a_crash_the_database_knows_what_was_done() {
    let bench = Bench::new();
    sql(&bench, "CREATE TABLE ai_n(n)").await;
    for (number, statement) in ["INSERT INTO ai_n VALUES (1)", "CREATE TABLE ai_m(a)"].into_iter().enumerate() {
        for ends in [true, false] {
            let journal = Arc::new(Journal { ends: ends.into(), ..Journal::default() });
            let arguments = json!({"sql": statement});
            let call = ToolCall::new("1", "db_query", arguments.clone(), CallSource::Native);
            let key = format!("crash-{number}");
            let authorized = Authorized {
                stage: Some(journal.clone()),
                args_hash: hash::of_json(&arguments),
                call: call.clone(),
                idempotency_key: key.clone(),
            };
            let done = bench.tools.run(authorized, &bench.scope).await;
            assert_eq!(done.is_err(), ends, "{statement}: {done:?}");
            let staged = journal.staged.lock().unwrap().take();
            assert!(staged.is_some(), "{statement}");
            let cut_off = Interrupted { call, idempotency_key: key, staged, later: Vec::new() };
            let settled = bench.tools.settle(cut_off.clone(), &bench.scope).await;
            let expected = match settled {
                Settled::NotHappened(_) => ends,
                Settled::Happened(_) => !ends,
                Settled::Unknown(_) => false,
            };
            assert!(expected, "{statement}, ended before the commit: {ends}: {settled:?}");
            let early = bench.tools.settle(Interrupted { staged: None, ..cut_off }, &bench.scope).await;
            assert!(matches!(early, Settled::NotHappened(_)), "{early:?}");
        }
    }
}

async fn tools_of(bench: &Bench, names: &[&str], own_data: OwnData) -> Vec<String> {
    let mut agent: Agent = serde_json::from_value(json!({
        "id": "00000000-0000-0000-0000-000000000001", "name": "a", "instructions": "",
        "tools": names,
    }))
    .unwrap();
    agent.own_data = own_data;
    let found = bench.tools.of_agent(bench.scope.tenant, &agent).await.unwrap();
    let own = ["save_memory", "db_query", "update_db_schema"];
    found.tools.into_iter().map(|spec| spec.name).filter(|name| own.contains(&name.as_str())).collect()
}

#[tokio::test]
async fn each_switch_gives_its_tool() {
    let bench = Bench::new();
    let own = |memory, database, documentation| OwnData { memory, database, documentation, shared: false };
    for (names, own_data, expect) in [
        (&[][..], OwnData::default(), &["save_memory"][..]),
        (&["read"], OwnData::default(), &[]),
        (&["read", "save_memory", "db_query", "update_db_schema"], OwnData::default(), &["save_memory"]),
        (&[], own(Some(false), false, false), &[]),
        (&["save_memory"], own(Some(false), false, true), &["update_db_schema"]),
        (&["read"], own(Some(true), false, false), &["save_memory"]),
        (&["read"], own(None, true, false), &["db_query"]),
        (&[], own(Some(true), true, true), &["save_memory", "db_query", "update_db_schema"]),
    ] {
        assert_eq!(tools_of(&bench, names, own_data).await, expect, "{names:?} {own_data:?}");
    }
}
