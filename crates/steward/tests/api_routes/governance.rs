//! Masking that can be taken back, retention with proofs, and the erasure of a person.

use crate::api_routes::house::{House, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use steward_core::TenantId;
use steward_testkit::model_server::{Behaviour, Script};
use uuid::Uuid;

const PEOPLE: [(&str, &str); 4] = [("ann", "developer"), ("bob", "developer"), ("olga", "operator"), ("ada", "admin")];

fn house() -> House {
    House::with_people(Script::always(Behaviour::text("Ann likes canary birds.")), &PEOPLE)
}

/// As an administrator; asserts the status.
fn send(house: &House, method: Method, path: &str, body: Option<Value>, expect: u16) -> Value {
    let (status, answer) = house.call_as(&key("ada"), method, path, body);
    assert_eq!(status, expect, "{path}: {answer}");
    assert!(status < 400 || answer["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{answer}");
    answer
}

fn post(house: &House, path: &str, body: Value, expect: u16) -> Value {
    send(house, Method::POST, path, Some(body), expect)
}

fn get(house: &House, path: &str) -> Value {
    send(house, Method::GET, path, None, 200)
}

fn ask(house: &House, name: &str, message: &str) -> String {
    let path = format!("/api/chat/{}", house.agent());
    let (status, started) = house.call_as(&key(name), Method::POST, &path, Some(json!({"message": message})));
    assert_eq!(status, 202, "{started}");
    house.wait(&text(&started["run_id"]), "finished");
    text(&started["conversation_id"])
}

/// The tables with a row that has this text in any column, and the files below a folder that have it.
pub fn places(data: &Path, wanted: &str) -> Vec<String> {
    let database =
        rusqlite::Connection::open_with_flags(data.join("steward.db"), rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
            .unwrap();
    let names = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let mut found = Vec::new();
    for table in names("select name from sqlite_master where type = 'table'") {
        for column in names(&format!("select name from pragma_table_info('{table}')")) {
            let sql = format!("select count(*) from \"{table}\" where cast(\"{column}\" as text) like ?1");
            let count: i64 = database.query_row(&sql, [format!("%{wanted}%")], |row| row.get(0)).unwrap();
            if count > 0 {
                found.push(format!("{table}.{column}"));
            }
        }
    }
    let mut folders = vec![data.join("blobs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(wanted) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_mins(5), "not {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A collection of Ann's with a document of this text, once it is read.
fn add_document(house: &House, collection: &str, body: &str) -> Value {
    let made = house.call_as(&key("ann"), Method::POST, "/api/collections", Some(json!({"name": collection})));
    assert_eq!(made.0, 201, "{}", made.1);
    let path = format!("/api/documents/upload?collection={collection}&name={collection}.txt");
    let request = crate::api_routes::house::client()
        .post(format!("{}{path}", house.server.url))
        .bearer_auth(key("ann"))
        .header("content-type", "application/octet-stream")
        .body(body.to_owned());
    let added: Value = house.bench.runtime.block_on(async {
        let answer = request.send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&answer).unwrap()
    });
    let path = format!("/api/documents/{}", text(&added["document"]["id"]));
    until("read", || get(house, &path)["status"] == "ready");
    get(house, &path)
}

#[test]
fn who_is_erased_is_nowhere_any_more() {
    let house = house();
    let ann = Uuid::from_u128(100);
    let large = format!("Where do canary-finches live? {}", "finch ".repeat(20_000));
    let talk = ask(&house, "ann", &large);
    ask(&house, "bob", "Write to ann@example.org");
    assert!(!places(&house.bench.data(), "canary-finches").is_empty());
    // A collection of hers alone, and a document of hers in one that bob has as well.
    let (own, shared) = (add_document(&house, "Diary", "canary-pelican"), add_document(&house, "Shared", "A heron."));
    let grant = json!({"user": "bob@example.org", "level": "use"});
    let access = format!("/api/access/collection/{}/grants", text(&shared["collection"]));
    assert!(house.call_as(&key("ann"), Method::POST, &access, Some(grant)).0 < 300);
    // What tools keep for her beside the database, and what they keep for bob.
    let folders = [format!("calendars/{}", TenantId::DEFAULT), "mcp/notes.users".to_owned()];
    let [calendars, notes] = folders.map(|folder| house.bench.data().join(folder));
    std::fs::create_dir_all(&calendars).unwrap();
    let bob = Uuid::from_u128(101);
    for user in [ann, bob] {
        std::fs::write(calendars.join(format!("{user}.ics")), "SUMMARY:canary-swift").unwrap();
        std::fs::create_dir_all(notes.join(user.to_string())).unwrap();
        std::fs::write(notes.join(user.to_string()).join("log.txt"), "x").unwrap();
    }
    let path = format!("/api/users/{ann}/erasure");
    for name in ["ann", "olga"] {
        assert_eq!(house.call_as(&key(name), Method::GET, &path, None).0, 403);
    }
    let preview = get(&house, &path)["preview"].clone();
    assert_eq!(preview["obstacles"], json!([]), "{preview}");
    let goes = preview["goes"].as_array().unwrap();
    for kind in ["conversations", "collections", "documents", "calendars"] {
        assert!(goes.contains(&json!({"kind": kind, "count": 1})), "{preview}");
    }
    assert!(preview["renamed"].as_array().unwrap().contains(&json!({"kind": "documents", "count": 1})), "{preview}");
    let lines = get(&house, &format!("/api/users/{ann}/export"));
    let lines = lines.as_str().unwrap();
    for part in [
        "\"account\"",
        "\"conversation\"",
        "\"run\"",
        "\"event\"",
        "canary-finches",
        "\"document\"",
        "\"chunk\"",
        "canary-pelican",
        "\"calendar\"",
        "canary-swift",
    ] {
        assert!(lines.contains(part), "{part}");
    }
    post(&house, &path, json!({"confirmation": "no"}), 409);
    post(&house, &path, json!({"confirmation": preview["confirmation"]}), 202);
    assert_eq!(house.call_as(&key("ann"), Method::GET, "/api/agents", None).0, 401, "at once");
    until("erased", || !get(&house, &path)["erasure"]["done_at"].is_null());
    assert_eq!(places(&house.bench.data(), "canary-finches"), [""; 0], "what they said");
    assert_eq!(places(&house.bench.data(), "canary-pelican"), [""; 0], "what only they could see");
    for (user, left) in [(ann, false), (bob, true)] {
        assert_eq!(calendars.join(format!("{user}.ics")).exists(), left);
        assert_eq!(notes.join(user.to_string()).exists(), left);
    }
    assert_eq!(house.call_as(&key("ada"), Method::GET, &format!("/api/documents/{}", text(&own["id"])), None).0, 404);
    let kept = get(&house, &format!("/api/documents/{}", text(&shared["id"])));
    assert_eq!((&kept["name"], kept.get("added_by")), (&json!("Shared.txt"), None), "{kept}");
    let named = places(&house.bench.data(), "ann@example.org");
    assert!(named.iter().all(|place| place.starts_with("audit_")), "{named:?}");
    let left = get(&house, "/api/runs?limit=50").to_string();
    assert!(left.contains("Write to erased-") && !left.contains("ann@example.org"), "{left}");
    let proofs = get(&house, "/api/data-governance/retention/certificate");
    assert_eq!(proofs["deletions"].as_array().unwrap().len(), 1, "{proofs}");
    assert_eq!(text(&proofs["deletions"][0]["id"]), talk);
    post(&house, "/api/audit/verify", json!({}), 200);
}

#[test]
fn what_is_kept_long_enough_goes_with_a_proof() {
    let house = house();
    let (old, held) = (ask(&house, "bob", "An old canary"), ask(&house, "bob", "A held canary"));
    let path = "/api/data-governance/retention";
    let rules = |days: u32| {
        json!({"version": 0, "policies": [{"name": "a day", "kind": "conversations", "days": days, "deleted_only": false}],
            "holds": [{"on": {"kind": "conversation", "id": held}, "reason": "case 7"}]})
    };
    let preview = post(&house, &format!("{path}/preview"), rules(1), 200);
    assert_eq!(
        (&preview["would_go"][0]["items"], &preview["would_go"][0]["held"]),
        (&json!(0), &json!(0)),
        "too young"
    );
    let save = |rules: Value, confirmation: &Value, expect: u16| {
        send(&house, Method::PUT, path, Some(json!({"rules": rules, "confirmation": confirmation})), expect)
    };
    save(rules(2), &preview["confirmation"], 409);
    save(rules(0), &preview["confirmation"], 422);
    // Two days pass.
    let ago = 2 * 86_400_000_i64;
    steward_testkit::database::change(
        &house.bench.data(),
        &format!("update conversations set updated_at = updated_at - {ago}, created_at = created_at - {ago}"),
    );
    let preview = post(&house, &format!("{path}/preview"), rules(1), 200);
    assert_eq!(
        (&preview["would_go"][0]["items"], &preview["would_go"][0]["held"]),
        (&json!(1), &json!(1)),
        "{preview}"
    );
    let saved = save(rules(1), &preview["confirmation"], 200);
    assert_eq!(saved["version"], 1);
    save(rules(1), &preview["confirmation"], 409);
    until("deleted", || get(&house, path)["last"]["deleted"] == 1);
    let bobs = house.call_as(&key("bob"), Method::GET, "/api/conversations", None).1;
    let left: Vec<&str> = bobs["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(left, [held.as_str()]);
    let proof = get(&house, &format!("{path}/certificate"))["deletions"][0].clone();
    assert_eq!((text(&proof["id"]), &proof["policy"], &proof["kind"]), (old, &json!("a day"), &json!("conversations")));
    assert_eq!(text(&proof["sha256"]).len(), 64, "{proof}");
    let erasure = get(&house, &format!("/api/users/{}/erasure", Uuid::from_u128(101)));
    assert_eq!(erasure["preview"]["obstacles"].as_array().unwrap().len(), 1, "{erasure}");
}

#[test]
fn the_last_administrator_with_a_password_is_not_erased() {
    let house = house();
    let ann = Uuid::from_u128(100);
    send(&house, Method::PATCH, &format!("/api/users/{ann}"), Some(json!({"role": "admin"})), 200);
    let password = "update users set password_hash = 'x' where email = 'ann@example.org'";
    steward_testkit::database::change(&house.bench.data(), password);
    let path = format!("/api/users/{ann}/erasure");
    let preview = get(&house, &path)["preview"].clone();
    assert_eq!(preview["obstacles"], json!(["this is the last administrator"]), "{preview}");
    post(&house, &path, json!({"confirmation": preview["confirmation"]}), 409);
    assert_eq!(get(&house, &path)["erasure"], Value::Null);
    assert_eq!(get(&house, &format!("/api/users/{ann}"))["state"], "active");
}

/// Rules with this hold, saved.
fn set_holds(house: &House, version: u64, holds: &Value) {
    let path = "/api/data-governance/retention";
    let rules = json!({"version": version, "policies": [], "holds": holds});
    let confirmation = post(house, &format!("{path}/preview"), rules.clone(), 200)["confirmation"].clone();
    send(house, Method::PUT, path, Some(json!({"rules": rules, "confirmation": confirmation})), 200);
}

#[test]
fn a_hold_stops_an_erasure_before_and_after_it_began() {
    let house = house();
    let (ann, bob) = (Uuid::from_u128(100), Uuid::from_u128(101));
    let talk = ask(&house, "ann", "A canary under a hold");
    set_holds(
        &house,
        0,
        &json!([{"on": {"kind": "user", "id": bob.to_string()}, "reason": "case 7"},
        {"on": {"kind": "conversation", "id": talk}, "reason": "case 8"}]),
    );
    // Bob has nothing that a hold could keep, and is under one.
    for (user, reason) in [(bob, "case 7"), (ann, "case 8")] {
        let path = format!("/api/users/{user}/erasure");
        let preview = get(&house, &path)["preview"].clone();
        assert_eq!(preview["obstacles"], json!([format!("a hold keeps their data: {reason}")]), "{preview}");
        post(&house, &path, json!({"confirmation": preview["confirmation"]}), 409);
    }
    // As if the hold had come after the erasure was asked for.
    let asked = json!([{"user_id": ann.to_string(), "stand_in": "erased-7", "asked_at": 1, "asked_by": bob.to_string(),
        "done_at": null, "deleted": 0, "renamed": 0, "waits_for": null}]);
    let noted = format!(
        "update users set disabled_at = 1 where email = 'ann@example.org';
         insert into settings (tenant_id, name, value)
         select tenant_id, 'governance.erasures', '{asked}' from users where email = 'ann@example.org'"
    );
    steward_testkit::database::change(&house.bench.data(), &noted);
    let path = format!("/api/users/{ann}/erasure");
    until("waiting", || get(&house, &path)["erasure"]["waits_for"] == "a hold keeps their data: case 8");
    assert!(!places(&house.bench.data(), "canary under").is_empty());
    set_holds(&house, 1, &json!([]));
    until("erased", || !get(&house, &path)["erasure"]["done_at"].is_null());
    assert_eq!(get(&house, &path)["erasure"]["waits_for"], Value::Null);
    assert_eq!(places(&house.bench.data(), "canary under"), [""; 0]);
}

#[test]
fn an_erasure_waits_for_what_is_at_work_in_a_conversation() {
    let house = house();
    let ann = Uuid::from_u128(100);
    let talk = ask(&house, "ann", "A canary at work").replace('-', "").to_uppercase();
    ask(&house, "bob", "Something else");
    let bobs = format!("hex(user_id) = '{}'", Uuid::from_u128(101).simple().to_string().to_uppercase());
    let change = |what: &str| steward_testkit::database::change(&house.bench.data(), what);
    change(&format!(
        "update runs set status = 'parked', conversation_id = (select id from conversations where hex(id) = '{talk}')
         where {bobs}"
    ));
    let path = format!("/api/users/{ann}/erasure");
    let confirmation = get(&house, &path)["preview"]["confirmation"].clone();
    post(&house, &path, json!({"confirmation": confirmation}), 202);
    until("waiting", || {
        get(&house, &path)["erasure"]["waits_for"] == "something is at work in a conversation of theirs"
    });
    change(&format!("update runs set status = 'finished' where {bobs}"));
    until("erased", || !get(&house, &path)["erasure"]["done_at"].is_null());
    assert_eq!(places(&house.bench.data(), "canary at work"), [""; 0]);
}

#[test]
fn a_missing_blob_stops_neither_erasure_nor_retention() {
    let house = house();
    let large = format!("For ann@example.org: {}", "finch ".repeat(20_000));
    let talk = ask(&house, "bob", &large);
    let blobs = house.bench.data().join("blobs");
    std::fs::remove_dir_all(&blobs).unwrap();
    std::fs::create_dir_all(&blobs).unwrap();
    let path = format!("/api/users/{}/erasure", Uuid::from_u128(100));
    let confirmation = get(&house, &path)["preview"]["confirmation"].clone();
    post(&house, &path, json!({"confirmation": confirmation}), 202);
    until("erased", || !get(&house, &path)["erasure"]["done_at"].is_null());
    let old =
        format!("update conversations set updated_at = 1 where hex(id) = '{}'", talk.replace('-', "").to_uppercase());
    steward_testkit::database::change(&house.bench.data(), &old);
    let path = "/api/data-governance/retention";
    let rules = json!({"version": 0, "policies": [{"name": "a day", "kind": "conversations", "days": 1}], "holds": []});
    let confirmation = post(&house, &format!("{path}/preview"), rules.clone(), 200)["confirmation"].clone();
    send(&house, Method::PUT, path, Some(json!({"rules": rules, "confirmation": confirmation})), 200);
    until("deleted", || get(&house, path)["last"]["deleted"] == 1);
}

#[test]
fn only_who_had_it_masked_gets_it_back() {
    let house = house();
    let mask = json!({"text": "Write to ann@example.org", "reversible": true, "hours": 1});
    let (status, masked) = house.call_as(&key("ann"), Method::POST, "/api/data-governance/mask", Some(mask));
    assert_eq!((status, &masked["text"]), (200, &json!("Write to [email-1]")), "{masked}");
    let unmask = json!({"map": masked["map"], "text": "I wrote to [email-1], not to [email-2]."});
    for (name, expect) in [("ann", 200), ("bob", 404)] {
        let path = "/api/data-governance/unmask";
        let (status, answer) = house.call_as(&key(name), Method::POST, path, Some(unmask.clone()));
        assert_eq!(status, expect, "{answer}");
        if status == 200 {
            assert_eq!(answer["text"], "I wrote to ann@example.org, not to [email-2].");
        }
    }
    post(&house, "/api/data-governance/unmask", unmask, 200);
    post(&house, "/api/data-governance/mask", json!({"text": "x", "hours": 1}), 422);
    let trail = get(&house, "/api/audit?action=data.unmasked")["items"].as_array().unwrap().clone();
    let results: Vec<&str> = trail.iter().map(|one| one["result"].as_str().unwrap()).collect();
    assert_eq!(results, ["ok", "refused", "ok"]);
    let sealed = places(&house.bench.data(), "Write to ann@example.org");
    assert_eq!(sealed, [""; 0]);
}

#[test]
fn a_report_counts_what_a_policy_did() {
    let house = house();
    let rules = json!({"version": 0,
        "labels": [{"name": "people", "classification": "confidential", "marks": ["CONFIDENTIAL"]}],
        "policies": [{"name": "ends here", "from": "confidential", "action": "block"}]});
    send(&house, Method::PUT, "/api/data-governance/policies", Some(rules), 200);
    ask(&house, "bob", "CONFIDENTIAL: who left?");
    ask(&house, "bob", "How are you?");
    let report = get(&house, "/api/data-governance/policies/ends%20here/report");
    assert_eq!((&report["runs"], &report["blocked"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(report["by_label"], json!([{"name": "people", "count": 1}]));
    assert_eq!(house.call_as(&key("ada"), Method::GET, "/api/data-governance/policies/none/report", None).0, 404);
    assert_eq!(
        house.call_as(&key("bob"), Method::GET, "/api/data-governance/policies/ends%20here/report", None).0,
        403
    );
}

#[test]
fn nobody_holds_off_their_erasure_by_going_on_working() {
    let house = house();
    let ann = Uuid::from_u128(100);
    let request = crate::api_routes::house::client()
        .post(format!("{}/api/files?name=a.txt", house.server.url))
        .bearer_auth(key("ann"))
        .header("content-type", "application/octet-stream")
        .body("a wren");
    assert_eq!(house.bench.runtime.block_on(request.send()).unwrap().status(), 201);
    let path = format!("/api/users/{ann}/erasure");
    let preview = get(&house, &path)["preview"].clone();
    let files = json!({"kind": "files_in_the_workspace", "count": 1});
    assert!(preview["stays"].as_array().unwrap().contains(&files), "{preview}");
    let lines = get(&house, &format!("/api/users/{ann}/export"));
    assert!(lines.as_str().unwrap().contains("\"file_in_the_workspace\""), "{lines}");
    ask(&house, "ann", "What goes on meanwhile?");
    post(&house, &path, json!({"confirmation": preview["confirmation"]}), 202);
    until("erased", || !get(&house, &path)["erasure"]["done_at"].is_null());
}
