//! `steward usage`, `steward budget` and `steward key`.

use clap::{Args, Subcommand, ValueEnum};
use std::time::Duration;

/// `usage`.
#[derive(Debug, Clone, Args)]
pub struct UsageArgs {
    /// What it is summed up by.
    #[arg(long, value_enum, default_value = "day")]
    pub by: By,
    /// How many days of UTC, today included.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3660))]
    pub days: u32,
    /// JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// What usage is summed up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Days of UTC.
    Day,
    /// Agents.
    Agent,
    /// Users.
    User,
    /// Connections.
    Connection,
    /// Models.
    Model,
    /// Virtual keys.
    Key,
}

/// `budget`.
#[derive(Debug, Clone, Args)]
pub struct BudgetArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<BudgetAction>,
    /// JSON instead of a table.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with budgets.
#[derive(Debug, Clone, Subcommand)]
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

/// `key`.
#[derive(Debug, Clone, Args)]
pub struct KeyArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<KeyAction>,
    /// JSON instead of a table.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with virtual keys.
#[derive(Debug, Clone, Subcommand)]
pub enum KeyAction {
    /// List them.
    List,
    /// Make one; its secret is printed this once.
    Create {
        /// Its name.
        name: String,
        /// A connection it may use; several: repeat. None: all.
        #[arg(long = "allow-connection", value_name = "NAME")]
        connections: Vec<String>,
        /// An agent it may use; several: repeat. None: no agents.
        #[arg(long = "agent", value_name = "NAME", conflicts_with = "all_agents")]
        agents: Vec<String>,
        /// It may use all agents.
        #[arg(long)]
        all_agents: bool,
        /// Most requests a minute.
        #[arg(long, value_name = "N")]
        requests_per_minute: Option<u32>,
        /// Most tokens a minute.
        #[arg(long, value_name = "N")]
        tokens_per_minute: Option<u32>,
        /// When it ends by itself: 90s, 30m, 1h or 7d.
        #[arg(long = "for", value_parser = super::duration)]
        lasts: Option<Duration>,
    },
    /// Revoke one for good.
    Revoke {
        /// Its id, the beginning or end of it, or its name.
        id: String,
    },
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
