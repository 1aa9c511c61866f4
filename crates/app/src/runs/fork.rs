use crate::agent_lookup::of;
use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, authorize};
use crate::dto::conversations::ChatStarted;
use crate::dto::runs::Fork;
use steward_core::ports::RunRow;
use steward_core::{ConnectionId, ConversationId, RunId};
use steward_engine::{ForkRun, StartRun};

impl App {
    /// Begins another run from where a model is asked on, with the agent and the rights of now; the run's conversation is
    /// forked before it, too.
    pub async fn fork_run(&self, caller: &Caller, id: RunId, wanted: Fork) -> AppResult<ChatStarted> {
        let row = self.run_of(caller, Action::Operate, id).await?;
        self.check_fork(&row, &wanted).await?;
        let agent = self.live_agent(row.agent).await.map_err(|error| match error.kind {
            ErrorKind::NotFound => AppError::conflict(
                "agent_deleted",
                format!("the agent of run {id} was deleted"),
                "restore the agent, or send the request to another one",
            ),
            _ => error,
        })?;
        authorize(caller, Action::Ask, of(&agent))?;
        self.require_disk_room()?;
        let (mut connection, mut planner, mut executor) = (wanted.connection_id, None, None);
        if connection.is_none() {
            (planner, executor) = self.connections_named_for(id).await?;
            if planner == executor {
                (connection, planner, executor) = (executor, None, None);
            }
        }
        for named in [planner, executor].into_iter().flatten() {
            self.may_ask_connection(caller, named).await?;
        }
        self.check_connection(caller, &agent, connection).await?;
        let conversation = self.branch(caller, &row).await?;
        // What was allowed with a request was for that run: a fork asks again.
        let start = StartRun {
            conversation,
            connection,
            planner,
            executor,
            grants: Vec::new(),
            ..self.run_of_agent(caller, agent, wanted.input.unwrap_or_default())
        };
        let fork = ForkRun { run: id, seq: wanted.seq, start };
        match self.runs.fork(fork).await {
            Ok(run) => Ok(ChatStarted { run_id: run, conversation_id: conversation }),
            Err(error) => {
                if let Some(id) = conversation {
                    self.discard_conversation(id).await;
                }
                Err(error.into())
            }
        }
    }

    /// The connections that a person chose for the plans of the run and for the rest, if they are there.
    async fn connections_named_for(&self, run: RunId) -> AppResult<(Option<ConnectionId>, Option<ConnectionId>)> {
        let Some(setup) = self.runs.state(run).await?.setup else { return Ok((None, None)) };
        let executor = setup.names_connection.then_some(setup.connection);
        let planner = match setup.planner.as_deref() {
            Some(planner) => planner.named.then_some(planner.connection),
            // One connection was named for all of it.
            None => executor,
        };
        let mut there = Vec::new();
        for named in [planner, executor] {
            there.push(match named {
                Some(id) => self.deps().models.select(Some(id)).await.is_ok().then_some(id),
                None => None,
            });
        }
        Ok((there[0], there[1]))
    }

    /// Refuses before anything is written.
    async fn check_fork(&self, row: &RunRow, wanted: &Fork) -> AppResult<()> {
        let points = self.runs.forkable(row.id).await?;
        let first = points.first().map(|point| point.seq);
        let Some(first) = first else {
            return Err(AppError::conflict(
                "not_forkable",
                format!("run {} has not asked a model yet", row.id),
                "wait until it has, or send its request again",
            ));
        };
        if let Some(seq) = wanted.seq
            && !points.iter().any(|point| point.seq == seq)
        {
            let places: Vec<_> = points.iter().map(|point| point.seq.to_string()).collect();
            return Err(AppError::invalid(
                "seq",
                format!("the run can't be forked at {seq}"),
                format!("choose one of {}", places.join(", ")),
            ));
        }
        if let Some(input) = &wanted.input {
            if input.trim().is_empty() {
                return Err(AppError::invalid(
                    "input",
                    "the request is empty",
                    "say what is to be done, or leave `input` out to keep the request",
                ));
            }
            if wanted.seq.is_some_and(|seq| seq != first) {
                return Err(AppError::invalid(
                    "input",
                    "another request can only be given at the first place",
                    format!("leave `seq` out, or give {first}"),
                ));
            }
        }
        Ok(())
    }

    /// The run's conversation before it, as a new one of whoever forks; the run's log holds what was said anyway.
    async fn branch(&self, caller: &Caller, row: &RunRow) -> AppResult<Option<ConversationId>> {
        let Some(id) = row.conversation else {
            return Ok(None);
        };
        let from = self.store.conversation(self.tenant(), id).await?;
        let copy = self.copy_conversation(caller, from, Some(row.id)).await?;
        Ok(Some(copy.id))
    }
}
