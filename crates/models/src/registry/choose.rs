//! The order in which connections are tried.

use std::fmt::Write as _;

use steward_core::ConnectionId;
use steward_core::exam::Grade;
use steward_core::model::{Connection, ModelError};
use steward_core::ports::{Route, RouteRequest};
use steward_core::routing::{Balance, Classified, Task, classified};

use super::balance::{Turns, by_latency, by_turn};
use super::board::Board;
use super::known::Known;
use crate::price::Prices;

/// What a choice looks at.
pub(super) struct Chooser<'a> {
    pub known: &'a Known,
    pub prices: &'a Prices,
    pub board: &'a Board,
}

/// Why a connection is in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Wanted,
    Task,
    Primary,
    Fallback,
    Default,
}

#[derive(Debug, Clone, Copy)]
struct Candidate<'a> {
    connection: &'a Connection,
    why: Why,
    /// Blended price where the cheapest goes first and this one suffices for the task.
    cheap: Option<u64>,
}

/// The targets of a request, best first, at most as many as may be tried.
pub(super) fn choose(chooser: &Chooser<'_>, turns: &mut Turns, request: RouteRequest<'_>) -> Result<Route, ModelError> {
    let found = match request.task {
        Some(task) => Classified::known(task),
        None => classified(request.message),
    };
    let (mut list, gone) = candidates(chooser.known, &request, found.task)?;
    // The caller's own choice stays first whatever is cheaper or quicker.
    let fixed = usize::from(list.first().is_some_and(|one| one.why == Why::Wanted));
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
        reason: reason(&found, &list, &gone, routing.balance),
        targets: list.into_iter().map(|one| one.connection.clone()).collect(),
    })
}

/// Everyone in question, in order, each once; and the ids that nobody has any more.
fn candidates<'a>(
    known: &'a Known,
    request: &RouteRequest<'_>,
    task: Task,
) -> Result<(Vec<Candidate<'a>>, Vec<ConnectionId>), ModelError> {
    if let Some(wanted) = request.wanted.filter(|id| known.find(*id).is_none()) {
        // To ask another one than the caller named would be no answer to the question.
        return Err(known.unknown(wanted));
    }
    let routing = request.routing;
    let named = (request.wanted.map(|id| (id, Why::Wanted)).into_iter())
        .chain(routing.task_routing.get(&task).map(|id| (*id, Why::Task)))
        .chain(request.primary.map(|id| (id, Why::Primary)))
        .chain(routing.fallback_chain.iter().map(|id| (*id, Why::Fallback)))
        .chain(known.system_default().map(|one| (one.id, Why::Default)));
    let (mut list, mut gone) = (Vec::<Candidate<'_>>::new(), Vec::new());
    for (id, why) in named {
        match known.find(id) {
            // What can't plan answers badly in the place of one that can; only a person may choose that.
            Some(connection)
                if why == Why::Default
                    && !connection.capabilities.plans
                    && list.iter().any(|one| one.connection.capabilities.plans) => {}
            Some(connection) if list.iter().all(|one| one.connection.id != id) => {
                list.push(Candidate { connection, why, cheap: None });
            }
            None if !gone.contains(&id) => gone.push(id),
            _ => {}
        }
    }
    if list.is_empty() {
        return Err(match gone.first() {
            Some(id) => known.unknown(*id),
            None => super::words::no_connection(),
        });
    }
    Ok((list, gone))
}

/// The cheapest whose grade suffices first. What nobody examined suffices only where a person chose
/// it for this: the agent's primary connection and the one for this task.
fn cheapest_first(chooser: &Chooser<'_>, list: &mut [Candidate<'_>], task: Task, primary: Option<ConnectionId>) {
    for one in list.iter_mut() {
        let suffices = match chooser.known.grade(one.connection, task) {
            Some(grade) => grade <= Grade::C,
            None => match one.why {
                Why::Wanted | Why::Task | Why::Primary => true,
                Why::Default => primary.is_none(),
                Why::Fallback => false,
            },
        };
        if suffices {
            // What has no known price may cost anything.
            let price = chooser.prices.of(one.connection, None);
            one.cheap = Some(price.map_or(u64::MAX, blended));
        }
    }
    list.sort_by_key(|one| (one.cheap.is_none(), one.cheap));
}

/// The price of a usual call, three tokens of prompt to one of reply.
fn blended(price: steward_core::model::Price) -> u64 {
    price.input.saturating_mul(3).saturating_add(price.output).div_ceil(4)
}

/// Orders those with the same model name (and, where costs count, the same cost) among themselves;
/// they keep the places that they have together.
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
            Balance::LeastLatency => by_latency(&equals, |id| chooser.board.recent_ms(id)),
        };
        let sorted: Vec<Candidate<'_>> = order.iter().map(|at| list[places[*at]]).collect();
        for (place, one) in places.into_iter().zip(sorted) {
            list[place] = one;
        }
    }
}

/// Such as: code_gen (`debug`): `coder` (for this task), then `main` (primary).
fn reason(found: &Classified, list: &[Candidate<'_>], gone: &[ConnectionId], by: Balance) -> String {
    let mut text = found.task.name().to_owned();
    if !found.words.is_empty() {
        // Writing to a string can't fail.
        let _ = write!(text, " (`{}`)", found.words.join("`, `"));
    }
    for (at, one) in list.iter().enumerate() {
        let why = match one.why {
            Why::Wanted => "asked for",
            Why::Task => "for this task",
            Why::Primary => "primary",
            Why::Fallback => "fallback",
            Why::Default => "system default",
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
    match gone {
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

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
