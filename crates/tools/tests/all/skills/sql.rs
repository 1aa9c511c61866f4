//! SQL skills that write: told before, undone after, by themselves or by the skill that is named.

use super::world::{World, skill};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::sync::Arc;
use steward_core::credential::CredentialKind;
use steward_core::skill::Skill;
use steward_core::tool::Undo;
use steward_tools::skills::SqlExecutor;

const SHOP: &str = "CREATE TABLE products(id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, picture BLOB);
    CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, password TEXT);
    INSERT INTO products VALUES (1, 'pen', 1.1, x'00ff'), (2, 'ink', 5, NULL), (3, 'cup', NULL, x'');
    INSERT INTO people VALUES (1, 'Ann', 'hush'), (2, 'Bob', 'hush too');";

fn world() -> World {
    let world = World::new(vec![Arc::new(SqlExecutor)]);
    shop(&world).execute_batch(SHOP).unwrap();
    world
}

fn shop(world: &World) -> Connection {
    Connection::open(world.workspace().join("shop.db")).unwrap()
}

fn prices(world: &World) -> Vec<Option<f64>> {
    let shop = shop(world);
    let mut rows = shop.prepare("SELECT price FROM products ORDER BY id").unwrap();
    let rows = rows.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn sql(number: u64, name: &str, statement: &str, rest: Value) -> Skill {
    let mut all = json!({
        "type": "sql", "config": {"database": "sqlite:shop.db", "statement": statement, "readonly": false},
        "risk": "write", "effect": "write",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}},
    });
    for (key, value) in rest.as_object().unwrap() {
        if key == "config" {
            for (key, value) in value.as_object().unwrap() {
                all["config"][key] = value.clone();
            }
        } else {
            all[key] = value.clone();
        }
    }
    skill(number, name, all)
}

#[tokio::test]
async fn a_write_is_told_done_and_undone() {
    let world = world();
    let statement = "UPDATE products SET price = {{price}} WHERE price < 10 OR price IS NULL";
    let reprice = world.add(sql(20, "reprice", statement, json!({})));
    let before = prices(&world);
    let told = world.preview(&reprice, json!({"price": 2.5})).await;
    assert_eq!(told.summary, "changes 3 rows of sqlite:shop.db; can be undone");
    assert_eq!((told.count, told.reversible), (Some(3), true));
    let detail = told.detail.unwrap();
    for part in ["with [2.5]", "rolled back", "at most 3 s", "products rowid=3: price NULL → 2.5"] {
        assert!(detail.contains(part), "{detail}");
    }
    assert_eq!(prices(&world), before, "only tried");
    let output = world.ok(&reprice, json!({"price": 2.5})).await;
    assert_eq!(output.content, "3 rows changed; can be undone");
    assert_eq!(output.data.as_ref().unwrap()["changed"], 3);
    let receipt = output.receipt.clone().unwrap();
    assert_eq!((receipt.action.as_str(), receipt.object.as_str()), ("changed", "3 rows of sqlite:shop.db"));
    assert_eq!(prices(&world), [Some(2.5); 3]);
    // Somebody changes one of them: named, and nothing is undone.
    shop(&world).execute_batch("UPDATE products SET price = 9 WHERE id = 2").unwrap();
    let error = world.undo(&output).await.unwrap_err().to_string();
    assert!(error.contains("not undone: products rowid=2 has changed since"), "{error}");
    shop(&world).execute_batch("UPDATE products SET price = 2.5 WHERE id = 2").unwrap();
    let undone = world.undo(&output).await.unwrap();
    assert_eq!(undone, "3 changes of rows of sqlite:shop.db undone");
    assert_eq!(prices(&world), before);
    let again = world.undo(&output).await.unwrap();
    assert_eq!(again, "the rows of sqlite:shop.db are as they were before already");
}

#[tokio::test]
async fn rows_that_strangers_wrote_taint_and_others_do_not() {
    let world = world();
    let read = |config: Value| json!({"risk": "read", "effect": "read", "config": config});
    let names = "SELECT name, price, 'x' || name AS told FROM products";
    let mut number = 20;
    let mut origins = async |sql_text: &str, config: Value| {
        number += 1;
        let skill = world.add(sql(number, &format!("ask{number}"), sql_text, read(config)));
        world.ok(&skill, json!({})).await.provenance.origins.into_iter().collect::<Vec<_>>()
    };
    let readonly = json!({"readonly": true});
    assert_eq!(origins(names, readonly.clone()).await, ["sqlite:shop.db, name", "sqlite:shop.db, told"]);
    let plain = "SELECT count(*), min(price), '2026-01-02', '2026-01-02T10:00:00Z', '019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11', '12.50' FROM products";
    assert!(origins(plain, readonly).await.is_empty(), "numbers, times and ids are nobody's words");
    assert!(origins(names, json!({"readonly": true, "trusted": true})).await.is_empty());
    let mut untrusted = read(json!({"readonly": true, "trusted": true}));
    untrusted["untrusted"] = json!(true);
    let orders = world.add(sql(40, "orders", "SELECT name FROM products", untrusted));
    let output = world.ok(&orders, json!({})).await;
    assert_eq!(output.provenance.origins.first().map(String::as_str), Some("the skill orders"));
    assert!(orders.tool().unwrap().skill.unwrap().untrusted);
}

#[tokio::test]
async fn a_journal_that_somebody_left_stops_a_write_and_its_preview() {
    let world = world();
    let reprice = world.add(sql(20, "reprice", "UPDATE products SET price = 1", json!({})));
    std::fs::write(world.workspace().join("shop.db-journal"), b"\xd9\xd5\x05\xf9").unwrap();
    let told = world.preview(&reprice, json!({})).await;
    assert!(told.summary.contains("would fail") && told.summary.contains("shop.db-journal"), "{told:?}");
    let refused = world.refused(&reprice, json!({})).await;
    assert!(refused.contains("move it away"), "{refused}");
    assert!(world.workspace().join("shop.db-journal").exists());
}

#[tokio::test]
async fn what_fails_would_fail_and_nothing_is_left() {
    let world = world();
    let add = world.add(sql(20, "add", "INSERT INTO products(name) VALUES ({{name}})", json!({})));
    let told = world.preview(&add, json!({"name": "pen"})).await;
    assert!(told.summary.starts_with("would fail: ") && told.summary.contains("UNIQUE"), "{told:?}");
    assert!(!told.reversible);
    assert!(world.refused(&add, json!({"name": "pen"})).await.contains("UNIQUE"));
    let few = json!({"config": {"max_changes": 2}});
    let all = world.add(sql(21, "all", "DELETE FROM products", few));
    let told = world.preview(&all, json!({})).await;
    assert!(told.summary.contains("at most 2"), "{told:?}");
    assert!(world.refused(&all, json!({})).await.contains("nothing was changed"));
    assert_eq!(prices(&world).len(), 3);
    // What is closed to reading is closed to writing, and a file outside is none.
    let closed = world.add(sql(22, "closed", "UPDATE people SET password = 'x'", json!({})));
    assert!(world.refused(&closed, json!({})).await.contains("people.password"));
    let drop = world.add(sql(23, "drop", "DROP TABLE people", json!({})));
    assert!(world.refused(&drop, json!({})).await.contains("not allowed"));
    let away = json!({"config": {"database": "sqlite:../shop.db"}});
    let away = world.add(sql(24, "away", "DELETE FROM products", away));
    assert!(world.refused(&away, json!({})).await.contains("inside the workspace"));
    let told = world.preview(&away, json!({})).await;
    assert!(told.summary.starts_with("would fail"), "{told:?}");
}

#[tokio::test]
async fn what_cannot_be_undone_says_why() {
    let world = world();
    let fire = world.add(sql(20, "fire", "DELETE FROM people WHERE name = {{name}}", json!({})));
    let why = "cannot be undone: people has columns that are closed to skills";
    let told = world.preview(&fire, json!({"name": "Bob"})).await;
    assert!(told.summary.contains(why) && !told.reversible, "{told:?}");
    assert!(!told.detail.unwrap().contains("hush"));
    let output = world.ok(&fire, json!({"name": "Bob"})).await;
    assert!(output.content.contains(why), "{}", output.content);
    assert_eq!(output.receipt.as_ref().unwrap().evidence.as_deref(), Some(why));
    assert!(matches!(&output.undo, Some(Undo::Impossible { reason }) if reason.contains("closed")));
    let error = world.undo(&output).await.unwrap_err().to_string();
    assert!(error.contains("can't be undone: people has columns"), "{error}");
    assert!(!serde_json::to_string(&output).unwrap().contains("hush"));
}

/// Where rows can't be put back, the skill that is named is called with what the call was given and what it gave.
#[tokio::test]
async fn what_cannot_be_undone_is_undone_by_the_skill_that_is_named() {
    let world = world();
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001) \
        INSERT INTO products(name, price) SELECT {{name}} || i, {{price}} FROM n";
    let clear = "DELETE FROM products WHERE substr(name, 1, length({{name}})) = {{name}} AND price = {{price}}";
    let many = json!({"config": {"max_changes": 5000},
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"},
            "count": {"type": "integer"}}, "required": ["name", "price", "count"]}});
    world.add(sql(21, "clear", clear, many));
    let with = json!({"config": {"max_changes": 5000},
        "compensation": {"skill": "clear", "arguments": {"name": "{{name}}", "price": "{{price}}", "count": "{{result.changed}}"}}});
    let fill = world.add(sql(20, "fill", fill, with));
    let arguments = json!({"name": "box-", "price": 3.5});
    let told = world.preview(&fill, arguments.clone()).await;
    assert_eq!(told.count, Some(1001));
    assert!(told.reversible && told.detail.unwrap().contains("undone by the skill clear"));
    let output = world.ok(&fill, arguments).await;
    let Some(Undo::Snapshot { snapshot, .. }) = &output.undo else {
        panic!("{:?}", output.undo);
    };
    assert_eq!(snapshot["arguments"], json!({"name": "box-", "price": 3.5, "count": 1001}));
    assert_eq!(prices(&world).len(), 1004);
    let undone = world.undo(&output).await.unwrap();
    assert_eq!(undone, "clear: changed 1001 rows of sqlite:shop.db");
    assert_eq!(prices(&world).len(), 3);
}

#[tokio::test]
async fn a_secret_is_in_no_preview_and_in_no_snapshot() {
    let world = world();
    let fields = [("url", "sqlite:shop.db"), ("password", "canary-Zq9")];
    world.credential("shop", CredentialKind::Database, &fields);
    shop(&world).execute_batch("UPDATE products SET name = 'canary-Zq9' WHERE id = 1").unwrap();
    let rest = json!({"config": {"database": ""}, "credential": {"kind": "database"}});
    let rename = world.add(sql(20, "rename", "UPDATE products SET name = {{name}} WHERE id = 1", rest));
    let told = world.preview(&rename, json!({"name": "plain"})).await;
    assert_eq!(told.count, Some(1), "{told:?}");
    assert!(!serde_json::to_string(&told).unwrap().contains("canary"), "{told:?}");
    assert_eq!(world.rows.uses.lock().unwrap().len(), 1, "written down");
    let output = world.ok(&rename, json!({"name": "plain"})).await;
    assert!(!serde_json::to_string(&output).unwrap().contains("canary"));
    assert!(matches!(&output.undo, Some(Undo::Impossible { reason }) if reason.contains("secret")));
    // Without the credential the preview says what it can't tell.
    world.rows.credentials.lock().unwrap().clear();
    let told = world.preview(&rename, json!({"name": "plain"})).await;
    assert!(told.summary.contains("can't be told"), "{told:?}");
}
