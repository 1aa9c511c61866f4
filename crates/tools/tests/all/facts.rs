use crate::fakes::Bench;
use serde_json::json;
use std::sync::atomic::Ordering;
use steward_core::ports::Facts as _;

#[tokio::test]
async fn notes_are_made_listed_read_and_taken_back() {
    let bench = Bench::new();
    assert_eq!(bench.ok("notes_list", json!({})).await.content, "there are no notes yet");
    let error = bench.refused("notes_read", json!({"title": "x"})).await;
    assert!(error.contains("there are no notes yet"), "{error}");
    let first = bench.ok("notes_create", json!({"title": "groceries", "text": "eggs\nflour"})).await;
    assert!(first.content.contains("created the note groceries") && first.receipt.is_some());
    let preview = bench.preview("notes_create", json!({"title": "groceries", "text": "tea"})).await;
    assert!(preview.summary.contains("replaces") && preview.detail.unwrap().contains("flour"));
    let second = bench.ok("notes_create", json!({"title": "groceries", "text": "tea"})).await;
    assert!(bench.ok("notes_list", json!({})).await.content.contains("groceries: tea"));
    assert_eq!(bench.ok("notes_read", json!({"title": "Groceries"})).await.content, "groceries\n\ntea");
    let error = bench.refused("notes_read", json!({"title": "grocerys"})).await;
    assert!(error.contains("did you mean groceries?"), "{error}");
    let error = bench.undo(&first).await.unwrap_err().to_string();
    assert!(error.contains("changed since"), "{error}");
    assert!(bench.undo(&second).await.unwrap().contains("restored"));
    assert!(bench.ok("notes_read", json!({"title": "groceries"})).await.content.contains("flour"));
    assert!(bench.undo(&first).await.unwrap().contains("removed"));
    assert_eq!(bench.ok("notes_list", json!({})).await.content, "there are no notes yet");
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
async fn notes_are_added_to_and_searched() {
    let bench = Bench::new();
    let note = |title: &str, text: &str, mode: &str| json!({"title": title, "text": text, "mode": mode});
    bench.ok("notes_create", note("groceries", "flour", "append")).await;
    let preview = bench.preview("notes_create", note("groceries", "tea", "append")).await;
    assert_eq!(preview.summary, "adds to the note groceries");
    let added = bench.ok("notes_create", note("groceries", "tea", "append")).await;
    assert_eq!(added.content, "added to the note groceries:\ntea");
    assert_eq!(added.data.as_ref().unwrap()["text"], "flour\ntea");
    // A repeat after a crash.
    bench.ok("notes_create", note("groceries", "tea", "append")).await;
    bench.ok("notes_create", note("trip", "train at 9\nTea in the bag", "replace")).await;
    let read = bench.ok("notes_read", json!({"title": "groceries"})).await.content;
    assert_eq!(read, "groceries\n\nflour\ntea");
    let found = |query: &str| json!({"query": query});
    assert_eq!(
        bench.ok("notes_list", found("tea")).await.content,
        "2 of 2 notes mention tea\ngroceries: tea\ntrip: Tea in the bag\n"
    );
    assert_eq!(
        bench.ok("notes_list", found("Train trip")).await.content,
        "1 of 2 notes mention Train trip\ntrip: train at 9\n"
    );
    assert!(bench.ok("notes_list", found("cheese")).await.content.starts_with("none of the 2"));
    bench.undo(&added).await.unwrap();
    let read = bench.ok("notes_read", json!({"title": "groceries"})).await.content;
    assert_eq!(read, "groceries\n\nflour");
    let error = bench.refused("notes_create", note("groceries", &"x".repeat(99_998), "append")).await;
    assert!(error.contains("nothing was added"), "{error}");
}

#[tokio::test]
async fn reminders_are_ticked_off_by_their_text() {
    let bench = Bench::new();
    for (text, at) in [("water the plants", "2026-11-21T10:00"), ("water the lawn", "2026-11-21T11:00")] {
        bench.ok("reminders_create", json!({"text": text, "at": at})).await;
    }
    let named = |text: &str| json!({"text": text});
    let error = bench.refused("reminders_done", named("water")).await;
    assert!(error.contains("several") && error.contains("11:00 water the lawn"), "{error}");
    let error = bench.refused("reminders_done", named("feed the cat")).await;
    assert!(error.contains("`reminders_list`"), "{error}");
    let preview = bench.preview("reminders_done", named("Plants")).await;
    assert_eq!(preview.summary, "marks the reminder `water the plants` as done");
    let done = bench.ok("reminders_done", named("Plants")).await;
    assert_eq!(done.content, "done: water the plants");
    assert_eq!(done.receipt.as_ref().unwrap().action, "marked as done");
    assert!(bench.ok("reminders_done", named("plants")).await.content.contains("done already"));
    let open = bench.ok("reminders_list", json!({})).await.content;
    assert_eq!(open, "1 reminders\n2026-11-21 11:00  water the lawn\n");
    let all = bench.ok("reminders_list", json!({"all": true})).await.content;
    assert!(all.contains("water the plants (done)"), "{all}");
    assert!(bench.undo(&done).await.unwrap().contains("open again"));
    let id = bench.facts.reminders(bench.scope.tenant, bench.scope.agent).await.unwrap()[0].id.clone();
    assert_eq!(id.len(), 12);
    bench.ok("reminders_done", named(&id)).await;
}

#[tokio::test]
async fn reminders_are_made_once_listed_and_taken_back() {
    let bench = Bench::new();
    // The clock stands at 2026-11-21 09:00 local time, one hour east.
    let arguments = json!({"text": "send the report", "at": "2026-11-21T15:30"});
    let done = bench.keyed("reminders_create", arguments.clone(), "k1").await.unwrap();
    assert_eq!(done.content, "reminder set for 2026-11-21 15:30: send the report");
    bench.keyed("reminders_create", arguments.clone(), "k1").await.unwrap();
    let all = bench.facts.reminders(bench.scope.tenant, bench.scope.agent).await.unwrap();
    assert_eq!(all.len(), 1, "the same key twice is one reminder");
    assert_eq!(all[0].at.rfc3339(), "2026-11-21T14:30:00Z");
    bench.ok("reminders_create", json!({"text": "early", "at": "2026-11-21T08:30:00Z"})).await;
    let listed = bench.ok("reminders_list", json!({})).await.content;
    assert_eq!(listed, "2 reminders\n2026-11-21 09:30  early\n2026-11-21 15:30  send the report\n");
    assert!(bench.undo(&done).await.unwrap().contains("removed"));
    assert!(bench.undo(&done).await.unwrap_err().to_string().contains("changed since"));
    for (at, expect) in [
        ("2026-11-21T08:59", "has passed already; it is 2026-11-21 09:00 now"),
        ("tomorrow at nine", "YYYY-MM-DDTHH:MM"),
        ("2026-11-31T10:00", "YYYY-MM-DDTHH:MM"),
    ] {
        let error = bench.refused("reminders_create", json!({"text": "x", "at": at})).await;
        assert!(error.contains(expect), "{at}: {error}");
        let preview = bench.preview("reminders_create", json!({"text": "x", "at": at})).await;
        assert!(preview.summary.contains("would fail"), "{}", preview.summary);
    }
}

#[tokio::test]
async fn memory_grows_is_replaced_and_has_a_limit() {
    let bench = Bench::new();
    let memory = || bench.facts.memory.lock().unwrap().text.clone();
    bench.ok("save_memory", json!({"text": "likes metric units"})).await;
    let second = bench.ok("save_memory", json!({"text": "lives in Graz\n"})).await;
    assert_eq!(memory(), "likes metric units\nlives in Graz");
    let again = bench.ok("save_memory", json!({"text": "likes metric units"})).await;
    assert!(again.content.contains("in the memory already"), "{}", again.content);
    assert_eq!(bench.facts.saves.load(Ordering::Relaxed), 2);
    assert!(bench.undo(&second).await.unwrap().contains("restored"));
    assert_eq!(memory(), "likes metric units");
    let error = bench.undo(&second).await.unwrap_err().to_string();
    assert!(error.contains("changed since"), "{error}");
    for mode in ["append", "replace"] {
        let error = bench.refused("save_memory", json!({"text": "é".repeat(4001), "mode": mode})).await;
        assert!(error.contains("at most 4000 fit; nothing was saved"), "{error}");
    }
    assert_eq!(memory(), "likes metric units");
    bench.ok("save_memory", json!({"text": "é".repeat(4000), "mode": "replace"})).await;
    assert_eq!(memory().chars().count(), 4000);
    let error = bench.refused("save_memory", json!({"text": "x"})).await;
    assert!(error.contains("4002 characters"), "{error}");
    let error = bench.refused("save_memory", json!({"text": " "})).await;
    assert!(error.contains("nothing to remember"), "{error}");
    bench.ok("save_memory", json!({"text": "", "mode": "replace"})).await;
    assert_eq!(memory(), "");
}

#[tokio::test]
async fn memory_loses_nothing_to_a_parallel_run() {
    let bench = Bench::new();
    bench.facts.races.store(3, Ordering::Relaxed);
    bench.ok("save_memory", json!({"text": "mine"})).await;
    let memory = bench.facts.memory.lock().unwrap().text.clone();
    assert_eq!(memory.matches("from another run").count(), 3);
    assert!(memory.ends_with("mine"));
    bench.facts.races.store(1000, Ordering::Relaxed);
    let error = bench.refused("save_memory", json!({"text": "again"})).await;
    assert!(error.contains("try again"), "{error}");
}
