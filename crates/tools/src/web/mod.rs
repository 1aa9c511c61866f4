//! `web_fetch`: pages of the web, never the house's own network (SAFE-4).

mod address;
mod fetch;
mod guard;
mod html;
mod tool;

pub use guard::HostPort;
pub use tool::WebFetch;
