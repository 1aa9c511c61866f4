use super::connections::ConnectionSet;
use super::health::HealthTracker;
use crate::price::Prices;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use steward_core::ConnectionId;
use steward_core::exam::Grade;
use steward_core::model::{Connection, ModelError};
use steward_core::ports::{Assigned, Route, RouteRequest};
use steward_core::routing::{Balance, Classified, Role, Task, classified};

pub(crate) struct Chooser<'a> {
    pub known: &'a ConnectionSet,
    pub prices: &'a Prices,
    pub health: &'a HealthTracker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Wanted,
    Assigned(Role),
    Task,
    Primary,
    Fallback,
    Default,
}

#[derive(Debug, Clone, Copy)]
struct Candidate<'a> {
    connection: &'a Connection,
    why: Reason,
    /// Blended price, if the cheapest goes first and this one is good enough for the task.
    cheap: Option<u64>,
}

/// The targets of a request, best first, at most as many as may be tried.
pub(crate) fn choose(chooser: &Chooser<'_>, turns: &mut Turns, request: RouteRequest<'_>) -> Result<Route, ModelError> {
    let found = match request.task {
        Some(task) => Classified::known(task),
        None => classified(request.message),
    };
    let (mut list, missing) = candidates(chooser.known, &request, found.task)?;
    // What somebody chose for it stays first, whatever is cheaper or faster.
    let chosen = |one: &&Candidate<'_>| matches!(one.why, Reason::Wanted | Reason::Assigned(_));
    let fixed = list.iter().take_while(chosen).count();
    let routing = request.routing;
    if routing.cost_aware {
        cheapest_first(chooser, &mut list[fixed..], found.task, request.primary);
    }
    if routing.balance != Balance::Fixed {
        balance(chooser, turns, &mut list[fixed..], routing.balance);
    }
    list.truncate(usize::from(routing.max_fallback_attempts.max(1)));
    Ok(Route {
        task: found.task,
        reason: reason(&found, &list, &missing, routing.balance),
        targets: list.into_iter().map(|one| one.connection.clone()).collect(),
    })
}

/// All candidates in order, each once; and the ids that no longer exist.
fn candidates<'a>(
    known: &'a ConnectionSet,
    request: &RouteRequest<'_>,
    task: Task,
) -> Result<(Vec<Candidate<'a>>, Vec<ConnectionId>), ModelError> {
    if let Some(wanted) = request.wanted.filter(|id| known.find(*id).is_none()) {
        // Asking another connection than the caller named would not answer the question.
        return Err(known.unknown(wanted));
    }
    let assigned = match request.assigned {
        None => None,
        Some(Assigned::ByAgent(role, id)) => Some((id, Reason::Assigned(role))),
        Some(Assigned::BySetting(role, name)) => Some((known.named(role, name)?.id, Reason::Assigned(role))),
    };
    let routing = request.routing;
    let named = (request.wanted.map(|id| (id, Reason::Wanted)).into_iter())
        .chain(assigned)
        .chain(routing.task_routing.get(&task).map(|id| (*id, Reason::Task)))
        .chain(request.primary.map(|id| (id, Reason::Primary)))
        .chain(routing.fallback_chain.iter().map(|id| (*id, Reason::Fallback)))
        .chain(known.system_default().map(|one| (one.id, Reason::Default)));
    let (mut list, mut missing) = (Vec::<Candidate<'_>>::new(), Vec::new());
    for (id, why) in named {
        match known.find(id) {
            // A default that can't plan is a bad stand-in for a connection that can; only a person may choose that.
            Some(connection)
                if why == Reason::Default
                    && !connection.capabilities.plans
                    && list.iter().any(|one| one.connection.capabilities.plans) => {}
            Some(connection) if list.iter().all(|one| one.connection.id != id) => {
                list.push(Candidate { connection, why, cheap: None });
            }
            None if !missing.contains(&id) => missing.push(id),
            _ => {}
        }
    }
    if list.is_empty() {
        return Err(match missing.first() {
            Some(id) => known.unknown(*id),
            None => super::errors::no_connection(),
        });
    }
    Ok((list, missing))
}

/// The cheapest with a sufficient grade first; without an exam, only the primary and the task's connection suffice.
fn cheapest_first(chooser: &Chooser<'_>, list: &mut [Candidate<'_>], task: Task, primary: Option<ConnectionId>) {
    for one in list.iter_mut() {
        let suffices = match chooser.known.grade(one.connection, task) {
            Some(grade) => grade <= Grade::C,
            None => match one.why {
                Reason::Wanted | Reason::Assigned(_) | Reason::Task | Reason::Primary => true,
                Reason::Default => primary.is_none(),
                Reason::Fallback => false,
            },
        };
        if suffices {
            // A connection without a known price may cost anything.
            let price = chooser.prices.of(one.connection, None);
            one.cheap = Some(price.map_or(u64::MAX, blended));
        }
    }
    list.sort_by_key(|one| (one.cheap.is_none(), one.cheap));
}

/// The price of a usual call: three prompt tokens for each reply token.
fn blended(price: steward_core::model::Price) -> u64 {
    price.input.saturating_mul(3).saturating_add(price.output).div_ceil(4)
}

/// Reorders connections with the same model name (and cost, if costs count) among the places they have together.
fn balance(chooser: &Chooser<'_>, turns: &mut Turns, list: &mut [Candidate<'_>], by: Balance) {
    let mut done = vec![false; list.len()];
    for from in 0..list.len() {
        if done[from] {
            continue;
        }
        let (model, cheap) = (&list[from].connection.model, list[from].cheap);
        let places: Vec<usize> =
            (from..list.len()).filter(|at| list[*at].connection.model == *model && list[*at].cheap == cheap).collect();
        for place in &places {
            done[*place] = true;
        }
        if places.len() < 2 {
            continue;
        }
        let equals: Vec<&Connection> = places.iter().map(|at| list[*at].connection).collect();
        let order = match by {
            Balance::Fixed => return,
            Balance::Weighted => by_turn(&equals, turns.take(model, &equals)),
            Balance::LeastLatency => by_latency(&equals, |id| chooser.health.recent_ms(id)),
        };
        let sorted: Vec<Candidate<'_>> = order.iter().map(|at| list[places[*at]]).collect();
        for (place, one) in places.into_iter().zip(sorted) {
            list[place] = one;
        }
    }
}

/// Such as: code_gen (`debug`): `coder` (for this task), then `main` (primary).
fn reason(found: &Classified, list: &[Candidate<'_>], missing: &[ConnectionId], by: Balance) -> String {
    let mut text = found.task.name().to_owned();
    if !found.words.is_empty() {
        // Writing to a string can't fail.
        let _ = write!(text, " (`{}`)", found.words.join("`, `"));
    }
    for (at, one) in list.iter().enumerate() {
        let why = match one.why {
            Reason::Wanted => "asked for",
            Reason::Assigned(role) => role.name(),
            Reason::Task => "for this task",
            Reason::Primary => "primary",
            Reason::Fallback => "fallback",
            Reason::Default => "system default",
        };
        let cheap = if one.cheap.is_some() && at == 0 && list.iter().any(|other| other.cheap != one.cheap) {
            ", cheapest that suffices"
        } else {
            ""
        };
        let before = if at == 0 { ": " } else { ", then " };
        let _ = write!(text, "{before}`{}` ({why}{cheap})", one.connection.name);
    }
    match by {
        Balance::Fixed => {}
        Balance::Weighted => text.push_str("; equals take turns by weight"),
        Balance::LeastLatency => text.push_str("; of equals the quickest of late goes first"),
    }
    match missing {
        [] => {}
        [one] => {
            let _ = write!(text, "; connection {one} is left out, since it is not there any more");
        }
        several => {
            let ids: Vec<String> = several.iter().map(ToString::to_string).collect();
            let _ = write!(text, "; connections {} are left out, since they are not there any more", ids.join(", "));
        }
    }
    text
}

/// Smooth weighted round robin by model name, which spreads a heavy connection's turns. Deterministic.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    by_model: BTreeMap<String, BTreeMap<ConnectionId, i64>>,
}

impl Turns {
    /// Index into `equals`; `None` if all have weight 0.
    pub fn take(&mut self, model: &str, equals: &[&Connection]) -> Option<usize> {
        let turns = self.by_model.entry(model.to_owned()).or_default();
        let total: i64 = equals.iter().map(|one| i64::from(one.weight)).sum();
        let mut best: Option<(usize, i64)> = None;
        for (at, one) in equals.iter().enumerate().filter(|(_, one)| one.weight > 0) {
            let credit = turns.entry(one.id).or_default();
            *credit += i64::from(one.weight);
            if best.is_none_or(|(_, most)| *credit > most) {
                best = Some((at, *credit));
            }
        }
        let (at, _) = best?;
        if let Some(credit) = turns.get_mut(&equals[at].id) {
            *credit -= total;
        }
        Some(at)
    }

    pub fn clear(&mut self) {
        self.by_model.clear();
    }
}

/// `first` before the others; weight 0 is a fallback and comes last.
fn by_turn(equals: &[&Connection], first: Option<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..equals.len()).collect();
    order.sort_by_key(|at| (Some(*at) != first, equals[*at].weight == 0));
    order
}

/// Fastest first; one without a recent time goes before, so that it gets one. Weight 0 is a fallback and comes last.
fn by_latency(equals: &[&Connection], recent_ms: impl Fn(ConnectionId) -> Option<u64>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..equals.len()).collect();
    order.sort_by_key(|at| (equals[*at].weight == 0, recent_ms(equals[*at].id).unwrap_or(0)));
    order
}

#[cfg(test)]
mod tests;
