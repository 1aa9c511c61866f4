//! Answers that an endpoint of the OpenAI dialect keeps: looked at, cancelled and deleted where they were made.

use super::Router;
use super::passthrough_answer::passed;
use crate::openai::{KeptPath, Outgoing, Place, bytes};
use reqwest::Method;
use std::time::Duration;
use steward_core::model::{Connection, ModelError, ModelErrorClass};
use steward_core::ports::{KeptResponse, Passed};

impl Router {
    /// One attempt; the endpoint's answer comes back as it is, whatever its status.
    pub(super) async fn ask_for_kept(
        &self,
        connection: &Connection,
        asked: &KeptResponse,
        deadline_ms: u64,
    ) -> Result<Passed, ModelError> {
        let method = Method::from_bytes(asked.method.as_bytes()).map_err(|_| {
            ModelError::new(
                ModelErrorClass::BadRequest,
                format!("{} is no method", asked.method),
                "send GET, POST or DELETE".to_owned(),
            )
        })?;
        let segments = std::iter::once(asked.id.clone()).chain(asked.part.map(str::to_owned)).collect();
        let path = KeptPath { segments, query: asked.query.clone() };
        let outgoing = Outgoing::empty(method, Place::Kept(path));
        let limits = self.client().limits_of(Duration::from_millis(deadline_ms), 0);
        let (origin, response) = self.client().send(connection, &outgoing, &limits).await?;
        let (status, headers) = (response.status().as_u16(), passed(response.headers()));
        let body = bytes(origin, response, limits);
        Ok(Passed { connection: connection.clone(), attempts: Vec::new(), status, headers, body })
    }
}
