//! Changes of rows: shown, confirmed, taken back, and cut off.

use super::{rows, shop};
use crate::api_routes::house::{House, key, text};
#[cfg(feature = "failpoints")]
use crate::{api_routes::house::client, common::Server};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

pub fn propose(house: &House, as_key: &str, change: Value) -> (u16, Value) {
    house.call_as(as_key, Method::POST, "/api/record-changes", Some(json!({"change": change})))
}

pub fn decide(house: &House, as_key: &str, change: &Value, verb: &str) -> (u16, Value) {
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
