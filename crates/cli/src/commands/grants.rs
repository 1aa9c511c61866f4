use super::picked::by_id;
use crate::args::{self, GrantAction};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use steward_core::policy::{GrantScope, StandingGrant};

pub async fn run(client: &Client, args: &args::Grants, term: Term) -> anyhow::Result<Exit> {
    match &args.action {
        None => list(client, args.json, term).await,
        Some(GrantAction::Revoke { id }) => revoke(client, id, term).await,
    }
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let grants = client.grants().await?;
    if term.listed(
        &grants,
        as_json,
        "No permissions outlive their run. Give one with: steward approvals approve ID --for 1h",
    ) {
        return Ok(Exit::Done);
    }
    let agents = client.agents().await?;
    for grant in &grants {
        let agent = agents.iter().find(|agent| agent.id == grant.agent).map_or("a deleted agent", |agent| &agent.name);
        println!("{}  {agent} may {}", grant.id, describe(grant));
        println!("    {}", term.dim(&format!("given by {}", grant.by)));
    }
    Ok(Exit::Done)
}

fn describe(grant: &StandingGrant) -> String {
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

async fn revoke(client: &Client, text: &str, term: Term) -> anyhow::Result<Exit> {
    let none = format!("no permission in force has the id `{text}`; `steward grants` lists them");
    let grant = by_id(client.grants().await?, text, |grant| grant.id.to_string(), "permissions", &none)?;
    client.delete(&format!("/api/grants/{}", grant.id)).await?;
    Ok(term.done(&format!("taken back: {}", describe(&grant))))
}
