//! The end of a run: answer, status and conversation in one transaction.

use crate::run::journal::Journal;
use crate::run::references::taint_of;
use steward_core::event::{EventBody, Outcome};
use steward_core::governance::higher;
use steward_core::message::Message;
use steward_core::ports::{Command, RunStatus, SideWrite, StoreError, StoreResult};
use steward_core::reference::{Citation, cited};
use steward_core::run::{AnswerFrom, CallStatus, answer_text, receipts_for};

pub(crate) async fn finish(journal: &mut Journal, outcome: Outcome, answer: AnswerFrom) -> StoreResult<()> {
    let state = &journal.state;
    let composed = answer == AnswerFrom::Observations;
    let from = answer;
    let answer = answer_text(state, &from);
    let receipts = receipts_for(state, &from, &answer);
    let verdict = receipts.verdict;
    // A run that is stopped after a crash must still say which writes it can't vouch for.
    let mut events: Vec<EventBody> = state
        .calls
        .iter()
        .filter(|entry| matches!(entry.status, CallStatus::Intent { .. } | CallStatus::CutOff { .. }))
        .map(|entry| EventBody::ToolUncertain {
            call_id: entry.call.id.clone(),
            tool: entry.call.name.clone(),
            why: "the run was stopped before it was looked at".to_owned(),
        })
        .collect();
    events.push(EventBody::RunFinished {
        outcome: outcome.clone(),
        answer: answer.clone(),
        composed,
        usage: state.usage,
        receipts: Some(receipts),
    });
    let mut side = vec![
        SideWrite::WithdrawApprovals,
        SideWrite::Status {
            status: RunStatus::Finished,
            outcome: Some(outcome),
            answer: Some(answer.clone()),
            tokens: state.spent.tokens,
            cost_micros: state.spent.cost_micros,
            verdict: Some(verdict),
        },
    ];
    if let Some(setup) = &state.setup
        && let Some(conversation) = setup.conversation
    {
        let classified = &state.classified;
        let documents = setup.documents.clone();
        let mut messages = vec![Message { classified: classified.clone(), documents, ..Message::user(&setup.input) }];
        if !answer.is_empty() {
            let references = state.references();
            let cited = cited(&answer, &references);
            let mut taint = state.sources();
            for one in cited.iter().filter_map(|one| taint_of(one)) {
                if taint.iter().all(|known| known.origin != one.origin) {
                    taint.push(one);
                }
            }
            let classified = cited.iter().fold(classified.clone(), |seen, one| higher(seen, one.classified.clone()));
            let citations = cited.into_iter().map(Citation::from).collect();
            messages.push(Message { taint, classified, citations, ..Message::assistant(&answer) });
        }
        side.push(SideWrite::Messages(conversation, messages));
        let carried = state.carried();
        // What another agent's prompts begin with is no beginning for those of the conversation's own.
        let redirected = setup.redirected.as_ref().is_some_and(|to| to.from.is_some());
        if carried != setup.carried && !redirected {
            side.push(SideWrite::Carried(conversation, carried));
        }
    }
    if let Some(parent) = state.setup.as_ref().and_then(|setup| setup.parent) {
        let ended = Command::ChildEnded { run: state.run_id };
        side.push(SideWrite::Enqueue(parent, ended));
    }
    match journal.commit(events, side).await {
        // Somebody said something at the last moment: it is taken in first.
        Err(StoreError::CommandsWaiting { .. }) => Ok(()),
        other => other,
    }
}
