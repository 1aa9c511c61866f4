//! `steward datasource`, `domain`, `ingest`, `documents` and `sample`, beside one server.

use crate::commands::with_input;
use crate::common::{Bench, Server};
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

const SHOP: &str = include_str!("../../../../scripts/prove/shop.sql");
const DOMAINS: &str = include_str!("../../../../scripts/prove/shop.oos");

fn served() -> (Bench, Server) {
    let bench = Bench::new(Script::default());
    let file = rusqlite::Connection::open(bench.work.path().join("shop.db")).unwrap();
    file.execute_batch(SHOP).unwrap();
    let server = Server::start(&bench);
    (bench, server)
}

fn listed(bench: &Bench, args: &[&str]) -> Vec<Value> {
    let found = bench.run(&[args, &["--json"]].concat()).exits(0).json();
    found.as_array().or_else(|| found["items"].as_array()).unwrap_or_else(|| panic!("{args:?}: {found}")).clone()
}

#[test]
fn databases_are_added_described_asked_and_changed() {
    let (bench, _server) = served();
    bench.run(&["datasource", "list"]).exits(0).tells(&["steward datasource add"]);
    bench
        .run(&["datasource", "add", "shop", "sqlite:shop.db"])
        .exits(0)
        .tells(&["with 2 tables", "steward domain init"]);
    bench.work.write("measured/soil.csv", "place,ph\nnorth,6.1\n").unwrap();
    bench.run(&["datasource", "add", "soil", "folder:measured"]).exits(0).tells(&["with 1 tables"]);
    bench.run(&["datasource", "add", "gone", "sqlite:gone.db"]).exits(0).tells(&["can't be opened"]);
    bench.run(&["datasource", "add", "shop", "sqlite:shop.db"]).exits(1).tells(&["shop"]);
    let checked = bench.run(&["datasource", "check", "shop"]).exits(0);
    assert!(checked.out.contains("products") && checked.out.contains("3 rows"), "{checked:?}");
    let set = bench.run(&["datasource", "set", "shop", "--writable", "true", "--json"]).exits(0).json();
    assert_eq!((&set["writable"], &set["database"]), (&json!(true), &json!("sqlite:shop.db")));
    bench.run(&["datasource", "remove", "gone"]).exits(1).tells(&["-y"]);
    bench.run(&["datasource", "remove", "gone", "-y"]).exits(0).tells(&["removed"]);
    assert_eq!(listed(&bench, &["datasource", "list"]).len(), 2);

    let drafts = bench.run(&["domain", "init", "shop"]).exits(0);
    assert!(drafts.out.contains("domain products from products@shop"), "{drafts:?}");
    bench.work.write("shop.oos", DOMAINS.replace("role:admin", "role:operator")).unwrap();
    bench.run(&["domain", "check", "shop.oos"]).exits(0);
    with_input(&bench, &["domain", "check", "-"], "domain x from").exits(1);
    bench.run(&["domain", "format", "shop.oos"]).exits(0);
    bench.run(&["domain", "save", "shop.oos"]).exits(0);
    let shown = bench.run(&["domain", "show", "products"]).exits(0);
    assert!(shown.out.contains("field price"), "{shown:?}");
    assert_eq!(listed(&bench, &["domain", "list"]).len(), 2);
    let query =
        r#"{"domain": "products", "fields": ["name"], "order": [{"field": "price", "dir": "desc"}], "limit": 1}"#;
    let rows = bench.run(&["domain", "query", query]).exits(0);
    assert!(rows.out.contains("House blend"), "{rows:?}");
    bench.run(&["domain", "search", "what do the products cost"]).exits(0);

    bench.run(&["domain", "instructions", "set", "money", "Prices are in euro."]).exits(0);
    assert_eq!(listed(&bench, &["domain", "instructions", "list"]).len(), 1);
    bench.run(&["domain", "instructions", "remove", "money"]).exits(0);
    let count = r#"{"domain": "products", "aggregate": [{"fn": "count"}]}"#;
    bench.run(&["domain", "verified", "add", "How many products are there?", count]).exits(0);
    assert_eq!(listed(&bench, &["domain", "verified", "list"]).len(), 1);

    let change = |price: u32| {
        let change = json!({"change": "update", "domain": "products", "key": 1, "set": {"price": price}}).to_string();
        let proposed = bench.run(&["domain", "changes", "propose", &change, "--json"]).exits(0).json();
        proposed["change"]["id"].as_str().unwrap().to_owned()
    };
    let (wanted, unwanted) = (change(9), change(99));
    assert_eq!(listed(&bench, &["domain", "changes", "list"]).len(), 2);
    bench.run(&["domain", "changes", "confirm", &wanted]).exits(0);
    bench.run(&["domain", "changes", "discard", &unwanted]).exits(0);
    bench.run(&["domain", "changes", "undo", &wanted]).exits(0);
    bench.run(&["domain", "remove", "products", "-y"]).exits(0);
}

#[test]
fn files_are_handed_in_found_and_removed() {
    let (bench, _server) = served();
    bench.work.write("leave.md", "# Leave\n\nThe notice period is three months.\n").unwrap();
    bench.run(&["documents", "create", "Contracts", "--description", "Signed ones"]).exits(0);
    bench.run(&["ingest", "leave.md", "--collection", "Contracts"]).exits(0);
    let documents = listed(&bench, &["documents", "list"]);
    assert_eq!((documents.len(), &documents[0]["name"]), (1, &json!("leave.md")));
    let found = bench.run(&["search", "notice period"]).exits(0);
    assert!(found.out.contains("three months"), "{found:?}");
    bench.run(&["documents", "show", "leave.md"]).exits(0);
    bench.run(&["documents", "process", "leave.md"]).exits(0);
    bench.run(&["documents", "change", "Contracts", "--rerank", "off"]).exits(0);
    let collections = bench.run(&["documents", "collections"]).exits(0);
    assert!(collections.out.contains("Contracts"), "{collections:?}");
    bench.run(&["documents", "remove", "leave.md"]).exits(1).tells(&["-y"]);
    bench.run(&["documents", "remove", "leave.md", "-y"]).exits(0);
    bench.run(&["documents", "drop", "Contracts", "-y"]).exits(0);
    assert!(listed(&bench, &["documents", "list"]).is_empty());

    bench.run(&["sample", "add"]).exits(0);
    assert!(bench.work.path().join("notes/handover.md").exists());
    bench.run(&["sample", "remove"]).exits(0);
    assert!(!bench.work.path().join("notes/handover.md").exists());
}
