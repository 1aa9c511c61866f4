//! Who is asking: passwords, tokens, API keys, the first administrator.

mod access;
mod attempts;
mod error;
mod first;
mod password;
mod token;

pub use access::{Access, AccessDeps};
pub use error::AccessError;
pub use first::FirstStart;
