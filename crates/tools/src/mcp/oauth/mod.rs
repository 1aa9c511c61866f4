//! Logins at MCP servers: authorization code with PKCE and dynamic registration, refresh, and client credentials.

mod http;
mod login;
mod token;

pub(super) use http::Guarded;
pub use login::{Begun, LoginRequest, LoginStatus};
pub(super) use login::{Client, LoggedIn, Logins};
pub(super) use token::{Tokens, Wanted, word};
