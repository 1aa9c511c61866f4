//! Requests that are sent again without any sign that they are: most clients count nothing, and some count from 0 each time.

use crate::common::{Bench, Server};
use crate::leaving_clients::{LATE, LONG, chat, leave_at, post, rule, runs, script, start, wait_for_end};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::time::Duration;
use steward_testkit::model_server::{Behaviour, Reply};

/// The last answer takes so long that no client sees its end before it leaves.
fn start_slow() -> (Bench, Server) {
    let mut script = script();
    let slow = Behaviour::Reply(Reply::text(LONG).pieces(6, 250));
    script.rules.insert(0, rule("beacon.txt", "tool", slow));
    start(script)
}

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
fn the_same_request_after_its_client_has_left_goes_on_with_its_run() {
    let bodies = [
        ("/v1/chat/completions", chat("look around", &json!({}))),
        ("/v1/responses", json!({"model": "steward", "input": "look around"})),
    ];
    std::thread::scope(|scope| {
        for (path, body) in &bodies {
            for pause in [Duration::from_millis(300), Duration::from_secs(2)] {
                scope.spawn(move || goes_on_with_its_run(path, body, pause));
            }
        }
    });
}

fn goes_on_with_its_run(path: &str, body: &Value, pause: Duration) {
    let (bench, server) = start_slow();
    let request = || unmarked(post(&server, path, body));
    let told = bench.runtime.block_on(async {
        assert!(leave_at(&bench, request(), 2).await.is_none());
        tokio::time::sleep(pause).await;
        // This one joins, or has the call made anew that was cut off: there is nothing to see from here.
        assert!(tokio::time::timeout(Duration::from_millis(900), answer(request())).await.is_err());
        tokio::time::sleep(pause).await;
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

#[test]
fn two_clients_with_the_same_request_have_a_run_each() {
    let (bench, server) = start_slow();
    let body = chat("look around", &json!({}));
    let request = || unmarked(post(&server, "/v1/chat/completions", &body));
    let told = bench.runtime.block_on(async {
        let leave = || leave_at(&bench, request(), 4);
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
        let asked = bench.model.chats().len();
        assert!(leave_at(&bench, request(), asked + 2).await.is_none());
        let (one, other) = tokio::join!(answer(request()), answer(request()));
        [one, other]
    });
    assert_ne!(told[0]["steward"]["run_id"], told[1]["steward"]["run_id"]);
    assert_eq!(runs(&bench, &server).len(), 4);
}

#[test]
fn a_write_of_a_client_that_comes_back_unmarked_is_asked_and_done_once() {
    let mut script = script();
    let write = Reply { first_ms: 900, ..Reply::calls([("write", json!({"path": "n.txt", "content": "n"}))]) };
    script.rules.insert(0, rule("write it down", "user", Behaviour::Reply(write)));
    let (bench, server) = start(script);
    let body = chat("write it down", &json!({}));
    let request = || unmarked(post(&server, "/v1/chat/completions", &body));
    // It leaves before a person is asked, and the run waits for that person since.
    assert!(bench.runtime.block_on(leave_at(&bench, request(), 1)).is_none());
    std::thread::sleep(Duration::from_millis(600));
    let told = bench.runtime.block_on(answer(request()));
    assert_eq!(told["steward"]["status"], "waiting", "{told}");
    assert_eq!(runs(&bench, &server).len(), 1);
    let id = bench.open_approval();
    bench.run(&["approvals", "approve", &id]).exits(0);
    wait_for_end(&bench, &server, LATE);
    // Where the run was stopped before the model had answered, that call is made anew.
    assert!(matches!(bench.model.chats().len(), 2 | 3));
    assert_eq!(runs(&bench, &server).len(), 1);
}
