//! Clients under `/v1` that close their connection, come back, and ask for their answers by id.

use crate::common;

use common::{Bench, Server, client};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Reply, Rule, Script};

pub fn rule(contains: &str, role: &str, then: Behaviour) -> Rule {
    Rule { contains: contains.to_owned(), role: Some(role.to_owned()), times: None, then }
}

/// A text that takes some three seconds.
pub fn slow(text: &str) -> Behaviour {
    let chars = (text.chars().count() / 30).max(1);
    Behaviour::Reply(Reply::text(text).pieces(chars, 100))
}

pub const LONG: &str =
    "There are two files here, a beacon and a lamp, and neither of them has been changed since last week.";

pub fn script() -> Script {
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

pub fn start(script: Script) -> (Bench, Server) {
    let bench = Bench::new(script);
    bench.work.write("beacon.txt", "light").unwrap();
    let server = Server::start(&bench);
    (bench, server)
}

pub fn post(server: &Server, path: &str, body: &Value) -> RequestBuilder {
    client().post(format!("{}{path}", server.url)).bearer_auth(&server.key).json(body)
}

pub fn chat(text: &str, more: &Value) -> Value {
    let mut body = json!({"model": "steward", "messages": [{"role": "user", "content": text}]});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// A text that takes so long that no busy machine is at its end before it is stopped.
pub fn endless(text: &str) -> Behaviour {
    Behaviour::Reply(Reply::text(text).pieces(1, 1_000))
}

/// Sends it, and closes the connection as soon as the model was asked this often in all. `Some`: an answer came before.
pub async fn leave_at(bench: &Bench, request: RequestBuilder, chats: usize) -> Option<Value> {
    let sent = async { request.send().await.unwrap().json::<Value>().await.unwrap() };
    let asked = async {
        while bench.model.chats().len() < chats {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        answer = sent => Some(answer),
        () = asked => None,
    }
}

pub fn runs(bench: &Bench, server: &Server) -> Vec<Value> {
    let (_, page) = server.request(bench, Method::GET, "/api/runs", Some(&server.key), None);
    page["items"].as_array().unwrap().clone()
}

/// The latest run, once there is one: its client may have left before it began.
fn first_run(bench: &Bench, server: &Server) -> Value {
    let begun = Instant::now();
    loop {
        if let Some(run) = runs(bench, server).into_iter().next() {
            return run;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "no run has begun");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn wait_for_end(bench: &Bench, server: &Server, within: Duration) -> Value {
    let begun = Instant::now();
    loop {
        let run = first_run(bench, server);
        if run["status"] == "finished" {
            return run;
        }
        assert!(begun.elapsed() < within, "it goes on after {:?}: {run}", begun.elapsed());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How late a busy machine may be; less than an [`endless`] text takes.
pub const LATE: Duration = Duration::from_mins(1);

#[test]
fn a_client_that_leaves_stops_its_run() {
    for (path, body) in [
        ("/v1/chat/completions", chat("talk long", &json!({}))),
        ("/v1/chat/completions", chat("talk long", &json!({"stream": true}))),
        ("/v1/responses", json!({"model": "steward", "input": "talk long"})),
        ("/v1/responses", json!({"model": "steward", "input": "talk long", "stream": true})),
    ] {
        let mut script = script();
        script.rules.insert(0, rule("talk long", "user", endless(LONG)));
        let (bench, server) = start(script);
        let left = bench.runtime.block_on(leave_at(&bench, post(&server, path, &body), 1));
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
        let first = leave_at(&bench, post(&server, "/v1/chat/completions", &body), 2).await;
        assert!(first.is_none());
        // As OpenAI's clients do it.
        tokio::time::sleep(Duration::from_millis(400)).await;
        let again = post(&server, "/v1/chat/completions", &body).header("x-stainless-retry-count", "1");
        again.send().await.unwrap().json::<Value>().await.unwrap()
    });
    assert_eq!(answer["choices"][0]["message"]["content"], LONG, "{answer}");
    assert_eq!(runs(&bench, &server).len(), 1);
    // A machine that stood still meanwhile was too late to join: then the call that was cut off is made anew.
    assert!(matches!(bench.model.chats().len(), 2 | 3));
}

#[test]
fn a_retry_goes_on_with_a_run_that_was_stopped() {
    for retried in [("x-stainless-retry-count", "2"), ("idempotency-key", "k-1")] {
        let mut script = script();
        script.rules.insert(0, Rule { times: Some(1), ..rule("beacon.txt", "tool", endless(LONG)) });
        let (bench, server) = start(script);
        let body = chat("look around", &json!({"stream": false}));
        let request = || post(&server, "/v1/chat/completions", &body);
        let request =
            || if retried.0 == "idempotency-key" { request().header(retried.0, retried.1) } else { request() };
        let first = bench.runtime.block_on(leave_at(&bench, request(), 2));
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

/// Sends a request that says nothing of being a retry; its status and what is said.
pub fn ask(bench: &Bench, server: &Server, body: &Value) -> (StatusCode, bool, Value) {
    let request = post(server, "/v1/chat/completions", body);
    bench.runtime.block_on(async {
        let answer = request.send().await.unwrap();
        let told = answer.headers().contains_key("x-should-retry");
        (answer.status(), told, answer.json().await.unwrap())
    })
}

#[test]
fn repeats_after_a_failure_in_passing_go_on_with_one_run_and_one_write() {
    let failure = |status| Behaviour::Status { status, body: json!({"error": {"message": "no"}}), retry_after: None };
    for (after_write, status) in [
        (failure(500), StatusCode::BAD_GATEWAY),
        (failure(503), StatusCode::BAD_GATEWAY),
        (failure(429), StatusCode::TOO_MANY_REQUESTS),
        (Behaviour::Reset, StatusCode::BAD_GATEWAY),
    ] {
        let mut script = script();
        script.rules.insert(0, Rule { times: Some(3), ..rule("n.txt", "tool", after_write) });
        let (bench, server) = start(script);
        let body = chat("write it down", &json!({}));
        assert_eq!(ask(&bench, &server, &body).2["steward"]["status"], "waiting");
        bench.run(&["approvals", "approve", &bench.open_approval()]).exits(1);
        let run = wait_for_end(&bench, &server, Duration::from_secs(20));
        assert_eq!(run["outcome"]["status"], "failed", "{run}");
        assert_eq!(bench.model.chats().len(), 2, "the engine leaves it to the client to try again");
        for calls in [3, 4] {
            let (told, says_no, answer) = ask(&bench, &server, &body);
            assert_eq!((told, says_no), (status, false), "{answer}");
            assert_eq!((runs(&bench, &server).len(), bench.model.chats().len()), (1, calls));
        }
        let (told, _, answer) = ask(&bench, &server, &body);
        assert_eq!((told, &answer["choices"][0]["message"]["content"]), (StatusCode::OK, &json!("It is written.")));
        assert_eq!((&answer["steward"]["run_id"], bench.model.chats().len()), (&run["id"], 5));
        let path = format!("/api/runs/{}", run["id"].as_str().unwrap());
        let (_, log) = server.request(&bench, Method::GET, &format!("{path}/log?limit=200"), Some(&server.key), None);
        assert_eq!(log.to_string().matches("\"tool.intent\"").count(), 1, "{log}");
        let (_, replay) = server.request(&bench, Method::POST, &format!("{path}/replay"), Some(&server.key), None);
        assert_eq!(replay["same"], true, "{replay}");
        // It is answered: the same request is a new one.
        assert_eq!(ask(&bench, &server, &body).2["steward"]["status"], "waiting");
        assert_eq!(runs(&bench, &server).len(), 2);
    }
}

#[test]
fn alone_repeats_at_once_join_and_other_failures_begin_anew() {
    let slow_failure = Behaviour::Status { status: 500, body: json!({}), retry_after: None };
    let refusal = Behaviour::Status { status: 400, body: json!({"error": {"message": "no"}}), retry_after: None };
    let mut script = script();
    script.rules.insert(0, Rule { times: Some(1), ..rule("talk long", "user", slow_failure) });
    script.rules.insert(0, rule("refuse it", "user", refusal));
    let (bench, server) = start(script);
    let body = chat("talk long", &json!({"store": false}));
    assert_eq!(ask(&bench, &server, &body).0, StatusCode::BAD_GATEWAY);
    // A run that is not to be kept stays for as long as it can be asked for again.
    std::thread::sleep(Duration::from_secs(3));
    let one = || async { post(&server, "/v1/chat/completions", &body).send().await.unwrap().json::<Value>().await };
    let answers = bench.runtime.block_on(async { tokio::join!(one(), one(), one()) });
    for answer in [answers.0, answers.1, answers.2] {
        assert_eq!(answer.unwrap()["choices"][0]["message"]["content"], LONG);
    }
    assert_eq!((runs(&bench, &server).len(), bench.model.chats().len()), (1, 2));
    let body = chat("refuse it", &json!({}));
    for count in [2, 3] {
        let (status, says_no, answer) = ask(&bench, &server, &body);
        assert_eq!((status, says_no), (StatusCode::BAD_REQUEST, true), "{answer}");
        assert_eq!(runs(&bench, &server).len(), count);
    }
}

#[test]
fn an_answer_of_thoughts_only_is_none() {
    let mut script = script();
    let thought = Behaviour::Reply(Reply { reasoning: "I weigh it.".to_owned(), ..Reply::text("") });
    let unfinished = Behaviour::text("<think>I weigh it, and never");
    script.rules.insert(0, Rule { times: Some(1), ..rule("short", "user", thought) });
    script.rules.insert(1, Rule { times: Some(1), ..rule("short", "user", unfinished) });
    let (bench, server) = start(script);
    let body = chat("short", &json!({}));
    for calls in [1, 2] {
        let (status, _, answer) = ask(&bench, &server, &body);
        assert_eq!((status, &answer["error"]["code"]), (StatusCode::BAD_GATEWAY, &json!("upstream_empty")));
        assert!(answer["error"]["message"].as_str().unwrap().contains("only thought"), "{answer}");
        assert_eq!(bench.model.chats().len(), calls);
    }
    let answer = ask(&bench, &server, &body).2;
    assert_eq!(answer["choices"][0]["message"]["content"], "A short answer.");
    assert_eq!(runs(&bench, &server).len(), 1);
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
    assert!(bench.runtime.block_on(leave_at(&bench, post(&server, "/v1/chat/completions", &body), 1)).is_none());
    let begun = Instant::now();
    let run = loop {
        let run = first_run(&bench, &server);
        if ["finished", "waiting"].iter().any(|status| run["status"] == *status) {
            break run;
        }
        assert!(begun.elapsed() < LATE, "{run}");
        std::thread::sleep(Duration::from_millis(50));
    };
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
    let (status, refused) = ask(Method::POST, &format!("{path}/cancel"), key, None);
    assert_eq!((status, &refused["error"]["param"]), (StatusCode::BAD_REQUEST, &json!("id")));
    for (query, param) in [("limit=0", "limit"), ("limit=101", "limit"), ("limit=x", "limit"), ("order=up", "order")] {
        let (status, refused) = ask(Method::GET, &format!("{path}/input_items?{query}"), key, None);
        assert_eq!((status, &refused["error"]["param"]), (StatusCode::BAD_REQUEST, &json!(param)), "{query}");
    }
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
    let (status, again) = server.request(&bench, Method::POST, &path, key, None);
    assert_eq!((status, &again["status"]), (StatusCode::OK, &json!("cancelled")), "a second time changes nothing");
    assert_eq!(runs(&bench, &server)[0]["outcome"]["status"], "stopped");
}

#[test]
fn streams_of_a_connection_are_whole_or_say_what_is_wrong_once() {
    let raw = |events: &str| Behaviour::Raw { events: events.to_owned() };
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":0}}\n\ndata: [DONE]\n\n";
    let failing = Behaviour::InBandError {
        reply: Reply::text("Hello to you, and to all").pieces(3, 100),
        error: json!({"error": {"message": "overloaded"}}),
    };
    let document = json!({"id": "x", "choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]});
    let mut script = script();
    script.rules.extend([
        rule("only usage", "user", raw(usage)),
        rule("fail at last", "user", failing),
        rule(
            "one document",
            "user",
            Behaviour::Plain { content_type: "application/json".to_owned(), body: document.to_string() },
        ),
    ]);
    let (bench, server) = start(script);
    let (_, list) = server.request(&bench, Method::GET, "/v1/models", Some(&server.key), None);
    let names = list["data"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str());
    let model = names.into_iter().find(|name| name.starts_with("connection/") && !name.ends_with("/local")).unwrap();
    let stream = |text: &str| {
        let body = json!({"model": model, "messages": [{"role": "user", "content": text}], "stream": true});
        bench.runtime.block_on(async {
            let answer = post(&server, "/v1/chat/completions", &body).send().await.unwrap();
            (answer.status(), answer.text().await.unwrap())
        })
    };
    let (status, told) = stream("only usage");
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{told}");
    let (status, told) = stream("fail at last");
    assert_eq!((status, told.matches("\"error\"").count()), (StatusCode::OK, 1), "{told}");
    let (status, told) = stream("one document");
    assert!(status == StatusCode::OK && told.contains("\"delta\":{") && told.trim().ends_with("[DONE]"), "{told}");
}

#[test]
fn an_answer_that_is_none_or_broken_off_is_an_error() {
    let half = "data: {\"choices\":[{\"delta\":{\"content\":\"Half an\"}}]}\n\n";
    let raw = |end: &str| Behaviour::Raw { events: format!("{half}{end}\n\ndata: [DONE]\n\n") };
    let ended =
        |reason: &str| raw(&format!("data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}"));
    let document =
        |body: Value| Behaviour::Plain { content_type: "application/json".to_owned(), body: body.to_string() };
    let own_error = raw("data: {\"object\":\"error\",\"message\":\"out of memory\",\"code\":500}");
    let mut script = script();
    script.rules.extend([
        rule("own error", "user", own_error),
        rule("no choice", "user", document(json!({"id": "x", "choices": []}))),
        rule(
            "no message",
            "user",
            document(json!({"id": "x", "choices": [{"message": null, "finish_reason": "stop"}]})),
        ),
        rule("no resource", "user", ended("insufficient_system_resource")),
        rule("strange end", "user", ended("spontaneous_end")),
    ]);
    let (bench, server) = start(script);
    let (_, list) = server.request(&bench, Method::GET, "/v1/models", Some(&server.key), None);
    let names = list["data"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str());
    let model = names.into_iter().find(|name| name.starts_with("connection/") && !name.ends_with("/local")).unwrap();
    let mut body = chat("own error", &json!({"stream": true}));
    body["model"] = json!(model);
    let told = bench.runtime.block_on(async {
        let answer = post(&server, "/v1/chat/completions", &body).send().await.unwrap();
        answer.text().await.unwrap()
    });
    assert!(told.contains("{\"error\":{") && !told.contains("[DONE]"), "{told}");
    for text in ["no choice", "no message"] {
        let mut body = chat(text, &json!({}));
        body["model"] = json!(model);
        assert_eq!(ask(&bench, &server, &body).0, StatusCode::BAD_GATEWAY, "{text}");
    }
    let (status, _, told) = ask(&bench, &server, &chat("no resource", &json!({})));
    assert_eq!((status, &told["error"]["code"]), (StatusCode::BAD_GATEWAY, &json!("upstream_error")), "{told}");
    let (_, _, told) = ask(&bench, &server, &chat("strange end", &json!({})));
    let choice = &told["choices"][0];
    assert_eq!((&choice["message"]["content"], &choice["finish_reason"]), (&json!("Half an"), &json!("length")));
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
