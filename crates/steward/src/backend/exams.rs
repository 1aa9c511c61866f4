//! Exams and recognition of models.

use super::Backend;
use super::client::Client;
use super::refused::Refused;
use super::sse::Reader;
use anyhow::{Context, anyhow, bail};
use reqwest::Method;
use serde_json::{Value, json};
use steward_core::ConnectionId;
use steward_core::exam::{Check, ExamReport};
use steward_core::model::ModelError;
use steward_core::ports::{Examiner as _, Recognised};

impl Backend {
    /// Examines the model of a connection; `progress` is told each check.
    pub async fn examine(
        &self,
        id: ConnectionId,
        progress: &(dyn Fn(&Check) + Send + Sync),
    ) -> anyhow::Result<ExamReport> {
        match self {
            Self::InProcess(app) => app.connections.examine(id, progress).await.map_err(told),
            Self::Remote(client) => remote(client, id, progress).await,
        }
    }

    /// The last report of a connection.
    pub async fn report(&self, id: ConnectionId) -> anyhow::Result<Option<ExamReport>> {
        match self {
            Self::InProcess(app) => Ok(app.connections.report(id).await),
            Self::Remote(client) => {
                let found = client.get(&format!("/api/connections/{id}/exam")).await;
                match found {
                    Ok(report) => Ok(Some(report)),
                    Err(error) if is_absent(&error) => Ok(None),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Says what answers at an address.
    pub async fn recognise(&self, url: &str, auth: &Value) -> anyhow::Result<Recognised> {
        let body = json!({"base_url": url, "auth": auth});
        let path = "/api/connections/recognise";
        self.api(Method::POST, path, Some(&body)).await
    }
}

fn is_absent(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == 404)
}

fn told(error: ModelError) -> anyhow::Error {
    let detail = error.detail.map_or_else(String::new, |raw| format!(": {raw}"));
    anyhow!("{}{detail}; {}", error.message, error.hint)
}

async fn remote(
    client: &Client,
    id: ConnectionId,
    progress: &(dyn Fn(&Check) + Send + Sync),
) -> anyhow::Result<ExamReport> {
    let path = format!("/api/connections/{id}/exam");
    let mut answer = client.post_stream(&path).await.context("the server does not answer")?;
    let status = answer.status();
    if !status.is_success() {
        let text = answer.text().await.unwrap_or_default();
        return Err(client.refusal(status, &text));
    }
    let mut reader = Reader::default();
    while let Some(bytes) = answer.chunk().await.context("the exam broke off")? {
        for message in reader.push(&bytes)? {
            match message.event.as_str() {
                "check" => progress(&serde_json::from_str(&message.data)?),
                "report" => return Ok(serde_json::from_str(&message.data)?),
                "problem" => {
                    let problem: Value = serde_json::from_str(&message.data)?;
                    let status = problem["status"].as_u64().unwrap_or(500);
                    let status = u16::try_from(status).unwrap_or(500);
                    return Err(Refused::read(status, &message.data).into());
                }
                _ => {}
            }
        }
    }
    bail!("the server ended the exam without a report; examine it again")
}
