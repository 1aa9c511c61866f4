//! The cookies of logins. Scripts can't read them, and they go to the addresses of logins only.

use axum::http::{HeaderMap, HeaderValue, header};

/// Holds the refresh token. Other sites can't send it.
const REFRESH: &str = "steward_refresh";
const REFRESH_PATH: &str = "/api/auth";
/// Holds what binds a login with a provider to the browser that began it. It comes along when the provider leads back.
const KEPT: &str = "steward_sign_on";
const KEPT_PATH: &str = "/api/auth/oidc";

pub(super) fn set_cookie(token: &str, seconds: u64, https: bool) -> HeaderValue {
    cookie((REFRESH, token), REFRESH_PATH, seconds, "Strict", https)
}

pub(super) fn clear_cookie(https: bool) -> HeaderValue {
    set_cookie("", 0, https)
}

pub(super) fn cookie_token(headers: &HeaderMap) -> Option<&str> {
    value_of(headers, REFRESH)
}

pub(super) fn set_kept(value: &str, seconds: u64, https: bool) -> HeaderValue {
    cookie((KEPT, value), KEPT_PATH, seconds, "Lax", https)
}

pub(super) fn clear_kept(https: bool) -> HeaderValue {
    set_kept("", 0, https)
}

pub(super) fn kept_cookie(headers: &HeaderMap) -> Option<&str> {
    value_of(headers, KEPT)
}

/// Holds what binds a login at an MCP server to the browser that began it; one for each login, by its id.
const MCP_LOGIN: &str = "steward_mcp_login_";
const MCP_LOGIN_PATH: &str = "/api/mcp/callback";
/// As long as a login may take.
const MCP_LOGIN_S: u64 = 600;

pub(crate) fn set_mcp_login(login: &str, proof: &str, https: bool) -> HeaderValue {
    cookie((&format!("{MCP_LOGIN}{login}"), proof), MCP_LOGIN_PATH, MCP_LOGIN_S, "Lax", https)
}

pub(crate) fn clear_mcp_login(login: &str, https: bool) -> HeaderValue {
    cookie((&format!("{MCP_LOGIN}{login}"), ""), MCP_LOGIN_PATH, 0, "Lax", https)
}

pub(crate) fn mcp_login_cookie<'h>(headers: &'h HeaderMap, login: &str) -> Option<&'h str> {
    value_of(headers, &format!("{MCP_LOGIN}{login}"))
}

fn cookie((name, value): (&str, &str), path: &str, seconds: u64, site: &str, https: bool) -> HeaderValue {
    let secure = if https { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite={site}{secure}");
    // Values are base64url and points.
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

fn value_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(one, _)| *one == name)
        .map(|(_, value)| value)
        .filter(|value| !value.is_empty())
}
