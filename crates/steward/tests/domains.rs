//! Databases through their domains, by the real program on real databases: a sample of music in SQLite.

mod graphql;
mod questions;
mod recorded;
mod servers;
mod tables;

use crate::api_routes::house::{House, key, text};
#[cfg(feature = "failpoints")]
use crate::{api_routes::house::client, common::Server};
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

fn propose(house: &House, as_key: &str, change: Value) -> (u16, Value) {
    house.call_as(as_key, Method::POST, "/api/record-changes", Some(json!({"change": change})))
}

fn decide(house: &House, as_key: &str, change: &Value, verb: &str) -> (u16, Value) {
    let path = format!("/api/record-changes/{}/{verb}", text(&change["change"]["id"]));
    house.call_as(as_key, Method::POST, &path, None)
}

fn city(house: &House) -> Value {
    let where_ = json!([{"field": "id", "op": "eq", "value": 4}]);
    rows(house, json!({"domain": "customer", "fields": ["city"], "where": where_}))[0][0].clone()
}

#[test]
fn a_change_is_shown_confirmed_and_taken_back() {
    let house = shop(Script::default());
    let olga = key("olga");
    let move_to = |city: &str| json!({"change": "update", "domain": "customer", "key": 4, "set": {"city": city}});
    let (status, proposed) = propose(&house, &olga, move_to("Bergen"));
    assert_eq!(status, 201, "{proposed}");
    assert_eq!(proposed["difference"][0]["before"], "Oslo", "{proposed}");
    assert_eq!(proposed["difference"][0]["after"], "Bergen", "{proposed}");
    assert_eq!(city(&house), "Oslo");
    let (status, done) = decide(&house, &olga, &proposed, "confirm");
    assert_eq!((status, &done["change"]["state"], &done["undoable"]), (200, &json!("done"), &json!(true)), "{done}");
    assert_eq!(city(&house), "Bergen");
    assert_eq!(decide(&house, &olga, &proposed, "confirm").0, 409);
    let (status, undone) = decide(&house, &olga, &proposed, "undo");
    assert_eq!((status, &undone["change"]["state"]), (200, &json!("undone")), "{undone}");
    assert_eq!(city(&house), "Oslo");

    // Two people: one wins, the other is told and loses nothing.
    let (_, one) = propose(&house, &olga, move_to("Bergen"));
    let (_, two) = propose(&house, &house.server.key, move_to("Tromsø"));
    assert_eq!(decide(&house, &olga, &one, "confirm").1["change"]["state"], "done");
    let (status, late) = decide(&house, &house.server.key, &two, "confirm");
    assert_eq!((status, &late["change"]["state"]), (200, &json!("failed")), "{late}");
    assert!(text(&late["change"]["outcome"]).contains("Somebody else"), "{late}");
    assert_eq!(late["difference"][0]["after"], "Tromsø", "{late}");
    assert_eq!(city(&house), "Bergen");

    // What is not allowed, or makes no sense, is not even proposed.
    for (as_key, change, part) in [
        (&key("dan"), move_to("Bergen"), "may not change"),
        (&olga, move_to("Bergen"), "nothing would change"),
        (
            &olga,
            json!({"change": "update", "domain": "customer", "key": 99999, "set": {"city": "x"}}),
            "no such record",
        ),
        (&olga, json!({"change": "update", "domain": "customer", "key": 4, "set": {"id": 5}}), "can't be set"),
        (&olga, json!({"change": "update", "domain": "customer", "key": 4, "set": {"cty": "x"}}), "did you mean"),
        (&olga, json!({"change": "drop", "domain": "customer"}), "the change is not as it should be"),
        (&olga, json!({"change": "delete", "domain": "customer", "key": 4}), "may not delete"),
    ] {
        let (status, problem) = propose(&house, as_key, change.clone());
        assert_eq!(status, 422, "{change}: {problem}");
        assert!(text(&problem["title"]).contains(part), "{change}: {problem}");
    }
    // Others' changes are nobody's business.
    let (status, _) =
        house.call_as(&key("dan"), Method::GET, &format!("/api/record-changes/{}", text(&one["change"]["id"])), None);
    assert_eq!(status, 404);
    let (_, own) = house.call_as(&key("dan"), Method::GET, "/api/record-changes", None);
    assert_eq!(own["items"], json!([]));
}

#[test]
fn changes_of_a_domain_that_one_may_not_read_do_not_exist() {
    let house = shop(Script::default());
    let olga = key("olga");
    let change = |domain: &str, set: Value| json!({"change": "update", "domain": domain, "key": 4, "set": set});
    let (status, seen) = propose(&house, &key("ada"), change("genre", json!({"name": "Polka"})));
    assert_eq!(status, 201, "{seen}");
    let (status, hidden) = propose(&house, &key("ada"), change("customer", json!({"city": "Bergen"})));
    assert_eq!(status, 201, "{hidden}");
    let (status, own) = propose(&house, &olga, change("customer", json!({"city": "Tromsø"})));
    assert_eq!(status, 201, "{own}");
    let list = |query: &str| house.call_as(&olga, Method::GET, &format!("/api/record-changes{query}"), None).1;
    assert_eq!(list("")["items"].as_array().unwrap().len(), 3);

    let source = text(&house.get("/api/domains/texts/domain/customer")["text"]);
    let closed: Vec<&str> = source.lines().filter(|line| !line.contains("permission role:operator")).collect();
    house.send(Method::PUT, "/api/domains/texts", Some(json!({"text": closed.join("\n")})), 200);
    for query in ["", "?limit=1"] {
        let page = list(query);
        assert_eq!(page["items"].as_array().unwrap().len(), 1, "{page}");
        assert_eq!(page["items"][0]["change"]["id"], seen["change"]["id"], "{page}");
        assert!(!page.to_string().contains("Oslo"), "{page}");
    }
    // Her own neither, since her right is gone.
    for change in [&hidden, &own] {
        let path = format!("/api/record-changes/{}", text(&change["change"]["id"]));
        assert_eq!(house.call_as(&olga, Method::GET, &path, None).0, 404);
        for verb in ["confirm", "discard", "undo"] {
            assert_eq!(decide(&house, &olga, change, verb).0, 404, "{verb}");
        }
    }
    let (_, all) = house.call_as(&key("ada"), Method::GET, "/api/record-changes", None);
    assert_eq!(all["items"].as_array().unwrap().len(), 3);
}

#[test]
fn rows_are_added_and_deleted_by_those_who_may() {
    let house = shop(Script::default());
    let admin = key("ada");
    let (status, proposed) =
        propose(&house, &admin, json!({"change": "insert", "domain": "genre", "set": {"name": "Polka"}}));
    assert_eq!(status, 201, "{proposed}");
    let (_, done) = decide(&house, &admin, &proposed, "confirm");
    assert_eq!(done["change"]["state"], "done", "{done}");
    let count = || rows(&house, json!({"domain": "genre", "aggregate": [{"fn": "count"}]}))[0][0].clone();
    assert_eq!(count(), 26);
    let (status, proposed) = propose(&house, &admin, json!({"change": "delete", "domain": "genre", "key": 26}));
    assert_eq!(status, 201, "{proposed}");
    assert_eq!(decide(&house, &admin, &proposed, "confirm").1["change"]["state"], "done");
    assert_eq!(count(), 25);
    assert_eq!(decide(&house, &admin, &proposed, "undo").1["change"]["state"], "undone");
    assert_eq!(count(), 26);
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

#[test]
fn datasources_that_can_t_be_are_refused() {
    let house = shop(Script::default());
    for (body, part) in [
        (json!({"name": "1st", "database": "sqlite:chinook.db"}), "can't be the name"),
        (json!({"name": "a", "database": "oracle://x/y"}), "none of"),
        (json!({"name": "a", "database": "postgres://me:secret@db/x"}), "password"),
        (json!({"name": "a", "database": "sqlite:chinook.db", "limits": {"rows": 0}}), "use at least 1"),
    ] {
        let problem = house.post("/api/datasources", body.clone(), 422);
        assert!(problem.to_string().contains(part), "{body}: {problem}");
    }
    house.post("/api/datasources", json!({"name": "music", "database": "sqlite:chinook.db"}), 409);
    // Steward's own files can't be added; what is not there can be, but not opened.
    let own = format!("sqlite:{}", house.bench.data().join("steward.db").display());
    let problem = house.post("/api/datasources", json!({"name": "other", "database": own}), 422);
    assert!(problem.to_string().contains("belongs to Steward itself"), "{problem}");
    for database in ["sqlite:../x.db", "sqlite:missing.db"] {
        let made = house.post("/api/datasources", json!({"name": "other", "database": database}), 201);
        let problem = house.post(&place(&made, "check"), json!({}), 409);
        assert!(!problem["title"].as_str().unwrap_or_default().is_empty(), "{problem}");
        house.send(Method::DELETE, &format!("/api/datasources/{}", text(&made["id"])), None, 204);
    }
}

#[test]
fn a_login_goes_to_the_servers_of_its_credential_only() {
    let house = House::with_people(Script::default(), PEOPLE);
    let fields = json!({"username": "reader", "password": "only-for-reading"});
    let body = json!({"name": "erp reader", "kind": "password", "fields": fields, "hosts": ["db.example.org:5432"]});
    let credential = house.post("/api/credentials", body, 201);
    let named = |database: &str| json!({"name": "erp", "database": database, "credential": credential["id"]});
    for elsewhere in [
        "postgres://db.example.net/erp",
        "postgres://db.example.org:5433/erp",
        "mysql://db.example.org/erp",
        "postgres://db.example.org/erp?host=db.example.net",
    ] {
        let problem = house.post("/api/datasources", named(elsewhere), 422);
        assert_eq!(problem["field"], "credential", "{elsewhere}: {problem}");
    }
    let made = house.post("/api/datasources", named("postgres://db.example.org/erp"), 201);
    let path = format!("/api/credentials/{}", text(&credential["id"]));
    house.send(Method::PATCH, &path, Some(json!({"hosts": ["other.example.org"]})), 200);
    let problem = house.post(&place(&made, "check"), json!({}), 503);
    assert!(text(&problem["title"]).contains("may only be sent to other.example.org"), "{problem}");
    let uses = house.get(&format!("{path}/uses"));
    assert_eq!(uses["items"], json!([]), "it was not opened: {uses}");
}

#[test]
fn a_folder_of_files_is_a_database_that_is_only_read() {
    let house = House::with_people(Script::default(), PEOPLE);
    std::fs::create_dir(house.bench.work.path().join("numbers")).unwrap();
    house.bench.work.write("numbers/stations.csv", "id,name\n1,Oslo\n2,Bergen\n").unwrap();
    house
        .bench
        .work
        .write("numbers/readings.tsv", "station_id\ttaken\tvalue\n1\t2024-01-01\t3.5\n2\t2024-01-02\t4\n")
        .unwrap();
    house.bench.work.write("numbers/notes.txt", "no table").unwrap();
    let soil = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sandbox/tests/data/parquet/polars.parquet");
    std::fs::copy(soil, house.bench.work.path().join("numbers/soil.parquet")).unwrap();
    let body = json!({"name": "numbers", "database": "folder:numbers", "writable": true});
    let problem = house.post("/api/datasources", body, 422);
    assert!(problem.to_string().contains("only read"), "{problem}");
    let made = house.post("/api/datasources", json!({"name": "numbers", "database": "folder:numbers"}), 201);
    let init = house.post(&place(&made, "init"), json!({"save": true}), 200);
    assert_eq!(init["domains"].as_array().unwrap().len(), 3, "{init}");
    let by_year = json!({"domain": "soil", "group": [{"field": "taken", "by": "year"}],
        "where": [{"field": "taken", "op": "gt", "value": "2023"}], "aggregate": [{"fn": "sum", "field": "value"}]});
    assert_eq!(rows(&house, by_year), [json!(["2024", 1.5]), json!(["2025", 3.0])]);
    let sum = || rows(&house, json!({"domain": "readings", "aggregate": [{"fn": "sum", "field": "value"}]}));
    assert_eq!(sum(), [json!([7.5])]);
    // What is written comes with the next question.
    house.bench.work.write("numbers/readings.tsv", "station_id\ttaken\tvalue\n1\t2024-01-01\t10.25\n").unwrap();
    assert_eq!(sum(), [json!([10.25])]);
    for (database, part) in [
        ("folder:nowhere", "can't be read"),
        ("folder:../up", "inside of the workspace"),
        ("folder:/etc", "inside of the workspace"),
        ("folder:", "name a folder"),
    ] {
        let (status, problem) =
            house.call(Method::POST, "/api/datasources", Some(json!({"name": "other", "database": database})));
        let told = if status == 201 {
            house.call(Method::POST, &place(&problem, "init"), Some(json!({"save": true}))).1.to_string()
        } else {
            problem.to_string()
        };
        assert!(told.contains(part), "{database}: {told}");
        if status == 201 {
            house.send(Method::DELETE, &format!("/api/datasources/{}", text(&problem["id"])), None, 204);
        }
    }
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

#[cfg(feature = "failpoints")]
#[test]
fn a_change_that_is_cut_off_is_done_or_waits_again() {
    for (point, state, expect) in [
        ("app.change.confirmed", "proposed", "Oslo"),
        ("app.change.staged", "proposed", "Oslo"),
        ("app.change.committed", "done", "Bergen"),
    ] {
        let House { bench, server } = shop(Script::default());
        server.kill();
        let server = Server::start_with(&bench, &[("STEWARD_KILL_AT", point)]);
        let house = House { bench, server };
        let olga = key("olga");
        let change = json!({"change": "update", "domain": "customer", "key": 4, "set": {"city": "Bergen"}});
        let (status, proposed) = propose(&house, &olga, change);
        assert_eq!(status, 201, "{proposed}");
        let path = format!("/api/record-changes/{}", text(&proposed["change"]["id"]));
        let confirming = client().post(format!("{}{path}/confirm", house.server.url)).bearer_auth(&olga);
        let answer = house.bench.runtime.block_on(confirming.send());
        assert!(answer.is_err(), "{point}: {answer:?}");
        let bench = house.bench;
        drop(house.server);
        let server = Server::start(&bench);
        let house = House { bench, server };
        let (_, found) = house.call_as(&olga, Method::GET, &path, None);
        assert_eq!(found["change"]["state"], state, "{point}: {found}");
        assert_eq!(city(&house), expect, "{point}");
        // Waiting again, it is written; done, it is taken back.
        let verb = if state == "done" { "undo" } else { "confirm" };
        let (status, after) = decide(&house, &olga, &found, verb);
        assert_eq!(status, 200, "{point}: {after}");
        assert_eq!(city(&house), if state == "done" { "Oslo" } else { "Bergen" }, "{point}");
    }
}
