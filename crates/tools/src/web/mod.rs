//! `web_fetch`: pages of the web, never the house's own network (SAFE-4).

mod address;
mod client;
mod fetch;
pub(crate) mod guard;
mod html;
mod resolve;
mod pinned;
mod tool;

pub use client::{Answer, Ask, Caps, Client, HttpError, Reply};
pub use guard::HostPort;
pub use resolve::{Resolve, SystemResolver};
pub(crate) use pinned::Pinned;
pub use tool::WebFetch;

pub(crate) use fetch::Page;
pub(crate) use tool::{Shown, show};
