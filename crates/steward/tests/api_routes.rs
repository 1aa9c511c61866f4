//! What can be done under `/api` and `/v1/responses`, through the real program.

mod agents;
mod approvals;
mod audit;
mod chat;
mod config;
mod connections;
mod dialect;
mod event_stream;
mod exams;
mod files;
mod governance;
pub(crate) mod house;
mod limits;
mod mcp;
mod monitoring;
mod own_data;
mod people;
mod policies;
mod responses;
mod runs;
mod skills;
mod spending;
mod tenants;
mod translated;
mod trusted;
