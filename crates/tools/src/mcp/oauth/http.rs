//! All requests of a login, under the address guard: a server chooses where its logins are, but not inside the house.

use crate::error::ToolsError;
use crate::web::{HostPort, Pinned};
use http::header::LOCATION;
use http::{HeaderMap, Method, Response, StatusCode};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest};
use std::time::Duration;
use url::Url;

/// Most redirects followed.
const HOPS: usize = 5;
/// Longest request.
const WALL: Duration = Duration::from_secs(20);
/// Largest answer, bytes.
const BYTES: usize = 1 << 20;

#[derive(Debug, Clone)]
pub(in crate::mcp) struct Guarded {
    pub allow: Vec<HostPort>,
}

impl Guarded {
    /// One request, one answer; no redirect is followed.
    pub async fn send(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Vec<u8>>, ToolsError> {
        let work = self.exchange(method, url, headers, body);
        tokio::time::timeout(WALL, work).await.unwrap_or_else(|_| {
            Err(ToolsError::Refused(format!("the login server gave no answer within {} s", WALL.as_secs())))
        })
    }

    async fn exchange(
        &self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response<Vec<u8>>, ToolsError> {
        let pinned = Pinned::to(url, &self.allow).await?;
        if pinned.readable && !matches!(method, Method::GET | Method::HEAD) {
            return Err(ToolsError::Refused(format!(
                "secrets are not sent to {} over plain http; the login server must use https",
                pinned.url
            )));
        }
        let failed = |error: reqwest::Error| {
            ToolsError::Refused(format!(
                "the login server {} gave no proper answer: {}",
                pinned.url.host_str().unwrap_or("?"),
                crate::mcp::open::chain(&error.without_url())
            ))
        };
        let request = pinned.client.request(method, pinned.url.clone());
        let mut answer = request.headers(headers).body(body).send().await.map_err(failed)?;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            if bytes.len() + chunk.len() > BYTES {
                return Err(ToolsError::refused("the login server's answer is too large"));
            }
            bytes.extend_from_slice(&chunk);
        }
        let mut response = Response::new(bytes);
        *response.status_mut() = answer.status();
        *response.headers_mut() = answer.headers().clone();
        Ok(response)
    }

    async fn follow(&self, request: OAuthHttpRequest) -> Result<Response<Vec<u8>>, ToolsError> {
        let (parts, body) = request.request.into_parts();
        let mut url = parts.uri.to_string();
        // What holds a secret goes where it was meant to go.
        let follows = parts.method == Method::GET && matches!(request.redirect_policy, OAuthHttpRedirectPolicy::Follow);
        for _ in 0..=HOPS {
            let answer = self.send(parts.method.clone(), &url, parts.headers.clone(), body.clone()).await?;
            let moved = matches!(
                answer.status(),
                StatusCode::MOVED_PERMANENTLY
                    | StatusCode::FOUND
                    | StatusCode::SEE_OTHER
                    | StatusCode::TEMPORARY_REDIRECT
                    | StatusCode::PERMANENT_REDIRECT
            );
            let location = answer.headers().get(LOCATION).filter(|_| follows && moved);
            let Some(location) = location.and_then(|value| value.to_str().ok()) else {
                return Ok(answer);
            };
            let next = Url::parse(&url).and_then(|from| from.join(location));
            let next = next.map_err(|_| ToolsError::refused("the login server redirects to no URL"))?;
            if url.starts_with("https:") && next.scheme() != "https" {
                return Err(ToolsError::refused("the login server redirects from https to plain http"));
            }
            url = next.into();
        }
        Err(ToolsError::refused("the login server redirects without end"))
    }
}

impl OAuthHttpClient for Guarded {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move { self.follow(request).await.map_err(Into::into) })
    }
}
