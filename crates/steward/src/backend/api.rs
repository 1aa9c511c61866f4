//! Operations of the API, at the running server or in this process: one way for both, so that what a
//! command may do and what is refused is said in one place.

use super::client::{BYTES, Sent, read};
use super::refused::Refused;
use super::{Backend, Client};
use anyhow::anyhow;
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Write as _;
use steward_core::AgentId;

/// Rows asked for at once.
const PAGE: usize = 100;
/// Most rows of a list.
const MOST: usize = 10_000;

impl Backend {
    /// An operation with a JSON body, or none.
    pub async fn api<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<T> {
        let sent = body.map_or(Sent::Nothing, Sent::Json);
        let answer = self.send(&method, path, sent).await?;
        read(&answer, &method, path)
    }

    /// A file that is read.
    pub async fn api_file(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        self.send(&Method::GET, path, Sent::Nothing).await
    }

    /// A file that is sent; `None` sends nothing.
    pub async fn api_upload<T: DeserializeOwned>(&self, path: &str, file: Option<&[u8]>) -> anyhow::Result<T> {
        let sent = file.map_or(Sent::Nothing, Sent::Bytes);
        let answer = self.send(&Method::POST, path, sent).await?;
        read(&answer, &Method::POST, path)
    }

    /// All rows of a list, page by page.
    pub async fn api_rows(&self, path: &str) -> anyhow::Result<Vec<Value>> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        while rows.len() < MOST {
            let page = format!("{path}{joint}limit={PAGE}{cursor}");
            let mut page: Value = self.api(Method::GET, &page, None).await?;
            if let Some(items) = page["items"].as_array_mut() {
                rows.append(items);
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        Ok(rows)
    }

    /// The id of an agent by its name.
    pub async fn agent_id(&self, name: &str) -> anyhow::Result<AgentId> {
        Ok(self.agent_named(Some(name)).await?.id)
    }

    /// Where a browser of this machine reaches the server; `None`: there is none.
    pub fn server_url(&self) -> Option<String> {
        match self {
            Self::InProcess(_) => None,
            Self::Remote(client) => Some(Client::url(client)),
        }
    }

    /// A page for a browser, whatever its status.
    pub async fn api_page(&self, path: &str) -> anyhow::Result<(u16, Vec<u8>)> {
        let Self::InProcess(app) = self else {
            anyhow::bail!("browsers reach the running server themselves");
        };
        let answer = app.inside().await?.ask("GET", path, None).await;
        let answer = answer.map_err(|why| anyhow!(why))?;
        Ok((answer.status, answer.body))
    }

    async fn send(&self, method: &Method, path: &str, sent: Sent<'_>) -> anyhow::Result<Vec<u8>> {
        let app = match self {
            Self::Remote(client) => return client.exchange(method, path, sent).await,
            Self::InProcess(app) => app,
        };
        let body = match sent {
            Sent::Nothing => None,
            Sent::Json(value) => Some(("application/json", value.to_string().into_bytes())),
            Sent::Bytes(bytes) => Some((BYTES, bytes.to_vec())),
        };
        let inside = app.inside().await?;
        let answer = inside.ask(method.as_str(), path, body).await;
        let answer = answer.map_err(|why| anyhow!(why))?;
        if (200..300).contains(&answer.status) {
            return Ok(answer.body);
        }
        let text = String::from_utf8_lossy(&answer.body);
        Err(Refused::read(answer.status, &text).into())
    }
}

/// `text` as a part of a path or of a query.
pub fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn a_name_stays_within_its_part() {
        assert_eq!(encoded("server-care_1.2~x"), "server-care_1.2~x");
        assert_eq!(encoded("a/../b?c=d&e"), "a%2F..%2Fb%3Fc%3Dd%26e");
        assert_eq!(encoded("[fd00::1] ü"), "%5Bfd00%3A%3A1%5D%20%C3%BC");
    }
}
