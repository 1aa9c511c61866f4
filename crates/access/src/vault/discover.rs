//! Which credential a skill gets: the agent's own setting, then those bound to the user's role,
//! then those that may be found by kind and name.

use steward_core::agent::Agent;
use steward_core::credential::{Credential, CredentialKind};
use steward_core::ports::{CredentialRows, Role, StoreError, VaultError};
use steward_core::skill::CredentialWanted;
use steward_core::{CredentialId, TenantId, Timestamp};

use super::SealedVault;
use super::connection::of_nobody_else;

const PAGE: u32 = 500;

pub(super) struct Search<'a> {
    pub tenant: TenantId,
    pub agent: &'a Agent,
    pub role: Option<Role>,
    pub skill: &'a str,
    pub kinds: &'a [CredentialKind],
    pub wanted: &'a CredentialWanted,
}

impl Search<'_> {
    /// Kinds that fit; empty: any.
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
             under credentials.{skill} of the agent, bind one to the user's role, or make one \
             discoverable (`steward credential list`)",
            skill = self.skill,
            agent = self.agent.name
        ))
    }
}

impl SealedVault {
    pub(super) async fn search(&self, search: Search<'_>) -> Result<Option<Credential>, VaultError> {
        let found = match self.by_agent(&search).await? {
            Some(found) => Some(found),
            None => self.by_rows(&search).await?,
        };
        match found {
            Some(found) => Ok(Some(found)),
            None if search.wanted.optional => Ok(None),
            None => Err(search.missing()),
        }
    }

    /// Tier one. What stands under the skill's own name was meant for it; what stands under a kind
    /// serves every skill, so a skill that names another credential doesn't get it.
    async fn by_agent(&self, search: &Search<'_>) -> Result<Option<Credential>, VaultError> {
        if let Some(id) = search.agent.credentials.get(search.skill) {
            let found = self.agents_own(search, search.skill, *id).await?;
            if !search.fits(&found) {
                let kinds: Vec<_> = search.kinds().iter().map(|kind| kind.as_str()).collect();
                return Err(VaultError::Missing(format!(
                    "the skill {} can't use the credential {:?} of kind {}, which agent {} names for \
                     it; name one of kind {}",
                    search.skill,
                    found.name,
                    found.kind.as_str(),
                    search.agent.name,
                    kinds.join(" or ")
                )));
            }
            return Ok(Some(found));
        }
        for kind in search.kinds() {
            if let Some(id) = search.agent.credentials.get(kind.as_str()) {
                let found = self.agents_own(search, kind.as_str(), *id).await?;
                if found.kind == kind && search.is_named(&found) {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    async fn agents_own(&self, search: &Search<'_>, under: &str, id: CredentialId) -> Result<Credential, VaultError> {
        match self.rows.credential_row(search.tenant, id).await {
            Ok(row) => of_nobody_else(&row.credential).map(|()| row.credential),
            Err(StoreError::NotFound(_)) => Err(VaultError::Missing(format!(
                "agent {} names a credential under credentials.{under} that is no longer there; name \
                 another one or none",
                search.agent.name
            ))),
            Err(error) => Err(error.into()),
        }
    }

    async fn by_rows(&self, search: &Search<'_>) -> Result<Option<Credential>, VaultError> {
        let suiting = suiting(&*self.rows, search).await?;
        let now = self.clock.now();
        let bound = |one: &&Credential| search.role.is_some_and(|role| one.roles.contains(&role));
        if let Some(found) = only(suiting.iter().filter(bound), now)? {
            return Ok(Some(found));
        }
        only(suiting.iter().filter(|one| one.discoverable), now)
    }
}

async fn suiting(rows: &dyn CredentialRows, search: &Search<'_>) -> Result<Vec<Credential>, VaultError> {
    let mut suiting = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = rows.credential_rows(search.tenant, after.as_deref(), PAGE);
        let page = page.await?;
        after = page.items.last().map(|row| row.credential.name.clone());
        let credentials = page.items.into_iter().map(|row| row.credential);
        suiting.extend(credentials.filter(|one| search.fits(one) && search.is_named(one)));
        if !page.more || after.is_none() {
            return Ok(suiting);
        }
    }
}

/// The only one that has not ended; else the only one, for the error that opening it gives.
fn only<'a>(found: impl Iterator<Item = &'a Credential>, now: Timestamp) -> Result<Option<Credential>, VaultError> {
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
