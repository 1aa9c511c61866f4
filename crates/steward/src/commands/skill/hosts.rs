//! `steward skill trust-host`, `hosts` and `forget-host`: a file, whoever has the data directory open.

use crate::cli::SkillAction;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::skills::HOST_KEYS;
use crate::term::Term;
use anyhow::bail;
use serde_json::json;
use steward_tools::skills::{FileHostKeys, SshHost, trust_host};

/// Carries out what is about host keys; gives back what is not.
pub(super) fn run(
    settings: &Settings,
    action: SkillAction,
    as_json: bool,
    term: Term,
) -> Result<anyhow::Result<Exit>, SkillAction> {
    match action {
        SkillAction::TrustHost { server, fingerprint } => Ok(trust(settings, &server, &fingerprint, term)),
        SkillAction::Hosts => Ok(list(settings, as_json, term)),
        SkillAction::ForgetHost { server } => Ok(forget(settings, &server, term)),
        other => Err(other),
    }
}

fn trust(settings: &Settings, server: &str, fingerprint: &str, term: Term) -> anyhow::Result<Exit> {
    let place: SshHost = server.parse()?;
    let file = settings.data_dir.join(HOST_KEYS);
    let before = trust_host(&file, &place.host, place.port, fingerprint)?;
    match before {
        Some(before) if before != fingerprint => {
            term.say(&format!("{place} is trusted with {fingerprint}; {before} no longer counts"));
        }
        _ => term.say(&format!("{place} is trusted with {fingerprint}")),
    }
    Ok(Exit::Done)
}

fn list(settings: &Settings, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let all = FileHostKeys::new(settings.data_dir.join(HOST_KEYS)).all()?;
    if as_json {
        let rows: Vec<_> = all
            .iter()
            .map(|(place, fingerprint)| json!({"host": place.host, "port": place.port, "fingerprint": fingerprint}))
            .collect();
        println!("{}", json!(rows));
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        term.say("No host key was accepted yet.");
    }
    for (place, fingerprint) in all {
        println!("{:<40} {fingerprint}", place.to_string());
    }
    Ok(Exit::Done)
}

fn forget(settings: &Settings, server: &str, term: Term) -> anyhow::Result<Exit> {
    let place: SshHost = server.parse()?;
    let keys = FileHostKeys::new(settings.data_dir.join(HOST_KEYS));
    if keys.forget(&place)?.is_none() {
        bail!("no host key of {place} was accepted; `steward skill hosts` lists those that were");
    }
    term.say(&format!("{place} is not trusted any more"));
    Ok(Exit::Done)
}
