//! Requests over NATS: from the connection to the door of the API, for as long as the server runs.

use crate::settings::Settings;
use anyhow::anyhow;
use std::sync::Arc;
use steward_api::{ApiState, NATS_SUBJECTS, NatsDoor, NatsMessage};
use steward_app::{Check, Found};
use steward_core::live::Live;
use steward_infra::{NatsConnection, NatsRequest};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// `None`: no NATS server is named. One that is not there does not keep the program from starting.
pub async fn open(settings: &Settings) -> anyhow::Result<Option<Arc<NatsConnection>>> {
    let Some(config) = &settings.nats else { return Ok(None) };
    let opened = NatsConnection::open(config).await;
    Ok(Some(Arc::new(opened.map_err(|why| anyhow!("NATS can't be used: {why}; look at the settings NATS_…"))?)))
}

/// Finds nothing while no server is named.
pub fn check(connection: Live<Option<Arc<NatsConnection>>>) -> Check {
    let look = move || {
        let connection = connection.get();
        let found = connection.iter().map(|connection| match connection.status() {
            Ok(detail) => Found::ok(detail),
            Err(why) => {
                Found::down(why, "start the NATS server, or correct the settings NATS_…; it is tried again by itself")
            }
        });
        std::future::ready(found.collect())
    };
    Check::new("NATS", look.clone()).quick(look)
}

/// The task that answers.
pub struct Answering {
    task: JoinHandle<()>,
    /// Email of the user as whom those run that bring no key.
    pub act_as: Option<String>,
    stop: CancellationToken,
}

impl Answering {
    pub fn start(connection: Arc<NatsConnection>, state: ApiState, act_as: Option<&str>) -> Self {
        let door = Arc::new(NatsDoor::new(state, act_as));
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let task = tokio::spawn(async move {
            let answer = move |request: NatsRequest| {
                let door = Arc::clone(&door);
                async move { door.answer(message(&request)).await }
            };
            if let Err(error) = connection.serve(&NATS_SUBJECTS, answer, stopped).await {
                tracing::error!(error, "requests over NATS are not answered");
            }
        });
        Self { task, stop, act_as: act_as.map(str::to_owned) }
    }

    /// Takes no more requests, and waits a moment for those at work.
    pub async fn stop(self) {
        self.stop.cancel();
        let _ended = self.task.await;
    }
}

fn message(request: &NatsRequest) -> NatsMessage<'_> {
    NatsMessage {
        subject: &request.subject,
        authorization: request.authorization.as_deref(),
        payload: &request.payload,
        longest_answer: request.longest_answer,
    }
}
