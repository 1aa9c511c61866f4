//! What an agent keeps in a private database, and what it writes down about it.

mod error;
mod files;
mod manage;
mod metatron;
mod query;
mod result;
mod update_schema;

pub use error::DatabaseError;
pub use files::OwnDatabases;
pub use manage::DatabaseFacts;
pub use metatron::Instruction;
pub use query::DbQuery;
pub use update_schema::{MAX_DOC_CHARS, UpdateDbSchema};

use crate::error::ToolsError;
use steward_core::UserId;
use steward_core::agent::DatabaseScope;
use steward_core::ports::ToolScope;
pub use steward_sandbox::sql::Rows;
pub use steward_sandbox::sql::private_database::Imported;

/// Whose database the run uses; `None` is the one that all share.
fn owner(scope: &ToolScope) -> Result<Option<UserId>, ToolsError> {
    match scope.database {
        DatabaseScope::Off | DatabaseScope::Agent => Ok(None),
        DatabaseScope::User => scope.user.map(Some).ok_or_else(|| {
            ToolsError::refused(
                "this agent keeps a database for each user, and nobody in particular asked for this run; \
                 let the agent share one database, or have a user ask",
            )
        }),
    }
}
