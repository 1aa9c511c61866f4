//! Clients under `/v1` that close their connection, come back, and ask for their answers by id.

use crate::common;

use common::{Bench, Server, client};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Reply, Rule, Script};

fn rule(contains: &str, role: &str, then: Behaviour) -> Rule {
    Rule { contains: contains.to_owned(), role: Some(role.to_owned()), times: None, then }
}

/// A text that takes some three seconds.
fn slow(text: &str) -> Behaviour {
    let chars = (text.chars().count() / 30).max(1);
    Behaviour::Reply(Reply::text(text).pieces(chars, 100))
}

const LONG: &str =
    "There are two files here, a beacon and a lamp, and neither of them has been changed since last week.";

fn script() -> Script {
    Script {
        rules: vec![
            rule("beacon.txt", "tool", slow(LONG)),
            rule("look around", "user", Behaviour::calls([("list", json!({"path": "."}))])),
            rule("write it down", "user", Behaviour::calls([("write", json!({"path": "n.txt", "content": "n"}))])),
            rule("n.txt", "tool", Behaviour::text("It is written.")),
            rule("talk long", "user", slow(LONG)),
            rule("short", "user", Behaviour::text("A short answer.")),
        ],
        ..Script::default()
    }
}

fn start(script: Script) -> (Bench, Server) {
    let bench = Bench::new(script);
    bench.work.write("beacon.txt", "light").unwrap();
    let server = Server::start(&bench);
    (bench, server)
}

fn post(server: &Server, path: &str, body: &Value) -> RequestBuilder {
    client().post(format!("{}{path}", server.url)).bearer_auth(&server.key).json(body)
}

fn chat(text: &str, more: &Value) -> Value {
    let mut body = json!({"model": "steward", "messages": [{"role": "user", "content": text}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Sends it, and closes the connection after this time if nothing has come.
async fn give_up(request: RequestBuilder, after: Duration) -> Option<Value> {
    let sent = async { request.send().await.unwrap().json::<Value>().await.unwrap() };
    tokio::time::timeout(after, sent).await.ok()
}

fn runs(bench: &Bench, server: &Server) -> Vec<Value> {
    let (_, page) = server.request(bench, Method::GET, "/api/runs", Some(&server.key), None);
    page["items"].as_array().unwrap().clone()
}

fn wait_for_end(bench: &Bench, server: &Server, within: Duration) -> Value {
    let begun = Instant::now();
    loop {
        let run = runs(bench, server).remove(0);
        if run["status"] == "finished" {
            return run;
        }
        assert!(begun.elapsed() < within, "it goes on after {:?}: {run}", begun.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How late a busy machine may be.
const LATE: Duration = Duration::from_millis(1500);

#[test]
fn a_client_that_leaves_stops_its_run() {
    for (path, body) in [
        ("/v1/chat/completions", chat("talk long", &json!({}))),
        ("/v1/chat/completions", chat("talk long", &json!({"stream": true}))),
        ("/v1/responses", json!({"model": "steward", "input": "talk long"})),
        ("/v1/responses", json!({"model": "steward", "input": "talk long", "stream": true})),
    ] {
        let (bench, server) = start(script());
        let left = bench.runtime.block_on(give_up(post(&server, path, &body), Duration::from_millis(700)));
        assert!(left.is_none(), "{path}: {left:?}");
        let run = wait_for_end(&bench, &server, LATE);
        assert_eq!(run["outcome"]["status"], "stopped", "{path} {run}");
        assert_eq!(bench.model.chats().len(), 1, "{path}");
        assert_eq!(bench.model.disconnects(), 1, "{path}: the model's connection stays open");
    }
}

#[test]
fn a_run_in_the_background_goes_on_without_its_client() {
    let (bench, server) = start(script());
    let body = json!({"model": "steward", "input": "talk long", "background": true});
    let key = Some(server.key.as_str());
    let (status, begun) = server.request(&bench, Method::POST, "/v1/responses", key, Some(&body));
    assert_eq!((status, &begun["status"], &begun["background"]), (StatusCode::OK, &json!("in_progress"), &json!(true)));
    let run = wait_for_end(&bench, &server, Duration::from_secs(20));
    assert_eq!(run["outcome"]["status"], "completed");
    let path = format!("/v1/responses/{}", begun["id"].as_str().unwrap());
    let (_, answer) = server.request(&bench, Method::GET, &path, key, None);
    assert_eq!((&answer["status"], &answer["output"][0]["content"][0]["text"]), (&json!("completed"), &json!(LONG)));
    let body = json!({"model": "steward", "input": "talk long", "background": true, "store": false});
    let (status, refused) = server.request(&bench, Method::POST, "/v1/responses", key, Some(&body));
    assert_eq!((status, &refused["error"]["param"]), (StatusCode::BAD_REQUEST, &json!("background")));
}

#[test]
fn a_retry_joins_the_run_that_still_goes_on() {
    let (bench, server) = start(script());
    let body = chat("look around", &json!({}));
    let answer = bench.runtime.block_on(async {
        let first = give_up(post(&server, "/v1/chat/completions", &body), Duration::from_secs(1)).await;
        assert!(first.is_none());
        // As OpenAI's clients do it.
        tokio::time::sleep(Duration::from_millis(400)).await;
        let again = post(&server, "/v1/chat/completions", &body).header("x-stainless-retry-count", "1");
        again.send().await.unwrap().json::<Value>().await.unwrap()
    });
    assert_eq!(answer["choices"][0]["message"]["content"], LONG, "{answer}");
    assert_eq!((runs(&bench, &server).len(), bench.model.chats().len()), (1, 2));
}

#[test]
fn a_retry_goes_on_with_a_run_that_was_stopped() {
    for retried in [("x-stainless-retry-count", "2"), ("idempotency-key", "k-1")] {
        let (bench, server) = start(script());
        let body = chat("look around", &json!({"stream": false}));
        let request = || post(&server, "/v1/chat/completions", &body);
        let request =
            || if retried.0 == "idempotency-key" { request().header(retried.0, retried.1) } else { request() };
        let first = bench.runtime.block_on(give_up(request(), Duration::from_secs(1)));
        assert!(first.is_none());
        let run = wait_for_end(&bench, &server, LATE);
        assert_eq!(run["outcome"]["status"], "stopped");
        let again = request().header("x-stainless-retry-count", "2");
        let answer = bench.runtime.block_on(async { again.send().await.unwrap().json::<Value>().await.unwrap() });
        assert_eq!(answer["choices"][0]["message"]["content"], LONG, "{answer}");
        assert_eq!(answer["steward"]["run_id"], run["id"]);
        let all = runs(&bench, &server);
        assert_eq!((all.len(), &all[0]["outcome"]["status"]), (1, &json!("completed")));
        // The call that was answered is not made again, the one that was cut off is.
        assert_eq!(bench.model.chats().len(), 3);
        let path = format!("/api/runs/{}/replay", run["id"].as_str().unwrap());
        let (_, replay) = server.request(&bench, Method::POST, &path, Some(&server.key), None);
        assert_eq!(replay["same"], true, "{replay}");
    }
}

#[test]
fn a_write_is_asked_about_once_and_done_once() {
    let (bench, server) = start(script());
    let body = chat("write it down", &json!({}));
    let request = |count: &str| {
        let request = post(&server, "/v1/chat/completions", &body).header("x-stainless-retry-count", count);
        bench.runtime.block_on(async { request.send().await.unwrap().json::<Value>().await.unwrap() })
    };
    for count in ["0", "1", "2"] {
        let answer = request(count);
        assert_eq!(answer["steward"]["status"], "waiting", "{answer}");
    }
    assert_eq!((runs(&bench, &server).len(), bench.model.chats().len()), (1, 1));
    let id = bench.open_approval();
    bench.run(&["approvals", "approve", &id]).exits(0);
    wait_for_end(&bench, &server, Duration::from_secs(20));
    let answer = request("1");
    assert_eq!(answer["choices"][0]["message"]["content"], "It is written.", "{answer}");
    assert_eq!((runs(&bench, &server).len(), bench.model.chats().len()), (1, 2));
    // Without a count it is another request.
    assert_eq!(request("0")["steward"]["status"], "waiting");
    assert_eq!(runs(&bench, &server).len(), 2);
}

#[test]
fn a_run_that_waits_for_a_person_stays_when_its_client_leaves() {
    let mut script = script();
    script.rules.insert(
        0,
        rule(
            "write it down",
            "user",
            Behaviour::Reply(Reply {
                first_ms: 900,
                ..Reply::calls([("write", json!({"path": "n.txt", "content": "n"}))])
            }),
        ),
    );
    let (bench, server) = start(script);
    let body = chat("write it down", &json!({"stream": true}));
    bench.runtime.block_on(give_up(post(&server, "/v1/chat/completions", &body), Duration::from_millis(850)));
    std::thread::sleep(Duration::from_secs(3));
    let run = runs(&bench, &server).remove(0);
    // It had begun to wait, or was stopped before: never both.
    let open = bench.run(&["approvals", "--json"]).exits(0).json();
    assert_eq!(run["status"] == "finished", open.as_array().unwrap().is_empty(), "{run} {open}");
}

#[test]
fn two_at_once_with_one_key_are_one_run() {
    let (bench, server) = start(script());
    let body = chat("short", &json!({}));
    let one = || post(&server, "/v1/chat/completions", &body).header("idempotency-key", "same").send();
    let answers = bench.runtime.block_on(async {
        let (first, second, third) = tokio::join!(one(), one(), one());
        let mut texts = Vec::new();
        for answer in [first, second, third] {
            let answer: Value = answer.unwrap().json().await.unwrap();
            texts.push(answer["choices"][0]["message"]["content"].clone());
        }
        texts
    });
    assert_eq!(answers, vec![json!("A short answer."); 3]);
    assert_eq!((runs(&bench, &server).len(), bench.model.chats().len()), (1, 1));
}

#[test]
fn answers_are_there_for_their_key_until_they_are_deleted() {
    let (bench, server) = start(script());
    let key = Some(server.key.as_str());
    let ask = |method: Method, path: &str, key: Option<&str>, body: Option<&Value>| {
        server.request(&bench, method, path, key, body)
    };
    let body = json!({
        "model": "steward", "temperature": 0.2, "metadata": {"a": "b"}, "prompt_cache_key": "c",
        "input": [{"role": "user", "content": "One"}, {"role": "assistant", "content": "Two"}, {"role": "user", "content": "short"}],
    });
    let (_, made) = ask(Method::POST, "/v1/responses", key, Some(&body));
    let path = format!("/v1/responses/{}", made["id"].as_str().unwrap());
    let (status, kept) = ask(Method::GET, &path, key, None);
    assert_eq!(status, StatusCode::OK, "{kept}");
    for field in ["id", "output", "usage", "metadata", "temperature", "model", "status", "store", "prompt_cache_key"] {
        assert_eq!(kept[field], made[field], "{field}");
    }
    assert_eq!((kept["temperature"].to_string(), &kept["store"]), ("0.2".to_owned(), &json!(true)));
    for field in [
        "completed_at",
        "presence_penalty",
        "frequency_penalty",
        "top_logprobs",
        "max_tool_calls",
        "service_tier",
        "safety_identifier",
        "prompt_cache_key",
    ] {
        assert!(kept.as_object().unwrap().contains_key(field), "{field}");
    }
    assert!(kept["completed_at"].is_i64());
    let (_, items) = ask(Method::GET, &format!("{path}/input_items?order=asc"), key, None);
    let texts: Vec<_> = items["data"].as_array().unwrap().iter().map(|item| &item["content"][0]["text"]).collect();
    assert_eq!(texts, ["One", "Two", "short"]);
    let (_, again) = ask(Method::POST, &format!("{path}/cancel"), key, None);
    assert_eq!(again["status"], "completed");
    let other = json!({"name": "other", "agents": []});
    let (_, other) = ask(Method::POST, "/api/keys", key, Some(&other));
    let other = other["secret"].as_str().or(other["key"].as_str()).map(str::to_owned);
    for (method, part) in
        [(Method::GET, ""), (Method::DELETE, ""), (Method::POST, "/cancel"), (Method::GET, "/input_items")]
    {
        let (status, refused) = ask(method, &format!("{path}{part}"), other.as_deref(), None);
        assert!(matches!(status, StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED), "{part}: {status} {refused}");
    }
    let (_, deleted) = ask(Method::DELETE, &path, key, None);
    assert_eq!(deleted["deleted"], true, "{deleted}");
    let (status, gone) = ask(Method::GET, &path, key, None);
    assert_eq!((status, &gone["error"]["code"]), (StatusCode::NOT_FOUND, &json!("response_not_found")));
    assert!(runs(&bench, &server).is_empty());
}

#[test]
fn what_is_not_to_be_stored_is_gone_after_its_end() {
    let (bench, server) = start(script());
    let body = json!({"model": "steward", "input": "short", "store": false});
    let key = Some(server.key.as_str());
    let (_, made) = server.request(&bench, Method::POST, "/v1/responses", key, Some(&body));
    assert_eq!((&made["store"], &made["output"][0]["content"][0]["text"]), (&json!(false), &json!("A short answer.")));
    let begun = Instant::now();
    while !runs(&bench, &server).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it is still there");
        std::thread::sleep(Duration::from_millis(100));
    }
    let path = format!("/v1/responses/{}", made["id"].as_str().unwrap());
    assert_eq!(server.request(&bench, Method::GET, &path, key, None).0, StatusCode::NOT_FOUND);
}

#[test]
fn a_run_is_cancelled_by_its_client() {
    let (bench, server) = start(script());
    let key = Some(server.key.as_str());
    let body = json!({"model": "steward", "input": "talk long", "background": true});
    let (_, begun) = server.request(&bench, Method::POST, "/v1/responses", key, Some(&body));
    let path = format!("/v1/responses/{}/cancel", begun["id"].as_str().unwrap());
    let (_, cancelled) = server.request(&bench, Method::POST, &path, key, None);
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert_eq!(runs(&bench, &server)[0]["outcome"]["status"], "stopped");
}

#[test]
fn answers_of_connections_are_asked_for_where_they_were_made() {
    let mut script = script();
    let made = json!({
        "id": "resp_7", "object": "response", "created_at": 1, "status": "queued", "model": "scripted", "output": [],
        "error": null, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
    });
    let done = json!({"id": "resp_7", "object": "response", "status": "completed", "output": []});
    script.routes.extend([
        ("POST /v1/responses".to_owned(), made),
        ("GET /v1/responses/resp_7".to_owned(), done.clone()),
        ("POST /v1/responses/resp_7/cancel".to_owned(), done),
        ("GET /v1/responses/resp_7/input_items".to_owned(), json!({"object": "list", "data": []})),
        ("DELETE /v1/responses/resp_7".to_owned(), json!({"id": "resp_7", "deleted": true})),
    ]);
    let (bench, server) = start(script);
    let key = Some(server.key.as_str());
    let (_, list) = server.request(&bench, Method::GET, "/v1/models", key, None);
    let names = list["data"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str());
    let model = names.into_iter().find(|name| name.starts_with("connection/") && !name.ends_with("/local")).unwrap();
    assert_eq!(server.request(&bench, Method::GET, "/v1/responses/resp_7", key, None).0, StatusCode::NOT_FOUND);
    let body = json!({"model": model, "input": "x", "background": true});
    let (_, queued) = server.request(&bench, Method::POST, "/v1/responses", key, Some(&body));
    assert_eq!(queued["status"], "queued", "{queued}");
    for (method, part, field, expect) in [
        (Method::GET, "", "status", json!("completed")),
        (Method::POST, "/cancel", "status", json!("completed")),
        (Method::GET, "/input_items", "object", json!("list")),
        (Method::DELETE, "", "deleted", json!(true)),
    ] {
        let path = format!("/v1/responses/resp_7{part}");
        let (status, answer) = server.request(&bench, method, &path, key, None);
        assert_eq!((status, &answer[field]), (StatusCode::OK, &expect), "{part} {answer}");
    }
    assert_eq!(server.request(&bench, Method::GET, "/v1/responses/resp_7", key, None).0, StatusCode::NOT_FOUND);
}
