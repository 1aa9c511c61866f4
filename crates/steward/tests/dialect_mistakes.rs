//! What clients of OpenAI's dialect are told after the commonest mistakes, and pages of other origins.

use crate::common;

use common::{Bench, Server, client};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

fn message(bench: &Bench, request: reqwest::RequestBuilder) -> (StatusCode, String) {
    bench.runtime.block_on(async {
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        let body: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status} {text}"));
        let error = &body["error"];
        assert!(error["type"].is_string(), "not in OpenAI's shape: {text}");
        (status, error["message"].as_str().unwrap().to_owned())
    })
}

#[test]
fn each_mistake_is_told_with_what_to_do() {
    let bench = Bench::new(Script::default());
    let server = Server::start(&bench);
    let client = client();
    let body = |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "x"}]});
    let post = |path: &str, model: &str| client.post(format!("{}{path}", server.url)).json(&body(model));
    let with_key = |path: &str, model: &str| post(path, model).bearer_auth(&server.key);
    for (request, status, part) in [
        (with_key("/chat/completions", "steward"), 404, "must end with /v1"),
        (with_key("/openai/deployments/x/chat/completions?api-version=1", "steward"), 404, "must end with /v1"),
        (with_key("/v1/chat/completions", "stewart"), 404, "did you mean `steward`?"),
        (post("/v1/chat/completions", "steward"), 401, "the request has no API key"),
        (post("/v1/chat/completions", "steward").header("x-api-key", "k"), 401, "the header `x-api-key`"),
        (post("/v1/responses", "steward").header("api-key", "k"), 401, "the header `api-key`"),
        (with_key("/v1/models/x:generateContent", "steward"), 405, "does not know POST"),
        (client.get(format!("{}/v1/chat/completions", server.url)).bearer_auth(&server.key), 405, "does not know GET"),
        (
            client.get(format!("{}/v1/responses/resp_x", server.url)).bearer_auth(&server.key),
            404,
            "no response `resp_x`",
        ),
    ] {
        let (found, told) = message(&bench, request);
        assert_eq!((found.as_u16(), told.contains(part)), (status, true), "{part}: {told}");
    }
    let key = Some(server.key.as_str());
    let (_, list) = server.request(&bench, Method::GET, "/v1/models", key, None);
    for one in list["data"].as_array().unwrap() {
        let id = one["id"].as_str().unwrap();
        let (status, model) = server.request(&bench, Method::GET, &format!("/v1/models/{id}"), key, None);
        assert_eq!((status, &model["id"]), (StatusCode::OK, &one["id"]));
    }
    let connection =
        list["data"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()?.strip_prefix("connection/"));
    let name = connection.into_iter().next().unwrap().to_owned();
    let (_, told) = message(&bench, with_key("/v1/chat/completions", &name));
    assert!(told.contains(&format!("name the model `connection/{name}`")), "{told}");
}

#[test]
fn pages_of_named_origins_may_use_the_dialect_without_cookies() {
    let bench = Bench::new(Script::default());
    let server = Server::start_with(&bench, &[("STEWARD_V1_ORIGINS", "https://app.example.org")]);
    let client = client();
    let header = |answer: &reqwest::Response, name: &str| {
        answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
    };
    let ask = |path: &str, origin: &str| {
        let request = client
            .request(Method::OPTIONS, format!("{}{path}", server.url))
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization, content-type");
        bench.runtime.block_on(async { request.send().await.unwrap() })
    };
    let answer = ask("/v1/chat/completions", "https://app.example.org");
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    assert_eq!(header(&answer, "access-control-allow-origin").as_deref(), Some("https://app.example.org"));
    assert_eq!(header(&answer, "access-control-allow-headers").as_deref(), Some("authorization, content-type"));
    assert_eq!(header(&answer, "access-control-allow-credentials"), None);
    for (path, origin) in [
        ("/v1/chat/completions", "https://evil.example.org"),
        ("/v1/chat/completions", "https://app.example.org.evil.org"),
        ("/v1/chat/completions", "null"),
        ("/api/agents", "https://app.example.org"),
    ] {
        let answer = ask(path, origin);
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{path} {origin}");
        assert_eq!(header(&answer, "access-control-allow-origin"), None, "{path} {origin}");
    }
    let request = client.get(format!("{}/v1/models", server.url)).header("origin", "https://app.example.org");
    let answer = bench.runtime.block_on(async { request.send().await.unwrap() });
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(header(&answer, "access-control-allow-origin").as_deref(), Some("https://app.example.org"));
}

/// A request that was refused with its body unread must not spoil the next one of its connection.
#[test]
fn a_refused_body_spoils_no_connection() {
    use std::io::{Read as _, Write as _};
    let bench = Bench::new(Script::default());
    let server = Server::start(&bench);
    let address = server.url.trim_start_matches("http://").to_owned();
    for (path, length) in [
        ("/v1/chat/completions", 200_000),
        ("/v1/chat/completions", 2_000_000),
        ("/mcp", 200_000),
        ("/v1/responses/compact", 200_000),
        ("/v1/messages/x", 77),
    ] {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer wrong\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b' '; length]).unwrap();
        let mut answer = String::new();
        let mut piece = [0; 8192];
        while !answer.contains("\r\n\r\n") {
            let read = stream.read(&mut piece).unwrap();
            assert!(read > 0, "{path}: closed without an answer");
            answer.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
        let closes = answer.to_ascii_lowercase().contains("connection: close");
        if closes {
            continue;
        }
        stream
            .write_all(format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes())
            .unwrap();
        let mut next = String::new();
        stream.read_to_string(&mut next).unwrap();
        assert!(next.contains("HTTP/1.1 200"), "{path} {length}: {next}");
    }
}
