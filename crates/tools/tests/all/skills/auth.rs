//! Credentials in requests: shown to the server, and to nobody else.

use super::http::http;
use crate::server::{Server, answer, ok};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use steward_core::credential::CredentialKind;
use steward_core::skill::Skill;

#[tokio::test]
async fn credentials_are_shown_to_the_server_and_nobody_else() {
    const CANARY: &str = "canary-91+/=x";
    for (kind, fields, expect) in [
        (CredentialKind::Token, vec![("token", CANARY)], format!("authorization: Bearer {CANARY}")),
        (CredentialKind::ApiKey, vec![("key", CANARY)], format!("authorization: Bearer {CANARY}")),
        (CredentialKind::ApiKey, vec![("key", CANARY), ("header", "X-Key")], format!("x-key: {CANARY}")),
        (
            CredentialKind::Password,
            vec![("username", "u"), ("password", CANARY)],
            "authorization: Basic dTpjYW5hcnktOTErLz14".to_owned(),
        ),
    ] {
        // The server repeats all that it was sent.
        let server = Server::echo().await;
        let world = super::http::world();
        world.credential("mine", kind, &fields);
        let call = world.add(http(&server, "call", json!({"url": "/x"}), json!({"credential": {}})));
        let output = world.ok(&call, json!({})).await;
        let asked = server.requests.lock().unwrap()[0].clone();
        assert!(asked.contains(&expect), "{asked}");
        let text = serde_json::to_string(&output).unwrap();
        assert!(!text.contains("canary") && !text.contains("dTpjYW5hcnkt"), "{text}");
        let preview = serde_json::to_string(&world.preview(&call, json!({})).await).unwrap();
        assert!(!preview.contains("canary"));
        // In a place of the author's own, it is not added a second time.
        let own = http(
            &server,
            "own",
            json!({"url": "/y", "method": "POST", "body": {"key": "{{credential.NAME}}"}}),
            json!({"credential": {}}),
        );
        let own = serde_json::to_string(&own).unwrap().replace("NAME", fields.last().unwrap().0);
        if fields.len() == 1 {
            let own = world.add(serde_json::from_str(&own).unwrap());
            world.ok(&own, json!({})).await;
            let asked = server.requests.lock().unwrap()[1].clone();
            assert!(asked.contains(CANARY) && !asked.contains("authorization"), "{asked}");
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
        assert!(error.contains("answered 403") && !error.contains("canary"), "{error}");
    }
}

#[tokio::test]
async fn certificates_must_be_pem() {
    let server = Server::echo().await;
    let world = super::http::world();
    world.credential("c", CredentialKind::Certificate, &[("certificate", "no pem"), ("private_key", "canary-key")]);
    let call = world.add(http(&server, "call", json!({"url": "/"}), json!({"credential": {}})));
    let error = world.refused(&call, json!({})).await;
    assert!(error.contains("both must be PEM") && !error.contains("canary"), "{error}");
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
                    json!({"access_token": format!("issued-canary-{n}"), "expires_in": 3600}).to_string(),
                )
            }
            "/token" => {
                answer(400, &[], r#"{"error": "invalid_client", "error_description": "canary-secret is wrong"}"#)
            }
            "/first" if head.contains(&token(1)) => ok("text/plain", "one issued-canary-1"),
            "/second" if head.contains(&token(2)) => ok("text/plain", "two"),
            _ => answer(401, &[], "who are you"),
        }
    })
    .await;
    let world = super::http::world();
    let token_url = server.url("/token");
    world.credential(
        "o",
        CredentialKind::Oauth2,
        &[("client_id", "id"), ("client_secret", "canary-secret"), ("token_url", &token_url), ("scope", "read")],
    );
    let first = world.add(http(&server, "first", json!({"url": "/first"}), json!({"credential": {}})));
    for _ in 0..3 {
        assert_eq!(world.ok(&first, json!({})).await.content, "one [secret access_token]");
    }
    assert_eq!(issued.load(Ordering::Relaxed), 1);
    // One that the server takes no more is replaced.
    let mut second = http(&server, "second", json!({"url": "/second"}), json!({"credential": {}}));
    second.id = super::world::id(31).parse().unwrap();
    let second = world.add(second);
    assert_eq!(world.ok(&second, json!({})).await.content, "two");
    assert_eq!(issued.load(Ordering::Relaxed), 2);
    let other = super::http::world();
    other.credential(
        "o",
        CredentialKind::Oauth2,
        &[("client_id", "id"), ("client_secret", "canary-wrong"), ("token_url", &token_url)],
    );
    let first = other.add(first);
    let error = other.refused(&first, json!({})).await;
    assert!(error.contains("invalid_client") && !error.contains("canary-wrong"), "{error}");
    let bare = super::http::world();
    bare.credential("o", CredentialKind::Oauth2, &[("client_id", "id"), ("token_url", &token_url)]);
    let first = bare.add(first);
    assert!(bare.refused(&first, json!({})).await.contains("nothing to get one with"));
}

#[tokio::test]
async fn a_preview_tells_which_credential_would_be_used_or_that_there_is_none() {
    let server = Server::echo().await;
    let world = super::http::world();
    let call = http(&server, "call", json!({"url": "/x", "method": "POST"}), json!({"credential": {}}));
    let call = world.add(call);
    let told = world.preview(&call, json!({})).await;
    assert!(told.summary.starts_with("would fail: ") && told.summary.contains("asks by POST"), "{told:?}");
    assert!(world.refused(&call, json!({})).await.contains("credential"));
    world.credential("mine", CredentialKind::Token, &[("token", "canary")]);
    let told = world.preview(&call, json!({})).await;
    assert!(
        told.summary.starts_with("asks by POST") && told.summary.ends_with(", with the credential mine"),
        "{told:?}"
    );
    assert!(world.rows.uses.lock().unwrap().is_empty(), "a preview opens nothing");
}
