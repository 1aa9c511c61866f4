//! A run whose client leaves is stopped. If the client comes back, the same run goes on from its log, as after a crash; so
//! does one that its model failed in passing.

use super::RunService;
use crate::error::EngineError;
use crate::run::journal::{Journal, fold_log, status_write};
use crate::service::start::NewRun;
use std::time::Duration;
use steward_core::RunId;
use steward_core::event::{EventBody, RequestedBy};
use steward_core::ports::{Claim, Command, RunStatus};

/// How often, and after which time each, a run is asked for that somebody else holds just now.
const TRIES: u32 = 40;
const BETWEEN: Duration = Duration::from_millis(50);

impl RunService {
    /// The program that asked for the run has closed its connection: it stops, unless it waits for a person.
    pub async fn leave(&self, run: RunId, by: impl Into<RequestedBy>) -> Result<(), EngineError> {
        let RequestedBy { name: by, source } = by.into();
        self.command(run, Command::ClientLeft { by, source: source.map(Box::new) }).await
    }

    /// Takes a run up again that was stopped because its client had left, or that its model failed in passing; `false`: it
    /// has ended for another reason.
    pub async fn go_on(&self, run: RunId) -> Result<bool, EngineError> {
        let deps = &self.inner.deps;
        for _ in 0..TRIES {
            let state = fold_log(deps, run).await?;
            if !state.is_finished() {
                return Ok(true);
            }
            if !state.may_go_on() {
                return Ok(false);
            }
            if let Some(child) = state.child_left() {
                match Box::pin(self.go_on(child)).await {
                    Ok(_) | Err(EngineError::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            if self.take_up(run).await? {
                return Ok(true);
            }
            tokio::time::sleep(BETWEEN).await;
        }
        Err(EngineError::Invalid(format!("run {run} is being undone just now; send the request again in a moment")))
    }

    /// `false`: somebody else holds it, or has taken it up.
    async fn take_up(&self, run: RunId) -> Result<bool, EngineError> {
        let deps = &self.inner.deps;
        let until = self.lease_end();
        let (config, now) = (deps.config.get(), deps.clock.now());
        let Some(lease) = deps.store.claim(deps.tenant, Claim::Ended(run), &config.node, now, until).await? else {
            return Ok(false);
        };
        let mut journal = Journal::load(deps.clone(), lease.clone()).await?;
        if !journal.state.may_go_on() {
            deps.store.release(&lease).await?;
            return Ok(false);
        }
        let resumed = EventBody::RunResumed { node: config.node.clone(), after_stop: true };
        let running = status_write(&journal.state, RunStatus::Running);
        journal.commit(vec![resumed], vec![running]).await?;
        let slot = self.inner.slots.take();
        self.begin(NewRun { lease, state: journal.state }, slot, until).await;
        Ok(true)
    }
}
