use super::picked::by_id;
use crate::args::{BudgetAction, BudgetArgs, PeriodArg};
use crate::client::{Client, Labelled};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use steward_core::ports::{BudgetScope, Period, SpendLimit, SpendState};
use steward_core::spending::dollars;
use steward_core::{BudgetId, UserId};
use uuid::Uuid;

pub async fn run(client: &Client, args: BudgetArgs, term: Term) -> anyhow::Result<Exit> {
    match args.action {
        None | Some(BudgetAction::List) => list(client, args.json, term).await,
        Some(BudgetAction::Set { whose, period, tokens, dollars }) => {
            set(client, &whose, period, (tokens, dollars), term).await
        }
        Some(BudgetAction::Remove { id }) => remove(client, &id, term).await,
    }
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let budgets = client.budgets().await?;
    if term.listed(
        &budgets,
        as_json,
        "There are no budgets. Set one with: steward budget set installation --tokens 1000000",
    ) {
        return Ok(Exit::Done);
    }
    for one in &budgets {
        println!("{}  {}", one.value.limit.id, named(one));
        println!("    {}", gone(&one.value));
    }
    Ok(Exit::Done)
}

fn named(one: &Labelled<SpendState>) -> String {
    let limit = &one.value.limit;
    let (period, whose) = (limit.period.adjective(), limit.scope.whose());
    if limit.scope == BudgetScope::Installation {
        format!("{period}, {whose}")
    } else {
        format!("{period}, {whose} {}", one.label)
    }
}

fn gone(state: &SpendState) -> String {
    let mut parts = Vec::new();
    if let Some(most) = state.limit.tokens {
        let (spent, aside) = (state.tokens, state.reserved_tokens);
        parts.push(format!("{spent} of {most} tokens, {aside} set aside"));
    }
    if let Some(most) = state.limit.cost_micros {
        let (spent, aside) = (state.cost_micros, state.reserved_cost_micros);
        parts.push(format!("{} of {}, {} set aside", dollars(spent), dollars(most), dollars(aside)));
    }
    parts.join("; ")
}

async fn set(
    client: &Client,
    whose: &str,
    period: PeriodArg,
    (tokens, cost_micros): (Option<u64>, Option<u64>),
    term: Term,
) -> anyhow::Result<Exit> {
    let period = match period {
        PeriodArg::Day => Period::Day,
        PeriodArg::Month => Period::Month,
        PeriodArg::Total => Period::Total,
    };
    let limit =
        SpendLimit { id: BudgetId(Uuid::nil()), scope: scope(client, whose).await?, period, tokens, cost_micros };
    client.set_budget(&limit).await?;
    Ok(term.done(&format!("set: {}, {whose}", period.adjective())))
}

async fn scope(client: &Client, whose: &str) -> anyhow::Result<BudgetScope> {
    if whose == "installation" {
        return Ok(BudgetScope::Installation);
    }
    let (kind, name) = whose.split_once(':').unwrap_or((whose, ""));
    match kind {
        "agent" => Ok(BudgetScope::Agent(client.agent_named(Some(name)).await?.id)),
        "connection" => {
            let known = client.known_connection(Some(name)).await?;
            Ok(BudgetScope::Connection(known.connection.id))
        }
        "key" => {
            let key = super::key::find(client, name).await?;
            Ok(BudgetScope::Key(key.id))
        }
        "user" => {
            let id = name.parse::<Uuid>();
            let id = id.with_context(|| format!("`{name}` is no id of a user; the studio shows it"))?;
            Ok(BudgetScope::User(UserId(id)))
        }
        _ => bail!("`{whose}` is nobody's; write installation, agent:NAME, connection:NAME, key:NAME or user:ID"),
    }
}

async fn remove(client: &Client, text: &str, term: Term) -> anyhow::Result<Exit> {
    let none = format!("no budget has the id `{text}`; `steward budget list` shows them");
    let one = by_id(client.budgets().await?, text, |one| one.value.limit.id.to_string(), "budgets", &none)?;
    client.delete(&format!("/api/budgets/{}", one.value.limit.id)).await?;
    Ok(term.done(&format!("removed: {}", named(&one))))
}
