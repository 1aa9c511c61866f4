use std::path::{Path, PathBuf};
use steward_core::{AgentId, UserId};
use steward_sandbox::sql::private_database::{DEFAULT_BYTES, PrivateDatabase};

const FOLDER: &str = "agent-databases";
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

    /// The one that all share, or that of `user`.
    pub fn of(&self, agent: AgentId, user: Option<UserId>) -> PrivateDatabase {
        let name = user.map_or_else(|| SHARED.to_owned(), |user| user.to_string());
        PrivateDatabase::new(self.folder.join(agent.to_string()).join(format!("{name}.{EXTENSION}")), DEFAULT_BYTES)
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
            let database = self.of(agent, Some(user));
            if database.exists() || database.has_copy() {
                found.push((agent, database));
            }
        }
        found.sort_by_key(|(agent, _)| agent.0);
        Ok(found)
    }
}
