//! Skills that speak HTTP: requests to APIs and GraphQL operations, under the address guard.

mod auth;
mod exchange;
mod executor;
mod graphql;
mod huggingface;
mod oauth;
mod pages;
mod reading;
mod request;
mod select;

pub(super) use auth::Authorizer;
pub(super) use exchange::Exchange;
pub use executor::HttpExecutor;
pub use graphql::GraphqlExecutor;
pub use huggingface::HuggingfaceExecutor;
pub(super) use reading::origin;
pub(super) use request::{allowed, check_allow};
