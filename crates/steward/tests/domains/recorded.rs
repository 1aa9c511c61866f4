//! A hundred questions over three public schemas, which somebody wrote who had not seen the reader, with what a capable
//! model replied to each: a query over domains as `init` writes them, and a statement of its own.

use super::questions::{examples, use_small_model};
use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_sandbox::sql::{Guard, Policy};
use steward_testkit::model_server::{Behaviour, Script};

const DATABASES: [&str; 3] = ["sakila", "northwind", "employees"];

fn cases(database: &str) -> Vec<Value> {
    let all = std::fs::read_to_string(examples("public/questions.jsonl")).unwrap();
    let all = all.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|case| case["database"] == database).collect()
}

/// A house with one of the databases, described as it comes.
fn house(database: &str, script: Script) -> House {
    let house = House::new(script);
    let file = house.bench.work.path().join(format!("{database}.db"));
    let made = rusqlite::Connection::open(&file).unwrap();
    made.execute_batch(&std::fs::read_to_string(examples(&format!("public/{database}.sql"))).unwrap()).unwrap();
    drop(made);
    let body = json!({"name": database, "database": format!("sqlite:{database}.db")});
    let made = house.post("/api/datasources", body, 201);
    house.send(Method::POST, &format!("/api/datasources/{}/init", text(&made["id"])), Some(json!({"save": true})), 200);
    house
}

/// What `steward eval domains` finds: right, asked, and what is wrong.
fn measured(house: &House, database: &str) -> (u64, u64, Vec<String>) {
    let lines: Vec<String> = cases(database).iter().map(ToString::to_string).collect();
    let file = house.bench.work.path().join("questions.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let done = house.bench.run(&["eval", "domains", &file.display().to_string(), "--json"]).exits(0);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    let wrong = found["results"].as_array().unwrap().iter().filter(|one| one["right"] == false);
    let wrong = wrong.map(|one| format!("{} {} {} {}", one["id"], one["text"], one["query"], one["error"])).collect();
    (found["right"].as_u64().unwrap(), found["questions"].as_u64().unwrap(), wrong)
}

/// How many are right where a capable model replied, and where words were read alone.
fn both_ways(database: &str, least_capable: u64, least_small: u64) {
    let script = Script::always(Behaviour::text("That is what the data says."));
    let script = cases(database).into_iter().fold(script, |script, case| match &case["recorded"]["query"] {
        Value::Null => script,
        query => script.when(text(&case["text"]), Behaviour::calls([("oos_query", json!({"query": query}))])),
    });
    let house = house(database, script);
    let (capable, asked, wrong) = measured(&house, database);
    eprintln!("{database}: {capable} of {asked} by a capable model's queries");
    assert!(capable >= least_capable, "{capable} of {asked}:\n{}", wrong.join("\n"));
    use_small_model(&house);
    let (small, asked, wrong) = measured(&house, database);
    eprintln!("{database}: {small} of {asked} read from words alone");
    assert!(small >= least_small, "{small} of {asked}:\n{}", wrong.join("\n"));
}

#[test]
fn prove_questions_over_films_are_answered() {
    both_ways("sakila", 33, 20);
}

#[test]
fn prove_questions_over_a_wholesaler_are_answered() {
    both_ways("northwind", 32, 17);
}

#[test]
fn prove_questions_over_staff_are_answered() {
    both_ways("employees", 34, 13);
}

#[test]
fn no_statement_of_a_capable_model_is_refused() {
    let mut refused = Vec::new();
    let folder = tempfile::tempdir().unwrap();
    for database in DATABASES {
        let file = folder.path().join(format!("{database}.db"));
        let made = rusqlite::Connection::open(&file).unwrap();
        made.execute_batch(&std::fs::read_to_string(examples(&format!("public/{database}.sql"))).unwrap()).unwrap();
        drop(made);
        let guard = Guard::open(&file, Policy::careful()).unwrap();
        for case in cases(database) {
            for statement in [&case["recorded"]["sql"], &case["sql"]] {
                let Some(statement) = statement.as_str() else { continue };
                if let Err(error) = guard.query(statement) {
                    refused.push(format!("{}: {error}\n  {statement}", case["id"]));
                }
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
