//! The doors of `/mcp`. Whole talks are with the official client, in the tests of the binary.

#![allow(clippy::similar_names, reason = "tests")]

use super::{bearer, bed};
use serde_json::json;

const ACCEPT: &str = "accept: application/json, text/event-stream";

#[tokio::test]
async fn only_those_with_a_key_come_in_and_to_their_own_sessions() {
    let bed = bed().await;
    let open = bed.admin().await;
    let mine = bearer(&open);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});

    for headers in [vec![ACCEPT], vec![ACCEPT, "authorization: Bearer guess"]] {
        let shut = bed.json("POST /mcp", &headers, &hello).await;
        assert_eq!(shut.status, 401);
        let challenge = shut.header("www-authenticate");
        assert!(challenge.contains("http://localhost:8800/.well-known/oauth-protected-resource/mcp"), "{challenge}");
        assert!(shut.text.contains("API key"), "{}", shut.text);
    }
    let told = bed.send("GET /.well-known/oauth-protected-resource/mcp", &[], "").await;
    assert_eq!(told.json()["resource"], "http://localhost:8800/mcp");

    let client = bed.send("GET /.well-known/steward-mcp-client.json", &[], "").await.json();
    assert_eq!(client["client_id"], "http://localhost:8800/.well-known/steward-mcp-client.json");
    assert_eq!(client["redirect_uris"], json!(["http://localhost:8800/api/mcp/callback"]));

    let origin = "origin: https://evil.example.org";
    let foreign = bed.json("POST /mcp", &[ACCEPT, &mine, origin], &hello).await;
    assert_eq!(foreign.status, 403);

    let unknown = "mcp-session-id: 5f9d3b1e-0000-4000-8000-000000000000";
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let lost = bed.json("POST /mcp", &[ACCEPT, &mine, unknown], &list).await;
    assert_eq!(lost.status, 404);
}
