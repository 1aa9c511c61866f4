//! `steward skill`.

use crate::cli::{SkillAction, SkillArgs};
use crate::exit::Exit;
use crate::settings::Settings;
use crate::skills::HOST_KEYS;
use crate::term::Term;
use steward_tools::skills::{SshPlace, trust_host};

/// Runs the command.
pub fn run(settings: &Settings, args: SkillArgs, term: Term) -> anyhow::Result<Exit> {
    match args.action {
        SkillAction::TrustHost {
            server,
            fingerprint,
        } => trust(settings, &server, &fingerprint, term),
    }
}

fn trust(settings: &Settings, server: &str, fingerprint: &str, term: Term) -> anyhow::Result<Exit> {
    let place: SshPlace = server.parse()?;
    let file = settings.data_dir.join(HOST_KEYS);
    let before = trust_host(&file, &place.host, place.port, fingerprint)?;
    match before {
        Some(before) if before != fingerprint => {
            term.say(&format!(
                "{place} is trusted with {fingerprint}; {before} no longer counts"
            ));
        }
        _ => term.say(&format!("{place} is trusted with {fingerprint}")),
    }
    Ok(Exit::Done)
}
