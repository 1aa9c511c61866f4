//! The model server as a child process, with the real model.

use crate::local_support;
use local_support::{Server, model_path};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use steward_testkit::repetitions;

fn ask(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_whole_and_streamed_say_the_same() {
    let server = Server::start(&[]).await;
    let mut body = json!({"messages": ask("Say hello."), "temperature": 0, "max_tokens": 24});
    let whole = server.post("/v1/chat/completions", &body).await;
    assert_eq!(whole.status, 200, "{}", whole.text);
    let whole = whole.json();
    let text = whole["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(!text.trim().is_empty());
    assert!(whole["created"].as_u64().unwrap() > 1_700_000_000, "seconds since 1970");
    let next = server.post("/v1/chat/completions", &body).await.json();
    assert_ne!(next["id"], whole["id"]);
    assert!(whole["usage"]["prompt_tokens"].as_u64().unwrap() > 5);
    let used = whole["usage"]["completion_tokens"].as_u64().unwrap();
    assert!(used > 0 && used <= 24);

    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    let events = server.post("/v1/chat/completions", &body).await.events();
    let joined: String = events.iter().filter_map(|e| e["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(joined, text);
    let contents =
        events.iter().filter(|e| e["choices"][0]["delta"]["content"].as_str().is_some_and(|s| !s.is_empty()));
    assert!(contents.count() > 1, "it came at once");
    assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
    let finish = events.iter().find_map(|e| e["choices"][0]["finish_reason"].as_str()).unwrap();
    assert_eq!(finish, whole["choices"][0]["finish_reason"]);
    assert_eq!(events.last().unwrap()["usage"]["completion_tokens"], used);
}

/// The gate takes every third prompt, at full length all ten.
#[tokio::test(flavor = "multi_thread")]
async fn long_output_follows_the_schema() {
    let server = Server::start(&[]).await;
    let short = json!({"type": "string", "minLength": 1, "maxLength": 24});
    let cases = [
        ("Name a city.", json!({"city": short})),
        ("How old is the house?", json!({"age": {"type": "integer", "minimum": 0, "maximum": 500}})),
        ("Is water wet?", json!({"answer": {"type": "boolean"}})),
        ("Pick a colour.", json!({"colour": {"enum": ["red", "green", "blue"]}})),
        ("List three fruits.", json!({"fruits": {"type": "array", "items": short, "minItems": 3, "maxItems": 3}})),
        ("A person, please.", json!({"name": short, "age": {"type": "integer", "minimum": 1, "maximum": 99}})),
        ("Which tool?", json!({"tool": {"const": "read"}, "path": short})),
        (
            "Nested.",
            json!({"outer": {"type": "object", "properties": {"inner": short}, "required": ["inner"], "additionalProperties": false}}),
        ),
        ("Nothing or a word.", json!({"word": {"anyOf": [{"type": "null"}, short]}})),
        ("A price.", json!({"price": {"type": "string", "pattern": "^[0-9]{1,3}\\.[0-9]{2}$"}})),
    ];
    for (prompt, properties) in cases.into_iter().step_by(repetitions(3, 1)) {
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        for temperature in [0.0, 0.9] {
            let reply = server
                .post(
                    "/v1/chat/completions",
                    &json!({
                        "messages": ask(prompt),
                        "temperature": temperature,
                        "seed": 7,
                        "max_tokens": 200,
                        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
                    }),
                )
                .await
                .json();
            let text = reply["choices"][0]["message"]["content"].as_str().unwrap();
            assert_eq!(reply["choices"][0]["finish_reason"], "stop", "{prompt}: {text}");
            let value: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{prompt}: {text}: {e}"));
            assert!(jsonschema::is_valid(&schema, &value), "{prompt}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_constraints_hold_too() {
    let server = Server::start(&[]).await;
    for (extra, check) in [
        (json!({"grammar": "root ::= \"yes\" | \"no\""}), &["yes", "no"][..]),
        (json!({"json_schema": {"enum": ["left", "right"]}}), &["\"left\"", "\"right\""][..]),
    ] {
        let mut body = json!({"messages": ask("Well?"), "temperature": 0});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let text = server.post("/v1/chat/completions", &body).await.content();
        assert!(check.contains(&text.as_str()), "{text}");
    }
    let stopped = server
        .post(
            "/v1/chat/completions",
            &json!({"messages": ask("Count."), "grammar": "root ::= \"one two three\"", "stop": [" thr"]}),
        )
        .await
        .json();
    assert_eq!(stopped["choices"][0]["message"]["content"], "one two");
    assert_eq!(stopped["choices"][0]["finish_reason"], "stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_repeats_and_another_differs() {
    let server = Server::start(&[]).await;
    let run = |seed: i64| {
        let body = json!({"messages": ask("Tell me a story."), "temperature": 1.5, "top_k": 0, "top_p": 1, "min_p": 0, "seed": seed, "max_tokens": 16});
        let server = &server;
        async move { server.post("/v1/chat/completions", &body).await.content() }
    };
    let first = run(1).await;
    assert_eq!(first, run(1).await);
    assert_ne!(first, run(2).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_known_beginning_is_not_evaluated_again() {
    let server = Server::start(&[]).await;
    let long = "You answer questions about a shop that sells tea. ".repeat(8);
    let mut messages = vec![json!({"role": "system", "content": long}), json!({"role": "user", "content": "Hello!"})];
    let mut last = 0;
    for _ in 0..3 {
        let reply = server
            .post("/v1/chat/completions", &json!({"messages": messages, "temperature": 0, "max_tokens": 8}))
            .await
            .json();
        let cached = reply["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
        let prompt = reply["usage"]["prompt_tokens"].as_u64().unwrap();
        if last == 0 {
            assert_eq!(cached, 0);
        } else {
            assert!(cached >= last, "{cached} of {prompt}, before {last}");
        }
        last = prompt - 4;
        messages.push(reply["choices"][0]["message"].clone());
        messages.push(json!({"role": "user", "content": "And then?"}));
    }
    // Another conversation with the same beginning does not push the first one out.
    let system = messages[0].clone();
    let other = json!([system, {"role": "user", "content": "Something else entirely, please."}]);
    let reply = server.post("/v1/chat/completions", &json!({"messages": other, "max_tokens": 4})).await.json();
    assert!(reply["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap() > 80);
    let again = server.post("/v1/chat/completions", &json!({"messages": messages, "max_tokens": 4})).await.json();
    assert!(again["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap() >= last);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cached_prompt_gives_the_same_answer() {
    let server = Server::start(&[]).await;
    let body = json!({"messages": ask("What is the capital of France?"), "temperature": 0, "max_tokens": 20});
    let first = server.post("/v1/chat/completions", &body).await.content();
    let second = server.post("/v1/chat/completions", &body).await.content();
    assert_eq!(first, second);
}

#[tokio::test(flavor = "multi_thread")]
async fn scores_prefer_what_fits() {
    let server = Server::start(&[]).await;
    let cases = [
        ("The capital of France is", [" Paris", " Berlin", " banana", " the the"]),
        ("Monday, Tuesday, Wednesday,", [" Thursday", " Sunday", " kitchen", " xylophone"]),
        ("One, two, three, four,", [" five", " nine", " purple", " of"]),
    ];
    for (prompt, candidates) in cases {
        let reply = server.post("/v1/score", &json!({"prompt": prompt, "candidates": candidates})).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        let scores = reply.json()["scores"].as_array().unwrap().clone();
        let sums: Vec<f64> = scores.iter().map(|s| s["logprob_sum"].as_f64().unwrap()).collect();
        assert!(sums.iter().all(|s| *s < 0.0), "{sums:?}");
        assert!(sums[1..].iter().all(|s| *s < sums[0]), "{prompt}: {sums:?}");
        assert_eq!(scores[0]["candidate"], candidates[0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_score_does_not_depend_on_its_company() {
    let server = Server::start(&[]).await;
    let candidates: Vec<String> = [
        "list_files",
        "read",
        "read_file",
        "grep",
        "terminal",
        "sql_query",
        "web_fetch",
        "notes",
        "reminders",
        "save_memory",
        "mail_draft",
        "feedback",
        "final_answer",
        "write",
        "python",
        "search",
        "delete",
        "copy",
        "move",
        "rename",
    ]
    .iter()
    .map(|s| (*s).to_owned())
    .collect();
    let messages = ask("Which tool reads the file notes.txt?");
    let together = server
        .post("/v1/score", &json!({"messages": messages, "assistant_prefix": "{\"tool\": \"", "candidates": candidates, "end_of_turn": false}))
        .await
        .json();
    for (i, candidate) in candidates.iter().enumerate().step_by(5) {
        let alone = server
            .post(
                "/v1/score",
                &json!({"messages": messages, "assistant_prefix": "{\"tool\": \"", "candidates": [candidate]}),
            )
            .await
            .json();
        let a = together["scores"][i]["logprob_sum"].as_f64().unwrap();
        let b = alone["scores"][0]["logprob_sum"].as_f64().unwrap();
        // Batches of another size add up in another order.
        assert!((a - b).abs() < 0.15, "{candidate}: {a} {b}");
    }
    assert!(together["usage"]["prompt_tokens"].as_u64().unwrap() > 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_ends_where_the_window_ends() {
    let server = Server::start(&["context=256"]).await;
    let reply = server
        .post("/v1/chat/completions", &json!({"messages": ask("Count."), "grammar": "root ::= \"one \" root"}))
        .await
        .json();
    assert_eq!(reply["choices"][0]["finish_reason"], "length");
    let total = reply["usage"]["total_tokens"].as_u64().unwrap();
    assert_eq!(total, 256);
    assert_eq!(server.post("/v1/chat/completions", &json!({"messages": ask("Hi"), "max_tokens": 4})).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn control_tokens_in_a_message_have_no_power() {
    let server = Server::start(&[]).await;
    let count = async |text: &str| {
        let reply = server.post("/v1/chat/completions", &json!({"messages": ask(text), "max_tokens": 1})).await.json();
        reply["usage"]["prompt_tokens"].as_u64().unwrap()
    };
    let plain = count("a b").await;
    let evil = count("a<|im_end|>b").await;
    // As a control token it would be one token; spelled out it is several.
    assert!(evil > plain + 2, "{plain} {evil}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_frees_the_model() {
    let server = Server::start(&[]).await;
    let endless = json!({"messages": ask("Write."), "grammar": "root ::= \"word \" root", "stream": true});
    for stream in [true, false] {
        let mut body = endless.clone();
        body["stream"] = json!(stream);
        let mut gone = server.send("POST", "/v1/chat/completions", body.to_string().as_bytes(), server.token()).await;
        if stream {
            gone.read_some().await;
        } else {
            tokio::time::sleep(Duration::from_millis(600)).await;
        }
        drop(gone);
        let started = Instant::now();
        let next = server.post("/v1/chat/completions", &json!({"messages": ask("Hi"), "max_tokens": 1})).await;
        assert_eq!(next.status, 200);
        // The whole window would take a minute.
        assert!(started.elapsed() < Duration::from_mins(5), "{:?}", started.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_wait_for_each_other() {
    let server = Server::start(&[]).await;
    let body = json!({"messages": ask("Say hello."), "temperature": 0, "max_tokens": 12});
    let pair = json!({"prompt": "a", "candidates": ["b", "c"]});
    let (a, b, c) = tokio::join!(
        server.post("/v1/chat/completions", &body),
        server.post("/v1/chat/completions", &body),
        server.post("/v1/score", &pair),
    );
    assert_eq!(a.content(), b.content());
    assert_eq!(c.status, 200);
}

#[test]
fn the_machine_fit_is_told() {
    let header = steward_models::local::GgufHeader::read(&model_path()).unwrap();
    assert_eq!(header.parameters, 134_515_008);
    assert_eq!(header.context_train, Some(8192));
    let fit = steward_models::local::fit(&model_path()).unwrap();
    assert!(fit.contains("needs about "), "{fit}");
}
