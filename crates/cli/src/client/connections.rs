use super::sse::Reader;
use super::{Client, Refused};
use anyhow::{Context, bail};
use futures::TryStreamExt as _;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use steward_core::ConnectionId;
use steward_core::exam::{Check, ExamReport};
use steward_core::model::Connection;
use steward_core::ports::Recognised;

#[derive(Deserialize)]
pub struct KnownConnection {
    #[serde(flatten)]
    pub connection: Connection,
    /// `saved`, `OPENAI_API_KEY`, `Ollama at …`, `built in`.
    pub from: String,
    pub default: bool,
}

impl Client {
    pub async fn connections(&self) -> anyhow::Result<Vec<KnownConnection>> {
        self.all("/api/connections").await
    }

    /// The id of a connection by name; `None` for `None`.
    pub async fn connection_named(&self, name: Option<&str>) -> anyhow::Result<Option<ConnectionId>> {
        let Some(name) = name else { return Ok(None) };
        Ok(Some(self.known_connection(Some(name)).await?.connection.id))
    }

    /// `None` means the one that is used where nothing else is said.
    pub async fn known_connection(&self, name: Option<&str>) -> anyhow::Result<KnownConnection> {
        let mut all = self.connections().await?;
        if let Some(at) = all.iter().position(|one| name.map_or(one.default, |name| one.connection.name == name)) {
            return Ok(all.swap_remove(at));
        }
        let Some(name) = name else {
            bail!("there is no connection; add one with `steward connections add NAME URL`");
        };
        let names: Vec<&str> = all.iter().map(|one| one.connection.name.as_str()).collect();
        bail!("there is no connection `{name}`; there are: {}", names.join(", "))
    }

    pub async fn recognise(&self, url: &str, auth: &Value) -> anyhow::Result<Recognised> {
        self.post("/api/connections/recognise", &json!({"base_url": url, "auth": auth})).await
    }

    pub async fn report(&self, id: ConnectionId) -> anyhow::Result<Option<ExamReport>> {
        match self.get(&format!("/api/connections/{id}/exam")).await {
            Ok(report) => Ok(Some(report)),
            Err(error) if Refused::is(&error, 404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `progress` is called with each check.
    pub async fn examine(&self, id: ConnectionId, progress: impl Fn(&Check)) -> anyhow::Result<ExamReport> {
        let answer = self.stream(Method::POST, &format!("/api/connections/{id}/exam"), None).await;
        let answer = answer.context("the server does not answer")?;
        let status = answer.status();
        let mut body = answer.into_body();
        if !status.is_success() {
            return Err(self.refusal(status, body).await);
        }
        let mut reader = Reader::default();
        while let Some(bytes) = body.try_next().await.context("the exam broke off")? {
            for message in reader.push(&bytes)? {
                match message.event.as_str() {
                    "check" => progress(&serde_json::from_str(&message.data)?),
                    "report" => return Ok(serde_json::from_str(&message.data)?),
                    "problem" => {
                        let problem: Value = serde_json::from_str(&message.data)?;
                        let status = problem["status"].as_u64().and_then(|status| u16::try_from(status).ok());
                        return Err(Refused::read(status.unwrap_or(500), &message.data).into());
                    }
                    _ => {}
                }
            }
        }
        bail!("the server ended the exam without a report; examine it again")
    }
}
