//! Calls that were cut off, and what the world says of them.

use crate::calendar;
use crate::fakes::{Bench, call};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use steward_core::hash;
use steward_core::ports::{Authorized, Interrupted, Stage, Tools as _};
use steward_core::tool::{Settled, Staged, ToolError, ToolOutput};

/// Takes down what is told; the node may die right then.
#[derive(Debug, Default)]
struct Log {
    dies: bool,
    told: Mutex<Option<Staged>>,
}

#[async_trait]
impl Stage for Log {
    async fn stage(&self, staged: Staged) -> Result<(), ToolError> {
        // Through text, as the event log keeps it.
        let text = serde_json::to_string(&staged).unwrap();
        *self.told.lock().unwrap() = Some(serde_json::from_str(&text).unwrap());
        if self.dies {
            return Err(ToolError::Fatal("killed".to_owned()));
        }
        Ok(())
    }
}

/// Runs a call until it has told what it does, or to its end.
async fn told(
    bench: &Bench,
    tool: &str,
    arguments: &Value,
    dies: bool,
) -> (Result<ToolOutput, ToolError>, Option<Staged>) {
    let log = Arc::new(Log { dies, ..Log::default() });
    let authorized = Authorized {
        stage: Some(log.clone()),
        args_hash: hash::of_json(arguments),
        call: call(tool, arguments.clone()),
        idempotency_key: "run:1".to_owned(),
    };
    let done = bench.tools.run(authorized, &bench.scope).await;
    let staged = log.told.lock().unwrap().take();
    (done, staged)
}

async fn settled(bench: &Bench, tool: &str, arguments: &Value, staged: Option<Staged>) -> Settled {
    let interrupted = Interrupted {
        call: call(tool, arguments.clone()),
        idempotency_key: "run:1".to_owned(),
        staged,
        later: Vec::new(),
    };
    bench.tools.settle(interrupted, &bench.scope).await
}

fn append() -> Value {
    json!({"path": "log.txt", "content": "again", "mode": "append"})
}

fn files(bench: &Bench) -> usize {
    std::fs::read_dir(&bench.scope.workspace).unwrap().count()
}

#[tokio::test]
async fn a_write_that_came_through_is_recognised_whatever_is_added_since() {
    for args in [append(), json!({"path": "log.txt", "content": "whole"})] {
        let bench = Bench::new();
        std::fs::write(bench.scope.workspace.join("log.txt"), "again\n").unwrap();
        let (done, staged) = told(&bench, "write", &args, false).await;
        assert_eq!(done.unwrap(), staged.as_ref().unwrap().output);
        let found = settled(&bench, "write", &args, staged.clone()).await;
        assert!(matches!(found, Settled::Happened(_)), "{found:?}");
        let more = bench.text("log.txt") + "more\n";
        std::fs::write(bench.scope.workspace.join("log.txt"), more).unwrap();
        let found = settled(&bench, "write", &args, staged.clone()).await;
        assert!(matches!(found, Settled::Happened(_)), "{found:?}");
        std::fs::write(bench.scope.workspace.join("log.txt"), "another").unwrap();
        let found = settled(&bench, "write", &args, staged).await;
        assert!(matches!(found, Settled::Unknown(_)), "{found:?}");
    }
}

#[tokio::test]
async fn an_append_that_did_not_happen_runs_again_though_somebody_wrote_the_same() {
    let bench = Bench::new();
    let before = files(&bench);
    let (done, staged) = told(&bench, "write", &append(), true).await;
    assert!(done.is_err());
    assert_eq!(files(&bench), before + 1, "only what waits");
    std::fs::write(bench.scope.workspace.join("log.txt"), "again\n").unwrap();
    let found = settled(&bench, "write", &append(), staged).await;
    assert!(matches!(found, Settled::NotHappened(_)), "{found:?}");
    told(&bench, "write", &append(), false).await.0.unwrap();
    assert_eq!(bench.text("log.txt"), "again\nagain\n");
    assert_eq!(files(&bench), before + 1, "nothing waits any more");
}

#[tokio::test]
async fn a_file_that_was_to_be_replaced_and_changed_since_is_left_to_a_person() {
    let bench = Bench::new();
    std::fs::write(bench.scope.workspace.join("a.txt"), "old").unwrap();
    let args = json!({"path": "a.txt", "content": "new"});
    let (_, staged) = told(&bench, "write", &args, true).await;
    let found = settled(&bench, "write", &args, staged.clone()).await;
    assert!(matches!(found, Settled::NotHappened(_)), "{found:?}");
    std::fs::write(bench.scope.workspace.join("a.txt"), "theirs").unwrap();
    let found = settled(&bench, "write", &args, staged.clone()).await;
    assert!(matches!(&found, Settled::Unknown(why) if why.contains("changed")), "{found:?}");
    // What waited is gone with that, and shows nothing.
    std::fs::write(bench.scope.workspace.join("a.txt"), "old").unwrap();
    let found = settled(&bench, "write", &args, staged).await;
    assert!(matches!(found, Settled::Unknown(_)), "{found:?}");
}

#[tokio::test]
async fn what_was_not_told_has_not_begun_and_what_tells_nothing_is_unknown() {
    let bench = Bench::new();
    let found = settled(&bench, "write", &append(), None).await;
    assert!(matches!(found, Settled::NotHappened(_)), "{found:?}");
    let list = json!({"path": "."});
    let found = settled(&bench, "list", &list, None).await;
    assert!(matches!(found, Settled::Unknown(_)), "{found:?}");
}

#[tokio::test]
async fn a_write_that_is_undone_twice_is_as_it_was() {
    let bench = Bench::new();
    let wrote = bench.ok("write", append()).await;
    let more = bench.ok("write", append()).await;
    assert!(bench.undo(&more).await.unwrap().contains("restored"));
    assert!(bench.undo(&more).await.unwrap().contains("already"));
    assert_eq!(bench.text("log.txt"), "again\n");
    bench.undo(&wrote).await.unwrap();
    assert!(bench.undo(&wrote).await.unwrap().contains("already"));
}

#[tokio::test]
async fn a_text_that_was_replaced_before_a_crash_can_still_be_restored() {
    let note = |text: &str| json!({"title": "a", "text": text});
    let memory = |text: &str| json!({"text": text, "mode": "replace"});
    let schema = |text: &str| json!({"schema": text});
    for (tool, [old, new, theirs]) in [
        ("notes_create", ["old", "new", "theirs"].map(note)),
        ("save_memory", ["old", "new", "theirs"].map(memory)),
        ("update_db_schema", ["old", "new", "theirs"].map(schema)),
    ] {
        let bench = Bench::new();
        bench.ok(tool, old).await;
        let found = settled(&bench, tool, &new, None).await;
        assert!(matches!(found, Settled::NotHappened(_)), "{tool}: {found:?}");
        let (done, staged) = told(&bench, tool, &new, true).await;
        assert!(done.is_err(), "{tool}");
        let found = settled(&bench, tool, &new, staged).await;
        assert!(matches!(found, Settled::NotHappened(_)), "{tool}: {found:?}");
        let (done, staged) = told(&bench, tool, &new, false).await;
        let output = staged.as_ref().unwrap().output.clone();
        assert_eq!(done.unwrap(), output, "{tool}");
        let found = settled(&bench, tool, &new, staged.clone()).await;
        assert!(matches!(found, Settled::Happened(_)), "{tool}: {found:?}");
        assert!(bench.undo(&output).await.unwrap().contains("restored"), "{tool}");
        let found = settled(&bench, tool, &new, staged.clone()).await;
        assert!(matches!(found, Settled::NotHappened(_)), "{tool}: the old text is back: {found:?}");
        bench.ok(tool, theirs).await;
        let found = settled(&bench, tool, &new, staged).await;
        assert!(matches!(found, Settled::Unknown(_)), "{tool}: {found:?}");
    }
}

#[tokio::test]
async fn a_reminder_that_was_ticked_off_before_a_crash_can_be_opened_again() {
    let bench = Bench::new();
    bench.ok("reminders_create", json!({"text": "water the plants", "at": "2026-11-21T10:00"})).await;
    let args = json!({"text": "plants"});
    let (_, staged) = told(&bench, "reminders_done", &args, true).await;
    let found = settled(&bench, "reminders_done", &args, staged).await;
    assert!(matches!(found, Settled::NotHappened(_)), "{found:?}");
    let (done, staged) = told(&bench, "reminders_done", &args, false).await;
    assert_eq!(done.unwrap(), staged.as_ref().unwrap().output);
    let found = settled(&bench, "reminders_done", &args, staged.clone()).await;
    assert!(matches!(found, Settled::Happened(_)), "{found:?}");
    assert!(bench.undo(&staged.unwrap().output).await.unwrap().contains("open again"));
}

const EVENT: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:a@other\r\nSUMMARY:Review\r\n\
DTSTART:20261124T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

#[tokio::test]
async fn what_a_calendar_took_over_before_a_crash_can_be_taken_back() {
    let bench = calendar::world::bench();
    bench.put("team.ics", EVENT);
    bench.ok("calendar_import", json!({"path": "team.ics"})).await;
    let before = calendar::world::text(&bench);
    bench.put("moved.ics", EVENT.replace("T100000Z", "T110000Z"));
    let args = json!({"path": "moved.ics"});
    let (done, staged) = told(&bench, "calendar_import", &args, true).await;
    assert!(done.is_err());
    let found = settled(&bench, "calendar_import", &args, staged).await;
    assert!(matches!(found, Settled::NotHappened(_)), "{found:?}");
    let (done, staged) = told(&bench, "calendar_import", &args, false).await;
    assert_eq!(done.unwrap(), staged.as_ref().unwrap().output);
    let found = settled(&bench, "calendar_import", &args, staged.clone()).await;
    assert!(matches!(found, Settled::Happened(_)), "{found:?}");
    bench.undo(&staged.unwrap().output).await.unwrap();
    assert_eq!(calendar::world::text(&bench), before);
}

#[tokio::test]
async fn a_file_that_a_calendar_replaced_before_a_crash_can_be_restored() {
    let bench = calendar::world::bench();
    bench.put("all.ics", "mine");
    let args = json!({"path": "all.ics"});
    let (done, staged) = told(&bench, "calendar_export", &args, true).await;
    assert!(done.is_err());
    assert_eq!(bench.text("all.ics"), "mine");
    let found = settled(&bench, "calendar_export", &args, staged).await;
    assert!(matches!(found, Settled::NotHappened(_)), "{found:?}");
    let (done, staged) = told(&bench, "calendar_export", &args, false).await;
    assert_eq!(done.unwrap(), staged.as_ref().unwrap().output);
    let found = settled(&bench, "calendar_export", &args, staged.clone()).await;
    assert!(matches!(found, Settled::Happened(_)), "{found:?}");
    bench.undo(&staged.unwrap().output).await.unwrap();
    assert_eq!(bench.text("all.ics"), "mine");
}
