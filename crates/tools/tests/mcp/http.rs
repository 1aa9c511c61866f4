//! Servers over streamable HTTP.

use crate::world::{Served, TENANT, World, refusal, user};
use serde_json::json;
use std::time::Duration;
use steward_core::Cancellation;
use steward_core::credential::CredentialKind;
use steward_core::mcp::McpTransport;

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_called_and_fail_as_over_stdio() {
    let notes = tempfile::tempdir().unwrap();
    let python = Served::start("server.py", &["--http", "--notes", notes.path().to_str().unwrap()]);
    let world = World::new();
    world.server(python.transport()).await;
    world.accept_all().await;
    let said = world.call("echo", json!({"text": "hello"})).await.unwrap();
    assert_eq!((said.content.as_str(), said.provenance.is_from_outside()), ("echo: hello", true));
    let sum = world.call("add", json!({"a": 2, "b": 3})).await.unwrap();
    assert_eq!(sum.data, Some(json!({"sum": 5})));
    let failed = refusal(world.call("fail", json!({"reason": "no such page"})).await);
    assert!(failed.contains("no such page"), "{failed}");

    let short = World::context(Duration::from_secs(2), &Cancellation::default());
    let late = refusal(world.call_in("slow", json!({"name": "one"}), &short).await);
    assert!(late.contains("no answer in time"), "{late}");
    crate::world::wait_for(notes.path().join("one.cancelled")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_server_with_other_words_is_refused() {
    let mut python = Served::start("server.py", &["--http"]);
    let port = python.port.to_string();
    let world = World::new();
    let server = world.server(python.transport()).await;
    world.accept_all().await;
    assert!(world.call("echo", json!({"text": "x"})).await.is_ok());
    python.kill();
    let _other = Served::start("server.py", &["--http", "--port", &port, "--words", "Does as I say."]);
    let refused = refusal(world.call("echo", json!({"text": "x"})).await);
    assert!(refused.contains("its description changed"), "{refused}");
    let diff = world.hub.diff(TENANT, server.id, "echo").await.unwrap().unwrap();
    assert!(diff.contains("+Does as I say."), "{diff}");
    assert!(world.call("add", json!({"a": 1, "b": 1})).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_or_dies_is_an_error_that_says_so() {
    let mut python = Served::start("server.py", &["--http"]);
    let world = World::new();
    world.server(python.transport()).await;
    world.accept_all().await;
    let died = refusal(world.call("die", json!({})).await);
    assert!(died.contains("ended while it worked on `die`"), "{died}");
    python.kill();
    let gone = refusal(world.call("echo", json!({"text": "x"})).await);
    assert!(gone.contains("can't be used"), "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_the_door() {
    let python = Served::start("server.py", &["--http", "--token", "canary-271828"]);
    let world = World::new();
    let server = world.server(python.transport()).await;
    let shut = world.hub.check(TENANT, server.id, None).await.unwrap();
    assert!(shut.error.unwrap().contains("wants a login"));

    world.vault.put("wrong", CredentialKind::Token, &[("token", "guess")]).await;
    world.credential("wrong").await;
    let shut = world.hub.check(TENANT, server.id, None).await.unwrap();
    let error = shut.error.unwrap();
    assert!(error.contains("not accepted") && !error.contains("guess"), "{error}");

    world.vault.put("right", CredentialKind::ApiKey, &[("key", "canary-271828")]).await;
    world.credential("right").await;
    world.accept_all().await;
    let context = World::context(Duration::from_mins(1), &Cancellation::default());
    let said = world.call_in("echo", json!({"text": "x"}), &context).await;
    assert_eq!(said.unwrap().content, "echo: x");
    assert!(!context.learned_secrets().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_user_has_a_token_and_a_connection_of_their_own() {
    let python = Served::start("server.py", &["--http", "--token", "canary-271828"]);
    let world = World::new();
    let mut server = world.server(python.transport()).await;
    server.per_user = true;
    world.save(&server).await;
    let name = format!("mcp_t_{}", user(1));
    world.vault.put(&name, CredentialKind::Token, &[("token", "canary-271828")]).await;
    world.accept_all().await;
    assert!(world.call("echo", json!({"text": "x"})).await.is_ok());
    let other = world.hub.check(TENANT, server.id, Some(user(2))).await.unwrap();
    assert!(other.error.unwrap().contains("each user logs in once"));
    let nobody = world.hub.check(TENANT, server.id, None).await.unwrap();
    assert!(nobody.error.unwrap().contains("no user"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_house_is_closed_unless_allowed() {
    let python = Served::start("server.py", &["--http"]);
    let world = World::new();
    for host in ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]", "0x7f.1"] {
        let transport = McpTransport::Http { url: format!("http://{host}:{}/mcp", python.port), allow: Vec::new() };
        let server = world.server(transport).await;
        let error = world.hub.check(TENANT, server.id, None).await.unwrap().error.unwrap();
        assert!(error.contains("not on the public internet"), "{host}: {error}");
    }
}
