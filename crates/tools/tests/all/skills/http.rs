//! http skills against a server on the loopback.

use super::world::{World, skill};
use crate::server::{Server, answer, ok};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::skill::Skill;
use steward_core::tool::Undo;
use steward_tools::outbound::Client;
use steward_tools::skills::HttpExecutor;

pub fn world() -> World {
    let client = Client::new(Vec::new());
    World::new(vec![Arc::new(HttpExecutor::new(client))])
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"q": {}, "id": {"type": "string"}, "n": {"type": "integer"}}})
}

/// An http skill that may reach `server`.
pub fn http(server: &Server, name: &str, config: Value, rest: Value) -> Skill {
    let mut config = config;
    config["allow"] = json!([server.allowed()]);
    let url = config["url"].as_str().unwrap().to_owned();
    config["url"] = json!(server.url(&url));
    let mut all = json!({"type": "http", "config": config, "parameters": schema()});
    for (key, value) in rest.as_object().unwrap() {
        all[key] = value.clone();
    }
    static NUMBER: AtomicU64 = AtomicU64::new(1000);
    skill(NUMBER.fetch_add(1, Ordering::Relaxed), name, all)
}

#[tokio::test]
async fn requests_carry_what_the_skill_says() {
    let server = Server::start(|_| ok("application/json", r#"{"id": 7, "items": [{"n": "a"}, {"n": "b"}]}"#)).await;
    let world = world();
    let get = http(
        &server,
        "find",
        json!({
            "url": "/v1/{{id}}", "method": "get", "query": {"q": "{{q}}", "n": "{{n}}", "fixed": "1 2"},
            "headers": {"X-Id": "id={{id}}"}, "select": "$.items[*].n",
        }),
        json!({}),
    );
    let get = world.add(get);
    let output = world.ok(&get, json!({"id": "a/b c", "q": ["x&y", 2]})).await;
    assert_eq!(output.data, Some(json!(["a", "b"])));
    assert!(output.provenance.is_from_outside() && output.receipt.is_none() && output.undo.is_none());
    assert_eq!(output.provenance.origins.first(), Some(&server.url("/v1/a%2Fb%20c")));
    let post = http(
        &server,
        "make",
        json!({
            "url": "/v1/things", "method": "POST", "body": {"name": "{{id}}", "n": "{{n}}", "list": "{{q}}"},
        }),
        json!({"risk": "external", "effect": "write", "compensation": {"skill": "find", "arguments": {"id": "x", "n": "{{result.id}}"}}}),
    );
    let post = world.add(post);
    let output = world.ok(&post, json!({"id": "a\", \"admin\": \"x", "q": {"k": 1}})).await;
    let receipt = output.receipt.unwrap();
    assert_eq!(receipt.object, format!("POST {}", server.url("/v1/things")));
    assert_eq!(receipt.evidence.unwrap(), "status 200");
    assert!(matches!(output.undo, Some(Undo::Snapshot { .. })));
    let form =
        http(&server, "form", json!({"url": "/f", "method": "POST", "form": {"a": "{{id}}", "b": "{{n}}"}}), json!({}));
    let form = world.add(form);
    world.ok(&form, json!({"id": "x&b=2\r\n", "n": 5})).await;
    let asked = server.requests.lock().unwrap().clone();
    assert!(asked[0].starts_with("GET /v1/a%2Fb%20c?fixed=1+2&q=x%26y&q=2 HTTP/1.1\r\n"), "{}", asked[0]);
    assert!(asked[0].contains("x-id: id=a/b c\r\n"), "{}", asked[0]);
    let body: Value = serde_json::from_str(asked[1].split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(body, json!({"name": "a\", \"admin\": \"x", "list": {"k": 1}}));
    assert!(asked[2].ends_with("a=x%26b%3D2%0D%0A&b=5"), "{}", asked[2]);
    // A preview says what would be sent and sends nothing.
    let preview = world.preview(&post, json!({"id": "z"})).await;
    assert!(preview.reversible);
    assert!(preview.summary.starts_with("sends POST"), "{preview:?}");
    let detail = preview.detail.unwrap();
    assert!(detail.contains("\"name\": \"z\""), "{detail}");
    assert_eq!(server.hits.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn retries_only_what_may_be_repeated() {
    let tries = Arc::new(Mutex::new(Vec::<String>::new()));
    let kept = tries.clone();
    let server = Server::start_whole(move |head| {
        let mut kept = kept.lock().unwrap();
        kept.push(head.to_owned());
        match kept.len() {
            1 => answer(503, &["retry-after: 0"], "busy"),
            2 => {
                answer(429, &["date: Sat, 21 Nov 2026 08:00:00 GMT", "retry-after: Sat, 21 Nov 2026 08:00:00 GMT"], "")
            }
            _ => ok("text/plain", "at last"),
        }
    })
    .await;
    let world = world();
    let config = json!({"url": "/", "method": "POST", "retries": 3, "idempotency_header": "Idempotency-Key"});
    for (number, effect, fine) in
        [(40, "read", true), (41, "keyed", true), (42, "write", false), (43, "idempotent", false)]
    {
        tries.lock().unwrap().clear();
        let mut call =
            http(&server, &format!("call_{effect}"), config.clone(), json!({"risk": "external", "effect": effect}));
        call.id = super::world::id(number).parse().unwrap();
        let call = world.add(call);
        let result = world.call(&call, json!({})).await;
        assert_eq!(result.is_ok(), fine, "{effect}: {result:?}");
        let asked = tries.lock().unwrap().clone();
        assert_eq!(asked.len(), if fine { 3 } else { 1 }, "{effect}");
        let key = |head: &String| head.lines().find(|line| line.starts_with("idempotency-key")).map(str::to_owned);
        let keys: Vec<_> = asked.iter().map(key).collect();
        assert!(keys[0].is_some() && keys.iter().all(|one| *one == keys[0]), "{keys:?}");
    }
    // What would take longer than the call may is not waited for.
    let slow = Server::start(|_| answer(503, &["retry-after: 3600"], "later")).await;
    let mut call = http(&slow, "slow", json!({"url": "/", "retries": 3}), json!({}));
    call.id = super::world::id(44).parse().unwrap();
    let call = world.add(call);
    assert!(world.refused(&call, json!({})).await.contains("answered 503"));
    assert_eq!(slow.hits.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn pages_are_put_together() {
    let server = Server::start(|path| match path {
        "/link" => answer(
            200,
            &["content-type: application/json", "link: </a>; rel=\"prev\", </link2?x=1,2>; rel=\"next last\""],
            "[1, 2]",
        ),
        "/link2?x=1,2" => answer(200, &["content-type: application/json", "link: </link>; rel=prev"], "[3]"),
        "/away" => answer(200, &["content-type: application/json", "link: <http://127.0.0.1:9/x>; rel=next"], "[1]"),
        "/cursor?size=2" => ok("application/json", r#"{"items": [1, 2], "next": "c&1"}"#),
        "/cursor?size=2&cursor=c%261" => ok("application/json", r#"{"items": [3], "next": null}"#),
        "/number?page=1" => ok("application/json", r#"{"items": [1]}"#),
        "/number?page=2" => ok("application/json", r#"{"items": [2]}"#),
        "/number?page=3" => ok("application/json", r#"{"items": []}"#),
        "/forever?page=1" | "/forever?page=2" => ok("application/json", "[9]"),
        other => answer(404, &[], other.to_owned()),
    })
    .await;
    let world = world();
    for (number, config, expect) in [
        (50, json!({"url": "/link", "pages": {"by": "link", "most": 5}}), json!([1, 2, 3])),
        (
            51,
            json!({"url": "/cursor", "query": {"size": "2"}, "select": "$.items[*]", "pages": {"by": "cursor", "path": "$.next", "parameter": "cursor", "most": 5}}),
            json!([1, 2, 3]),
        ),
        (
            52,
            json!({"url": "/number", "select": "$.items[*]", "pages": {"by": "number", "parameter": "page", "from": 1, "most": 9}}),
            json!([1, 2]),
        ),
        (
            53,
            json!({"url": "/forever", "pages": {"by": "number", "parameter": "page", "from": 1, "most": 2}}),
            json!([9, 9]),
        ),
    ] {
        let mut call = http(&server, &format!("pages{number}"), config, json!({}));
        call.id = super::world::id(number).parse().unwrap();
        let call = world.add(call);
        assert_eq!(world.ok(&call, json!({})).await.data, Some(expect), "{}", call.name);
    }
    let away = world.add(http(&server, "away", json!({"url": "/away", "pages": {"by": "link", "most": 5}}), json!({})));
    assert!(world.refused(&away, json!({})).await.contains("another server"));
}

#[tokio::test]
async fn failures_timeouts_and_stops() {
    let server = Server::start(|path| match path {
        "/hang" => Vec::new(),
        "/html" => ok("text/html", "<p>x</p>"),
        "/png" => ok("image/png", b"\x89PNG\0\0"),
        "/empty" => answer(204, &[], ""),
        "/moved" => crate::server::redirect("http://169.254.169.254/"),
        "/half" => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec(),
        _ => answer(500, &[], "x".repeat(5000)),
    })
    .await;
    let world = world();
    let limits = json!({"timeout_ms": 300, "result_chars": 1000});
    let mut number = 60;
    let mut add = |path: &str, effect: &str, select: Option<&str>| {
        number += 1;
        let rest = json!({"risk": "external", "effect": effect, "limits": limits});
        let mut call = http(&server, &format!("f{number}"), json!({"url": path, "select": select}), rest);
        call.id = super::world::id(number).parse().unwrap();
        world.add(call)
    };
    for (path, effect, select, expect) in [
        ("/500", "read", None, "answered 500 (the server has trouble"),
        ("/hang", "read", None, " ms; "),
        ("/hang", "write", None, "may or may not have taken effect"),
        ("/half", "read", None, "broke off"),
        ("/half", "write", None, "may or may not have taken effect"),
        ("/moved", "read", None, "not on the public internet"),
        ("/html", "read", Some("$.x"), "no JSON"),
    ] {
        let call = add(path, effect, select);
        let error = world.refused(&call, json!({})).await;
        assert!(error.contains(expect) && error.len() < 1500, "{path} {effect}: {error}");
    }
    assert!(world.ok(&add("/png", "read", None), json!({})).await.content.contains("no text"));
    assert!(world.ok(&add("/empty", "read", None), json!({})).await.content.contains("empty"));
    // A host that nobody allows is refused, whatever the skill's own words.
    let mut inside = http(&server, "inside", json!({"url": "/"}), json!({}));
    if let steward_core::skill::SkillSpec::Http(spec) = &mut inside.spec {
        spec.allow.clear();
    }
    let inside = world.add(inside);
    assert!(world.refused(&inside, json!({})).await.contains("an operator can allow"));
    // Stopped while the server thinks.
    let hits = server.hits.load(Ordering::Relaxed);
    let mut call = http(&server, "stop", json!({"url": "/hang"}), json!({}));
    call.id = super::world::id(99).parse().unwrap();
    let call = world.add(call);
    let stop = async {
        while server.hits.load(Ordering::Relaxed) == hits {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        world.stop();
    };
    let (error, ()) = tokio::join!(world.refused(&call, json!({})), stop);
    assert!(error.contains("stopped"), "{error}");
}

#[test]
fn configurations_that_make_no_sense() {
    let world = world();
    for (config, rest, expect) in [
        (json!({"url": "https://{{id}}.example/"}), json!({}), "config.url"),
        (json!({"url": "https://x.example/", "method": "CONNECT"}), json!({}), "config.method"),
        (json!({"url": "https://x.example/", "headers": {"Host": "y"}}), json!({}), "set by Steward"),
        (json!({"url": "https://x.example/", "headers": {"a b": "y"}}), json!({}), "name of a header"),
        (json!({"url": "https://x.example/", "headers": {"a": "{{zz}}"}}), json!({}), "config.headers.a"),
        (json!({"url": "https://x.example/", "query": {"a": "{{credential.key}}"}}), json!({}), "config.query"),
        (json!({"url": "https://x.example/", "query": {"{{id}}": "a"}}), json!({}), "names are fixed"),
        (json!({"url": "https://x.example/", "body": {}}), json!({}), "has no body"),
        (json!({"url": "https://x.example/", "method": "POST", "body": {}, "form": {"a": "b"}}), json!({}), "not both"),
        (json!({"url": "https://x.example/", "select": "items["}), json!({}), "JSONPath"),
        (json!({"url": "https://x.example/", "allow": ["nonsense"]}), json!({}), "config.allow"),
        (
            json!({"url": "https://x.example/", "pages": {"by": "cursor", "path": "x[", "parameter": "c", "most": 1}}),
            json!({}),
            "pages.path",
        ),
        (json!({"url": "https://x.example/", "pages": {"by": "link", "most": 0}}), json!({}), "pages.most"),
        (json!({"url": "https://x.example/", "method": "POST"}), json!({"effect": "keyed"}), "idempotency_header"),
    ] {
        let mut all = json!({"type": "http", "config": config, "parameters": schema()});
        for (key, value) in rest.as_object().unwrap() {
            all[key] = value.clone();
        }
        let error = world.runtime.check(&skill(30, "x", all)).unwrap_err();
        assert!(error.contains(expect), "{config}: {error}");
    }
}
