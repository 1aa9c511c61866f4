//! Logins with what organisations have: a real slapd, a real provider of OpenID Connect, codes of an app.

mod attacks;
mod browser;
mod desk;
mod directory;
mod oidc;
mod provider;
mod second_factor;
mod slapd;
