//! `web_fetch`: pages of the web, never the house's own network (SAFE-4).

mod address;
mod fetch;
mod guard;
mod html;
mod pinned;
mod tool;

pub use guard::HostPort;
pub(crate) use pinned::Pinned;
pub use tool::WebFetch;
