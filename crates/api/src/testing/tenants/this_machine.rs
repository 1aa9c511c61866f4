//! Files, programs and the network of this machine are not another organisation's.

use super::bearer;
use crate::testing::bed;
use serde_json::{Value, json};

#[tokio::test]
async fn nothing_of_another_organisation_reaches_this_machine() {
    let bed = bed().await;
    let acme = bed.tenant("acme", "ann@example.org").await;
    let home = bearer(&bed.admin().await);
    let shared = tempfile::tempdir().unwrap();
    let server = |more: Value| {
        let mut transport = json!({"kind": "stdio", "command": ["python3", "-m", "http.server"]});
        transport.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"name": "files", "transport": transport})
    };
    let playbook = |network: bool| {
        json!({"name": "patch", "description": "Patches.", "type": "ansible",
            "parameters": {"type": "object", "properties": {}},
            "config": {"playbook": "- hosts: all", "inventory": "localhost", "network": network}})
    };
    let servers = "POST /api/mcp/servers";
    for (line, body) in [
        (servers, server(json!({"read": ["/usr/share"]}))),
        (servers, server(json!({"write": [shared.path()]}))),
        (servers, server(json!({"network": true}))),
        ("POST /api/skills", playbook(true)),
    ] {
        let refused = bed.json(line, &[&acme.bearer], &body).await;
        assert_eq!(
            (refused.status, &refused.json()["code"]),
            (403, &json!("installation_only")),
            "{body}: {}",
            refused.text
        );
        let made = bed.json(line, &[&home], &body).await;
        assert_eq!(made.status, 201, "{body}: {}", made.text);
        let id = made.json()["id"].as_str().unwrap().to_owned();
        let place = if line == servers { "/api/mcp/servers" } else { "/api/skills" };
        assert_eq!(bed.send(&format!("DELETE {place}/{id}"), &[&home], "").await.status, 204);
    }
    for (line, body) in [(servers, server(json!({}))), ("POST /api/skills", playbook(false))] {
        let made = bed.json(line, &[&acme.bearer], &body).await;
        assert_eq!(made.status, 201, "{body}: {}", made.text);
    }
    // Such a playbook runs as Steward itself, who can read the vault's key: not an operator's to make.
    bed.set_role("operator").await;
    for (network, status) in [(true, 403), (false, 201)] {
        let made = bed.json("POST /api/skills", &[&home], &playbook(network)).await;
        assert_eq!(made.status, status, "{}", made.text);
    }
}
