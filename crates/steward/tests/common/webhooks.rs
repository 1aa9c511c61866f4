//! Calls of webhooks as senders make them, signed apart from the code that verifies them.

use super::Bench;
use super::server::{Server, client};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::Method;
use serde_json::Value;
use steward_core::hash::sha256;

/// All ways of signing.
pub const WAYS: [&str; 6] = ["standard", "github", "stripe", "slack", "gitlab", "token"];

pub type Headers = Vec<(String, String)>;

/// HMAC-SHA256 as RFC 2104 has it.
fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let digest = |bytes: &[u8]| hex::decode(sha256(bytes)).unwrap();
    let mut key = if key.len() > 64 { digest(key) } else { key.to_vec() };
    key.resize(64, 0);
    let padded = |pad: u8, rest: &[u8]| {
        let key: Vec<u8> = key.iter().map(|byte| byte ^ pad).collect();
        digest(&[&key, rest].concat())
    };
    padded(0x5c, &padded(0x36, text.as_bytes()))
}

/// Seconds since 1970.
pub fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// The headers of a call with this body, signed now. Stripe's and Slack's ids stand in the body.
pub fn sign(way: &str, secret: &str, id: &str, body: &str) -> Headers {
    sign_at(now(), way, secret, id, body)
}

/// The same, signed at another time: seconds since 1970.
pub fn sign_at(at: i64, way: &str, secret: &str, id: &str, body: &str) -> Headers {
    let text = |text: &str| hex::encode(hmac(secret.as_bytes(), text));
    let named: Vec<(&str, String)> = match way {
        "standard" => {
            let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
            let signature = format!("v1,{}", BASE64.encode(hmac(&key, &format!("{id}.{at}.{body}"))));
            vec![("webhook-id", id.to_owned()), ("webhook-timestamp", at.to_string()), ("webhook-signature", signature)]
        }
        "github" => vec![
            ("X-GitHub-Event", "issues".to_owned()),
            ("X-GitHub-Delivery", id.to_owned()),
            ("X-Hub-Signature-256", format!("sha256={}", text(body))),
        ],
        "stripe" => vec![("Stripe-Signature", format!("t={at},v1={}", text(&format!("{at}.{body}"))))],
        "slack" => vec![
            ("X-Slack-Request-Timestamp", at.to_string()),
            ("X-Slack-Signature", format!("v0={}", text(&format!("v0:{at}:{body}")))),
        ],
        "gitlab" => vec![("X-Gitlab-Token", secret.to_owned()), ("Idempotency-Key", id.to_owned())],
        "token" => vec![("Authorization", format!("Bearer {secret}")), ("Idempotency-Key", id.to_owned())],
        other => panic!("{other} is no way of signing"),
    };
    named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A call as JSON, unless its headers say something else; `None`: nobody answered.
pub fn deliver(server: &Server, bench: &Bench, path: &str, headers: &Headers, body: &str) -> Option<(u16, Value)> {
    let mut request = client().request(Method::POST, format!("{}{path}", server.url)).body(body.to_owned());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in headers {
        request = request.header(name, value);
    }
    bench.runtime.block_on(async {
        let answer = request.send().await.ok()?;
        let status = answer.status().as_u16();
        let text = answer.text().await.ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
    })
}
