//! `web_fetch`: pages of the web, never the house's own network.

mod address;
mod client;
mod fetch;
pub(crate) mod guard;
mod html;
mod pinned;
mod resolve;
mod tool;

pub use client::{Answer, Ask, Caps, Client, HttpError, Reply};
pub use guard::HostPort;
pub(crate) use pinned::Pinned;
pub use resolve::{Resolve, SystemResolver};
pub use tool::WebFetch;

pub(crate) use fetch::Page;
pub(crate) use html::readable;
pub(crate) use tool::{Shown, show};
