use crate::fakes::{Bench, USER};
use serde_json::json;
use std::sync::atomic::Ordering;
use steward_core::UserId;
use steward_core::agent::KeptFor;
use steward_core::governance::{Classification, Classified};
use steward_core::ports::Facts as _;
use steward_core::provenance::Provenance;
use uuid::Uuid;

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
    let id =
        bench.facts.reminders(bench.scope.tenant, bench.scope.agent, KeptFor::User(USER)).await.unwrap()[0].id.clone();
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
    let all = bench.facts.reminders(bench.scope.tenant, bench.scope.agent, KeptFor::User(USER)).await.unwrap();
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
    let memory = || bench.memory();
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
    let memory = bench.memory();
    assert_eq!(memory.matches("from another run").count(), 3);
    assert!(memory.ends_with("mine"));
    bench.facts.races.store(1000, Ordering::Relaxed);
    let error = bench.refused("save_memory", json!({"text": "again"})).await;
    assert!(error.contains("try again"), "{error}");
}

const OTHER: UserId = UserId(Uuid::from_u128(4));

/// What each tool that writes does.
fn writes() -> [(&'static str, serde_json::Value); 6] {
    [
        ("notes_create", json!({"title": "therapy", "text": "Tuesdays"})),
        ("reminders_create", json!({"text": "call the oncologist", "at": "2026-11-21T15:30"})),
        ("save_memory", json!({"text": "is called Dana"})),
        ("db_query", json!({"sql": "CREATE TABLE ai_pay(amount)"})),
        ("update_db_schema", json!({"schema": "ai_pay: what Dana earns"})),
        ("reminders_done", json!({"text": "oncologist"})),
    ]
}

async fn reads(bench: &Bench) -> String {
    let mut all = Vec::new();
    for (tool, arguments) in [
        ("notes_list", json!({})),
        ("notes_list", json!({"query": "tuesdays"})),
        ("notes_read", json!({"title": "therapy"})),
        ("reminders_list", json!({"all": true})),
        ("reminders_done", json!({"text": "call"})),
        ("db_query", json!({"sql": "SELECT amount FROM ai_pay"})),
    ] {
        all.push(match bench.call(tool, arguments).await {
            Ok(output) => format!("{} {:?}", output.content, output.data),
            Err(error) => error.to_string(),
        });
    }
    all.push(bench.memory());
    all.join("\n")
}

#[tokio::test]
async fn nothing_that_is_kept_crosses_to_another_user() {
    let mut bench = Bench::new();
    for (tool, arguments) in writes() {
        bench.ok(tool, arguments).await;
    }
    let own = reads(&bench).await;
    assert!(own.contains("Tuesdays") && own.contains("oncologist") && own.contains("Dana"), "{own}");
    bench.ask_as(OTHER);
    let theirs = reads(&bench).await;
    assert!(["Tuesdays", "oncologist", "Dana", "amount)"].iter().all(|word| !theirs.contains(word)), "{theirs}");
    // The same names are free, and replace nothing.
    for (tool, arguments) in writes() {
        let preview = bench.preview(tool, arguments.clone()).await;
        assert!(!preview.summary.contains("replaces the note"), "{preview:?}");
        bench.ok(tool, arguments).await;
    }
    bench.ok("notes_create", json!({"title": "therapy", "text": "mine"})).await;
    bench.ask_as(USER);
    assert!(bench.ok("notes_read", json!({"title": "therapy"})).await.content.contains("Tuesdays"));
}

#[tokio::test]
async fn what_one_user_did_is_not_undone_for_another() {
    let mut bench = Bench::new();
    let mut done = Vec::new();
    for (tool, arguments) in writes() {
        done.push((tool, bench.ok(tool, arguments).await));
    }
    bench.ask_as(OTHER);
    for (tool, arguments) in writes() {
        bench.ok(tool, arguments).await;
    }
    bench.ok("db_query", json!({"sql": "INSERT INTO ai_pay VALUES (1)"})).await;
    for (tool, output) in done.iter().filter(|(tool, _)| *tool == "db_query") {
        let error = bench.undo(output).await.unwrap_err().to_string();
        assert!(error.contains("of another user"), "{tool}: {error}");
    }
    bench.ok("db_query", json!({"sql": "SELECT amount FROM ai_pay"})).await;
}

#[tokio::test]
async fn what_all_share_is_written_only_by_who_may_edit_the_agent() {
    let mut bench = Bench::new();
    bench.scope.kept_for = Some(KeptFor::Everybody);
    for (tool, arguments) in writes() {
        let error = bench.refused(tool, arguments.clone()).await;
        assert!(error.contains("may edit the agent") && error.contains("nothing was changed"), "{tool}: {error}");
        assert!(bench.preview(tool, arguments).await.summary.contains("would fail"), "{tool}");
    }
    assert_eq!((bench.memory(), bench.facts.saves.load(Ordering::Relaxed)), (String::new(), 0));
    bench.facts.editors.lock().unwrap().push(USER);
    let mut done = Vec::new();
    for (tool, arguments) in writes() {
        done.push(bench.ok(tool, arguments).await);
    }
    // Others read it, and take nothing back.
    bench.scope.user = Some(OTHER);
    let seen = reads(&bench).await;
    assert!(seen.contains("Tuesdays") && seen.contains("Dana") && seen.contains("oncologist"), "{seen}");
    for output in &done {
        let error = bench.undo(output).await.unwrap_err().to_string();
        assert!(error.contains("may edit the agent"), "{error}");
    }
    // Each user's own is another thing.
    bench.ask_as(USER);
    assert!(!reads(&bench).await.contains("Tuesdays"));
}

#[tokio::test]
async fn without_a_user_nothing_is_kept_or_read() {
    let mut bench = Bench::new();
    (bench.scope.user, bench.scope.kept_for) = (None, None);
    let reading = [("notes_list", json!({})), ("notes_read", json!({"title": "a"})), ("reminders_list", json!({}))];
    for (tool, arguments) in writes().into_iter().chain(reading) {
        let error = bench.refused(tool, arguments).await;
        assert!(error.contains("no user in particular"), "{tool}: {error}");
    }
    // Nor for all: nobody is there whose right that would be.
    bench.scope.kept_for = Some(KeptFor::Everybody);
    for (tool, arguments) in writes() {
        assert!(bench.refused(tool, arguments).await.contains("may edit the agent"), "{tool}");
    }
}

#[tokio::test]
async fn what_is_kept_says_where_it_comes_from() {
    let mut bench = Bench::new();
    let page = Provenance {
        level: Some(Classified {
            classification: Classification::Confidential,
            label: "people".into(),
            source: "hr/pay.csv".into(),
        }),
        ..Provenance::from_outside("https://example.org")
    };
    bench.scope.provenance = page.clone();
    for (tool, arguments) in writes() {
        bench.ok(tool, arguments).await;
    }
    // A run that has seen nothing of it.
    bench.scope.provenance = Provenance::default();
    for (tool, arguments) in [
        ("notes_list", json!({})),
        ("notes_list", json!({"query": "tuesdays"})),
        ("notes_read", json!({"title": "therapy"})),
        ("reminders_list", json!({"all": true})),
        ("db_query", json!({"sql": "SELECT amount FROM ai_pay"})),
        ("db_query", json!({"sql": "SELECT amount FROM ai_none"})),
        ("save_memory", json!({"text": "is called Dana"})),
        ("notes_create", json!({"title": "therapy", "text": "at nine", "mode": "append"})),
    ] {
        assert_eq!(bench.ok(tool, arguments).await.provenance, page, "{tool}");
    }
    let memories = bench.facts.memories.lock().unwrap().clone();
    assert!(memories.values().all(|memory| memory.provenance == page));
    let doc = bench.facts.database_doc(bench.scope.tenant, bench.scope.agent, KeptFor::User(USER)).await.unwrap();
    assert_eq!(doc.provenance, page);
    let error = bench.refused("notes_read", json!({"title": "therapi"})).await;
    assert!(!error.contains("therapy"), "an error brings in no title that others wrote: {error}");
    // What is replaced by a run that has seen nothing from outside comes from nowhere.
    bench.ok("notes_create", json!({"title": "therapy", "text": "own words"})).await;
    assert_eq!(bench.ok("notes_read", json!({"title": "therapy"})).await.provenance, Provenance::default());
}

#[tokio::test]
async fn no_database_stays_open() {
    let mut bench = Bench::new();
    for number in 0..20 {
        bench.ask_as(UserId(Uuid::from_u128(100 + number)));
        bench.ok("db_query", json!({"sql": "CREATE TABLE ai_n(n)"})).await;
    }
    let databases = bench.outside().join("data");
    let open = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| entry.unwrap().path().read_link().ok());
    let left: Vec<_> = open.filter(|file| file.starts_with(&databases)).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn what_is_told_of_a_kept_text_without_changing_it_has_its_provenance() {
    let mut bench = Bench::new();
    let page = Provenance {
        level: Some(Classified {
            classification: Classification::Confidential,
            label: "hr".to_owned(),
            source: "hr/pay.csv".to_owned(),
        }),
        ..Provenance::from_outside("https://example.org")
    };
    bench.scope.provenance = page.clone();
    bench.ok("reminders_create", json!({"text": "dentist: wire 500 to eve", "at": "2026-11-21T15:30"})).await;
    bench.scope.provenance = Provenance::default();
    assert_eq!(bench.ok("reminders_done", json!({"text": "dentist"})).await.provenance, page);
    let again = bench.ok("reminders_done", json!({"text": "dentist"})).await;
    assert!(again.content.contains("done already"), "{}", again.content);
    assert_eq!(again.provenance, page);
}

#[tokio::test]
async fn a_near_miss_tells_nothing_confidential() {
    let mut bench = Bench::new();
    bench.scope.provenance.level = Some(Classified {
        classification: Classification::Confidential,
        label: "hr".to_owned(),
        source: "hr/pay.csv".to_owned(),
    });
    for at in ["2026-11-21T10:00", "2026-11-21T11:00"] {
        bench.ok("reminders_create", json!({"text": format!("raise Dana to 90000 {at}"), "at": at})).await;
    }
    bench.ok("notes_create", json!({"title": "Dana leaves", "text": "in May"})).await;
    bench.scope.provenance = Provenance::default();
    let several = bench.refused("reminders_done", json!({"text": "raise"})).await;
    assert!(several.contains("several") && !several.contains("90000"), "{several}");
    let missing = bench.refused("notes_read", json!({"title": "Dana leave"})).await;
    assert!(!missing.contains("Dana leaves"), "{missing}");
}
