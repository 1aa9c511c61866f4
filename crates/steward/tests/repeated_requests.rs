//! Requests that are sent again without any sign that they are: most clients count nothing, and some count from 0 each time.

use crate::leaving_clients::{LONG, chat, give_up, post, rule, runs, script, start, wait_for_end};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::time::Duration;
use steward_testkit::model_server::{Behaviour, Reply};

/// As `LangChain` for `JavaScript` sends each of its tries.
fn unmarked(request: RequestBuilder) -> RequestBuilder {
    request.header("x-stainless-retry-count", "0")
}

async fn answer(request: RequestBuilder) -> Value {
    request.send().await.unwrap().json().await.unwrap()
}

fn text(answer: &Value) -> &Value {
    if answer["object"] == "response" {
        &answer["output"][0]["content"][0]["text"]
    } else {
        &answer["choices"][0]["message"]["content"]
    }
}

#[test]
fn alone_the_same_request_after_its_client_has_left_goes_on_with_its_run() {
    for (path, body) in [
        ("/v1/chat/completions", chat("look around", &json!({}))),
        ("/v1/responses", json!({"model": "steward", "input": "look around"})),
    ] {
        for pause in [Duration::from_millis(300), Duration::from_secs(2)] {
            let (bench, server) = start(script());
            let request = || unmarked(post(&server, path, &body));
            let told = bench.runtime.block_on(async {
                for _ in 0..2 {
                    assert!(give_up(request(), Duration::from_millis(900)).await.is_none());
                    tokio::time::sleep(pause).await;
                }
                answer(request()).await
            });
            assert_eq!(text(&told), LONG, "{told}");
            assert_eq!(runs(&bench, &server).len(), 1, "{path} {pause:?}");
            // The call that was answered is made once, that which is cut off by each client who leaves for long anew; how
            // long that was depends on how busy the machine is.
            let chats = bench.model.chats().len();
            assert!((2..=4).contains(&chats), "{path} {pause:?}: {chats}");
            // It is answered now: the same request is a new one.
            assert_eq!(text(&bench.runtime.block_on(answer(request()))), LONG);
            assert_eq!(runs(&bench, &server).len(), 2);
        }
    }
}

#[test]
fn alone_two_clients_with_the_same_request_have_a_run_each() {
    let (bench, server) = start(script());
    let body = chat("look around", &json!({}));
    let request = || unmarked(post(&server, "/v1/chat/completions", &body));
    let told = bench.runtime.block_on(async {
        let leave = || give_up(request(), Duration::from_millis(900));
        let (one, other) = tokio::join!(leave(), leave());
        assert!(one.is_none() && other.is_none());
        let (one, other) = tokio::join!(answer(request()), answer(request()));
        [one, other]
    });
    assert_eq!(told.each_ref().map(text), [LONG, LONG], "{told:?}");
    assert_ne!(told[0]["steward"]["run_id"], told[1]["steward"]["run_id"]);
    assert_eq!(runs(&bench, &server).len(), 2);
    // One has left, the other one hasn't: two more would be one repeat and one request of its own.
    let told = bench.runtime.block_on(async {
        assert!(give_up(request(), Duration::from_millis(900)).await.is_none());
        let (one, other) = tokio::join!(answer(request()), answer(request()));
        [one, other]
    });
    assert_ne!(told[0]["steward"]["run_id"], told[1]["steward"]["run_id"]);
    assert_eq!(runs(&bench, &server).len(), 4);
}

#[test]
fn alone_a_write_of_a_client_that_comes_back_unmarked_is_asked_and_done_once() {
    let mut script = script();
    let write = Reply { first_ms: 900, ..Reply::calls([("write", json!({"path": "n.txt", "content": "n"}))]) };
    script.rules.insert(0, rule("write it down", "user", Behaviour::Reply(write)));
    let (bench, server) = start(script);
    let body = chat("write it down", &json!({}));
    let request = || unmarked(post(&server, "/v1/chat/completions", &body));
    // It leaves before a person is asked, and the run waits for that person since.
    assert!(bench.runtime.block_on(give_up(request(), Duration::from_millis(600))).is_none());
    std::thread::sleep(Duration::from_millis(600));
    let told = bench.runtime.block_on(answer(request()));
    assert_eq!(told["steward"]["status"], "waiting", "{told}");
    assert_eq!(runs(&bench, &server).len(), 1);
    let id = bench.open_approval();
    bench.run(&["approvals", "approve", &id]).exits(0);
    wait_for_end(&bench, &server, Duration::from_secs(20));
    assert_eq!(bench.model.chats().len(), 2);
    assert_eq!(runs(&bench, &server).len(), 1);
}
