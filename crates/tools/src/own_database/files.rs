use std::path::{Path, PathBuf};
use steward_core::agent::KeptFor;
use steward_core::{AgentId, UserId};
use steward_sandbox::sql::SqlError;
use steward_sandbox::sql::private_database::{DEFAULT_BYTES, PrivateDatabase};

/// In the tenant's data folder.
pub const FOLDER: &str = "agent-databases";
const SHARED: &str = "shared";
const EXTENSION: &str = "db";

/// Where the private databases of a tenant's agents are: a folder for each agent, a file for each owner.
#[derive(Debug, Clone)]
pub struct OwnDatabases {
    folder: PathBuf,
}

impl OwnDatabases {
    /// In the tenant's data folder.
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join(FOLDER) }
    }

    /// Each call opens the file and closes it, so none stays open.
    pub fn of(&self, agent: AgentId, of: KeptFor) -> PrivateDatabase {
        let name = match of {
            KeptFor::Everybody => SHARED.to_owned(),
            KeptFor::User(user) => user.to_string(),
        };
        PrivateDatabase::new(self.folder.join(agent.to_string()).join(format!("{name}.{EXTENSION}")), DEFAULT_BYTES)
    }

    /// Copies the database that lies at this path in the tenant's folder, as it is between two calls. `false`: there is none.
    pub fn copy_file(data_dir: &Path, path: &Path, target: &Path) -> Result<bool, SqlError> {
        PrivateDatabase::new(data_dir.join(path), DEFAULT_BYTES).copy_to(target)
    }

    /// Those that agents keep for a user.
    pub fn of_user(&self, user: UserId) -> std::io::Result<Vec<(AgentId, PrivateDatabase)>> {
        let folders = match std::fs::read_dir(&self.folder) {
            Ok(folders) => folders,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for folder in folders {
            let name = folder?.file_name();
            let Some(agent) = name.to_str().and_then(|name| name.parse::<AgentId>().ok()) else { continue };
            let database = self.of(agent, KeptFor::User(user));
            if database.exists() || database.has_copy() {
                found.push((agent, database));
            }
        }
        found.sort_by_key(|(agent, _)| agent.0);
        Ok(found)
    }
}
