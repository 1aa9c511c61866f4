//! Host keys: unknown, accepted, changed.

use super::server::{Server, user};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use steward_tools::skills::{HostKeysError, SshAddress, trust_host};

#[tokio::test]
async fn an_unknown_host_key_is_refused_until_a_person_accepts_it() {
    let server = Server::start();
    let world = server.stranger();
    let skill = world.add(server.skill(&json!(["touch", server.path("ran")]), json!({}), &json!({})));
    let message = world.refused(&skill, json!({})).await;
    let command = format!("steward skill trust-host 127.0.0.1:{} {}", server.port, server.fingerprint());
    assert!(message.contains("is not known yet") && message.contains(&command), "{message}");
    assert!(!server.path("ran").exists() && !server.hosts().exists());
    assert!(!server.log().contains(&format!("publickey for {}", user())), "no login was tried");
    assert_eq!(trust_host(&server.hosts(), "127.0.0.1", server.port, &server.fingerprint()).unwrap(), None);
    let mode = fs::metadata(server.hosts()).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
    world.ok(&skill, json!({})).await;
    assert!(server.path("ran").exists());
}

#[tokio::test]
async fn a_changed_host_key_is_refused_with_both_fingerprints() {
    let mut server = Server::start();
    let world = server.world();
    let skill = world.add(server.skill(&json!(["true"]), json!({}), &json!({})));
    world.ok(&skill, json!({})).await;
    let before = server.fingerprint();
    server.change_key();
    let message = world.refused(&skill, json!({})).await;
    assert!(message.contains("HAS CHANGED"), "{message}");
    assert!(message.contains(&before) && message.contains(&server.fingerprint()), "{message}");
    let old = trust_host(&server.hosts(), "127.0.0.1", server.port, &server.fingerprint());
    assert_eq!(old.unwrap(), Some(before));
    world.ok(&skill, json!({})).await;
}

#[tokio::test]
async fn a_broken_file_lets_nobody_in() {
    let server = Server::start();
    let world = server.world();
    fs::write(server.hosts(), "{\"hosts\": ").unwrap();
    let skill = world.add(server.skill(&json!(["true"]), json!({}), &json!({})));
    let message = world.refused(&skill, json!({})).await;
    assert!(message.contains("is broken") && message.contains("nothing was run"), "{message}");
    let fingerprint = server.fingerprint();
    let error = trust_host(&server.hosts(), "127.0.0.1", 22, &fingerprint).unwrap_err();
    assert!(matches!(error, HostKeysError::File { .. }), "{error}");
}

#[test]
fn hosts_and_fingerprints_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hosts.json");
    let good = format!("SHA256:{}", "a".repeat(43));
    for (host, port) in [("", 22), ("a b", 22), ("-oProxyCommand=x", 22), ("h", 0), ("a@b", 22)] {
        assert!(trust_host(&file, host, port, &good).is_err(), "{host}");
    }
    for bad in ["", "SHA256:", "MD5:aa:bb", "SHA256:short"] {
        assert!(trust_host(&file, "h", 22, bad).is_err(), "{bad}");
    }
    assert!(!file.exists());
    for (text, shown) in
        [("db", "db:22"), ("DB:2222", "db:2222"), ("[fd00::1]:23", "[fd00::1]:23"), ("fd00::1", "[fd00::1]:22")]
    {
        assert_eq!(text.parse::<SshAddress>().unwrap().to_string(), shown);
    }
    assert!("db:port".parse::<SshAddress>().is_err());
}
