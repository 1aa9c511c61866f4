//! Skills of the type scrape: a page as text, links and tables; robots.txt is respected.

mod executor;
mod robots;
pub(crate) mod tree;

pub use executor::ScrapeExecutor;
