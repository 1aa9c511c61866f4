//! Arithmetic of hard budgets: when a period begins and ends, what still fits, and what a person is told.

use crate::Timestamp;
use crate::ports::{BudgetScope, Period, SpendLimit, SpendState, VirtualKey};
use std::fmt::Write;

impl Period {
    /// Beginning of the period that contains `at`.
    pub fn began(self, at: Timestamp) -> Timestamp {
        match self {
            Self::Day => Timestamp::of_day(at.day()),
            Self::Month => at.month(),
            Self::Total => Timestamp(0),
        }
    }

    /// End of the period that contains `at`; `None`: never.
    pub fn ends(self, at: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Day => Some(Timestamp::of_day(at.day().saturating_add(1))),
            Self::Month => Some(at.next_month()),
            Self::Total => None,
        }
    }

    /// For a sentence: `daily`, `monthly`, `total`.
    pub fn adjective(self) -> &'static str {
        match self {
            Self::Day => "daily",
            Self::Month => "monthly",
            Self::Total => "total",
        }
    }
}

impl BudgetScope {
    /// For a sentence: `the user`.
    pub fn whose(self) -> &'static str {
        match self {
            Self::Installation => "the installation",
            Self::User(_) => "the user",
            Self::Agent(_) => "the agent",
            Self::Connection(_) => "the connection",
            Self::Key(_) => "the key",
        }
    }
}

impl SpendState {
    /// Whether another call of this size fits. One that takes nothing always does.
    pub fn admits(&self, tokens: u64, cost_micros: u64) -> bool {
        let fits = |most: Option<u64>, spent: u64, reserved: u64, more: u64| {
            more == 0 || most.is_none_or(|most| spent.saturating_add(reserved).saturating_add(more) <= most)
        };
        fits(self.limit.tokens, self.tokens, self.reserved_tokens, tokens)
            && fits(self.limit.cost_micros, self.cost_micros, self.reserved_cost_micros, cost_micros)
    }

    /// Tells a person whose budget (`name`, if known) the call did not fit, how full it is, when it resets, what to do.
    pub fn used_up(&self, name: Option<&str>, resets_at: Option<Timestamp>) -> String {
        let limit = &self.limit;
        let mut text = format!("the {} budget of {}", limit.period.adjective(), limit.scope.whose());
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            let _ = write!(text, " {name}");
        }
        text.push_str(" has no room for this call: ");
        let mut parts = Vec::new();
        if let Some(most) = limit.tokens {
            parts.push(format!(
                "{} of {most} tokens are spent and {} set aside for calls in flight",
                self.tokens, self.reserved_tokens
            ));
        }
        if let Some(most) = limit.cost_micros {
            parts.push(format!(
                "{} of {} are spent and {} set aside for calls in flight",
                dollars(self.cost_micros),
                dollars(most),
                dollars(self.reserved_cost_micros)
            ));
        }
        text.push_str(&parts.join(", "));
        match resets_at {
            Some(at) => {
                let _ = write!(
                    text,
                    "; it begins anew at {}: wait until then, or ask an operator to raise it",
                    at.rfc3339()
                );
            }
            None => text.push_str("; it does not begin anew: ask an operator to raise it"),
        }
        text.push_str(" (`steward budget list`)");
        text
    }
}

/// Formats millionths of a US dollar as `$1.25`, with as many digits as needed and at least two.
pub fn dollars(micros: u64) -> String {
    let mut text = format!("${}.{:06}", micros / 1_000_000, micros % 1_000_000);
    while text.ends_with('0') && text.rfind('.').is_some_and(|dot| text.len() - dot > 3) {
        text.pop();
    }
    text
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {hint}")]
pub struct FieldProblem {
    pub field: &'static str,
    pub what: String,
    pub hint: &'static str,
}

/// Longest name of a key, characters.
const MAX_NAME: usize = 100;
const MAX_LISTED: usize = 100;
/// Most tokens, or millionths of a dollar, of a budget.
pub const MAX_BUDGET: u64 = 1 << 50;

pub fn limit_problem(limit: &SpendLimit) -> Option<FieldProblem> {
    if limit.tokens.is_none() && limit.cost_micros.is_none() {
        return Some(FieldProblem {
            field: "tokens",
            what: "the budget limits nothing".to_owned(),
            hint: "give a number of tokens, an amount of money, or both",
        });
    }
    let too_much = |field, value: Option<u64>| {
        value.filter(|value| *value > MAX_BUDGET).map(|value| FieldProblem {
            field,
            what: format!("`{field}` is {value}"),
            hint: "choose 1125899906842624 at most, or leave it out for no limit",
        })
    };
    too_much("tokens", limit.tokens).or_else(|| too_much("cost_micros", limit.cost_micros))
}

pub fn key_problem(key: &VirtualKey, now: Timestamp) -> Option<FieldProblem> {
    let problem = |field, what: String, hint| Some(FieldProblem { field, what, hint });
    let name = key.name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        return problem(
            "name",
            "the name can't be used".to_owned(),
            "choose 1 to 100 characters on one line, such as the program's name",
        );
    }
    let lengths = [("connections", key.connections.len()), ("agents", key.agents.as_ref().map_or(0, Vec::len))];
    if let Some((field, _)) = lengths.into_iter().find(|(_, length)| *length > MAX_LISTED) {
        return problem(field, format!("`{field}` can't be used"), "list up to 100; an empty list stands for all");
    }
    for (field, value) in
        [("requests_per_minute", key.requests_per_minute), ("tokens_per_minute", key.tokens_per_minute)]
    {
        if value == Some(0) {
            return problem(
                field,
                format!("with `{field}` 0 the key would open nothing"),
                "choose 1 or more, leave it out for no limit, or revoke the key",
            );
        }
    }
    if key.expires_at.is_some_and(|at| at <= now) {
        return problem(
            "expires_at",
            "the key would have ended already".to_owned(),
            "choose a time that is still to come, in milliseconds since 1970 UTC",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::dollars;
    use crate::ports::{BudgetScope, Period, SpendLimit, SpendState};
    use crate::{BudgetId, Timestamp, UserId};
    use uuid::Uuid;

    fn state(tokens: Option<u64>, cost_micros: Option<u64>) -> SpendState {
        SpendState {
            limit: SpendLimit {
                id: BudgetId(Uuid::from_u128(1)),
                scope: BudgetScope::User(UserId(Uuid::from_u128(2))),
                period: Period::Month,
                tokens,
                cost_micros,
            },
            since: Timestamp(0),
            tokens: 60,
            cost_micros: 1_500_000,
            reserved_tokens: 30,
            reserved_cost_micros: 250_000,
        }
    }

    #[test]
    fn a_call_fits_as_long_as_the_sum_does() {
        let tokens = state(Some(100), None);
        assert!(tokens.admits(10, u64::MAX));
        assert!(!tokens.admits(11, 0));
        assert!(!tokens.admits(u64::MAX, 0));
        let money = state(None, Some(2_000_000));
        assert!(money.admits(u64::MAX, 250_000));
        assert!(!money.admits(0, 250_001));
        assert!(state(Some(5), Some(5)).admits(0, 0), "it takes nothing");
        assert!(!state(Some(0), None).admits(1, 0));
    }

    #[test]
    fn periods_begin_and_end() {
        let at = Timestamp::of_day(20_818).plus(std::time::Duration::from_hours(23));
        let ends = |period: Period| period.ends(at).map(Timestamp::date);
        assert_eq!(Period::Day.began(at).date(), "2026-12-31");
        assert_eq!(Period::Month.began(at).date(), "2026-12-01");
        assert_eq!(Period::Total.began(at), Timestamp(0));
        assert_eq!(ends(Period::Day).as_deref(), Some("2027-01-01"));
        assert_eq!(ends(Period::Month).as_deref(), Some("2027-01-01"));
        assert_eq!(ends(Period::Total), None);
    }

    #[test]
    fn what_a_person_is_told() {
        let state = state(Some(100), Some(2_000_000));
        assert_eq!(
            state.used_up(Some("ann@x"), Some(Timestamp::of_day(20_788))),
            "the monthly budget of the user ann@x has no room for this call: 60 of 100 tokens are \
             spent and 30 set aside for calls in flight, $1.50 of $2.00 are spent and $0.25 set \
             aside for calls in flight; it begins anew at 2026-12-01T00:00:00Z: wait until then, or \
             ask an operator to raise it (`steward budget list`)"
        );
        assert!(state.used_up(None, None).contains("the user has no room"));
        assert_eq!(dollars(0), "$0.00");
        assert_eq!(dollars(1), "$0.000001");
        assert_eq!(dollars(12_345_600), "$12.3456");
    }
}
