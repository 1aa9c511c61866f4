//! `steward skill`.

mod attach;
mod create;
mod hosts;
mod list;
mod package;
mod package_text;
mod remove;
mod show;
mod test;

use super::picked::pick;
use crate::backend::{Backend, encoded};
use crate::cli::{SkillAction, SkillArgs, SkillFilter};
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use serde_json::Value;

/// Runs the command.
pub async fn run(settings: Settings, args: SkillArgs, term: Term) -> anyhow::Result<Exit> {
    let json = args.json;
    let action = args.action.unwrap_or_else(|| SkillAction::List(SkillFilter::default()));
    let action = match hosts::run(&settings, action, json, term) {
        Ok(exit) => return exit,
        // Not about host keys, which are in a file.
        Err(action) => action,
    };
    let backend = Backend::open(&settings, Options::default(), term).await?;
    let exit = act(&backend, action, json, term).await;
    backend.close().await;
    exit
}

async fn act(backend: &Backend, action: SkillAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        SkillAction::List(filter) => list::run(backend, &filter, json, term).await,
        SkillAction::Show { skill, versions } => show::run(backend, &skill, versions, json, term).await,
        SkillAction::Create { file, upsert, agent } => {
            create::run(backend, &file, upsert, agent.as_deref(), json, term).await
        }
        SkillAction::Test { skill, arguments, run, yes, agent } => {
            let wanted = test::Wanted { skill, arguments, run, yes, agent };
            test::run(backend, wanted, json, term).await
        }
        SkillAction::Attach { skill, agent } => attach::run(backend, &skill, agent.as_deref(), true, term).await,
        SkillAction::Detach { skill, agent } => attach::run(backend, &skill, agent.as_deref(), false, term).await,
        SkillAction::Rollback { skill, version } => show::rollback(backend, &skill, version, json, term).await,
        SkillAction::Remove { skill, package } => remove::run(backend, &skill, package, term).await,
        SkillAction::Import { .. }
        | SkillAction::Export { .. }
        | SkillAction::Packages { .. }
        | SkillAction::Accept { .. } => package::run(backend, action, json, term).await,
        SkillAction::TrustHost { .. } | SkillAction::Hosts | SkillAction::ForgetHost { .. } => Ok(Exit::Failed),
    }
}

/// A skill by its name or a part of its id.
pub(super) async fn find(backend: &Backend, wanted: &str) -> anyhow::Result<Value> {
    let path = format!("/api/skills?text={}", encoded(wanted));
    let named = backend.api_rows(&path).await?;
    if named.iter().any(|row| row["name"] == wanted) {
        return pick(named, wanted, "skill", "steward skill list");
    }
    let all = backend.api_rows("/api/skills").await?;
    pick(all, wanted, "skill", "steward skill list")
}
