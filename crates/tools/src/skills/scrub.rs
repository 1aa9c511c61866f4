//! Everything that leaves an executor, without its secrets.

use secrecy::{ExposeSecret as _, SecretString};
use steward_core::scrub::Scrubber;
use steward_core::tool::{Preview, ToolError, ToolOutput, Undo};

pub(crate) fn of(secrets: impl IntoIterator<Item = (String, SecretString)>) -> Scrubber {
    let plain = secrets.into_iter();
    Scrubber::new(plain.map(|(name, secret)| (name, secret.expose_secret().to_owned())))
}

/// Takes the secrets out of a result.
pub(crate) fn output(scrubber: &Scrubber, output: &mut ToolOutput) {
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
            // What is put back must be what was there, and a secret is kept nowhere.
            if clean != *snapshot {
                output.undo = Some(Undo::Impossible {
                    reason: "what would be put back holds a secret, which is kept nowhere but in the vault".to_owned(),
                });
            }
        }
        Some(Undo::Impossible { reason }) => *reason = scrubber.scrub(reason).into_owned(),
        None => {}
    }
    output.origin = output.origin.as_deref().map(|text| scrubber.scrub(text).into_owned());
}

/// Takes the secrets out of a preview.
pub(super) fn preview(scrubber: &Scrubber, preview: &mut Preview) {
    preview.summary = scrubber.scrub(&preview.summary).into_owned();
    preview.detail = preview.detail.as_deref().map(|text| scrubber.scrub(text).into_owned());
}

/// Takes the secrets out of an error.
pub(crate) fn error(scrubber: &Scrubber, error: ToolError) -> ToolError {
    match error {
        ToolError::RespondToModel(text) => ToolError::RespondToModel(scrubber.scrub(&text).into_owned()),
        ToolError::Fatal(text) => ToolError::Fatal(scrubber.scrub(&text).into_owned()),
    }
}
