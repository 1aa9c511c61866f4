use super::rows::by_id;
use crate::client::Client;
use crate::term::{Exit, Term};
use clap::Subcommand;
use serde::{Deserialize, Serialize};
use steward_core::policy::{Grant, GrantScope};
use steward_core::{AgentId, Timestamp};
use uuid::Uuid;

/// Permissions that outlive their run; take one back.
#[derive(Debug, Clone, Subcommand)]
#[command(after_help = "Examples:\n  steward grants\n  steward grants revoke 3f2a")]
pub enum GrantAction {
    /// Take one back: it is asked again from then on.
    Revoke {
        /// Its id, or the beginning or end of it.
        id: String,
    },
}

/// A permission in force that outlives its run.
#[derive(Serialize, Deserialize)]
struct Permission {
    id: Uuid,
    #[serde(rename(deserialize = "agent_id"))]
    agent: AgentId,
    grant: Grant,
    by: String,
    created_at: Timestamp,
}

pub async fn run(client: &Client, action: Option<GrantAction>, term: Term) -> anyhow::Result<Exit> {
    let grants: Vec<Permission> = client.all("/api/grants").await?;
    match action {
        None => list(client, &grants, term).await,
        Some(GrantAction::Revoke { id }) => {
            let none = format!("no permission in force has the id `{id}`; `steward grants` lists them");
            let grant = by_id(grants, &id, |grant| grant.id.to_string(), "permissions", &none)?;
            client.delete(&format!("/api/grants/{}", grant.id)).await?;
            Ok(term.done(&format!("taken back: {}", describe(&grant))))
        }
    }
}

async fn list(client: &Client, grants: &[Permission], term: Term) -> anyhow::Result<Exit> {
    let empty = "No permissions outlive their run. Give one with: steward approvals approve ID --for 1h";
    let agents = if term.json || grants.is_empty() { Vec::new() } else { client.agents().await? };
    Ok(term.listed(grants, empty, |grant| {
        let agent = agents.iter().find(|agent| agent.id == grant.agent).map_or("a deleted agent", |agent| &agent.name);
        println!("{}  {agent} may {}", grant.id, describe(grant));
        println!("    {}", term.dim(&format!("given by {}", grant.by)));
    }))
}

fn describe(grant: &Permission) -> String {
    let what = match &grant.grant.scope {
        GrantScope::Tool { name } => format!("use {name}"),
        GrantScope::Call { name, .. } => format!("use {name} with the same arguments"),
        GrantScope::AllButDestructive => "do everything but what can't be undone".to_owned(),
    };
    match grant.grant.until {
        Some(until) => format!("{what} until {}", until.rfc3339()),
        None => what,
    }
}
