//! `steward skill trust-host`, `hosts` and `forget-host`: keys of servers that ssh skills reach.

use crate::client::{Client, encoded};
use crate::term::{Exit, Term};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt;

const PATH: &str = "/api/skills/hosts";
const SSH: u16 = 22;

#[derive(Serialize, Deserialize)]
struct SshHost {
    host: String,
    port: u16,
    fingerprint: String,
}

impl fmt::Display for SshHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = (&self.host, self.port);
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

pub(super) async fn trust(client: &Client, server: &str, fingerprint: &str, term: Term) -> anyhow::Result<Exit> {
    let (host, port) = place(server)?;
    let before = known(client, host, port).await?;
    let body = json!({"host": host, "port": port, "fingerprint": fingerprint});
    let now: SshHost = client.post(PATH, &body).await?;
    match before {
        Some(SshHost { fingerprint: before, .. }) if before != fingerprint => {
            term.say(&format!("{now} is trusted with {fingerprint}; {before} no longer counts"));
        }
        _ => term.say(&format!("{now} is trusted with {fingerprint}")),
    }
    Ok(Exit::Done)
}

pub(super) async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let all: Vec<SshHost> = client.get(PATH).await?;
    Ok(term.listed(&all, "No host key was accepted yet.", |one| {
        println!("{:<40} {}", one.to_string(), one.fingerprint);
    }))
}

pub(super) async fn forget(client: &Client, server: &str, term: Term) -> anyhow::Result<Exit> {
    let (host, port) = place(server)?;
    let Some(known) = known(client, host, port).await? else {
        bail!("no host key of {server} was accepted; `steward skill hosts` lists those that were");
    };
    client.delete(&format!("{PATH}/{}?port={port}", encoded(&known.host))).await?;
    Ok(term.done(&format!("{known} is not trusted any more")))
}

async fn known(client: &Client, host: &str, port: u16) -> anyhow::Result<Option<SshHost>> {
    let all: Vec<SshHost> = client.get(PATH).await?;
    Ok(all.into_iter().find(|one| one.host.eq_ignore_ascii_case(host) && one.port == port))
}

/// `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
fn place(text: &str) -> anyhow::Result<(&str, u16)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            let bad = || format!("`{text}` is no host; write HOST:PORT, such as db1.example.org:22 or [fd00::1]:22");
            (host, port.parse().with_context(bad)?)
        }
        _ => (text, SSH),
    };
    Ok((host.trim_start_matches('[').trim_end_matches(']'), port))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::place;

    #[test]
    fn a_server_has_a_port() {
        for (text, expect) in [
            ("db1.example.org", ("db1.example.org", 22)),
            ("db1.example.org:2222", ("db1.example.org", 2222)),
            ("[fd00::1]:23", ("fd00::1", 23)),
            ("fd00::1", ("fd00::1", 22)),
        ] {
            assert_eq!(place(text).unwrap(), expect);
        }
        assert!(place("db1:ssh").unwrap_err().to_string().contains("HOST:PORT"));
    }
}
