//! Databases that are not as they are declared or named, and tables of files, asked by the real program.

use super::questions::use_small_model;
use super::{place, shop};
use crate::api_routes::house::{House, client, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

const ACCOUNTS: &str = "Account;CostCenter;Routing;Opened;Amount\n0010;00042;021000021;05.03.2024;1.234,50\n\
    0100;007;011000015;17.03.2024;50,00\n0010;00042;021000021;02.04.2024;-34,50\n";

fn asked(house: &House, message: &str) -> String {
    let agent = text(&house.items("/api/agents?q=oos")[0]["id"]);
    let started = house.post(&format!("/api/chat/{agent}"), json!({"message": message}), 202);
    text(&house.wait(&text(&started["run_id"]), "finished")["answer"])
}

fn datasource(house: &House, name: &str, address: &str) -> Value {
    let made = house.post("/api/datasources", json!({"name": name, "database": address}), 201);
    house.post(&place(&made, "init"), json!({"save": true}), 200);
    made
}

fn database(house: &House, name: &str, sql: &str) -> Value {
    let file = format!("{name}.db");
    rusqlite::Connection::open(house.bench.work.path().join(&file)).unwrap().execute_batch(sql).unwrap();
    datasource(house, name, &format!("sqlite:{file}"))
}

#[test]
fn a_datasource_whose_file_is_gone_is_named_with_what_to_do() {
    let house = shop(Script::default());
    let made = house.items("/api/datasources").into_iter().find(|one| one["name"] == "music").unwrap();
    std::fs::remove_file(house.bench.work.path().join("chinook.db")).unwrap();
    let query = json!({"query": {"domain": "track", "aggregate": [{"fn": "count"}]}});
    let problem = house.send(Method::POST, "/api/domains/query", Some(query), 409);
    let check = house.send(Method::POST, &place(&made, "check"), None, 409);
    let schema = house.send(Method::GET, &place(&made, "schema"), None, 409);
    let init = house.send(Method::POST, &place(&made, "init"), Some(json!({})), 409);
    for problem in [problem, check, schema, init] {
        assert_eq!(problem["code"], "datasource_unusable", "{problem}");
        assert!(
            text(&problem["title"]).contains("`music`") && text(&problem["title"]).contains("chinook.db"),
            "{problem}"
        );
        assert!(text(&problem["hint"]).contains("steward datasource check music"), "{problem}");
    }
    let answer = house.post("/api/graphql", json!({"query": "{ track(limit: 1) { id } }"}), 200);
    assert!(answer["errors"].to_string().contains("`music`") && answer["data"]["track"].is_null(), "{answer}");
}

#[test]
fn the_folder_of_a_datasource_may_be_gone_too() {
    let house = shop(Script::default());
    std::fs::create_dir(house.bench.work.path().join("books")).unwrap();
    house.bench.work.write("books/accounts.csv", ACCOUNTS).unwrap();
    let made = datasource(&house, "books", "folder:books");
    std::fs::remove_dir_all(house.bench.work.path().join("books")).unwrap();
    for what in ["check", "init"] {
        let problem = house.send(Method::POST, &place(&made, what), Some(json!({})), 409);
        assert!(text(&problem["title"]).contains("`books`"), "{problem}");
    }
}

#[test]
fn an_answer_of_graphql_has_the_type_and_status_that_were_asked_for() {
    let house = shop(Script::default());
    let ask = |accept: &str, body: Value| {
        house.bench.runtime.block_on(async {
            let url = format!("{}/api/graphql", house.server.url);
            let sent = client().post(url).bearer_auth(&house.server.key).header("accept", accept).json(&body);
            let answer = sent.send().await.unwrap();
            let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
            (answer.status().as_u16(), kind, answer.json::<Value>().await.unwrap())
        })
    };
    let own = "application/graphql-response+json";
    let (right, wrong) = (json!({"query": "{ genre(limit: 1) { id } }"}), json!({"query": "{"}));
    for (accept, body, expect) in [
        (own, &right, (200, own)),
        (own, &wrong, (400, own)),
        (own, &json!({}), (400, own)),
        (own, &json!({"query": "{ genre { id } }", "variables": "x"}), (400, own)),
        ("application/json", &right, (200, "application/json")),
        ("application/json", &wrong, (200, "application/json")),
        ("*/*", &wrong, (200, "application/json")),
        ("application/json", &json!({}), (422, "application/problem+json")),
    ] {
        let (status, kind, answer) = ask(accept, body.clone());
        assert_eq!((status, kind.as_str()), expect, "{accept} {body}: {answer}");
        assert_eq!(answer.get("data").is_some(), body == &right, "{answer}");
        assert!(body == &right || kind == "application/problem+json" || answer["errors"][0]["message"].is_string());
    }
}

#[test]
fn numbers_times_and_relations_are_read_as_they_are_stored() {
    let house = House::new(Script::default());
    use_small_model(&house);
    database(&house, "works", include_str!("../../../domains/tests/data/problems/works.sql"));
    database(&house, "lab", include_str!("../../../domains/tests/data/problems/lab.sql"));
    database(&house, "parcels", include_str!("../../../domains/tests/data/problems/parcels.sql"));
    let query = json!({"query": {"domain": "invoice", "aggregate": [{"fn": "sum", "field": "project.budget"}]}});
    assert_eq!(house.post("/api/domains/query", query, 200)["rows"], json!([[1700]]));
    let field = house.get("/api/domains/finding");
    let kind = field["fields"].as_array().unwrap().iter().find(|one| one["name"] == "reported_at").unwrap();
    assert_eq!(kind["kind"], "int", "{field}");
    assert!(asked(&house, "how many parcels went to Lund").starts_with("1 ("), "the receiver counts");
    let told = asked(&house, "how many parcels are of Lund");
    assert!(told.contains("Lund (sender city / receiver city)"), "{told}");
}

#[test]
fn a_code_in_a_question_is_used() {
    let house = shop(Script::default());
    use_small_model(&house);
    std::fs::create_dir(house.bench.work.path().join("books")).unwrap();
    house.bench.work.write("books/accounts.csv", ACCOUNTS).unwrap();
    datasource(&house, "books", "folder:books");
    let told = asked(&house, "sum of Amount for account 0010");
    assert!(told.contains("1200"), "{told}");
    let told = asked(&house, "sum of Amount for account 0999");
    assert!(told.contains("0999") && !told.contains("1250"), "{told}");
}
