use crate::error::{ToolsError, refused};
use secrecy::{ExposeSecret as _, SecretString};
use steward_core::credential::{Credential, CredentialUse};
use steward_core::ports::{OpenedCredential, ToolScope, Vault, VaultError};
use steward_core::scrub::Scrubber;
use steward_core::tool::{Preview, ToolError, ToolOutput, Undo};
use steward_core::{AgentId, CredentialId, RunId, TenantId, Timestamp};

const PAGE_SIZE: u32 = 200;
const MAX_PAGES: usize = 100;

/// Who uses a credential, for the audit record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CredentialUser<'a> {
    pub tenant: TenantId,
    pub run: Option<RunId>,
    pub agent: Option<AgentId>,
    pub at: Timestamp,
    pub tool: &'a str,
}

impl<'a> CredentialUser<'a> {
    pub fn tool(scope: &ToolScope, tool: &'a str) -> Self {
        Self { tenant: scope.tenant, run: scope.run, agent: Some(scope.agent), at: scope.now, tool }
    }

    /// What is written down about a use.
    pub fn uses(&self, credential: CredentialId) -> CredentialUse {
        CredentialUse { credential, run: self.run, agent: self.agent, tool: self.tool.to_owned(), at: self.at }
    }
}

pub(crate) async fn matching(
    vault: &dyn Vault,
    tenant: TenantId,
    wanted: impl Fn(&Credential) -> bool,
) -> Result<Vec<Credential>, VaultError> {
    let (mut found, mut after) = (Vec::new(), None::<String>);
    for _ in 0..MAX_PAGES {
        let page = vault.credentials(tenant, after.as_deref(), PAGE_SIZE).await?;
        after = page.items.last().map(|one| one.name.clone());
        found.extend(page.items.into_iter().filter(|one| wanted(one)));
        if !page.more || after.is_none() {
            break;
        }
    }
    Ok(found)
}

pub(crate) async fn by_name(vault: &dyn Vault, tenant: TenantId, name: &str) -> Result<Option<Credential>, VaultError> {
    Ok(matching(vault, tenant, |one| one.name == name).await?.pop())
}

pub(crate) async fn open(
    vault: &dyn Vault,
    by: CredentialUser<'_>,
    name: &str,
) -> Result<OpenedCredential, ToolsError> {
    let Some(credential) = by_name(vault, by.tenant, name).await? else {
        return Err(refused!(
            "there is no credential `{name}`; an operator adds it with `steward credential add NAME --kind KIND`, or in the studio"
        ));
    };
    Ok(vault.open(by.tenant, credential.id, by.uses(credential.id)).await?)
}

pub(crate) fn field(opened: &OpenedCredential, field: &str) -> Result<SecretString, ToolsError> {
    let name = &opened.credential.name;
    opened.fields.get(field).cloned().ok_or_else(|| refused!("the credential {name} has no {field}; set it anew"))
}

/// Refuses to send a credential to a host that it does not name.
pub(crate) fn check_host(credential: &Credential, host: &str, port: Option<u16>) -> Result<(), ToolsError> {
    if credential.may_go_to(host, port) {
        return Ok(());
    }
    Err(refused!(
        "the credential {} may only be sent to {}, not to {host}; an operator can add the host to it",
        credential.name,
        credential.hosts.join(", ")
    ))
}

pub(crate) fn scrubber_of(secrets: impl IntoIterator<Item = (String, SecretString)>) -> Scrubber {
    let plain = secrets.into_iter();
    Scrubber::new(plain.map(|(name, secret)| (name, secret.expose_secret().to_owned())))
}

pub(crate) fn scrub_output(scrubber: &Scrubber, output: &mut ToolOutput) {
    output.content = scrubber.scrub(&output.content).into_owned();
    if let Some(data) = &mut output.data {
        scrubber.scrub_json(data);
    }
    if let Some(receipt) = &mut output.receipt {
        receipt.action = scrubber.scrub(&receipt.action).into_owned();
        receipt.object = scrubber.scrub(&receipt.object).into_owned();
        receipt.evidence = receipt.evidence.as_deref().map(|text| scrubber.scrub(text).into_owned());
    }
    match &mut output.undo {
        Some(Undo::Snapshot { snapshot, .. }) => {
            let mut clean = snapshot.clone();
            scrubber.scrub_json(&mut clean);
            // Undo must restore the exact content, and no secret may be stored.
            if clean != *snapshot {
                output.undo = Some(Undo::Impossible {
                    reason: "what would be put back holds a secret, which is kept nowhere but in the vault".to_owned(),
                });
            }
        }
        Some(Undo::Impossible { reason }) => *reason = scrubber.scrub(reason).into_owned(),
        None => {}
    }
    let origins = std::mem::take(&mut output.provenance.origins);
    output.provenance.origins = origins.iter().map(|text| scrubber.scrub(text).into_owned()).collect();
}

pub(crate) fn scrub_result(
    scrubber: &Scrubber,
    result: Result<ToolOutput, ToolError>,
) -> Result<ToolOutput, ToolError> {
    match result {
        Ok(mut output) => {
            scrub_output(scrubber, &mut output);
            Ok(output)
        }
        Err(error) => Err(scrub_error(scrubber, error.into()).into()),
    }
}

pub(crate) fn scrub_preview(scrubber: &Scrubber, preview: &mut Preview) {
    preview.summary = scrubber.scrub(&preview.summary).into_owned();
    preview.detail = preview.detail.as_deref().map(|text| scrubber.scrub(text).into_owned());
}

pub(crate) fn scrub_error(scrubber: &Scrubber, error: ToolsError) -> ToolsError {
    ToolsError::Tool(match error.into() {
        ToolError::RespondToModel(text) => ToolError::RespondToModel(scrubber.scrub(&text).into_owned()),
        ToolError::Fatal(text) => ToolError::Fatal(scrubber.scrub(&text).into_owned()),
    })
}
