//! Documents through the real program: read in a confined process, embedded by the real model, searched by its index.

use crate::api_routes::house::{House, key, text};
use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Embeddings, Script};
use steward_testkit::repetitions;

const PATIENCE: Duration = Duration::from_mins(5);
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
fn documents_are_given_with_a_message_by_those_who_may_read_them() {
    let answer = Behaviour::text("Everybody has 28 days [1].");
    let house = House::with_people(Script::always(answer), &[("ann", "developer"), ("bob", "developer")]);
    let (ann, bob) = (key("ann"), key("bob"));
    house.call_as(&ann, Method::POST, "/api/collections", Some(json!({"name": "Attachments"})));
    let leave = text(&upload(&house, &ann, "Attachments", "leave.md", LEAVE).1["document"]["id"]);
    let broken = text(&upload(&house, &ann, "Attachments", "broken.pdf", "%PDF-1.7\nnot really").1["document"]["id"]);
    settled(&house, &leave);
    assert_eq!(settled(&house, &broken)["status"], "failed");
    let path = format!("/api/chat/{}", house.agent());
    let ask = |as_key: &str, documents: Value| {
        let body = json!({"message": "What is it about?", "documents": documents});
        house.call_as(as_key, Method::POST, &path, Some(body))
    };
    let nobody = "00000000-0000-0000-0000-000000000000";
    for (as_key, documents) in
        [(&bob, json!([leave])), (&ann, json!([nobody])), (&ann, json!([broken])), (&ann, json!(vec![&leave; 21]))]
    {
        let (status, problem) = ask(as_key, documents);
        assert_eq!((status, &problem["field"]), (422, &json!("documents")), "{problem}");
    }
    assert_eq!(ask(&ann, json!(["leave.md"])).0, 422);
    assert!(house.items("/api/runs").is_empty());

    let (status, begun) = ask(&ann, json!([leave, leave]));
    assert_eq!(status, 202, "{begun}");
    house.wait(&text(&begun["run_id"]), "finished");
    let asked = house.bench.model.chats()[0].body["messages"].to_string();
    assert!(asked.contains("Documents that the user gave: leave.md]") && asked.contains("28 days"), "{asked}");
    let talk = format!("/api/conversations/{}", text(&begun["conversation_id"]));
    let (_, said) = house.call_as(&ann, Method::GET, &talk, None);
    assert_eq!(said["messages"][0]["documents"], json!([{"id": leave, "name": "leave.md"}]), "{said}");
    assert_eq!(said["messages"][1]["citations"][0]["document"], json!(leave), "{said}");
}

#[test]
fn uploads_are_linked_to_agents_that_take_those_of_their_users() {
    let house = House::with_people(Script::default(), &[("ann", "developer"), ("bob", "developer")]);
    let (ann, bob) = (key("ann"), key("bob"));
    let clerk = house.post("/api/agents", json!({"name": "clerk", "config": {"auto_link_uploads": true}}), 201);
    assert_eq!(clerk["auto_link_uploads"], true, "{clerk}");
    let closed = house.post("/api/agents", json!({"name": "closed", "auto_link_uploads": true}), 201);
    house.send(
        Method::PUT,
        &format!("/api/access/agent/{}", text(&closed["id"])),
        Some(json!({"restricted": true})),
        200,
    );
    let other = house.post("/api/agents", json!({"name": "other"}), 201);
    assert_eq!(other["auto_link_uploads"], false, "{other}");
    house.call_as(&ann, Method::POST, "/api/collections", Some(json!({"name": "Handbook"})));

    // The answer comes once it is read, and names the agents that may be asked.
    let send = |as_key: &str, query: &str, name: &str, body: &str| {
        let path = format!("Handbook&wait={query}");
        let mut url = url::Url::parse(&format!("{}/api/documents/upload?collection={path}", house.server.url)).unwrap();
        url.query_pairs_mut().append_pair("name", name);
        let request = crate::api_routes::house::client().post(url).bearer_auth(as_key).body(body.to_owned());
        let request = request.header("content-type", "application/octet-stream");
        house.bench.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), serde_json::from_str::<Value>(&answer.text().await.unwrap()).unwrap())
        })
    };
    let (status, added) = send(&ann, "120", "leave.md", LEAVE);
    assert_eq!((status, &added["document"]["status"]), (201, &json!("ready")), "{added}");
    assert_eq!(added["linked"], json!([{"id": clerk["id"], "name": "clerk"}]), "{added}");
    let leave = text(&added["document"]["id"]);
    let of = |agent: &Value, as_key: &str| {
        let path = format!("/api/documents?agent_id={}", text(&agent["id"]));
        let (_, listed) = house.call_as(as_key, Method::GET, &path, None);
        listed["items"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect::<Vec<_>>()
    };
    assert_eq!(of(&clerk, &ann), ["leave.md"]);
    assert!(of(&clerk, &bob).is_empty(), "a link gives nobody the right to see it");
    assert!(of(&other, &ann).is_empty());
    let (status, problem) = send(&ann, "121", "x.md", TRAVEL);
    assert_eq!((status, &problem["field"]), (422, &json!("wait")), "{problem}");

    // One that is not to be there is unlinked; the same file again is linked again.
    let link = json!({"document_id": leave, "agent_id": clerk["id"], "linked": false});
    house.post("/api/documents/links", link, 200);
    assert!(of(&clerk, &ann).is_empty());
    let (_, again) = send(&ann, "0", "leave.md", LEAVE);
    assert_eq!((&again["added"], &again["linked"][0]["name"]), (&json!("unchanged"), &json!("clerk")), "{again}");

    // Off: what is linked stays, and what comes is not. Other changes leave the switch alone.
    let change = |body: Value| {
        house.send(Method::PATCH, &format!("/api/universal-agents/{}", text(&clerk["id"])), Some(body), 200)
    };
    assert_eq!(change(json!({"name": "desk"}))["auto_link_uploads"], true);
    assert_eq!(change(json!({"config": {"auto_link_uploads": false}}))["auto_link_uploads"], false);
    let (_, added) = send(&ann, "0", "travel.md", TRAVEL);
    assert_eq!(added["linked"], json!([]), "{added}");
    assert_eq!(of(&clerk, &ann), ["leave.md"]);
}

#[test]
fn folders_whose_files_go_nowhere_in_particular_go_to_documents() {
    let house = House::new(Script::default());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("leave.md"), LEAVE).unwrap();
    for path in ["/api/documents/batch-scan", "/api/documents/register-path"] {
        let made = house.post(path, json!({"path": folder.path()}), 201);
        let collection = house.get(&format!("/api/collections/{}", text(&made["collection"])));
        assert_eq!(collection["name"], "Documents", "{path}");
    }
}

#[test]
fn chunks_are_listed_by_page_and_rankings_joined_by_other_weights() {
    let house = House::new(Script::default());
    house.post("/api/collections", json!({"name": "Handbook"}), 201);
    let all = house.server.key.clone();
    let leave = text(&upload(&house, &all, "Handbook", "leave.md", LEAVE).1["document"]["id"]);
    settled(&house, &leave);
    let on = |page: &str| house.get(&format!("/api/documents/{leave}/chunks?page={page}"))["items"].clone();
    assert_eq!(on("1"), house.get(&format!("/api/documents/{leave}/chunks"))["items"]);
    assert_eq!(on("2"), json!([]));
    house.send(Method::GET, &format!("/api/documents/{leave}/chunks?page=-1"), None, 422);

    let ask = |weights: Value, status: u16| {
        let body = json!({"query": "vacation of employees", "weights": weights});
        house.post("/api/documents/search", body, status)
    };
    let best = |weights: Value| ask(weights, 200)["found"][0]["score"].as_f64().unwrap();
    let (whole, half) = (best(json!({"text": 0.0, "vectors": 1.0})), best(json!({"text": 0.0, "vectors": 0.5})));
    assert!((whole - 2.0 * half).abs() < 1e-9, "{whole} {half}");
    for (wrong, field) in [
        (json!({"text": 0, "vectors": 0}), "weights"),
        (json!({"text": -1, "vectors": 1}), "weights.text"),
        (json!({"text": 2, "vectors": 1}), "weights.text"),
    ] {
        assert_eq!(ask(wrong, 422)["field"], field);
    }
}

#[test]
fn the_same_question_in_other_words_is_answered_from_memory() {
    let house = House::with_people(Script::default(), &[("bob", "developer")]);
    house.post("/api/collections", json!({"name": "Handbook"}), 201);
    let key_of_all = house.server.key.clone();
    let leave = upload(&house, &key_of_all, "Handbook", "leave.md", LEAVE).1;
    settled(&house, &text(&leave["document"]["id"]));
    let ask = |query: &str| search(&house, &key_of_all, query);
    let first = ask("How do I report a sick day?");
    assert_eq!(first["cached"], false, "{first}");
    assert_eq!(ask("How do I report a sick day?")["cached"], true);
    let alike = ask("how can I report a sick day");
    assert_eq!((&alike["cached"], &alike["found"]), (&json!(true), &first["found"]));
    for other in ["How do I report 2 sick days?", "How do I not report a sick day?"] {
        assert_eq!(ask(other)["cached"], false, "{other}");
    }
    let stats = house.get("/api/rag/cache/stats");
    assert_eq!((&stats["entries"], &stats["hits"], &stats["misses"]), (&json!(3), &json!(2), &json!(3)), "{stats}");
    let (_, theirs) = house.call_as(&key("bob"), Method::GET, "/api/rag/cache/stats", None);
    assert_eq!((&theirs["entries"], &theirs["hits"]), (&json!(0), &json!(0)), "{theirs}");
    // Any change of documents ends what is kept.
    let travel = upload(&house, &key_of_all, "Handbook", "travel.md", TRAVEL).1;
    settled(&house, &text(&travel["document"]["id"]));
    assert_eq!(ask("How do I report a sick day?")["cached"], false);
    assert_eq!(house.send(Method::DELETE, "/api/rag/cache", None, 200)["removed"], 1);
    assert_eq!(ask("How do I report a sick day?")["cached"], false);
    let agent = house.agent();
    house.post("/api/documents/links", json!({"document_id": travel["document"]["id"], "agent_id": agent}), 200);
    let debug = house.get(&format!("/api/rag/debug/{agent}?query=which+class+of+train"));
    assert_eq!((&debug["documents"], &debug["dimension"]), (&json!(1), &json!(384)), "{debug}");
    assert!(text(&debug["sample_chunks"][0]["text"]).contains("second class"), "{debug}");
    assert_eq!(debug["question"]["found"][0]["name"], "travel.md", "{debug}");
    house.send(Method::GET, "/api/rag/debug/nobody", None, 404);
    house.send(Method::DELETE, "/api/rag/cache?agent_id=nobody", None, 422);
}

#[test]
fn references_of_a_package_are_documents_of_the_agents_that_have_it() {
    let house = House::new(Script::default());
    let agent = house.agent();
    let of_agent = format!("/api/documents?agent_id={agent}");
    let taken = house.send(Method::POST, "/api/skills/import-package?ready=legal-agent", None, 201);
    let references = taken["references"].as_u64().unwrap();
    assert!(references > 0 && house.items("/api/documents?origin=package").is_empty(), "nothing is used unseen");
    let path = format!("/api/universal-agents/{agent}/import-skill-pack?ready=legal-agent");
    let packages = house.send(Method::POST, &path, None, 201)["packages"].clone();
    assert_eq!(packages[0]["state"], "active", "{packages}");
    let linked = house.items(&of_agent);
    assert_eq!(linked.len() as u64, references, "{linked:?}");
    for document in &linked {
        assert_eq!(settled(&house, &text(&document["id"]))["status"], "ready", "{document}");
    }
    let collections = house.items("/api/collections");
    assert!(collections.iter().any(|one| one["name"] == "References of legal-agent"), "{collections:?}");
    let debug = house.get(&format!("/api/rag/debug/{agent}"));
    assert_eq!((&debug["documents"], &debug["waiting"]), (&json!(references), &json!(0)), "{debug}");

    // Links follow the skills, and what is imported again is there once.
    for skill in packages[0]["skills"].as_array().unwrap() {
        house.send(Method::DELETE, &format!("/api/agents/{agent}/skills/{}", text(skill)), None, 204);
    }
    assert!(house.items(&of_agent).is_empty());
    house.send(Method::POST, &path, None, 201);
    assert_eq!(house.items(&of_agent).len() as u64, references);
    let pending = house.post(&format!("/api/documents/embed-pending?agent_id={agent}"), json!({}), 200);
    assert_eq!(pending["documents"], 0, "{pending}");
    let again = format!("/api/documents/reindex-all?agent_id={agent}&collection=References+of+legal-agent");
    let again = house.post(&again, json!({}), 200);
    let used = (&again["documents"], &again["chunk_size_used"], &again["chunk_overlap_used"]);
    assert_eq!(used, (&json!(references), &json!(1500), &json!(300)));
    house.send(Method::DELETE, "/api/skills/packages/legal-agent", None, 204);
    assert!(house.items("/api/documents?origin=package").is_empty());
    let collections = house.items("/api/collections");
    assert!(!collections.iter().any(|one| one["name"] == "References of legal-agent"), "{collections:?}");
}

#[test]
fn an_agent_is_given_several_packages_and_files_at_once() {
    let house = House::new(Script::default());
    let agent = house.agent();
    house.post("/api/collections", json!({"name": "Documents"}), 201);
    let skill = |name: &str, reference: &str| {
        let main = format!("---\nname: {name}\ndescription: Knows {name}.\n---\nAnswer.\n");
        let files = [("SKILL.md", main), ("references/facts.md", reference.to_owned())];
        let files = files.into_iter().map(|(path, text)| (path.to_owned(), text.into_bytes())).collect();
        steward_tools::package::write(name, &files)
    };
    let send = |parts: Vec<(&str, Vec<u8>)>| {
        let mut form = Vec::new();
        for (name, bytes) in parts {
            form.extend(
                format!("--b0\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n").bytes(),
            );
            form.extend(bytes);
            form.extend(b"\r\n");
        }
        form.extend(b"--b0--\r\n");
        let url = format!("{}/api/universal-agents/{agent}/import-skill-pack", house.server.url);
        let request = crate::api_routes::house::client().post(url).bearer_auth(&house.server.key);
        let request = request.header("content-type", "multipart/form-data; boundary=b0").body(form);
        house.bench.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), serde_json::from_str::<Value>(&answer.text().await.unwrap()).unwrap())
        })
    };
    let one = skill("one-pack", "The pump is serviced in May.\n");
    let two = skill("two-pack", "The valve is serviced in June.\n");
    let (status, taken) = send(vec![("one.skill", one), ("two.zip", two), ("leave.md", LEAVE.into())]);
    assert_eq!(status, 201, "{taken}");
    assert_eq!((taken["packages"].as_array().map(Vec::len), &taken["documents"][0]["added"]), (Some(2), &json!("new")));
    let names = |of: &[Value]| of.iter().map(|one| text(&one["name"])).collect::<BTreeSet<_>>();
    let linked = house.items(&format!("/api/documents?agent_id={agent}"));
    assert_eq!((linked.len(), names(&linked)), (3, ["facts.md".to_owned(), "leave.md".to_owned()].into()));
    // A changed file takes the place of the one before, and one that is gone goes.
    let kept = linked.iter().find(|one| one["source"] == "one-pack/references/facts.md").unwrap();
    let (_, taken) = send(vec![("one.skill", skill("one-pack", "The pump is serviced in July.\n"))]);
    assert_eq!(taken["packages"][0]["revision"], 2, "{taken}");
    let changed = settled(&house, &text(&kept["id"]));
    assert_ne!(changed["sha256"], kept["sha256"]);
    let body = json!({"query": "when is the pump serviced", "agent_id": agent});
    let found = house.post("/api/documents/search", body, 200).to_string();
    assert!(found.contains("July") && !found.contains("in May"), "{found}");
    // A form may be longer than a JSON body; a file in it may not be longer than any uploaded file.
    let long = |millions: usize| "The pump stands.\n".repeat(millions * 1_000_000 / 17).into_bytes();
    let (status, taken) = send(vec![("long.txt", long(3)), ("long-too.txt", long(3))]);
    assert_eq!((status, taken["documents"].as_array().map(Vec::len)), (201, Some(2)), "{taken}");
    let (status, refused) = send(vec![("longest.txt", long(21))]);
    assert_eq!(status, 413, "{refused}");
    let (status, refused) = send(vec![]);
    assert_eq!((status, &refused["field"]), (422, &json!("file")), "{refused}");
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
fn long_a_killed_ingest_loses_and_doubles_nothing() {
    let documents = number("STEWARD_INGEST_DOCUMENTS", repetitions(12, 40));
    let kills = number("STEWARD_INGEST_KILLS", repetitions(2, 4));
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

#[test]
fn a_collection_goes_to_an_endpoint_and_back_and_is_found_all_the_time() {
    let busy = Behaviour::Status { status: 500, body: json!({"error": {"message": "warming up"}}), retry_after: None };
    let embeddings = Embeddings { numbers: 24, faults: vec![busy, Behaviour::Reset] };
    let house = House::with_people(Script { embeddings: Some(embeddings), ..Script::default() }, &[("root", "admin")]);
    let server = &house.bench.model;
    let connection = json!({
        "name": "vectors", "provider": "compatible", "base_url": server.base_url(), "model": "chat",
        "auth": {"kind": "none"},
    });
    house.post("/api/connections", connection, 201);
    let all = house.server.key.clone();
    let made = house.post("/api/collections", json!({"name": "Handbook"}), 201);
    let path = format!("/api/collections/{}", text(&made["id"]));
    let leave = upload(&house, &all, "Handbook", "leave.md", LEAVE).1;
    let travel = upload(&house, &all, "Handbook", "travel.md", TRAVEL).1;
    for document in [&leave, &travel] {
        assert_eq!(settled(&house, &text(&document["document"]["id"]))["status"], "ready");
    }
    let patch = |model: &str, status| house.send(Method::PATCH, &path, Some(json!({"embedding_model": model})), status);
    for wrong in ["mini@nowhere", "no-such-folder", "../models", "@vectors"] {
        patch(wrong, 422);
    }
    let reached = |model: &str| {
        let begun = Instant::now();
        loop {
            let body = json!({"query": "certificate of a doctor", "mode": "vectors", "fresh": true});
            let found = house.post("/api/documents/search", body, 200);
            assert_eq!(names(&found)[0], "leave.md", "{found}");
            assert!(found.get("notice").is_none(), "{found}");
            let now = house.get(&path);
            if now["embedding_model"] == model && now.get("re_embedding").is_none() {
                return now;
            }
            assert!(begun.elapsed() < PATIENCE, "{now}");
        }
    };
    let changed = patch("mini@vectors", 200);
    assert_eq!(changed["re_embedding"]["model"], "mini@vectors", "{changed}");
    // The first requests fail; it is tried again after two seconds and four.
    assert_eq!(reached("mini@vectors")["embedding_dimension"], 24);
    let asked = server.requests().into_iter().filter(|one| one.path == "/v1/embeddings");
    assert!(asked.clone().count() >= 4 && asked.clone().all(|one| one.body["model"] == "mini"));
    let stats = house.get("/api/documents/vector-store/stats");
    assert_eq!((&stats["endpoint"], &stats["ollama_auto_detected"]), (&Value::Null, &json!(false)), "{stats}");
    for (model, endpoint) in [(json!("mini@vectors"), json!(server.base_url())), (json!(null), json!(null))] {
        let values = json!({"values": {"EMBEDDING_MODEL": model}});
        let (status, told) = house.call_as(&key("root"), Method::PUT, "/api/admin/config", Some(values));
        assert_eq!(status, 200, "{told}");
        assert_eq!(house.get("/api/documents/vector-store/stats")["endpoint"], endpoint);
    }
    assert_eq!(stats["models"][0]["model"], "mini@vectors", "{stats}");
    // An answer from memory needs no endpoint; another question is answered by words, and Health tells.
    server.replace(Script::default());
    let found = house.post("/api/documents/search", json!({"query": "certificate"}), 200);
    assert_eq!(names(&found)[0], "leave.md");
    assert!(text(&found["notice"]).starts_with("only words were looked at"), "{found}");
    let health = house.get("/api/admin/health").to_string();
    assert!(health.contains("mini@vectors"), "{health}");
    let again = json!({"embedding_model": "all-MiniLM-L6-v2"});
    house.send(Method::PATCH, &path, Some(again), 200);
    let begun = Instant::now();
    while house.get(&path)["embedding_model"] != "all-MiniLM-L6-v2" {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    }
    let found = search(&house, &all, "how much vacation do employees get");
    assert_eq!(names(&found)[0], "leave.md");
    assert!(found.get("notice").is_none(), "{found}");
}
