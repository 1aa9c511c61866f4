//! Documents through the real program: read in a confined process, embedded by the real model, searched by its index.

use crate::api_routes::house::{House, key, text};
use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use steward_testkit::model_server::Script;

const PATIENCE: Duration = Duration::from_mins(1);
const LEAVE: &str = "# Leave\n\nEverybody has 28 days of holiday a year. What is not taken by March is lost.\n\n\
    # Sick notes\n\nFrom the third day on a certificate of a doctor is wanted.\n";
const TRAVEL: &str =
    "# Travel\n\nTrains are booked second class. Flights need the consent of the head of department.\n";

fn upload(house: &House, as_key: &str, collection: &str, name: &str, body: &str) -> (u16, Value) {
    let mut url = url::Url::parse(&format!("{}/api/documents/upload", house.server.url)).unwrap();
    url.query_pairs_mut().append_pair("collection", collection).append_pair("name", name);
    let request = crate::api_routes::house::client()
        .post(url)
        .bearer_auth(as_key)
        .header("content-type", "application/octet-stream")
        .body(body.to_owned());
    house.bench.runtime.block_on(async {
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    })
}

fn settled(house: &House, id: &str) -> Value {
    let begun = Instant::now();
    loop {
        let document = house.get(&format!("/api/documents/{id}"));
        if !matches!(document["status"].as_str(), Some("waiting" | "embedding")) {
            return document;
        }
        assert!(begun.elapsed() < PATIENCE, "{document}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn search(house: &House, as_key: &str, query: &str) -> Value {
    let body = json!({"query": query});
    let (status, found) = house.call_as(as_key, Method::POST, "/api/documents/search", Some(body));
    assert_eq!(status, 200, "{found}");
    found
}

fn names(found: &Value) -> Vec<String> {
    found["found"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect()
}

#[test]
fn a_document_is_found_by_meaning_and_only_by_those_who_may() {
    let house = House::with_people(Script::default(), &[("ann", "developer"), ("bob", "developer")]);
    let (ann, bob) = (key("ann"), key("bob"));
    let body = Some(json!({"name": "Handbook"}));
    let (status, made) = house.call_as(&ann, Method::POST, "/api/collections", body);
    assert_eq!(status, 201, "{made}");
    let leave = upload(&house, &ann, "Handbook", "leave.md", LEAVE).1;
    let travel = upload(&house, &ann, "Handbook", "travel.md", TRAVEL).1;
    let leave = settled(&house, &text(&leave["document"]["id"]));
    assert_eq!((&leave["status"], &leave["facts"]["doc_type"]), (&json!("ready"), &json!("markdown")), "{leave}");
    assert_eq!(leave["embedded"], leave["chunks"]);
    settled(&house, &text(&travel["document"]["id"]));

    // None of these words stands in the text.
    let found = search(&house, &ann, "how much vacation do employees get");
    assert_eq!(names(&found)[0], "leave.md", "{found}");
    let first = &found["found"][0];
    assert!(first["chunk"]["text"].as_str().unwrap().contains("28 days"), "{found}");
    assert_eq!(first["vector_rank"], 1);
    let found = search(&house, &ann, "\"second class\"");
    assert_eq!((names(&found)[0].as_str(), &found["found"][0]["text_rank"]), ("travel.md", &json!(1)));

    // Bob sees no chunk, no title and no count.
    let found = search(&house, &bob, "how much vacation do employees get");
    assert_eq!((&found["found"], &found["documents"]), (&json!([]), &json!(0)));
    let (_, stats) = house.call_as(&bob, Method::GET, "/api/documents/vector-store/stats", None);
    assert_eq!((&stats["documents"], &stats["chunks"], &stats["vectors"]), (&json!(0), &json!(0), &json!(0)));
    let id = text(&leave["id"]);
    for path in ["", "/content", "/chunks"] {
        let (status, _) = house.call_as(&bob, Method::GET, &format!("/api/documents/{id}{path}"), None);
        assert_eq!(status, 404, "{path}");
    }
    let grant = Some(json!({"user": "bob@example.org", "level": "use"}));
    let path = format!("/api/access/collection/{}/grants", text(&made["id"]));
    let (status, given) = house.call_as(&ann, Method::POST, &path, grant);
    assert!(status < 300, "{given}");
    assert_eq!(names(&search(&house, &bob, "how much vacation do employees get"))[0], "leave.md");
    assert_eq!(upload(&house, &bob, "Handbook", "x.md", "x").0, 403);

    // What is removed is not found any more, and what is changed is found as it is now.
    house.send(Method::DELETE, &format!("/api/documents/{id}"), None, 204);
    let found = search(&house, &ann, "how much vacation do employees get");
    assert!(!names(&found).contains(&"leave.md".to_owned()), "{found}");
}

#[test]
fn what_can_not_be_read_is_told_and_the_rest_goes_on() {
    let house = House::new(Script::default());
    house.post("/api/collections", json!({"name": "Mixed"}), 201);
    let key = house.server.key.clone();
    let bad = upload(&house, &key, "Mixed", "broken.pdf", "%PDF-1.7\nnot really").1;
    let good = upload(&house, &key, "Mixed", "good.txt", "The pump is serviced in May.").1;
    let bad = settled(&house, &text(&bad["document"]["id"]));
    assert_eq!(bad["status"], "failed", "{bad}");
    assert!(!text(&bad["problem"]["message"]).is_empty() && !text(&bad["problem"]["hint"]).is_empty(), "{bad}");
    assert_eq!(settled(&house, &text(&good["document"]["id"]))["status"], "ready");
    assert_eq!(names(&search(&house, &key, "when is the pump serviced"))[0], "good.txt");
}

#[test]
fn a_folder_is_scanned_watched_and_followed() {
    let house = House::new(Script::default());
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("more")).unwrap();
    for (name, body) in [("one.md", LEAVE), ("more/two.md", TRAVEL), ("more/copy.md", LEAVE)] {
        std::fs::write(folder.path().join(name), body).unwrap();
    }
    house.post("/api/collections", json!({"name": "Server"}), 201);
    let body = json!({"path": folder.path(), "collection": "Server"});
    let job = house.post("/api/documents/batch-scan", body, 201);
    let path = format!("/api/documents/jobs/{}", text(&job["id"]));
    let begun = Instant::now();
    let done = loop {
        let job = house.get(&path);
        if job["progress"]["ready"] == 2 && job["state"] == "running" {
            break job;
        }
        assert!(begun.elapsed() < PATIENCE, "{job}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(done["progress"]["duplicate"], 1, "{done}");
    let key = house.server.key.clone();
    assert!(names(&search(&house, &key, "which class on trains"))[0].contains("two.md"));
}

#[expect(clippy::disallowed_methods, reason = "a longer loop is asked for by variables")]
fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Kills the server in the middle of an ingest, again and again: in the end all is found, once.
#[test]
fn a_killed_ingest_loses_and_doubles_nothing() {
    let documents = number("STEWARD_INGEST_DOCUMENTS", 40);
    let kills = number("STEWARD_INGEST_KILLS", 4);
    let folder = tempfile::tempdir().unwrap();
    for number in 0..documents {
        let body = format!("# Machine {number}\n\nThe machine zq{number}x stands in hall {}.\n", number % 7);
        std::fs::write(folder.path().join(format!("m{number}.md")), body).unwrap();
    }
    let bench = Bench::new(Script::default());
    let mut house = House { server: Server::start(&bench), bench };
    house.post("/api/collections", json!({"name": "Hall"}), 201);
    house.post("/api/documents/batch-scan", json!({"path": folder.path(), "collection": "Hall"}), 201);
    for kill in 0..kills {
        std::thread::sleep(Duration::from_millis(150 + 130 * (kill as u64 % 5)));
        let House { bench, server } = house;
        server.kill();
        house = House { server: Server::start(&bench), bench };
        // A scan that was cut off is begun again by whoever wants it; what is there already stays as it is.
        house.post("/api/documents/batch-scan", json!({"path": folder.path(), "collection": "Hall"}), 201);
    }
    let begun = Instant::now();
    loop {
        let (waiting, embedding) =
            (house.items("/api/documents?status=waiting"), house.items("/api/documents?status=embedding"));
        let ready = house.items("/api/collections")[0]["documents"].as_u64();
        if waiting.is_empty() && embedding.is_empty() && ready == Some(documents as u64) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE * 4, "{} wait", waiting.len() + embedding.len());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(house.items("/api/documents?status=failed").is_empty());
    let key = house.server.key.clone();
    for number in 0..documents {
        let body = json!({"query": format!("zq{number}x"), "mode": "text", "limit": 100});
        let (_, found) = house.call_as(&key, Method::POST, "/api/documents/search", Some(body));
        assert_eq!(names(&found), [format!("m{number}.md")], "{found}");
    }
    let body = json!({"query": "machine", "mode": "vectors", "limit": 100});
    let (_, found) = house.call_as(&key, Method::POST, "/api/documents/search", Some(body));
    let once: BTreeSet<String> = names(&found).into_iter().collect();
    assert_eq!(once.len(), names(&found).len(), "no chunk is there twice");
    assert_eq!(once.len(), documents.min(100));
}
