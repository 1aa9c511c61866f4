use super::decide::ask_person;
use super::render::Renderer;
use super::report::report;
use crate::client::{Client, is_already_decided};
use crate::term::{Exit, Term, print_json};
use anyhow::bail;
use futures::StreamExt;
use steward_core::approval::{Answer, Subject};
use steward_core::event::{Event, EventBody, Outcome};
use steward_core::policy::{GrantScope, RiskClass};
use steward_core::{ApprovalId, RunId};

#[derive(Debug, Clone, Copy)]
pub struct Follow {
    /// With JSON, one object is printed at the end and nobody is asked.
    pub term: Term,
    pub verbose: bool,
    pub yes: bool,
}

impl Follow {
    /// For commands without flags of their own.
    pub fn plain(term: Term) -> Self {
        Self { term, verbose: false, yes: false }
    }

    /// Follows until the run ends or waits for someone who is not here. Ctrl-C stops the run.
    pub async fn to_end(self, client: &Client, run: RunId, after: u64) -> anyhow::Result<Exit> {
        let mut events = client.events(run, after);
        let mut renderer = Renderer::new(self.term, self.verbose);
        let mut log: Vec<Event> = Vec::new();
        let mut stopping = false;
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                signal = tokio::signal::ctrl_c() => {
                    signal?;
                    if stopping {
                        return Ok(Exit::Refused);
                    }
                    stopping = true;
                    self.term.say("stopping… (again to leave at once)");
                    client.stop(run).await?;
                    continue;
                }
            };
            let Some(event) = event.transpose()? else { bail!("the log of run {run} ended early") };
            if !self.term.json {
                renderer.event(&event);
            }
            match &event.body {
                EventBody::RunDelegated { child, agent, .. } if !self.term.json => self.term.note(&format!(
                    "{agent} works on a part of it in run {child}; what it asks stands in `steward approvals`"
                )),
                EventBody::ApprovalRequested { approval_id, subject, .. } => {
                    let answered = self.answer(client, *approval_id, subject).await?;
                    if !answered {
                        return Ok(self.parked(run, *approval_id, &log));
                    }
                }
                EventBody::RunFinished { outcome, answer, composed, receipts, .. } => {
                    let exit = exit_of(outcome);
                    if self.term.json {
                        log.push(event.clone());
                        print_json(&report(run, &log));
                    } else {
                        renderer.finished(outcome, answer, *composed, receipts.as_ref());
                    }
                    return Ok(exit);
                }
                _ => {}
            }
            if !matches!(event.body, EventBody::ModelDelta { .. }) {
                log.push(event);
            }
        }
    }

    async fn answer(self, client: &Client, id: ApprovalId, subject: &Subject) -> anyhow::Result<bool> {
        let Some(answer) = self.find_answer(subject).await? else {
            return Ok(false);
        };
        match client.decide(id, &answer).await {
            Err(error) if is_already_decided(&error) => {
                self.term.note(&error.to_string());
                Ok(true)
            }
            decided => decided.map(|()| true),
        }
    }

    async fn find_answer(self, subject: &Subject) -> anyhow::Result<Option<Answer>> {
        if self.yes && covered(subject) {
            return Ok(Some(Answer::Approve { grant: Some(GrantScope::AllButDestructive), until: None }));
        }
        if !self.term.can_ask || self.term.json {
            return Ok(None);
        }
        let (term, subject) = (self.term, subject.clone());
        Ok(tokio::task::spawn_blocking(move || ask_person(term, &subject)).await?)
    }

    fn parked(self, run: RunId, id: ApprovalId, log: &[Event]) -> Exit {
        if self.term.json {
            print_json(&report(run, log));
        }
        self.term.clear();
        self.term.say("waits for a person; nothing more was done.");
        self.term.say("  steward approvals             what is asked");
        self.term.say(&format!("  steward approvals approve {id}"));
        self.term.say(&format!("  steward resume {run}"));
        Exit::Waiting
    }
}

/// What `-y` approves: nothing that a page or a mail may have asked for. Approving a plan leaves its steps that can't
/// be undone to be asked one by one.
fn covered(subject: &Subject) -> bool {
    match subject {
        Subject::Call { risk, taint, .. } => *risk != RiskClass::Destructive && taint.is_empty(),
        Subject::Plan { taint, .. } => taint.is_empty(),
        Subject::Uncertain { .. } | Subject::Question { .. } => false,
    }
}

fn exit_of(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Completed => Exit::Done,
        Outcome::Failed { .. } | Outcome::Limited { .. } => Exit::Failed,
        Outcome::Stopped { .. } | Outcome::Rejected => Exit::Refused,
    }
}
