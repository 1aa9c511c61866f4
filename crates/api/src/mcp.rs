//! `/mcp`: this Steward as an MCP server. Each agent is a tool, `ask_<agent>`; an agent can offer some of
//! its reading tools too. Transport and versions of the protocol are rmcp's, which stays in this module.

mod ask;
mod handler;
mod names;
mod offered;
mod sessions;

pub(crate) use sessions::mcp_routes;
