//! Credentials that an operator's setting names: found, opened, and kept out of what leaves.

use crate::error::ToolsError;
use crate::skills::scrub;
use secrecy::SecretString;
use steward_core::credential::CredentialUse;
use steward_core::ports::{OpenedCredential, ToolScope, Vault, VaultError};
use steward_core::scrub::{Scrubber, secrets_of};
use steward_core::tool::{ToolError, ToolOutput};
use steward_core::{AgentId, RunId, TenantId, Timestamp};

/// A page of the vault.
const PAGE: u32 = 200;
/// Most pages that are looked through.
const PAGES: usize = 100;

/// Who uses a credential, as it is written down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct By<'a> {
    pub tenant: TenantId,
    pub run: Option<RunId>,
    pub agent: Option<AgentId>,
    pub at: Timestamp,
    pub tool: &'a str,
}

impl<'a> By<'a> {
    pub fn tool(scope: &ToolScope, tool: &'a str) -> Self {
        Self { tenant: scope.tenant, run: scope.run, agent: Some(scope.agent), at: scope.now, tool }
    }
}

/// Opens the credential of this name. The use is written down first.
pub(crate) async fn open(vault: &dyn Vault, by: By<'_>, name: &str) -> Result<OpenedCredential, ToolsError> {
    let mut after = None::<String>;
    let mut found = None;
    for _ in 0..PAGES {
        let page = vault.credentials(by.tenant, after.as_deref(), PAGE).await;
        let page = page.map_err(explain)?;
        after = page.items.last().map(|one| one.name.clone());
        found = page.items.into_iter().find(|one| one.name == name);
        if found.is_some() || !page.more || after.is_none() {
            break;
        }
    }
    let Some(credential) = found else {
        return Err(ToolsError::Refused(format!(
            "there is no credential `{name}`; an operator adds it with `steward credential add NAME --kind KIND`, or in the studio"
        )));
    };
    let used =
        CredentialUse { credential: credential.id, run: by.run, agent: by.agent, tool: by.tool.to_owned(), at: by.at };
    let opened = vault.open(by.tenant, credential.id, used).await;
    opened.map_err(explain)
}

fn explain(error: VaultError) -> ToolsError {
    match error {
        VaultError::Store(error) => error.into(),
        other => ToolsError::Refused(other.to_string()),
    }
}

/// The secrets of a call; what leaves it is searched for them.
#[derive(Default)]
pub(crate) struct Secrets(Vec<(String, SecretString)>);

impl Secrets {
    pub fn of(opened: &OpenedCredential) -> Self {
        Self(secrets_of(opened))
    }

    /// One more, by the name that stands in its place.
    pub fn add(&mut self, name: impl Into<String>, secret: SecretString) {
        self.0.push((name.into(), secret));
    }

    pub fn clean(self, result: Result<ToolOutput, ToolsError>) -> Result<ToolOutput, ToolError> {
        let scrubber: Scrubber = scrub::of(self.0);
        match result {
            Ok(mut output) => {
                scrub::output(&scrubber, &mut output);
                Ok(output)
            }
            Err(error) => Err(scrub::error(&scrubber, error.into())),
        }
    }
}

impl Secrets {
    /// A text or an error without them.
    pub fn clean_text(self, result: Result<String, String>) -> Result<String, String> {
        let scrubber: Scrubber = scrub::of(self.0);
        result.map(|text| scrubber.scrub(&text).into_owned()).map_err(|text| scrubber.scrub(&text).into_owned())
    }
}
