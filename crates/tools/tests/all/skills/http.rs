//! http, graphql and huggingface skills against a server on the loopback.

use super::world::{World, skill};
use crate::server::{Server, answer, ok};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steward_core::credential::CredentialKind;
use steward_core::skill::Skill;
use steward_core::tool::Undo;
use steward_tools::skills::{GraphqlExecutor, HttpExecutor, HuggingfaceExecutor};
use steward_tools::web::Client;

fn world() -> World {
    let client = Client::new(Vec::new());
    World::new(vec![
        Arc::new(HttpExecutor::new(client.clone())),
        Arc::new(GraphqlExecutor::new(client.clone())),
        Arc::new(HuggingfaceExecutor::new(client)),
    ])
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"q": {}, "id": {"type": "string"}, "n": {"type": "integer"}}})
}

/// An http skill that may reach `server`.
fn http(server: &Server, name: &str, config: Value, rest: Value) -> Skill {
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
    let server = Server::start(|_| {
        ok(
            "application/json",
            r#"{"id": 7, "items": [{"n": "a"}, {"n": "b"}]}"#,
        )
    })
    .await;
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
    let output = world
        .ok(&get, json!({"id": "a/b c", "q": ["x&y", 2]}))
        .await;
    assert_eq!(output.data, Some(json!(["a", "b"])));
    assert!(output.tainted && output.receipt.is_none() && output.undo.is_none());
    assert_eq!(output.origin.unwrap(), server.url("/v1/a%2Fb%20c"));
    let post = http(
        &server,
        "make",
        json!({
            "url": "/v1/things", "method": "POST", "body": {"name": "{{id}}", "n": "{{n}}", "list": "{{q}}"},
        }),
        json!({"risk": "external", "effect": "write", "compensation": {"skill": "find", "arguments": {"id": "x", "n": "{{result.id}}"}}}),
    );
    let post = world.add(post);
    let output = world
        .ok(&post, json!({"id": "a\", \"admin\": \"x", "q": {"k": 1}}))
        .await;
    let receipt = output.receipt.unwrap();
    assert_eq!(receipt.object, format!("POST {}", server.url("/v1/things")));
    assert_eq!(receipt.evidence.unwrap(), "status 200");
    assert!(matches!(output.undo, Some(Undo::Snapshot { .. })));
    let form = http(
        &server,
        "form",
        json!({"url": "/f", "method": "POST", "form": {"a": "{{id}}", "b": "{{n}}"}}),
        json!({}),
    );
    let form = world.add(form);
    world.ok(&form, json!({"id": "x&b=2\r\n", "n": 5})).await;
    let asked = server.requests.lock().unwrap().clone();
    assert!(
        asked[0].starts_with("GET /v1/a%2Fb%20c?fixed=1+2&q=x%26y&q=2 HTTP/1.1\r\n"),
        "{}",
        asked[0]
    );
    assert!(asked[0].contains("x-id: id=a/b c\r\n"), "{}", asked[0]);
    let body: Value = serde_json::from_str(asked[1].split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(
        body,
        json!({"name": "a\", \"admin\": \"x", "list": {"k": 1}})
    );
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
async fn credentials_are_shown_to_the_server_and_nobody_else() {
    const CANARY: &str = "canary-91+/=x";
    for (kind, fields, expect) in [
        (
            CredentialKind::Token,
            vec![("token", CANARY)],
            format!("authorization: Bearer {CANARY}"),
        ),
        (
            CredentialKind::ApiKey,
            vec![("key", CANARY)],
            format!("authorization: Bearer {CANARY}"),
        ),
        (
            CredentialKind::ApiKey,
            vec![("key", CANARY), ("header", "X-Key")],
            format!("x-key: {CANARY}"),
        ),
        (
            CredentialKind::Password,
            vec![("username", "u"), ("password", CANARY)],
            "authorization: Basic dTpjYW5hcnktOTErLz14".to_owned(),
        ),
    ] {
        // The server repeats all that it was sent.
        let server = Server::echo().await;
        let world = world();
        world.credential("mine", kind, &fields);
        let call = world.add(http(
            &server,
            "call",
            json!({"url": "/x"}),
            json!({"credential": {}}),
        ));
        let output = world.ok(&call, json!({})).await;
        let asked = server.requests.lock().unwrap()[0].clone();
        assert!(asked.contains(&expect), "{asked}");
        let text = serde_json::to_string(&output).unwrap();
        assert!(
            !text.contains("canary") && !text.contains("dTpjYW5hcnkt"),
            "{text}"
        );
        let preview = serde_json::to_string(&world.preview(&call, json!({})).await).unwrap();
        assert!(!preview.contains("canary"));
        // In a place of the author's own, it is not added a second time.
        let own = http(
            &server,
            "own",
            json!({"url": "/y", "method": "POST", "body": {"key": "{{credential.NAME}}"}}),
            json!({"credential": {}}),
        );
        let own = serde_json::to_string(&own)
            .unwrap()
            .replace("NAME", fields.last().unwrap().0);
        if fields.len() == 1 {
            let own = world.add(serde_json::from_str(&own).unwrap());
            world.ok(&own, json!({})).await;
            let asked = server.requests.lock().unwrap()[1].clone();
            assert!(
                asked.contains(CANARY) && !asked.contains("authorization"),
                "{asked}"
            );
            let preview = serde_json::to_string(&world.preview(&own, json!({})).await).unwrap();
            assert!(preview.contains("[credential."), "{preview}");
        }
        // Errors repeat nothing either.
        let bad = Server::start(move |_| answer(403, &[], format!("no: Bearer {CANARY}"))).await;
        let call = world.add(Skill {
            id: super::world::id(31).parse().unwrap(),
            ..http(&bad, "bad", json!({"url": "/"}), json!({"credential": {}}))
        });
        let error = world.refused(&call, json!({})).await;
        assert!(
            error.contains("answered 403") && !error.contains("canary"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn certificates_must_be_pem() {
    let server = Server::echo().await;
    let world = world();
    world.credential(
        "c",
        CredentialKind::Certificate,
        &[("certificate", "no pem"), ("private_key", "canary-key")],
    );
    let call = world.add(http(
        &server,
        "call",
        json!({"url": "/"}),
        json!({"credential": {}}),
    ));
    let error = world.refused(&call, json!({})).await;
    assert!(
        error.contains("both must be PEM") && !error.contains("canary"),
        "{error}"
    );
}

#[tokio::test]
async fn oauth_tokens_are_fetched_kept_and_renewed() {
    let issued = Arc::new(AtomicUsize::new(0));
    let count = issued.clone();
    let server = Server::start_whole(move |head| {
        let path = head.split(' ').nth(1).unwrap();
        let token = |n: usize| format!("Bearer issued-canary-{n}\r");
        match path {
            "/token"
                if head.contains("authorization: Basic aWQ6Y2FuYXJ5LXNlY3JldA==")
                    && head.contains("grant_type=client_credentials&scope=read") =>
            {
                let n = count.fetch_add(1, Ordering::Relaxed) + 1;
                ok(
                    "application/json",
                    json!({"access_token": format!("issued-canary-{n}"), "expires_in": 3600})
                        .to_string(),
                )
            }
            "/token" => answer(
                400,
                &[],
                r#"{"error": "invalid_client", "error_description": "canary-secret is wrong"}"#,
            ),
            "/first" if head.contains(&token(1)) => ok("text/plain", "one issued-canary-1"),
            "/second" if head.contains(&token(2)) => ok("text/plain", "two"),
            _ => answer(401, &[], "who are you"),
        }
    })
    .await;
    let world = world();
    let token_url = server.url("/token");
    world.credential(
        "o",
        CredentialKind::Oauth2,
        &[
            ("client_id", "id"),
            ("client_secret", "canary-secret"),
            ("token_url", &token_url),
            ("scope", "read"),
        ],
    );
    let first = world.add(http(
        &server,
        "first",
        json!({"url": "/first"}),
        json!({"credential": {}}),
    ));
    for _ in 0..3 {
        assert_eq!(
            world.ok(&first, json!({})).await.content,
            "one [access_token]"
        );
    }
    assert_eq!(issued.load(Ordering::Relaxed), 1);
    // One that the server takes no more is replaced.
    let mut second = http(
        &server,
        "second",
        json!({"url": "/second"}),
        json!({"credential": {}}),
    );
    second.id = super::world::id(31).parse().unwrap();
    let second = world.add(second);
    assert_eq!(world.ok(&second, json!({})).await.content, "two");
    assert_eq!(issued.load(Ordering::Relaxed), 2);
    let other = self::world();
    other.credential(
        "o",
        CredentialKind::Oauth2,
        &[
            ("client_id", "id"),
            ("client_secret", "canary-wrong"),
            ("token_url", &token_url),
        ],
    );
    let first = other.add(first);
    let error = other.refused(&first, json!({})).await;
    assert!(
        error.contains("invalid_client") && !error.contains("canary-wrong"),
        "{error}"
    );
    let bare = self::world();
    bare.credential(
        "o",
        CredentialKind::Oauth2,
        &[("client_id", "id"), ("token_url", &token_url)],
    );
    let first = bare.add(first);
    assert!(
        bare.refused(&first, json!({}))
            .await
            .contains("nothing to get one with")
    );
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
            2 => answer(
                429,
                &[
                    "date: Sat, 21 Nov 2026 08:00:00 GMT",
                    "retry-after: Sat, 21 Nov 2026 08:00:00 GMT",
                ],
                "",
            ),
            _ => ok("text/plain", "at last"),
        }
    })
    .await;
    let world = world();
    let config = json!({"url": "/", "method": "POST", "retries": 3, "idempotency_header": "Idempotency-Key"});
    for (number, effect, fine) in [
        (40, "read", true),
        (41, "keyed", true),
        (42, "write", false),
        (43, "idempotent", false),
    ] {
        tries.lock().unwrap().clear();
        let mut call = http(
            &server,
            &format!("call_{effect}"),
            config.clone(),
            json!({"risk": "external", "effect": effect}),
        );
        call.id = super::world::id(number).parse().unwrap();
        let call = world.add(call);
        let result = world.call(&call, json!({})).await;
        assert_eq!(result.is_ok(), fine, "{effect}: {result:?}");
        let asked = tries.lock().unwrap().clone();
        assert_eq!(asked.len(), if fine { 3 } else { 1 }, "{effect}");
        let key = |head: &String| {
            head.lines()
                .find(|line| line.starts_with("idempotency-key"))
                .map(str::to_owned)
        };
        let keys: Vec<_> = asked.iter().map(key).collect();
        assert!(
            keys[0].is_some() && keys.iter().all(|one| *one == keys[0]),
            "{keys:?}"
        );
    }
    // What would take longer than the call may is not waited for.
    let slow = Server::start(|_| answer(503, &["retry-after: 3600"], "later")).await;
    let mut call = http(&slow, "slow", json!({"url": "/", "retries": 3}), json!({}));
    call.id = super::world::id(44).parse().unwrap();
    let call = world.add(call);
    assert!(
        world
            .refused(&call, json!({}))
            .await
            .contains("answered 503")
    );
    assert_eq!(slow.hits.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn pages_are_put_together() {
    let server = Server::start(|path| match path {
        "/link" => answer(
            200,
            &[
                "content-type: application/json",
                "link: </a>; rel=\"prev\", </link2?x=1,2>; rel=\"next last\"",
            ],
            "[1, 2]",
        ),
        "/link2?x=1,2" => answer(
            200,
            &["content-type: application/json", "link: </link>; rel=prev"],
            "[3]",
        ),
        "/away" => answer(
            200,
            &[
                "content-type: application/json",
                "link: <http://127.0.0.1:9/x>; rel=next",
            ],
            "[1]",
        ),
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
        (
            50,
            json!({"url": "/link", "pages": {"by": "link", "most": 5}}),
            json!([1, 2, 3]),
        ),
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
        assert_eq!(
            world.ok(&call, json!({})).await.data,
            Some(expect),
            "{}",
            call.name
        );
    }
    let away = world.add(http(
        &server,
        "away",
        json!({"url": "/away", "pages": {"by": "link", "most": 5}}),
        json!({}),
    ));
    assert!(
        world
            .refused(&away, json!({}))
            .await
            .contains("another server")
    );
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
        let mut call = http(
            &server,
            &format!("f{number}"),
            json!({"url": path, "select": select}),
            rest,
        );
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
        assert!(
            error.contains(expect) && error.len() < 1500,
            "{path} {effect}: {error}"
        );
    }
    assert!(
        world
            .ok(&add("/png", "read", None), json!({}))
            .await
            .content
            .contains("no text")
    );
    assert!(
        world
            .ok(&add("/empty", "read", None), json!({}))
            .await
            .content
            .contains("empty")
    );
    // A host that nobody allows is refused, whatever the skill's own words.
    let mut inside = http(&server, "inside", json!({"url": "/"}), json!({}));
    if let steward_core::skill::SkillSpec::Http(spec) = &mut inside.spec {
        spec.allow.clear();
    }
    let inside = world.add(inside);
    assert!(
        world
            .refused(&inside, json!({}))
            .await
            .contains("an operator can allow")
    );
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
        (
            json!({"url": "https://{{id}}.example/"}),
            json!({}),
            "config.url",
        ),
        (
            json!({"url": "https://x.example/", "method": "CONNECT"}),
            json!({}),
            "config.method",
        ),
        (
            json!({"url": "https://x.example/", "headers": {"Host": "y"}}),
            json!({}),
            "set by Steward",
        ),
        (
            json!({"url": "https://x.example/", "headers": {"a b": "y"}}),
            json!({}),
            "name of a header",
        ),
        (
            json!({"url": "https://x.example/", "headers": {"a": "{{zz}}"}}),
            json!({}),
            "config.headers.a",
        ),
        (
            json!({"url": "https://x.example/", "query": {"a": "{{credential.key}}"}}),
            json!({}),
            "config.query",
        ),
        (
            json!({"url": "https://x.example/", "query": {"{{id}}": "a"}}),
            json!({}),
            "names are fixed",
        ),
        (
            json!({"url": "https://x.example/", "body": {}}),
            json!({}),
            "has no body",
        ),
        (
            json!({"url": "https://x.example/", "method": "POST", "body": {}, "form": {"a": "b"}}),
            json!({}),
            "not both",
        ),
        (
            json!({"url": "https://x.example/", "select": "items["}),
            json!({}),
            "JSONPath",
        ),
        (
            json!({"url": "https://x.example/", "allow": ["nonsense"]}),
            json!({}),
            "config.allow",
        ),
        (
            json!({"url": "https://x.example/", "pages": {"by": "cursor", "path": "x[", "parameter": "c", "most": 1}}),
            json!({}),
            "pages.path",
        ),
        (
            json!({"url": "https://x.example/", "pages": {"by": "link", "most": 0}}),
            json!({}),
            "pages.most",
        ),
        (
            json!({"url": "https://x.example/", "method": "POST"}),
            json!({"effect": "keyed"}),
            "idempotency_header",
        ),
    ] {
        let mut all = json!({"type": "http", "config": config, "parameters": schema()});
        for (key, value) in rest.as_object().unwrap() {
            all[key] = value.clone();
        }
        let error = world.runtime.check(&skill(30, "x", all)).unwrap_err();
        assert!(error.contains(expect), "{config}: {error}");
    }
}

#[tokio::test]
async fn graphql_answers_and_errors() {
    let server = Server::start_whole(|head| {
        let body = head.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let reply = match body["variables"]["id"].as_str() {
            Some("gone") => {
                json!({"data": null, "errors": [{"message": "no such user"}, {"code": 7}]})
            }
            Some("odd") => json!({"hello": 1}),
            Some("hang") => return Vec::new(),
            id => json!({"data": {"user": {"name": id, "query": body["query"]}}}),
        };
        ok("application/json", reply.to_string())
    })
    .await;
    let world = world();
    let query = "query U($id: ID!) { user(id: $id) { name } }";
    let config = json!({"url": server.url("/graphql"), "query": query, "variables": {"id": "{{id}}"}, "select": "$.user.name", "allow": [server.allowed()]});
    let rest = json!({"type": "graphql", "config": config, "parameters": schema(), "limits": {"timeout_ms": 300, "result_chars": 1000}});
    let call = world.add(skill(30, "user", rest.clone()));
    let nasty = "\") { admin } #";
    let output = world.ok(&call, json!({"id": nasty})).await;
    assert_eq!((output.content.as_str(), output.tainted), (nasty, true));
    assert!(
        world
            .refused(&call, json!({"id": "gone"}))
            .await
            .contains("no such user; {\"code\":7}")
    );
    assert!(
        world
            .refused(&call, json!({"id": "odd"}))
            .await
            .contains("no GraphQL answer")
    );
    assert!(
        world
            .refused(&call, json!({"id": "hang"}))
            .await
            .contains(" ms; ")
    );
    let preview = world.preview(&call, json!({"id": "z"})).await;
    assert!(preview.reversible && preview.detail.unwrap().contains("\"id\": \"z\""));
    for (field, value, expect) in [
        ("url", json!("https://x.example/{{id}}"), "fixed"),
        ("query", json!(" "), "config.query"),
        ("query", json!("subscription { x }"), "never ends"),
        ("query", json!("mutation { x }"), "a mutation changes"),
        ("variables", json!([1]), "config.variables"),
        ("variables", json!({"a": "{{zz}}"}), "config.variables"),
        ("select", json!("["), "config.select"),
    ] {
        let mut rest = rest.clone();
        rest["config"][field] = value;
        let error = world.runtime.check(&skill(31, "x", rest)).unwrap_err();
        assert!(error.contains(expect), "{field}: {error}");
    }
}

#[tokio::test]
async fn models_that_load_are_waited_for() {
    let tries = Arc::new(AtomicUsize::new(0));
    let count = tries.clone();
    let server = Server::start_whole(move |head| {
        let n = count.fetch_add(1, Ordering::Relaxed);
        if head.contains("never") {
            return answer(
                503,
                &["content-type: application/json"],
                r#"{"error": "Model x is currently loading", "estimated_time": 3600}"#,
            );
        }
        if n < 2 {
            return answer(
                503,
                &["content-type: application/json"],
                r#"{"error": "Model x is currently loading", "estimated_time": 0.05}"#,
            );
        }
        let body = head.split_once("\r\n\r\n").unwrap().1;
        ok("application/json", json!([{"echo": body}]).to_string())
    })
    .await;
    let world = world();
    world.credential("hf", CredentialKind::Token, &[("token", "hf-canary")]);
    let rest = json!({
        "type": "huggingface", "credential": {}, "risk": "external", "effect": "write",
        "config": {"model": "facebook/bart-large-mnli", "url": server.url("/models"), "allow": [server.allowed()], "parameters": {"candidate_labels": "{{q}}"}},
        "parameters": {"type": "object", "properties": {"inputs": {"type": "string"}, "q": {"type": "array"}}},
        "limits": {"timeout_ms": 5000, "result_chars": 1000},
    });
    let call = world.add(skill(30, "classify", rest.clone()));
    let output = world
        .ok(&call, json!({"inputs": "good", "q": ["a", "b"]}))
        .await;
    assert_eq!(tries.load(Ordering::Relaxed), 3);
    let sent: Value =
        serde_json::from_str(output.data.unwrap()[0]["echo"].as_str().unwrap()).unwrap();
    assert_eq!(
        sent,
        json!({"inputs": "good", "parameters": {"candidate_labels": ["a", "b"]}})
    );
    assert_eq!(output.receipt.unwrap().object, "facebook/bart-large-mnli");
    let head = server.requests.lock().unwrap()[0].clone();
    assert!(
        head.starts_with("POST /models/facebook/bart-large-mnli ")
            && head.contains("Bearer hf-canary")
    );
    let error = world.refused(&call, json!({"inputs": "never"})).await;
    assert!(
        error.contains("answered 503") && error.contains("loading"),
        "{error}"
    );
    assert!(world.refused(&call, json!({})).await.contains("no input"));
    for model in ["../x", "a/b/c", "a b", "", "{{inputs}}"] {
        let mut rest = rest.clone();
        rest["config"]["model"] = json!(model);
        assert!(
            world.runtime.check(&skill(31, "x", rest)).is_err(),
            "{model}"
        );
    }
}
