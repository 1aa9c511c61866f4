//! Random sequences against a model in memory: spent and set aside never pass a limit, except by
//! what calls took beyond what was set aside for them.

use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{NOW, TENANT, id};
use crate::conformance::spending::{call, limit, somebody};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::HashMap;
use steward_core::ports::{BudgetScope, Period, ReserveError, SpendLimits as _, Spender};
use steward_core::{ReservationId, Timestamp, UserId};
use steward_store::Store;

#[derive(Debug, Clone)]
enum Step {
    /// One of three users wants so many tokens for so many milliseconds.
    Reserve { user: usize, tokens: u64, ms: i64 },
    /// The call set aside at this place (of those made) ends and takes this share of it, percent.
    Settle { which: usize, percent: u64 },
    /// A call that nothing was set aside for.
    Record { user: usize, tokens: u64 },
    /// So many milliseconds go by.
    Wait { ms: i64 },
}

fn steps(most_percent: u64) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..3_usize, 0..400_u64, 1..5000_i64)
            .prop_map(|(user, tokens, ms)| Step::Reserve { user, tokens, ms }),
        3 => (any::<prop::sample::Index>(), 0..=most_percent)
            .prop_map(|(which, percent)| Step::Settle { which: which.index(64), percent }),
        1 => (0..3_usize, 0..60_u64).prop_map(|(user, tokens)| Step::Record { user, tokens }),
        1 => (0..6000_i64).prop_map(|ms| Step::Wait { ms }),
    ];
    prop::collection::vec(step, 1..40)
}

struct Call {
    id: ReservationId,
    who: Spender,
    tokens: u64,
    until: Timestamp,
}

pub async fn spent_and_set_aside_stay_below_the_limit(bed: Bed) {
    let store = bed.store();
    // SQLite runs more of them: a call there costs a tenth.
    let cases = if bed.is_shared() { 12 } else { 60 };
    let mut runner = TestRunner::new_with_rng(
        Config { cases, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let strategy = (steps(100), steps(180), 100..1500_u64, 100..900_u64);
    let outcome = runner.run(&strategy, |(fair, unfair, all, each)| {
        tokio::task::block_in_place(|| {
            let here = tokio::runtime::Handle::current();
            here.block_on(sequence(&store, &fair, all, each));
            here.block_on(sequence(&store, &unfair, all, each));
        });
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// Carries out `steps` under a limit of `all` for everybody and of `each` for the first user.
async fn sequence(store: &Store, steps: &[Step], all: u64, each: u64) {
    let users: Vec<Spender> = (0..3).map(|_| somebody()).collect();
    // Other sequences on the same database are other users' and years': one scope is enough to tell.
    let agent = somebody().agent;
    let users: Vec<Spender> = users.into_iter().map(|user| Spender { agent, ..user }).collect();
    let mine = UserId(users[0].user.unwrap().0);
    let scopes = [(BudgetScope::Agent(agent.unwrap()), all), (BudgetScope::User(mine), each)];
    let mut ids = Vec::new();
    for (scope, most) in scopes {
        let limit = limit(scope, Period::Total, Some(most));
        store.save_spend_limit(TENANT, &limit).await.unwrap();
        ids.push(limit.id);
    }
    let (mut now, mut calls) = (NOW, Vec::<Call>::new());
    // By limit: spent, and how far calls went beyond what was set aside for them.
    let mut spent = HashMap::<BudgetScope, (u64, u64)>::new();
    for step in steps {
        match step {
            Step::Wait { ms } => now = Timestamp(now.0 + ms),
            Step::Reserve { user, tokens, ms } => {
                let (who, until) = (users[*user], Timestamp(now.0 + ms));
                let id = ReservationId(id());
                let fits = scopes.iter().filter(|(scope, _)| counts(*scope, &who)).all(|(scope, most)| {
                    let (spent, _) = spent.get(scope).copied().unwrap_or_default();
                    *tokens == 0 || spent + aside(&calls, *scope, now) + tokens <= *most
                });
                let done = store.reserve(TENANT, id, who, &[], *tokens, 0, now, until).await;
                match done {
                    Ok(_) => assert!(fits, "it was let through"),
                    Err(ReserveError::Exceeded(..)) => assert!(!fits, "it was refused"),
                    Err(other) => panic!("{other}"),
                }
                if fits {
                    calls.push(Call { id, who, tokens: *tokens, until });
                }
            }
            Step::Settle { which, percent } => {
                if calls.is_empty() {
                    continue;
                }
                let one = calls.remove(which % calls.len());
                let took = one.tokens * percent / 100;
                let aside = if one.until > now { one.tokens } else { 0 };
                store.settle(TENANT, Some(one.id), &call(one.who, now, took, 0)).await.unwrap();
                add(&mut spent, &scopes, &one.who, took, took.saturating_sub(aside));
            }
            Step::Record { user, tokens } => {
                let who = users[*user];
                store.settle(TENANT, None, &call(who, now, *tokens, 0)).await.unwrap();
                add(&mut spent, &scopes, &who, *tokens, *tokens);
            }
        }
        let states = store.spend_limits(TENANT, now).await.unwrap();
        for (at, (scope, most)) in scopes.iter().enumerate() {
            let state = states.iter().find(|state| state.limit.id == ids[at]).unwrap();
            let (known, beyond) = spent.get(scope).copied().unwrap_or_default();
            assert_eq!(state.tokens, known);
            assert_eq!(state.reserved_tokens, aside(&calls, *scope, now));
            assert!(state.tokens + state.reserved_tokens <= most + beyond, "{state:?} {beyond}");
        }
    }
    for id in ids {
        store.remove_spend_limit(TENANT, id).await.unwrap();
    }
}

fn counts(scope: BudgetScope, who: &Spender) -> bool {
    match scope {
        BudgetScope::User(user) => who.user == Some(user),
        BudgetScope::Agent(agent) => who.agent == Some(agent),
        _ => false,
    }
}

fn aside(calls: &[Call], scope: BudgetScope, now: Timestamp) -> u64 {
    let open = calls.iter().filter(|call| call.until > now && counts(scope, &call.who));
    open.map(|call| call.tokens).sum()
}

fn add(
    spent: &mut HashMap<BudgetScope, (u64, u64)>,
    scopes: &[(BudgetScope, u64)],
    who: &Spender,
    took: u64,
    beyond: u64,
) {
    for (scope, _) in scopes.iter().filter(|(scope, _)| counts(*scope, who)) {
        let sums = spent.entry(*scope).or_default();
        sums.0 += took;
        sums.1 += beyond;
    }
}
