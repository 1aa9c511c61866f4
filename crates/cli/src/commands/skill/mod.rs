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
use crate::args::{SkillAction, SkillArgs, SkillFilter};
use crate::client::{Client, encoded};
use crate::exit::Exit;
use crate::term::Term;
use serde_json::Value;

/// Runs the command.
pub async fn run(client: &Client, args: SkillArgs, term: Term) -> anyhow::Result<Exit> {
    let action = args.action.unwrap_or_else(|| SkillAction::List(SkillFilter::default()));
    act(client, action, args.json, term).await
}

async fn act(client: &Client, action: SkillAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        SkillAction::List(filter) => list::run(client, &filter, json, term).await,
        SkillAction::Show { skill, versions } => show::run(client, &skill, versions, json, term).await,
        SkillAction::Create { file, upsert, agent } => {
            create::run(client, &file, upsert, agent.as_deref(), json, term).await
        }
        SkillAction::Test { skill, arguments, run, yes, agent } => {
            let wanted = test::Wanted { skill, arguments, run, yes, agent };
            test::run(client, wanted, json, term).await
        }
        SkillAction::Attach { skill, agent } => attach::run(client, &skill, agent.as_deref(), true, term).await,
        SkillAction::Detach { skill, agent } => attach::run(client, &skill, agent.as_deref(), false, term).await,
        SkillAction::Rollback { skill, version } => show::rollback(client, &skill, version, json, term).await,
        SkillAction::Remove { skill, package } => remove::run(client, &skill, package, term).await,
        SkillAction::Import { .. }
        | SkillAction::Export { .. }
        | SkillAction::Packages { .. }
        | SkillAction::Accept { .. } => package::run(client, action, json, term).await,
        SkillAction::TrustHost { server, fingerprint } => hosts::trust(client, &server, &fingerprint, term).await,
        SkillAction::Hosts => hosts::list(client, json, term).await,
        SkillAction::ForgetHost { server } => hosts::forget(client, &server, term).await,
    }
}

/// A skill by its name or a part of its id.
pub(super) async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let path = format!("/api/skills?text={}", encoded(wanted));
    let named = client.rows(&path).await?;
    if named.iter().any(|row| row["name"] == wanted) {
        return pick(named, wanted, "skill", "steward skill list");
    }
    let all = client.rows("/api/skills").await?;
    pick(all, wanted, "skill", "steward skill list")
}
