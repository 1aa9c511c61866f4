//! Chooses a skill's credential: the agent's own setting, one bound to the user's role or granted to them, one found by kind and name.

use steward_core::agent::Agent;
use steward_core::credential::{Credential, CredentialKind};
use steward_core::ports::{CredentialRows, RunUser, StoreError, VaultError};
use steward_core::skill::CredentialWanted;
use steward_core::{CredentialId, TenantId, Timestamp};

use super::SealedVault;
use super::connection::check_no_connection;

const PAGE: u32 = 500;

pub(super) struct CredentialQuery<'a> {
    pub tenant: TenantId,
    pub agent: &'a Agent,
    pub user: Option<&'a RunUser>,
    pub skill: &'a str,
    pub kinds: &'a [CredentialKind],
    pub wanted: &'a CredentialWanted,
}

impl CredentialQuery<'_> {
    /// The kinds that fit; empty: any.
    fn kinds(&self) -> Vec<CredentialKind> {
        match self.wanted.kind {
            Some(kind) => vec![kind],
            None => self.kinds.to_vec(),
        }
    }

    fn fits(&self, credential: &Credential) -> bool {
        let kinds = self.kinds();
        credential.connection.is_none() && (kinds.is_empty() || kinds.contains(&credential.kind))
    }

    fn is_named(&self, credential: &Credential) -> bool {
        let name = self.wanted.name.as_deref();
        name.is_none_or(|name| name == credential.name)
    }

    fn missing(&self) -> VaultError {
        let kinds = self.kinds();
        let kinds: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
        let what = match (&self.wanted.name, kinds.is_empty()) {
            (Some(name), _) => format!("the credential {name:?}"),
            (None, true) => "a credential".to_owned(),
            (None, false) => format!("a credential of kind {}", kinds.join(" or ")),
        };
        VaultError::Missing(format!(
            "the skill {skill} needs {what}, and there is none that agent {agent} may use: name one \
             under credentials.{skill} of the agent, bind one to the user's role, grant one to the user, or make one \
             discoverable (`steward credential list`)",
            skill = self.skill,
            agent = self.agent.name
        ))
    }
}

impl SealedVault {
    pub(super) async fn search(&self, query: CredentialQuery<'_>) -> Result<Option<Credential>, VaultError> {
        let found = match self.by_agent(&query).await? {
            Some(found) => Some(found),
            None => self.by_rows(&query).await?,
        };
        match found {
            Some(found) => Ok(Some(found)),
            None if query.wanted.optional => Ok(None),
            None => Err(query.missing()),
        }
    }

    /// The agent's own setting. A credential under the skill's name was meant for it; one under a kind serves every
    /// skill, so it does not serve a skill that names another credential.
    async fn by_agent(&self, query: &CredentialQuery<'_>) -> Result<Option<Credential>, VaultError> {
        if let Some(id) = query.agent.credentials.get(query.skill) {
            let found = self.named_by_agent(query, query.skill, *id).await?;
            if !query.fits(&found) {
                let kinds: Vec<_> = query.kinds().iter().map(|kind| kind.as_str()).collect();
                return Err(VaultError::Missing(format!(
                    "the skill {} can't use the credential {:?} of kind {}, which agent {} names for \
                     it; name one of kind {}",
                    query.skill,
                    found.name,
                    found.kind.as_str(),
                    query.agent.name,
                    kinds.join(" or ")
                )));
            }
            return Ok(Some(found));
        }
        for kind in query.kinds() {
            if let Some(id) = query.agent.credentials.get(kind.as_str()) {
                let found = self.named_by_agent(query, kind.as_str(), *id).await?;
                if found.kind == kind && query.is_named(&found) {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    async fn named_by_agent(
        &self,
        query: &CredentialQuery<'_>,
        under: &str,
        id: CredentialId,
    ) -> Result<Credential, VaultError> {
        match self.deps.rows.credential_row(query.tenant, id).await {
            Ok(row) => check_no_connection(&row.credential).map(|()| row.credential),
            Err(StoreError::NotFound(_)) => Err(VaultError::Missing(format!(
                "agent {} names a credential under credentials.{under} that is no longer there; name \
                 another one or none",
                query.agent.name
            ))),
            Err(error) => Err(error.into()),
        }
    }

    async fn by_rows(&self, query: &CredentialQuery<'_>) -> Result<Option<Credential>, VaultError> {
        let fitting = fitting(&*self.deps.rows, query).await?;
        let now = self.deps.clock.now();
        let bound = |one: &&Credential| {
            query
                .user
                .is_some_and(|user| one.roles.contains(&user.role) || user.permissions.level(one.id.into()).is_some())
        };
        if let Some(found) = the_only_one(fitting.iter().filter(bound), now)? {
            return Ok(Some(found));
        }
        the_only_one(fitting.iter().filter(|one| one.discoverable), now)
    }
}

async fn fitting(rows: &dyn CredentialRows, query: &CredentialQuery<'_>) -> Result<Vec<Credential>, VaultError> {
    let mut fitting = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = rows.credential_rows(query.tenant, after.as_deref(), PAGE);
        let page = page.await?;
        after = page.items.last().map(|row| row.credential.name.clone());
        let credentials = page.items.into_iter().map(|row| row.credential);
        fitting.extend(credentials.filter(|one| query.fits(one) && query.is_named(one)));
        if !page.more || after.is_none() {
            return Ok(fitting);
        }
    }
}

/// The only credential that has not expired; if all have, the only one, so that opening it says so.
fn the_only_one<'a>(
    found: impl Iterator<Item = &'a Credential>,
    now: Timestamp,
) -> Result<Option<Credential>, VaultError> {
    let (good, ended): (Vec<_>, Vec<_>) = found.partition(|one| one.expires_at.is_none_or(|at| at > now));
    let found = if good.is_empty() { ended } else { good };
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).clone())),
        several => {
            let names: Vec<_> = several.iter().map(|one| one.name.as_str()).collect();
            Err(VaultError::Ambiguous(names.join(", ")))
        }
    }
}
