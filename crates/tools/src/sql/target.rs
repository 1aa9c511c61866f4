//! A database that statements are run on with its limits: a file, or a server by its address.

use crate::credential::check_host;
use crate::error::{ToolsError, refused};
use crate::sql::file_work::work_on_file;
use secrecy::{ExposeSecret as _, SecretString};
use std::path::PathBuf;
use steward_core::credential::Credential;
use steward_core::ports::OpenedCredential;
use steward_sandbox::sql::change::{Snapshot, WriteState};
use steward_sandbox::sql::remote::{OnBehalfOf, Remote, RemoteOptions};
use steward_sandbox::sql::{Guard, Policy, SqlError};
use url::Url;

pub(crate) const SQLITE_PREFIX: &str = "sqlite:";

/// How a database wants its SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
    MySql,
}

impl DatabaseKind {
    pub(crate) fn of_server(url: &SecretString) -> Self {
        if url.expose_secret().starts_with("postgres") { Self::Postgres } else { Self::MySql }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    File(PathBuf, Policy),
    Server(SecretString, RemoteOptions),
}

impl Target {
    pub fn kind(&self) -> DatabaseKind {
        match self {
            Self::File(..) => DatabaseKind::Sqlite,
            Self::Server(url, _) => DatabaseKind::of_server(url),
        }
    }

    /// Puts rows back as they were before a write; returns how many changes were undone.
    pub async fn put_back(self, snapshot: Snapshot, whom: &OnBehalfOf) -> Result<u64, SqlError> {
        match self {
            Self::File(path, policy) => {
                work_on_file(path.clone(), move || Guard::put_back(path, policy, &snapshot)).await
            }
            Self::Server(url, options) => {
                let mut remote = Remote::connect(url.expose_secret(), options).await?;
                remote.act_for(whom)?;
                let done = remote.put_back(&snapshot).await;
                remote.close().await;
                done
            }
        }
    }

    /// What became of a server's transaction; `None`: it does not know it any more, or has none.
    pub async fn transaction(&self, id: &str) -> Result<Option<WriteState>, SqlError> {
        let Self::Server(url, options) = self else { return Ok(None) };
        let mut remote = Remote::connect(url.expose_secret(), options.clone()).await?;
        let state = remote.transaction(id).await;
        remote.close().await;
        state
    }

    /// Whether a write was done, by its rows. `later`: records of later writes to the same database, oldest first.
    pub async fn settle(self, rows: Snapshot, later: Vec<Snapshot>) -> Result<WriteState, SqlError> {
        match self {
            Self::File(path, policy) => {
                work_on_file(path.clone(), move || Guard::settle(path, policy, &rows, &later)).await
            }
            Self::Server(url, options) => {
                let mut remote = Remote::connect(url.expose_secret(), options).await?;
                let state = remote.settle(&rows, &later).await;
                remote.close().await;
                state
            }
        }
    }
}

/// The address of a database server, with the login of the credential if it has one.
pub(crate) fn server_url(text: &str, secret: Option<&OpenedCredential>) -> Result<SecretString, String> {
    let bad = || {
        "the database is none of sqlite:PATH, postgres://HOST/NAME, mysql://HOST/NAME and mariadb://HOST/NAME; correct it"
            .to_owned()
    };
    let field = |name: &str| secret?.fields.get(name).map(SecretString::expose_secret);
    let mut url = Url::parse(text).map_err(|_| bad())?;
    if !Remote::is_url(url.as_str()) {
        return Err(bad());
    }
    if let Some(name) = field("username") {
        url.set_username(name).map_err(|()| bad())?;
    }
    if let Some(password) = field("password") {
        url.set_password(Some(password)).map_err(|()| bad())?;
    }
    Ok(url.to_string().into())
}

/// Refuses to send a login to a database server that its credential does not name.
pub(crate) fn check_server(credential: &Credential, address: &str) -> Result<(), ToolsError> {
    if credential.hosts.is_empty() {
        return Ok(());
    }
    let place = Url::parse(address).ok().as_ref().and_then(host_and_port);
    let Some((host, port)) = place else {
        return Err(refused!(
            "the address of the database does not name its server in the usual place, so the credential {} can't be sent there; \
             write it as postgres://HOST:PORT/NAME",
            credential.name
        ));
    };
    check_host(credential, &host, Some(port))
}

/// Parameters of an address by which it leads to another server than the one that it begins with.
const ELSEWHERE: [&str; 4] = ["host", "hostaddr", "port", "socket"];

fn host_and_port(url: &Url) -> Option<(String, u16)> {
    let usual = if url.scheme().starts_with("postgres") { 5432 } else { 3306 };
    let host = url.host_str().filter(|host| !host.is_empty() && !host.contains('%'))?;
    let elsewhere = url.query_pairs().any(|(name, _)| ELSEWHERE.contains(&&*name));
    (!elsewhere).then(|| (host.to_owned(), url.port().unwrap_or(usual)))
}

impl From<SqlError> for ToolsError {
    fn from(error: SqlError) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Why rows could not be put back.
pub(crate) fn not_undone(error: SqlError) -> ToolsError {
    match error {
        SqlError::Conflict { rows } => {
            ToolsError::ChangedSince { what: rows, hint: "compare with the run's trace and change it by hand" }
        }
        SqlError::NoUndo(why) => ToolsError::NoUndo(why),
        other => ToolsError::Refused(format!("not undone: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::check_server;
    use std::collections::BTreeMap;
    use steward_core::credential::{Credential, CredentialKind};
    use steward_core::{CredentialId, Timestamp};

    /// An empty `host`: it names none.
    fn for_host(host: &str) -> Credential {
        Credential {
            id: CredentialId::default(),
            name: "reader".to_owned(),
            kind: CredentialKind::Password,
            description: String::new(),
            shown: BTreeMap::new(),
            secret: Vec::new(),
            roles: Vec::new(),
            discoverable: false,
            hosts: if host.is_empty() { Vec::new() } else { vec![host.to_owned()] },
            connection: None,
            created_at: Timestamp(1),
            changed_at: Timestamp(1),
            used_at: None,
            expires_at: None,
        }
    }

    #[test]
    fn a_login_goes_to_the_servers_that_its_credential_names() {
        for (host, address, may) in [
            ("", "postgres://any.example.net/erp", true),
            ("db.example.org", "postgres://db.example.org/erp", true),
            ("db.example.org", "postgres://DB.example.org:6543/erp", true),
            ("db.example.org", "mysql://evil.example.net/erp", false),
            ("db.example.org:5432", "postgresql://db.example.org/erp", true),
            ("db.example.org:5432", "mariadb://db.example.org/erp", false),
            ("db.example.org:3306", "mariadb://db.example.org/erp", true),
            ("db.example.org:5432", "postgres://db.example.org:5433/erp", false),
            ("db.example.org", "postgres://db.example.org/erp?host=evil.example.net", false),
            ("db.example.org", "postgres://db.example.org/erp?hostaddr=10.0.0.1", false),
            ("db.example.org", "mysql://db.example.org/erp?socket=/tmp/evil", false),
            ("db.example.org", "postgres:///erp", false),
            ("*.example.org", "postgres://evil%2F.example.org/erp", false),
        ] {
            let checked = check_server(&for_host(host), address);
            assert_eq!(checked.is_ok(), may, "{host} {address}: {checked:?}");
        }
    }
}
