use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{NOW, TENANT, id};
use std::sync::Arc;
use std::time::Duration;
use steward_core::audit::AuditEntry;
use steward_core::model::Usage;
use steward_core::ports::{
    BudgetScope, Period, ReserveError, RetainedFilter, SpendLimit, SpendLimits, SpendState, Spender, SpentRecord,
    StoreError, UsageBy,
};
use steward_core::retention::{DELETED, RetainedKind};
use steward_core::{AgentId, BudgetId, ConnectionId, KeyId, ReservationId, TenantId, Timestamp, UserId};
use steward_store::Store;
use tokio::task::JoinSet;
use uuid::Uuid;

pub const OTHER: TenantId = TenantId(Uuid::from_u128(2));
pub const MINUTE: Duration = Duration::from_mins(1);

pub fn somebody() -> Spender {
    Spender {
        user: Some(UserId(id())),
        agent: Some(AgentId(id())),
        connection: Some(ConnectionId(id())),
        key: Some(KeyId(id())),
    }
}

pub fn limit(scope: BudgetScope, period: Period, tokens: Option<u64>) -> SpendLimit {
    SpendLimit { id: BudgetId(id()), scope, period, tokens, cost_micros: None }
}

/// A call that took `prompt` and `completion` tokens and a tenth of a cent.
pub fn call(spender: Spender, at: Timestamp, prompt: u64, completion: u64) -> SpentRecord {
    SpentRecord {
        spender,
        model: "m".to_owned(),
        at,
        usage: Usage {
            prompt_tokens: prompt,
            cached_tokens: prompt / 2,
            completion_tokens: completion,
            cost_micros: 1000,
        },
        failed: false,
        priced: true,
    }
}

async fn one(store: &Store, now: Timestamp) -> SpendState {
    let states = store.spend_limits(TENANT, now).await.unwrap();
    assert_eq!(states.len(), 1);
    states[0].clone()
}

async fn wants(store: &Store, who: Spender, tokens: u64, now: Timestamp) -> bool {
    let id = ReservationId(id());
    match store.reserve(TENANT, id, who, &[], tokens, 0, now, now.plus(MINUTE)).await {
        Ok(_) => true,
        Err(ReserveError::Exceeded(..)) => false,
        Err(other) => panic!("{other}"),
    }
}

pub async fn budgets_are_one_a_scope_and_period(bed: Bed) {
    let store = bed.store();
    let who = somebody();
    let scopes = [
        BudgetScope::Installation,
        BudgetScope::User(who.user.unwrap()),
        BudgetScope::Agent(who.agent.unwrap()),
        BudgetScope::Connection(who.connection.unwrap()),
        BudgetScope::Key(who.key.unwrap()),
    ];
    let mut made = Vec::new();
    for scope in scopes {
        for period in [Period::Day, Period::Month, Period::Total] {
            let limit = SpendLimit { cost_micros: Some(7), ..limit(scope, period, Some(5)) };
            store.save_spend_limit(TENANT, &limit).await.unwrap();
            made.push(limit);
        }
    }
    let twice = store.save_spend_limit(TENANT, &limit(scopes[2], Period::Day, Some(1))).await;
    assert!(matches!(&twice, Err(StoreError::Conflict(text)) if text.contains("the agent has a daily")), "{twice:?}");
    let found = store.spend_limits(TENANT, NOW).await.unwrap();
    let limits: Vec<_> = found.iter().map(|state| state.limit.clone()).collect();
    assert_eq!(limits, made, "ordered by scope and period");
    assert!(store.spend_limits(OTHER, NOW).await.unwrap().is_empty());

    let changed = SpendLimit { tokens: None, cost_micros: Some(9), ..made[4].clone() };
    store.save_spend_limit(TENANT, &changed).await.unwrap();
    store.remove_spend_limit(TENANT, made[0].id).await.unwrap();
    for (tenant, id) in [(TENANT, made[0].id), (OTHER, made[1].id)] {
        let gone = store.remove_spend_limit(tenant, id).await;
        assert!(matches!(gone, Err(StoreError::NotFound(_))), "{gone:?}");
    }
    let found = store.spend_limits(TENANT, NOW).await.unwrap();
    assert_eq!(found.len(), 14);
    assert!(found.iter().any(|state| state.limit == changed));
}

pub async fn each_scope_counts_its_own_calls(bed: Bed) {
    let store = bed.store();
    let (ours, theirs) = (somebody(), somebody());
    let scopes = [
        BudgetScope::User(ours.user.unwrap()),
        BudgetScope::Agent(ours.agent.unwrap()),
        BudgetScope::Connection(ours.connection.unwrap()),
        BudgetScope::Key(ours.key.unwrap()),
        BudgetScope::Installation,
    ];
    for scope in scopes {
        let limit = limit(scope, Period::Total, Some(100));
        store.save_spend_limit(TENANT, &limit).await.unwrap();
        assert!(wants(&store, ours, 60, NOW).await);
        assert!(!wants(&store, ours, 41, NOW).await, "{scope:?}");
        let free = scope != BudgetScope::Installation;
        assert_eq!(wants(&store, theirs, 41, NOW).await, free, "{scope:?}");
        assert_eq!(wants(&store, Spender::default(), 41, NOW).await, free);
        let elsewhere = ReservationId(id());
        let other = store.reserve(OTHER, elsewhere, ours, &[], 500, 0, NOW, NOW);
        assert!(other.await.is_ok());
        let state = one(&store, NOW).await;
        assert_eq!((state.tokens, state.reserved_tokens), (0, 60));
        store.remove_spend_limit(TENANT, limit.id).await.unwrap();
        // What was set aside ends before the next scope is looked at.
        store.save_spend_limit(TENANT, &SpendLimit { tokens: Some(0), ..limit }).await.unwrap();
        assert!(!wants(&store, ours, 1, NOW.plus(MINUTE)).await);
        store.remove_spend_limit(TENANT, limit.id).await.unwrap();
    }
}

pub async fn a_reservation_is_settled_or_given_back(bed: Bed) {
    let mut bed = bed;
    let store = bed.store();
    let who = somebody();
    let budget =
        SpendLimit { cost_micros: Some(10_000), ..limit(BudgetScope::User(who.user.unwrap()), Period::Day, Some(100)) };
    // Spent before there was a budget: it counts.
    store.settle(TENANT, None, &call(who, NOW, 20, 10)).await.unwrap();
    store.save_spend_limit(TENANT, &budget).await.unwrap();
    assert_eq!(one(&store, NOW).await.tokens, 30);

    let (first, second) = (ReservationId(id()), ReservationId(id()));
    let until = NOW.plus(MINUTE);
    let reserve = async |id, tokens, cost, now| store.reserve(TENANT, id, who, &[], tokens, cost, now, until).await;
    reserve(first, 40, 5000, NOW).await.unwrap();
    reserve(second, 30, 4000, NOW).await.unwrap();
    reserve(second, 29, 4000, NOW).await.unwrap();
    let state = one(&store, NOW).await;
    assert_eq!((state.tokens, state.reserved_tokens), (30, 69));
    assert_eq!((state.cost_micros, state.reserved_cost_micros), (1000, 9000));
    let full = reserve(ReservationId(id()), 2, 0, NOW).await;
    let Err(ReserveError::Exceeded(state, resets_at)) = full else { panic!("{full:?}") };
    assert_eq!((state.tokens, state.reserved_tokens), (30, 69));
    assert_eq!(resets_at, Period::Day.ends(NOW));
    let too_dear = reserve(ReservationId(id()), 1, 1, NOW).await;
    assert!(matches!(too_dear, Err(ReserveError::Exceeded(..))));

    // Less than was set aside: the rest is free again.
    store.settle(TENANT, Some(first), &call(who, NOW, 10, 5)).await.unwrap();
    let state = one(&store, NOW).await;
    assert_eq!((state.tokens, state.reserved_tokens), (45, 29));
    // A program that dies leaves the other one behind; it ends by itself.
    drop(store);
    bed.reopen().await;
    let store = bed.store();
    assert_eq!(one(&store, NOW).await.reserved_tokens, 29, "kept");
    assert!(!wants(&store, who, 27, NOW).await);
    let late = NOW.plus(MINUTE);
    assert_eq!(one(&store, late).await.reserved_tokens, 0);
    assert!(wants(&store, who, 55, late).await);
    // Settled too late: what was spent still counts, though nothing is set aside for it any more.
    store.settle(TENANT, Some(second), &call(who, late, 9, 9)).await.unwrap();
    let state = one(&store, late).await;
    assert_eq!((state.tokens, state.reserved_tokens), (63, 55));
    assert!(wants(&store, who, 0, late).await, "what takes nothing fits");
    assert!(!wants(&store, who, 1, late).await);
}

pub async fn calls_of_a_kind_are_settled_at_once(bed: Bed) {
    let store = bed.store();
    let who = somebody();
    let budget = limit(BudgetScope::Key(who.key.unwrap()), Period::Month, Some(100));
    store.save_spend_limit(TENANT, &budget).await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let id = ReservationId(id());
        let until = NOW.plus(MINUTE);
        let reserved = store.reserve(TENANT, id, who, &[], 30, 0, NOW, until).await;
        reserved.unwrap();
        ids.push(id);
    }
    assert!(!wants(&store, who, 30, NOW).await);
    let failed = SpentRecord { failed: true, priced: false, ..call(who, NOW, 1, 1) };
    let spent = [call(who, NOW, 10, 5), call(who, NOW, 3, 2), failed];
    let strange = [spent[0].clone(), call(somebody(), NOW, 1, 1)];
    let refused = store.settle_all(TENANT, &ids, &strange).await;
    assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
    let state = one(&store, NOW).await;
    assert_eq!((state.tokens, state.reserved_tokens), (0, 90));
    store.settle_all(TENANT, &[], &[]).await.unwrap();
    store.settle_all(TENANT, &ids, &spent).await.unwrap();
    let state = one(&store, NOW).await;
    assert_eq!((state.tokens, state.reserved_tokens), (22, 0));
    assert_eq!(state.cost_micros, 3000);
    let rows = store.usage(TENANT, UsageBy::Key, NOW, NOW.plus(MINUTE), None).await.unwrap();
    let sums = (rows[0].calls, rows[0].failed, rows[0].unpriced);
    assert_eq!((rows.len(), sums), (1, (3, 1, 1)));
    assert_eq!((rows[0].prompt_tokens, rows[0].cached_tokens), (14, 6));
    assert_eq!((rows[0].completion_tokens, rows[0].cost_micros), (8, 3000));
    assert!(wants(&store, who, 78, NOW).await);
    assert!(!wants(&store, who, 1, NOW).await);
}

pub async fn periods_begin_anew(bed: Bed) {
    let store = bed.store();
    let who = somebody();
    let agent = BudgetScope::Agent(who.agent.unwrap());
    // 2026-11-30T23:59:59.999Z, and the first moment of December.
    let november = Timestamp::of_day(20_788);
    let last = Timestamp(november.0 - 1);
    assert_eq!((last.date().as_str(), november.date().as_str()), ("2026-11-30", "2026-12-01"));
    let month = limit(agent, Period::Month, Some(100));
    store.save_spend_limit(TENANT, &month).await.unwrap();
    let day = limit(agent, Period::Day, Some(80));
    store.save_spend_limit(TENANT, &day).await.unwrap();
    let total = limit(agent, Period::Total, Some(300));
    store.save_spend_limit(TENANT, &total).await.unwrap();
    let spent = async |now| {
        let states = store.spend_limits(TENANT, now).await.unwrap();
        let tokens: Vec<u64> = states.iter().map(|state| state.tokens).collect();
        let since: Vec<Timestamp> = states.iter().map(|state| state.since).collect();
        assert_eq!(since, [Period::Day.began(now), Period::Month.began(now), Timestamp(0)]);
        tokens
    };
    let before = Timestamp(last.0 - 86_400_000);
    store.settle(TENANT, None, &call(who, before, 50, 0)).await.unwrap();
    assert_eq!(spent(before).await, [50, 50, 50]);
    store.settle(TENANT, None, &call(who, last, 40, 0)).await.unwrap();
    assert_eq!(spent(last).await, [40, 90, 90]);
    assert!(!wants(&store, who, 11, last).await, "the month is full");
    assert!(wants(&store, who, 10, last).await);
    assert!(!wants(&store, who, 1, last).await);
    // The new month; what is set aside from the old one still counts until it ends.
    assert_eq!(spent(november).await, [0, 0, 90]);
    assert!(!wants(&store, who, 71, november).await);
    assert!(wants(&store, who, 70, november).await);
    // A call that began and ended in November is told only now.
    store.settle(TENANT, None, &call(who, last, 7, 0)).await.unwrap();
    assert_eq!(spent(november).await, [0, 0, 97]);
    store.settle(TENANT, None, &call(who, november, 3, 0)).await.unwrap();
    assert_eq!(spent(november).await, [3, 3, 100]);
    // The longest wait is named.
    let all = store.reserve(TENANT, ReservationId(id()), who, &[], 1000, 0, november, november).await;
    let Err(ReserveError::Exceeded(state, None)) = all else { panic!("{all:?}") };
    assert_eq!(state.limit.period, Period::Total);
    store.remove_spend_limit(TENANT, total.id).await.unwrap();
    let all = store.reserve(TENANT, ReservationId(id()), who, &[], 1000, 0, november, november).await;
    let Err(ReserveError::Exceeded(state, Some(at))) = all else { panic!("{all:?}") };
    assert_eq!((state.limit.period, at.date().as_str()), (Period::Month, "2027-01-01"));
}

pub async fn parallel_calls_never_pass_a_budget(bed: Bed) {
    let store = bed.store();
    let who = somebody();
    for (scope, tokens) in [
        (BudgetScope::Installation, 1500),
        (BudgetScope::User(who.user.unwrap()), 1050),
        (BudgetScope::Agent(who.agent.unwrap()), 2000),
    ] {
        for period in [Period::Month, Period::Day] {
            let limit = limit(scope, period, Some(tokens));
            store.save_spend_limit(TENANT, &limit).await.unwrap();
        }
    }
    let mut tasks = JoinSet::new();
    for number in 0..50_u64 {
        // Others, whose limits are some of the same, come in between.
        let spender = match number % 5 {
            4 => Spender { user: Some(UserId(id())), ..who },
            3 => Spender { agent: None, ..who },
            _ => who,
        };
        let nodes: Arc<_> = Arc::clone(&store);
        tasks.spawn(async move {
            let mut taken = 0;
            for round in 0..3_i64 {
                let now = Timestamp(NOW.0 + round);
                let id = ReservationId(id());
                match nodes.reserve(TENANT, id, spender, &[], 100, 0, now, now.plus(MINUTE)).await {
                    Ok(aside) => assert!(aside.held),
                    Err(ReserveError::Exceeded(..)) => continue,
                    Err(other) => panic!("{other}"),
                }
                for state in nodes.spend_limits(TENANT, now).await.unwrap() {
                    let most = state.limit.tokens.unwrap();
                    assert!(state.tokens + state.reserved_tokens <= most, "{state:?}");
                }
                let usage = call(spender, now, 60 + number % 41, 0);
                taken += usage.usage.prompt_tokens;
                nodes.settle(TENANT, Some(id), &usage).await.unwrap();
            }
            taken
        });
    }
    let mut taken = 0;
    while let Some(done) = tasks.join_next().await {
        taken += done.unwrap();
    }
    let states = store.spend_limits(TENANT, NOW).await.unwrap();
    for state in &states {
        assert_eq!(state.reserved_tokens, 0);
        assert!(state.tokens <= state.limit.tokens.unwrap(), "{state:?}");
    }
    assert_eq!(states[0].tokens, taken, "every call was counted once");
    // Whoever was refused may have met others' reservations, which were settled for less since. One
    // after the other, as much as fits is let through.
    let mut further = 0;
    while wants(&store, who, 100, NOW).await {
        further += 100;
    }
    let states = store.spend_limits(TENANT, NOW).await.unwrap();
    assert_eq!(states[0].reserved_tokens, further);
    let left = |state: &SpendState| {
        let most = state.limit.tokens.unwrap();
        most.checked_sub(state.tokens + state.reserved_tokens)
    };
    let least = states.iter().map(|state| left(state).unwrap()).min();
    assert!(least.unwrap() < 100, "{states:?}");
    let by_day = store.usage(TENANT, UsageBy::Day, NOW, Timestamp(NOW.0 + 1), None).await.unwrap();
    assert_eq!(by_day[0].prompt_tokens, taken);
}

pub async fn a_clock_that_was_ahead_ends_no_period(bed: Bed) {
    let store = bed.store();
    let who = somebody();
    store.save_spend_limit(TENANT, &limit(BudgetScope::Installation, Period::Day, Some(100))).await.unwrap();
    store.settle(TENANT, None, &call(who, NOW, 20, 10)).await.unwrap();
    let ahead = NOW.plus(MINUTE * 60 * 24 * 4000);
    store.settle(TENANT, None, &call(who, ahead, 40, 40)).await.unwrap();
    assert!(wants(&store, who, 20, ahead).await);
    assert_eq!(one(&store, NOW).await.tokens, 30);
    assert!(wants(&store, who, 70, NOW).await, "what was reserved then is given back");
    assert!(!wants(&store, who, 1, NOW).await);
    let tomorrow = NOW.plus(MINUTE * 60 * 24);
    assert!(wants(&store, who, 100, tomorrow).await, "the day is over");
}

/// Limits that are made and changed while calls are settled know all of these calls.
pub async fn a_new_budget_misses_no_call(bed: Bed) {
    let store = bed.store();
    let who = somebody();
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            for _ in 0..15 {
                store.settle(TENANT, None, &call(who, NOW, 3, 2)).await.unwrap();
            }
        });
    }
    let budget = limit(BudgetScope::Installation, Period::Day, Some(10));
    for _ in 0..10 {
        store.save_spend_limit(TENANT, &budget).await.unwrap();
        assert!(wants(&store, who, 0, NOW).await);
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(one(&store, NOW).await.tokens, 8 * 15 * 5);
}

/// Deletes all figures of usage, as a retention policy does.
async fn forget_usage(store: &Store) {
    let all = RetainedFilter {
        kind: RetainedKind::Usage,
        before: None,
        user: None,
        deleted_only: false,
        after: None,
        limit: 100,
    };
    for day in store.retained(TENANT, &all).await.unwrap() {
        let entry = AuditEntry::new(id(), NOW, DELETED);
        assert!(store.delete_retained(TENANT, &day, &entry).await.unwrap().is_some(), "{day:?}");
    }
}

pub async fn other_amounts_keep_what_is_spent(bed: Bed) {
    let store = bed.store();
    let who = somebody();
    let budget = limit(BudgetScope::Installation, Period::Total, Some(100));
    store.save_spend_limit(TENANT, &budget).await.unwrap();
    store.settle(TENANT, None, &call(who, NOW, 30, 20)).await.unwrap();
    assert_eq!(one(&store, NOW).await.tokens, 50);
    forget_usage(&store).await;
    store.save_spend_limit(TENANT, &SpendLimit { tokens: Some(60), ..budget.clone() }).await.unwrap();
    let state = one(&store, NOW).await;
    assert_eq!((state.limit.tokens, state.tokens, state.cost_micros), (Some(60), 50, 1000));
    assert!(wants(&store, who, 10, NOW).await);
    assert!(!wants(&store, who, 1, NOW).await, "no room is left beside what was set aside");
    // Another period is counted from what is there.
    store.settle(TENANT, None, &call(who, NOW, 3, 2)).await.unwrap();
    store.save_spend_limit(TENANT, &SpendLimit { period: Period::Day, ..budget }).await.unwrap();
    assert_eq!(one(&store, NOW).await.tokens, 5);
}
