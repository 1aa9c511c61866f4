use crate::conformance::bed::Bed;
use crate::conformance::fixtures::{NOW, TENANT};
use crate::conformance::spending::{MINUTE, OTHER, call, somebody};
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::model::Usage;
use steward_core::ports::{SpendLimits, Spender, SpentRecord, UsageBy};
use uuid::Uuid;

pub async fn usage_is_summed_up(bed: Bed) {
    let store = bed.store();
    let (ann, bob) = (somebody(), somebody());
    let today = Timestamp::of_day(NOW.day());
    let yesterday = Timestamp(today.0 - 1);
    let dear = SpentRecord {
        usage: Usage { cost_micros: 9000, ..call(bob, today, 10, 10).usage },
        model: "large".to_owned(),
        failed: true,
        ..call(bob, today, 10, 10)
    };
    let unpriced = SpentRecord {
        usage: Usage { cost_micros: 0, ..call(ann, today, 7, 1).usage },
        priced: false,
        ..call(ann, today, 7, 1)
    };
    let nothing = SpentRecord {
        usage: Usage::default(),
        failed: true,
        priced: false,
        spender: Spender::default(),
        ..call(ann, yesterday, 0, 0)
    };
    for record in [&call(ann, yesterday, 100, 1), &call(ann, today, 4, 4), &dear, &unpriced, &nothing] {
        store.settle(TENANT, None, record).await.unwrap();
    }
    let all = (Timestamp(0), Timestamp(today.0 + 1));
    let usage =
        async |by, (from, to): (Timestamp, Timestamp), user| store.usage(TENANT, by, from, to, user).await.unwrap();
    let days = usage(UsageBy::Day, all, None).await;
    let names: Vec<_> = days.iter().map(|row| row.group.clone()).collect();
    assert_eq!(names, [yesterday.date(), today.date()]);
    assert_eq!((days[0].calls, days[0].failed, days[0].unpriced), (2, 1, 0));
    assert_eq!((days[1].calls, days[1].failed, days[1].unpriced), (3, 1, 1));
    assert_eq!((days[1].prompt_tokens, days[1].cached_tokens), (21, 2 + 5 + 3));
    assert_eq!((days[1].completion_tokens, days[1].cost_micros), (15, 10_000));

    let groups = async |by, range, user| {
        let rows = usage(by, range, user).await;
        rows.into_iter().map(|row| (row.group, row.calls)).collect::<Vec<_>>()
    };
    let text = |id: Option<Uuid>| id.map_or_else(String::new, |id| id.to_string());
    let (a, b) = (text(ann.user.map(|id| id.0)), text(bob.user.map(|id| id.0)));
    assert_eq!(
        groups(UsageBy::User, all, None).await,
        [(b, 1), (a.clone(), 3), (String::new(), 1)],
        "the dearest first"
    );
    assert_eq!(groups(UsageBy::User, all, ann.user).await, [(a, 3)]);
    assert_eq!(groups(UsageBy::Agent, all, ann.user).await, [(text(ann.agent.map(|id| id.0)), 3)]);
    assert_eq!(groups(UsageBy::Key, all, ann.user).await, [(text(ann.key.map(|id| id.0)), 3)]);
    let connection = text(bob.connection.map(|id| id.0));
    assert_eq!(groups(UsageBy::Connection, all, bob.user).await, [(connection, 1)]);
    assert_eq!(groups(UsageBy::Model, all, None).await, [("large".to_owned(), 1), ("m".to_owned(), 4)]);
    // A time within a day stands for the whole day; the end is not part of it.
    let until_today = (Timestamp(yesterday.0 - 5), today);
    assert_eq!(groups(UsageBy::Day, until_today, None).await, [(yesterday.date(), 2)]);
    let noon = today.plus(Duration::from_hours(12));
    assert_eq!(groups(UsageBy::Day, (noon, noon.plus(MINUTE)), None).await, [(today.date(), 3)]);
    assert!(usage(UsageBy::Day, (today, today), None).await.is_empty());
    let other = store.usage(OTHER, UsageBy::Day, all.0, all.1, None).await;
    assert!(other.unwrap().is_empty());

    // Sizes and names that no row of a key could hold are cut, not refused.
    let huge = SpentRecord {
        model: "é\0".repeat(5000),
        usage: Usage {
            prompt_tokens: u64::MAX,
            cached_tokens: u64::MAX,
            completion_tokens: u64::MAX,
            cost_micros: u64::MAX,
        },
        ..call(ann, today, 0, 0)
    };
    for _ in 0..3 {
        store.settle(TENANT, None, &huge).await.unwrap();
    }
    let rows = usage(UsageBy::Model, all, None).await;
    assert_eq!((rows[0].calls, rows[0].group.chars().count()), (3, 200));
}
