//! A real browser for agents: Chromium in the OS sandbox, spoken to over two pipes, with our own proxy as its only
//! way to any network (the address guard checks every request of a page, not only the first).
//!
//! One page per run. It ends with the run, when it is stopped, after idling, and with this program.

mod act;
mod browsers;
mod call;
mod cdp;
mod config;
mod elements;
mod error;
mod lines;
mod page;
mod proxy;
mod slot;
mod start;
mod state;
mod tools;
mod tree;

pub use browsers::Browsers;
pub use config::{BrowserConfig, find};
pub use error::BrowserError;
pub use tools::{BROWSER_TOOLS, with_browser};
