//! What must be true after any number of crashes. Told by what nodes said, what clients got and
//! what the outside world counted, not by the program itself.

use crate::crash::bed::{Bed, TENANT};
use crate::crash::settle::runs;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use steward_core::budget::Limit;
use steward_core::event::{Event, EventBody, Outcome};
use steward_core::ports::{RunRow, RunStatus, RunStore as _};

/// Figures of a test.
#[derive(Debug, Default)]
pub struct Found {
    pub acked: usize,
    pub accepted: usize,
    pub runs: usize,
    pub events: usize,
    pub resumed: usize,
    pub uncertain: usize,
    pub effects: u64,
    pub repeats: usize,
    pub limited: usize,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} acknowledged events, {} accepted requests, {} runs, {} events, {} resumptions, {} uncertain writes, {} effects, {} keys with repeats, {} runs at their limit of model calls",
            self.acked,
            self.accepted,
            self.runs,
            self.events,
            self.resumed,
            self.uncertain,
            self.effects,
            self.repeats,
            self.limited
        )
    }
}

/// One tool call in a log.
#[derive(Debug, Default)]
struct Call {
    tool: String,
    keys: BTreeSet<String>,
    intents: usize,
    results: usize,
    uncertain: usize,
}

/// Checks everything; panics with what is wrong.
pub async fn judge(bed: &Bed) -> Found {
    let store = bed.store().await;
    store.check().await.unwrap();
    let rows = runs(&store).await;
    let mut found = Found { runs: rows.len(), ..Found::default() };
    let mut kinds: BTreeMap<(String, u64), &'static str> = BTreeMap::new();
    let mut known = BTreeSet::new();
    let counts = bed.effects.counts();
    for row in &rows {
        let stored = store.events(TENANT, row.id, 0, 10_000).await.unwrap();
        let events: Vec<Event> = stored.into_iter().map(|stored| stored.event).collect();
        judge_log(row, &events);
        for event in &events {
            kinds.insert((row.id.to_string(), event.seq), event.body.kind());
            found.resumed += usize::from(matches!(event.body, EventBody::RunResumed { .. }));
        }
        found.events += events.len();
        let calls = calls(&events);
        let mut effects = 0;
        for (id, call) in &calls {
            let at = format!("run {} call {id}: {call:?}", row.id);
            assert_eq!(call.keys.len(), 1, "a call has one key; {at}");
            let key = call.keys.first().unwrap();
            let count = counts.get(key).map_or(0, |count| count.effects);
            assert!(known.insert(key.clone()), "a key belongs to one call; {at}");
            if call.tool == "effect_write" {
                assert!(count <= 1, "a write happened {count} times; {at}");
                assert_eq!(call.intents, 1, "a write is not tried again; {at}");
                assert_eq!(call.uncertain, 1 - call.results, "a write has a result, or a person was asked; {at}");
            } else {
                assert_eq!((call.results, call.uncertain), (1, 0), "what may be repeated ends with one result; {at}");
            }
            assert!(call.results == 0 || count >= 1, "a result without an effect; {at}");
            found.uncertain += call.uncertain;
            effects += u64::from(call.tool == "effect_write") * count;
        }
        let limited = outcome(&events) != &Outcome::Completed;
        found.limited += usize::from(limited);
        assert!(calls.len() == 1 || limited && calls.is_empty(), "each request is one call; run {}: {calls:?}", row.id);
        assert!(effects <= 1, "run {} wrote {effects} times", row.id);
    }
    for (key, count) in &counts {
        assert!(known.contains(key), "an effect without an intent in a log: {key}");
        found.effects += count.effects;
        found.repeats += usize::from(count.effects > 1);
    }
    for ack in bed.acks.lock().unwrap().iter() {
        let kind = kinds.get(&(ack.run.clone(), ack.seq));
        assert_eq!(kind, Some(&ack.kind.as_str()), "acknowledged, and not so in the log: {ack:?}");
        found.acked += 1;
    }
    for mark in bed.accepted.lock().unwrap().iter() {
        let of = rows.iter().filter(|row| row.title.contains(mark)).count();
        assert_eq!(of, 1, "runs of the accepted request {mark}");
        found.accepted += 1;
    }
    found
}

/// What holds for every log by itself.
fn judge_log(row: &RunRow, events: &[Event]) {
    let id = row.id;
    assert_eq!(row.status, RunStatus::Finished, "run {id} has not ended");
    assert_eq!(row.last_seq, events.last().map_or(0, |event| event.seq), "run {id}: its row and its log differ");
    for (event, seq) in events.iter().zip(1..) {
        assert_eq!(event.seq, seq, "run {id} has a gap or a duplicate");
    }
    assert!(
        events.is_sorted_by_key(|event| event.epoch),
        "run {id}: an event of an older epoch follows one of a newer"
    );
    assert!(matches!(events[0].body, EventBody::RunStarted { .. }), "run {id} begins with {:?}", events[0].body);
    let ends: Vec<_> = events.iter().filter(|event| matches!(event.body, EventBody::RunFinished { .. })).collect();
    assert_eq!(ends.len(), 1, "run {id} ends once");
    match outcome(events) {
        Outcome::Completed => {}
        // As many calls as the budget has may be cut off by crashes before they count, else a run
        // that kills its node would go on for ever.
        Outcome::Limited { limit: Limit::ModelCalls, .. } => {
            let EventBody::RunStarted { setup, .. } = &events[0].body else { unreachable!() };
            let count = |kind: &str| events.iter().filter(|event| event.body.kind() == kind).count();
            let (made, answered) = (count("model.requested"), count("model.responded"));
            let cut_off = made - answered - count("model.failed");
            let most = setup.budget.model_calls as usize;
            assert_eq!(made - cut_off.min(most), most, "run {id} was not at its limit");
            assert!(answered < 2, "run {id} had its two replies and asked for more");
        }
        other => panic!("run {id} ends with {other:?}"),
    }
    // A reply that was committed is never asked for again.
    let mut answered = BTreeSet::new();
    for event in events {
        match &event.body {
            EventBody::ModelResponded { step, .. } => {
                assert!(answered.insert(*step), "run {id}: two replies of step {step}");
            }
            EventBody::ModelRequested { step, .. } => {
                assert!(!answered.contains(step), "run {id}: step {step} was asked for again");
            }
            _ => {}
        }
    }
}

fn outcome(events: &[Event]) -> &Outcome {
    match &events.last().unwrap().body {
        EventBody::RunFinished { outcome, .. } => outcome,
        other => panic!("the last event is {other:?}"),
    }
}

fn calls(events: &[Event]) -> BTreeMap<String, Call> {
    let mut calls: BTreeMap<String, Call> = BTreeMap::new();
    for event in events {
        match &event.body {
            EventBody::ToolIntent { call_id, tool, idempotency_key, .. } => {
                let call = calls.entry(call_id.clone()).or_default();
                call.tool.clone_from(tool);
                call.keys.insert(idempotency_key.clone());
                call.intents += 1;
            }
            EventBody::ToolResult { call_id, .. } => {
                calls.get_mut(call_id).expect("a result needs an intent").results += 1;
            }
            EventBody::ToolUncertain { call_id, .. } => {
                calls.get_mut(call_id).expect("so does a doubt").uncertain += 1;
            }
            EventBody::ToolRejected { call_id, message, .. } => panic!("{call_id} was rejected: {message}"),
            _ => {}
        }
    }
    calls
}
