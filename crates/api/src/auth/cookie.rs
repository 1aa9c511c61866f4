//! The cookie that holds the refresh token. Scripts can't read it, other sites can't send it, and it goes to
//! `/api/auth` only.

use axum::http::{HeaderMap, HeaderValue, header};
use steward_app::REFRESH_LIFETIME;

const NAME: &str = "steward_refresh";

/// `Set-Cookie` with this token.
pub(crate) fn set(token: &str, https: bool) -> HeaderValue {
    header_value(token, REFRESH_LIFETIME.as_secs(), https)
}

/// `Set-Cookie` that takes it away.
pub(crate) fn clear(https: bool) -> HeaderValue {
    header_value("", 0, https)
}

fn header_value(token: &str, seconds: u64, https: bool) -> HeaderValue {
    let secure = if https { "; Secure" } else { "" };
    let text = format!("{NAME}={token}; Path=/api/auth; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    // Tokens are base64url.
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

/// The refresh token of a request.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == NAME)
        .map(|(_, token)| token)
        .filter(|token| !token.is_empty())
}
