//! Tools behind one dispatcher: handlers by folder, previews and undo.

pub mod browser;
pub mod calendar;
pub mod catalogue;
pub mod control;
mod credential;
mod dispatcher;
mod error;
pub mod facts;
pub mod files;
mod handler;
pub mod mail;
pub mod mcp;
pub mod outbound;
pub mod package;
pub mod python;
pub mod sample;
pub mod search;
mod skill_services;
pub mod skills;
pub mod sql;
mod standard;
pub mod terminal;
mod text;
pub mod web;
mod workspace;

pub use dispatcher::{Dispatcher, DispatcherBuilder};
pub use error::ToolsError;
pub use handler::{Context, ToolHandler};
pub use skill_services::{DOCKER_VARIABLES, SkillServices, SkillServicesConfig, SkillServicesPorts};
pub use skills::{SkillPorts, SkillRuntime};
pub use standard::{Ports, ToolsConfig, standard, standard_builder};
pub use workspace::LocalWorkspaces;
