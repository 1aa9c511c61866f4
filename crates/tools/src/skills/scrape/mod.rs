//! Skills of the type scrape: a page as text, links and tables; robots.txt is respected.

mod executor;
mod robots;
mod tree;

pub use executor::ScrapeExecutor;
