use crate::fakes::Bench;
use serde_json::json;
use std::sync::atomic::Ordering;
use steward_core::ports::Facts as _;

#[tokio::test]
async fn notes_are_made_listed_read_and_taken_back() {
    let bench = Bench::new();
    assert_eq!(
        bench.ok("notes_list", json!({})).await.content,
        "there are no notes yet"
    );
    let error = bench.refused("notes_read", json!({"title": "x"})).await;
    assert!(error.contains("there are no notes yet"), "{error}");
    let first = bench
        .ok(
            "notes_create",
            json!({"title": "groceries", "text": "eggs\nflour"}),
        )
        .await;
    assert!(first.content.contains("created the note groceries") && first.receipt.is_some());
    let preview = bench
        .preview("notes_create", json!({"title": "groceries", "text": "tea"}))
        .await;
    assert!(preview.summary.contains("replaces") && preview.detail.unwrap().contains("flour"));
    let second = bench
        .ok("notes_create", json!({"title": "groceries", "text": "tea"}))
        .await;
    assert!(
        bench
            .ok("notes_list", json!({}))
            .await
            .content
            .contains("groceries: tea")
    );
    assert_eq!(
        bench
            .ok("notes_read", json!({"title": "Groceries"}))
            .await
            .content,
        "groceries\n\ntea"
    );
    let error = bench
        .refused("notes_read", json!({"title": "grocerys"}))
        .await;
    assert!(error.contains("did you mean groceries?"), "{error}");
    let error = bench.undo(&first).await.unwrap_err().to_string();
    assert!(error.contains("changed since"), "{error}");
    assert!(bench.undo(&second).await.unwrap().contains("restored"));
    assert!(
        bench
            .ok("notes_read", json!({"title": "groceries"}))
            .await
            .content
            .contains("flour")
    );
    assert!(bench.undo(&first).await.unwrap().contains("removed"));
    assert_eq!(
        bench.ok("notes_list", json!({})).await.content,
        "there are no notes yet"
    );
    for (bad, expect) in [
        (json!({"title": "", "text": "x"}), "`title`"),
        (json!({"title": "  ", "text": "x"}), "the title is blank"),
        (json!({"title": "a"}), "\"text\" is a required"),
    ] {
        let error = bench.refused("notes_create", bad).await;
        assert!(error.contains(expect), "{error}");
    }
}

#[tokio::test]
async fn reminders_are_made_once_listed_and_taken_back() {
    let bench = Bench::new();
    // The clock stands at 2026-11-21 09:00 local time, one hour east.
    let arguments = json!({"text": "send the report", "at": "2026-11-21T15:30"});
    let done = bench
        .keyed("reminders_create", arguments.clone(), "k1")
        .await
        .unwrap();
    assert_eq!(
        done.content,
        "reminder set for 2026-11-21 15:30: send the report"
    );
    bench
        .keyed("reminders_create", arguments.clone(), "k1")
        .await
        .unwrap();
    let all = bench
        .facts
        .reminders(bench.scope.tenant, bench.scope.agent)
        .await
        .unwrap();
    assert_eq!(all.len(), 1, "the same key twice is one reminder");
    assert_eq!(all[0].at.rfc3339(), "2026-11-21T14:30:00Z");
    bench
        .ok(
            "reminders_create",
            json!({"text": "early", "at": "2026-11-21T08:30:00Z"}),
        )
        .await;
    let listed = bench.ok("reminders_list", json!({})).await.content;
    assert_eq!(
        listed,
        "2 reminders\n2026-11-21 09:30  early\n2026-11-21 15:30  send the report\n"
    );
    assert!(bench.undo(&done).await.unwrap().contains("removed"));
    assert!(
        bench
            .undo(&done)
            .await
            .unwrap_err()
            .to_string()
            .contains("changed since")
    );
    for (at, expect) in [
        (
            "2026-11-21T08:59",
            "has passed already; it is 2026-11-21 09:00 now",
        ),
        ("tomorrow at nine", "YYYY-MM-DDTHH:MM"),
        ("2026-11-31T10:00", "YYYY-MM-DDTHH:MM"),
    ] {
        let error = bench
            .refused("reminders_create", json!({"text": "x", "at": at}))
            .await;
        assert!(error.contains(expect), "{at}: {error}");
        let preview = bench
            .preview("reminders_create", json!({"text": "x", "at": at}))
            .await;
        assert!(
            preview.summary.contains("would fail"),
            "{}",
            preview.summary
        );
    }
}

#[tokio::test]
async fn memory_grows_is_replaced_and_has_a_limit() {
    let bench = Bench::new();
    let memory = || bench.facts.memory.lock().unwrap().0.clone();
    bench
        .ok("save_memory", json!({"text": "likes metric units"}))
        .await;
    let second = bench
        .ok("save_memory", json!({"text": "lives in Graz\n"}))
        .await;
    assert_eq!(memory(), "likes metric units\nlives in Graz");
    let again = bench
        .ok("save_memory", json!({"text": "likes metric units"}))
        .await;
    assert!(
        again.content.contains("in the memory already"),
        "{}",
        again.content
    );
    assert_eq!(bench.facts.saves.load(Ordering::Relaxed), 2);
    assert!(bench.undo(&second).await.unwrap().contains("restored"));
    assert_eq!(memory(), "likes metric units");
    let error = bench.undo(&second).await.unwrap_err().to_string();
    assert!(error.contains("changed since"), "{error}");
    for mode in ["append", "replace"] {
        let error = bench
            .refused(
                "save_memory",
                json!({"text": "é".repeat(4001), "mode": mode}),
            )
            .await;
        assert!(
            error.contains("at most 4000 fit; nothing was saved"),
            "{error}"
        );
    }
    assert_eq!(memory(), "likes metric units");
    bench
        .ok(
            "save_memory",
            json!({"text": "é".repeat(4000), "mode": "replace"}),
        )
        .await;
    assert_eq!(memory().chars().count(), 4000);
    let error = bench.refused("save_memory", json!({"text": "x"})).await;
    assert!(error.contains("4002 characters"), "{error}");
    let error = bench.refused("save_memory", json!({"text": " "})).await;
    assert!(error.contains("nothing to remember"), "{error}");
    bench
        .ok("save_memory", json!({"text": "", "mode": "replace"}))
        .await;
    assert_eq!(memory(), "");
}

#[tokio::test]
async fn memory_loses_nothing_to_a_parallel_run() {
    let bench = Bench::new();
    bench.facts.races.store(3, Ordering::Relaxed);
    bench.ok("save_memory", json!({"text": "mine"})).await;
    let memory = bench.facts.memory.lock().unwrap().0.clone();
    assert_eq!(memory.matches("from another run").count(), 3);
    assert!(memory.ends_with("mine"));
    bench.facts.races.store(1000, Ordering::Relaxed);
    let error = bench.refused("save_memory", json!({"text": "again"})).await;
    assert!(error.contains("try again"), "{error}");
}
