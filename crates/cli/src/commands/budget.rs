use super::rows::{Labelled, by_id};
use crate::client::Client;
use crate::term::{Exit, Term};
use anyhow::{Context, bail};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use steward_core::UserId;
use steward_core::ports::{BudgetScope, Period, SpendState};
use steward_core::spending::dollars;
use uuid::Uuid;

/// Hard limits of what may be spent.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward budget\n  steward budget set installation --dollars 50\n  steward budget set agent:steward --period day --tokens 200000\n  steward budget remove 3f2a"
)]
pub enum BudgetAction {
    /// List them, with what is spent.
    List,
    /// Set one, or change the one there is for the same calls and period.
    Set {
        /// Whose calls: `installation`, `agent:NAME`, `connection:NAME`, `key:NAME` or `user:ID`.
        whose: String,
        /// How long it counts: day, month or total.
        #[arg(long, value_enum, default_value = "month")]
        period: PeriodArg,
        /// Most tokens, of prompts and replies together.
        #[arg(long, required_unless_present = "dollars")]
        tokens: Option<u64>,
        /// Most US dollars, such as 12.50.
        #[arg(long, value_parser = micros)]
        dollars: Option<u64>,
    },
    /// Remove one.
    Remove {
        /// Its id, or the beginning or end of it.
        id: String,
    },
}

/// How long a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PeriodArg {
    /// A day of UTC.
    Day,
    /// A month of UTC.
    Month,
    /// For good.
    Total,
}

impl From<PeriodArg> for Period {
    fn from(period: PeriodArg) -> Self {
        match period {
            PeriodArg::Day => Self::Day,
            PeriodArg::Month => Self::Month,
            PeriodArg::Total => Self::Total,
        }
    }
}

const PATH: &str = "/api/budgets";

pub async fn run(client: &Client, action: Option<BudgetAction>, term: Term) -> anyhow::Result<Exit> {
    let known = || client.all::<Labelled<SpendState>>(PATH);
    match action.unwrap_or(BudgetAction::List) {
        BudgetAction::List => {
            let empty = "There are no budgets. Set one with: steward budget set installation --tokens 1000000";
            Ok(term.listed(&known().await?, empty, |one| {
                println!("{}  {}", one.value.limit.id, named(one));
                println!("    {}", gone(&one.value));
            }))
        }
        BudgetAction::Set { whose, period, tokens, dollars } => {
            let (scope, period) = (scope(client, &whose).await?, Period::from(period));
            let known = known().await?;
            let mut limits = known.iter().map(|one| &one.value.limit);
            let same = limits.find(|limit| limit.scope == scope && limit.period == period);
            let mut body = json!({"tokens": tokens, "cost_micros": dollars});
            let _: Value = if let Some(known) = same {
                client.put(&format!("{PATH}/{}", known.id), &body).await?
            } else {
                body["scope"] = json!(scope);
                body["period"] = json!(period);
                client.post(PATH, &body).await?
            };
            Ok(term.done(&format!("set: {}, {whose}", period.adjective())))
        }
        BudgetAction::Remove { id } => {
            let none = format!("no budget has the id `{id}`; `steward budget list` shows them");
            let one = by_id(known().await?, &id, |one| one.value.limit.id.to_string(), "budgets", &none)?;
            client.delete(&format!("{PATH}/{}", one.value.limit.id)).await?;
            Ok(term.done(&format!("removed: {}", named(&one))))
        }
    }
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

async fn scope(client: &Client, whose: &str) -> anyhow::Result<BudgetScope> {
    if whose == "installation" {
        return Ok(BudgetScope::Installation);
    }
    let (kind, name) = whose.split_once(':').unwrap_or((whose, ""));
    match kind {
        "agent" => Ok(BudgetScope::Agent(client.agent_named(Some(name)).await?.id)),
        "connection" => Ok(BudgetScope::Connection(client.known_connection(Some(name)).await?.connection.id)),
        "key" => Ok(BudgetScope::Key(super::key::find(client, name).await?.id)),
        "user" => {
            let id = name.parse::<Uuid>();
            let id = id.with_context(|| format!("`{name}` is no id of a user; the studio shows it"))?;
            Ok(BudgetScope::User(UserId(id)))
        }
        _ => bail!("`{whose}` is nobody's; write installation, agent:NAME, connection:NAME, key:NAME or user:ID"),
    }
}

fn micros(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no amount; write US dollars as 12 or 12.50");
    let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let part: u64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
    let all = whole.checked_mul(1_000_000).ok_or_else(wrong)?;
    all.checked_add(part).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn amounts_are_read_to_the_last_digit() {
        for (text, expect) in [("12", 12_000_000), ("0.5", 500_000), ("1.000001", 1_000_001), ("0", 0)] {
            assert_eq!(micros(text), Ok(expect));
        }
        for bad in ["", "-1", "1.2.3", "1e3", ".5", "0.0000001", "99999999999999999999"] {
            assert!(micros(bad).is_err(), "{bad}");
        }
    }
}
