//! Databases through their domains, by the real program on real databases: a sample of music in SQLite.

mod changes;
mod datasources;
mod graphql;
mod questions;
mod recorded;
mod servers;
mod tables;
mod workspace;

use crate::api_routes::house::{House, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use steward_testkit::model_server::{Behaviour, Script};

const PEOPLE: &[(&str, &str)] = &[("ada", "admin"), ("olga", "operator"), ("dan", "developer"), ("vera", "viewer")];

/// A house whose workspace has the database of a music shop, described as it comes.
pub(crate) fn shop(script: Script) -> House {
    let house = House::with_people(script, PEOPLE);
    describe(&house);
    house
}

/// Adds that database.
pub(crate) fn describe(house: &House) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/workspace/chinook.db");
    let to = house.bench.work.path().join("chinook.db");
    std::fs::copy(from, &to).unwrap();
    let mut rights = to.metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut rights, 0o644);
    std::fs::set_permissions(&to, rights).unwrap();
    let body = json!({"name": "music", "database": "sqlite:chinook.db", "writable": true});
    let made = house.post("/api/datasources", body, 201);
    let init = house.post(&place(&made, "init"), json!({"save": true}), 200);
    assert_eq!(init["domains"].as_array().unwrap().len(), 11, "{init}");
}

fn place(datasource: &Value, what: &str) -> String {
    format!("/api/datasources/{}/{what}", text(&datasource["id"]))
}

fn ask(house: &House, as_key: &str, query: Value) -> (u16, Value) {
    house.call_as(as_key, Method::POST, "/api/domains/query", Some(json!({"query": query})))
}

fn rows(house: &House, query: Value) -> Vec<Value> {
    let (status, answer) = ask(house, &house.server.key, query);
    assert_eq!(status, 200, "{answer}");
    answer["rows"].as_array().unwrap().clone()
}

#[test]
fn a_database_is_described_and_asked() {
    let house = shop(Script::default());
    let (track, customer, invoice) = ("track", "customer", "invoice");
    let count = json!({"domain": track, "aggregate": [{"fn": "count"}]});
    assert_eq!(rows(&house, count), [json!([3503])]);
    let where_ = json!([{"field": "country", "op": "eq", "value": "brazil"}]);
    let query =
        json!({"domain": customer, "fields": ["first_name"], "where": where_, "order": [{"field": "first_name"}]});
    let names: Vec<String> = rows(&house, query).iter().map(|row| text(&row[0])).collect();
    assert_eq!(names, ["Alexandre", "Eduardo", "Fernanda", "Luís", "Roberto"]);
    // By year, with the sum of money.
    let query = json!({"domain": invoice, "group": [{"field": "invoice_date", "by": "year"}],
        "aggregate": [{"fn": "sum", "field": "total", "as": "total"}]});
    let (_, answer) = ask(&house, &house.server.key, query);
    assert_eq!(answer["shape"]["shape"], "series", "{answer}");
    assert_eq!(answer["rows"].as_array().unwrap().len(), 5, "{answer}");

    // What is wrong is said so that it can be mended.
    for (query, part) in [
        (json!({"domain": "trakc"}), "there is no domain"),
        (json!({"domain": track, "fields": ["nmae"]}), "did you mean `name`"),
        (json!({"domain": track, "where": [{"field": "milliseconds", "op": "contains", "value": "5"}]}), "contains"),
        (json!({"domain": track, "where": [{"field": "milliseconds", "op": "gt", "value": "long"}]}), "milliseconds"),
        (json!({"domain": track, "limti": 5}), "limti"),
    ] {
        let (status, problem) = ask(&house, &house.server.key, query.clone());
        assert_eq!(status, 422, "{query}: {problem}");
        assert!(text(&problem["title"]).contains(part), "{query}: {problem}");
    }
}

#[test]
fn pages_follow_each_other_by_key() {
    let house = shop(Script::default());
    let track = "track";
    let (mut seen, mut after) = (Vec::new(), Value::Null);
    loop {
        let mut query = json!({"domain": track, "fields": ["id"], "order": [{"field": "name"}], "limit": 1000});
        if !after.is_null() {
            query["after"] = after;
        }
        let (status, answer) = ask(&house, &house.server.key, query);
        assert_eq!(status, 200, "{answer}");
        seen.extend(answer["rows"].as_array().unwrap().iter().map(|row| row[0].as_i64().unwrap()));
        after = answer["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(seen.len(), 3503);
    assert_eq!(BTreeSet::from_iter(seen).len(), 3503);
}

#[test]
fn permissions_of_a_domain_hold_for_people_and_their_agents() {
    let house = shop(Script::default());
    let invoice = "invoice";
    let (olga, dan, vera) = (key("olga"), key("dan"), key("vera"));
    let query = json!({"domain": invoice, "aggregate": [{"fn": "count"}]});
    for as_key in [&olga, &dan, &vera] {
        assert_eq!(ask(&house, as_key, query.clone()).0, 200);
    }
    let source = text(&house.get(&format!("/api/domains/texts/domain/{invoice}"))["text"]);
    let closed: Vec<&str> = source.lines().filter(|line| !line.contains("permission role:viewer")).collect();
    let saved = house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": closed.join("\n")})), 200);
    assert!(text(&saved[0]["diff"]).contains("-  permission role:viewer"), "{saved}");
    // For who may not read it, it does not exist: not in the list, in no answer, in no search and through no relation.
    let (status, problem) = ask(&house, &vera, query.clone());
    assert_eq!(status, 422);
    assert!(text(&problem["title"]).contains("there is no domain"), "{problem}");
    let (_, list) = house.call_as(&vera, Method::GET, "/api/domains", None);
    assert!(!list.to_string().contains(&format!("\"name\":\"{invoice}\"")), "{list}");
    let (_, found) =
        house.call_as(&vera, Method::POST, "/api/domains/search", Some(json!({"query": "invoices", "limit": 50})));
    assert!(!found["items"].as_array().unwrap().iter().any(|one| one["domain"] == invoice), "{found}");
    let (_, info) = house.call_as(&vera, Method::GET, "/api/domains/customer", None);
    assert!(!info["relations"].to_string().contains(&format!("\"domain\":\"{invoice}\"")), "{info}");
    assert_eq!(ask(&house, &dan, query).0, 200);
    // Only operators write them, and see datasources.
    for as_key in [&dan, &vera] {
        for (method, path) in [(Method::GET, "/api/datasources"), (Method::GET, "/api/domains/texts")] {
            assert_eq!(house.call_as(as_key, method, path, None).0, 403, "{path}");
        }
    }
}

#[test]
fn a_changed_text_or_instruction_acts_on_the_next_message() {
    let script = Script::always(Behaviour::text("Five customers."));
    let house = shop(script);
    let agent = text(&house.items("/api/agents?q=oos")[0]["id"]);
    let say = |message: &str| {
        let started = house.post(&format!("/api/chat/{agent}"), json!({"message": message}), 202);
        house.wait(&text(&started["run_id"]), "finished");
        let requests = house.bench.model.requests();
        requests.last().unwrap().body.to_string()
    };
    let first = say("hello");
    assert!(first.contains("### Domains") && first.contains("oos_schema_search"), "{first}");
    assert!(!first.contains("Amounts are in euro"), "{first}");
    let body = json!({"text": "Amounts are in euro.", "position": 1});
    house.send(Method::PUT, "/api/standing-instructions/money", Some(body), 200);
    assert!(say("hello again").contains("Amounts are in euro"));
    let customer = "customer";
    let source = text(&house.get(&format!("/api/domains/texts/domain/{customer}"))["text"]);
    let at = source.find("ai \"scope\" \"").unwrap();
    let end = at + source[at..].find('\n').unwrap();
    let source = format!("{}ai \"scope\" \"People who buy songs.\"{}", &source[..at], &source[end..]);
    house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": source})), 200);
    assert!(say("and now").contains("People who buy songs"));
}

#[test]
fn an_agent_asks_and_reads_what_its_user_may() {
    let script = Script::of([
        Behaviour::calls([("oos_schema_search", json!({"query": "customers"}))]),
        Behaviour::calls([("oos_query", json!({"query": {"domain": "nobody"}}))]),
        Behaviour::calls([(
            "oos_query",
            json!({"query": "{\"domain\": \"customer\", \"where\": {\"field\": \"Country\", \"op\": \"eq\", \"value\": \"Norway\"}}"}),
        )]),
        Behaviour::text("One customer, Bjørn Hansen."),
    ]);
    let house = shop(script);
    let agent = text(&house.items("/api/agents?q=oos")[0]["id"]);
    let started = house.post(&format!("/api/chat/{agent}"), json!({"message": "who buys in Norway?"}), 202);
    let run = text(&started["run_id"]);
    house.wait(&run, "finished");
    let log = house.get(&format!("/api/runs/{run}/events")).to_string();
    assert!(log.contains("Bjørn"), "{log}");
    assert!(log.contains("there is no domain `nobody`"), "{log}");
    assert!(log.contains("shape"), "{log}");
}

#[test]
fn what_models_see_of_rows_is_the_datasources_to_say() {
    for (visibility, shown, hidden) in [
        ("full", "Bjørn", "not shown"),
        ("ids", "only keys are shown", "Bjørn"),
        ("counts", "5 rows were found", "Luís"),
    ] {
        let wanted = if visibility == "counts" { "Brazil" } else { "Norway" };
        let query =
            json!({"query": {"domain": "customer", "where": [{"field": "country", "op": "eq", "value": wanted}]}});
        let script = Script::of([Behaviour::calls([("oos_query", query)]), Behaviour::text("Done.")]);
        let house = shop(script);
        let source = house.items("/api/datasources")[0].clone();
        let body = json!({"name": "music", "database": "sqlite:chinook.db", "visibility": visibility});
        house.send(Method::PUT, &format!("/api/datasources/{}", text(&source["id"])), Some(body), 200);
        let agent = text(&house.items("/api/agents?q=oos")[0]["id"]);
        let started = house.post(&format!("/api/chat/{agent}"), json!({"message": "who?"}), 202);
        house.wait(&text(&started["run_id"]), "finished");
        let told = house.bench.model.requests().last().unwrap().body.to_string();
        assert!(told.contains(shown) && !told.contains(hidden), "{visibility}: {told}");
    }
}

#[test]
fn numbers_and_groups_show_models_no_values_of_rows() {
    let one = |field: &str, value: i64| json!([{"field": field, "op": "eq", "value": value}]);
    let questions = [
        json!({"domain": "customer", "where": one("id", 1), "aggregate": [{"fn": "max", "field": "email"}]}),
        json!({"domain": "customer", "where": one("id", 1), "aggregate": [{"fn": "max", "field": "email", "as": "id"}]}),
        json!({"domain": "customer", "group": [{"field": "email"}], "aggregate": [{"fn": "count"}]}),
        json!({"domain": "invoice", "where": one("id", 5), "aggregate": [{"fn": "sum", "field": "total", "as": "one"}]}),
        json!({"domain": "customer", "fields": ["country"], "order": [{"field": "email"}], "limit": 5}),
        json!({"domain": "invoice", "group": [{"field": "invoice_date", "by": "year"}], "aggregate": [{"fn": "avg", "field": "total"}]}),
        json!({"domain": "invoice", "aggregate": [{"fn": "sum", "field": "total", "as": "all"}, {"fn": "count"}]}),
    ];
    for visibility in ["full", "ids", "counts"] {
        let calls = questions.iter().map(|query| Behaviour::calls([("oos_query", json!({"query": query}))]));
        let house = shop(Script::of(calls.chain([Behaviour::text("Done.")]).collect::<Vec<_>>()));
        let source = house.items("/api/datasources")[0].clone();
        let body = json!({"name": "music", "database": "sqlite:chinook.db", "visibility": visibility});
        house.send(Method::PUT, &format!("/api/datasources/{}", text(&source["id"])), Some(body), 200);
        let agent = text(&house.items("/api/agents?q=oos")[0]["id"]);
        let started = house.post(&format!("/api/chat/{agent}"), json!({"message": "who?"}), 202);
        let run = text(&started["run_id"]);
        house.wait(&run, "finished");
        let told = house.bench.model.requests().last().unwrap().body.to_string();
        let log = house.get(&format!("/api/runs/{run}/events")).to_string();
        for value in ["luisg@embraer.com.br", "13.86"] {
            assert_eq!(told.contains(value), visibility == "full", "{visibility}: {value} in {told}");
            assert_eq!(log.contains(value), visibility == "full", "{visibility}: {value} in {log}");
        }
        assert_eq!(told.contains("fewer than 5 values"), visibility != "full", "{told}");
        assert!(told.contains("2328.6") && told.contains("412"), "numbers over all rows are shown: {told}");
        assert!(!told.contains("steward_rows"), "{told}");
    }
}

#[test]
fn the_editor_is_told_what_is_wrong_and_what_can_be_written() {
    let house = shop(Script::default());
    let bad = "domain songs from trak@music {\n  permission viewer read\n  field name : strng\n}\n";
    let report = house.post("/api/domains/check", json!({"text": bad}), 200);
    let told = report["diagnostics"].to_string();
    assert!(told.contains("`track`") && told.contains("string"), "{told}");
    let problem = house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": bad})), 422);
    assert!(text(&problem["title"]).contains("line 1"), "{problem}");
    let begun = "domain songs from track@music {\n  field ";
    let place = json!({"text": begun, "offset": begun.len()});
    let found = house.post("/api/domains/complete", place, 200);
    assert!(found.as_array().unwrap().iter().any(|one| one["label"] == "composer"), "{found}");
    let good =
        "domain songs from track@music {\npermission * read\nfield id:int readonly\nfield name : string filterable\n}";
    let formatted = house.post("/api/domains/format", json!({"text": good}), 200);
    assert!(text(&formatted["text"]).contains("  field name : string filterable\n"), "{formatted}");
    house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": good})), 200);
    let second = good.replace("filterable", "");
    let saved = house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": second, "version": 1})), 200);
    assert_eq!(saved[0]["text"]["version"], 2, "{saved}");
    house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": good, "version": 1})), 409);
    house.send(Method::DELETE, "/api/domains/texts/domain/songs", None, 204);
    let versions = house.items("/api/domains/texts/domain/songs/versions");
    assert_eq!(versions.len(), 2, "{versions:?}");
    // Saved again, it goes on counting.
    let saved = house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": good})), 200);
    assert_eq!(saved[0]["text"]["version"], 4, "{saved}");
    groups_are_meant_when_a_text_is_saved(&house, good);
}

/// `text` is for everybody.
fn groups_are_meant_when_a_text_is_saved(house: &House, text_of_all: &str) {
    let for_group = |name: &str| json!({"text": text_of_all.replace("permission *", &format!("permission {name}"))});
    let put = |who: &str, name: &str| {
        let (status, answer) = house.call_as(&key(who), Method::PUT, "/api/domains/texts", Some(for_group(name)));
        (status, answer.to_string())
    };
    let (status, refused) = put("olga", "sales");
    assert!(status == 422 && refused.contains("Write `group:sales`"), "{refused}");
    let (status, refused) = put("olga", "group:sales");
    assert!(status == 422 && refused.contains("There is no group `sales`"), "{refused}");
    let as_admin = |method: Method, path: &str, body: Option<Value>| {
        let (status, answer) = house.call_as(&key("ada"), method, path, body);
        assert!((200..300).contains(&status), "{path}: {answer}");
        answer
    };
    let sales = as_admin(Method::POST, "/api/groups", Some(json!({"name": "sales"})));
    assert_eq!(put("olga", "group:sales").0, 200);

    // It is that group, whatever it is called.
    let path = format!("/api/groups/{}", text(&sales["id"]));
    as_admin(Method::PATCH, &path, Some(json!({"name": "sales EU"})));
    let (status, saved) = put("olga", "group:sales");
    assert!(status == 200 && saved.contains("is called `sales EU` now"), "{saved}");
    as_admin(Method::DELETE, &path, None);
    as_admin(Method::POST, "/api/groups", Some(json!({"name": "sales"})));
    let (status, refused) = put("olga", "group:sales");
    assert!(status == 422 && refused.contains("was deleted, and another has its name"), "{refused}");
    assert_eq!(put("ada", "group:sales").0, 200, "an administrator may mean the new one");
    assert_eq!(put("olga", "group:sales").0, 200);
}

/// Whether two answers say the same: sums of fractions depend on the order in which they are added.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(one, other)| same(one, other))
        }
        (Value::Number(found), Value::Number(expected)) => {
            (found.as_f64().unwrap() - expected.as_f64().unwrap()).abs() < 1e-6
        }
        _ => found == expected,
    }
}

#[test]
fn what_an_ideal_model_asks_is_answered_right() {
    ask_as_an_ideal_model(&shop(Script::default()));
}

/// Asks what answers each question about the music shop.
fn ask_as_an_ideal_model(house: &House) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evals/data/domains/chinook.jsonl");
    let (mut asked, mut wrong) = (0, Vec::new());
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if case["query"].is_null() {
            continue;
        }
        asked += 1;
        let (_, answer) = ask(house, &house.server.key, case["query"].clone());
        if !same(&answer["rows"], &case["rows"]) {
            wrong.push(format!("{} {}: {answer}\n  expected {}", case["id"], case["text"], case["rows"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {asked} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(asked >= 57);
}
