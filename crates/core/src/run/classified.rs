//! What the data policies of the installation mean for a run, by the most confidential that it has seen.

use crate::governance::{Classified, DataAction, DataPolicy, PiiKind, Seen};
use crate::model::Connection;
use crate::policy::{Decision, ToolRule};
use crate::run::RunState;
use serde_json::Value;
use std::borrow::Cow;

impl RunState {
    pub(super) fn record_classified(&mut self, seen: Option<&Classified>) {
        let Some(seen) = seen.filter(|seen| self.is_above(seen)) else {
            return;
        };
        self.classified = Some(seen.clone());
        self.granted_before_data = self.grants.len();
    }

    /// The classification of what a call of `tool` said, if it is above all that the run has seen.
    /// `files`: what it read and wrote. `personal`: what was found in the text.
    pub fn newly_classified(
        &self,
        (tool, arguments): (&str, &Value),
        files: &[String],
        text: &str,
        personal: &[PiiKind],
    ) -> Option<Classified> {
        self.classify(&Seen { tool, arguments: Some(arguments), files, text, personal, ..Seen::default() })
    }

    /// The same for what a person says.
    pub fn newly_classified_words(&self, text: &str, personal: &[PiiKind]) -> Option<Classified> {
        self.classify(&Seen { text, personal, ..Seen::default() })
    }

    fn classify(&self, seen: &Seen<'_>) -> Option<Classified> {
        let setup = self.setup.as_deref()?;
        let agent = Some((setup.agent.id, setup.agent.name.as_str()));
        let workspace = setup.workspace.as_str();
        let seen = Seen { agent, workspace, folder: self.folder(), ..*seen };
        let found = setup.data_rules.classify(&seen)?;
        self.is_above(&found).then_some(found)
    }

    /// Whether it is more confidential than all that the run has seen.
    pub fn is_above(&self, found: &Classified) -> bool {
        self.classified.as_ref().is_none_or(|known| found.classification > known.classification)
    }

    /// The policy that keeps what this run has seen from a connection.
    pub fn kept_from(&self, connection: &Connection) -> Option<(&DataPolicy, &Classified)> {
        let (setup, seen) = (self.setup.as_deref()?, self.classified.as_ref()?);
        Some((setup.data_rules.keeps_from(connection.is_in_house(), seen.classification)?, seen))
    }

    /// What of personal data connections outside the house may not see of this run, and the policy that says so.
    pub fn masks(&self) -> Option<(&str, Vec<PiiKind>)> {
        let (setup, seen) = (self.setup.as_deref()?, self.classified.as_ref()?);
        let (policy, kinds) = setup.data_rules.masks(seen.classification)?;
        Some((policy.name.as_str(), kinds))
    }

    /// The policy that ends this run before a model is asked.
    pub fn blocked_by(&self) -> Option<(&DataPolicy, &Classified)> {
        self.demanding(DataAction::Block)
    }

    /// The policy that keeps what this run has seen from models, for the audit trail.
    pub fn kept_by(&self) -> Option<&DataPolicy> {
        self.blocked_by().or_else(|| self.demanding(DataAction::LocalOnly)).map(|(policy, _)| policy)
    }

    fn demanding(&self, action: DataAction) -> Option<(&DataPolicy, &Classified)> {
        let (setup, seen) = (self.setup.as_deref()?, self.classified.as_ref()?);
        Some((setup.data_rules.demanding(action, seen.classification)?, seen))
    }

    /// The rules over tools that hold for the run now: those of its beginning, and what its data asks for.
    pub(super) fn rules(&self) -> Cow<'_, [ToolRule]> {
        let rules = self.setup.as_deref().map_or(&[][..], |setup| &setup.rules);
        let outside = [(DataAction::AskOutside, Decision::Ask), (DataAction::DenyOutside, Decision::Deny)];
        let asked = outside.into_iter().filter_map(|(action, decision)| {
            let (policy, _) = self.demanding(action)?;
            Some(ToolRule {
                name: policy.name.clone(),
                risks: Vec::new(),
                agents: Vec::new(),
                origins: Vec::new(),
                roles: Vec::new(),
                decision,
                four_eyes: false,
                of_data: true,
            })
        });
        let asked: Vec<ToolRule> = asked.collect();
        if asked.is_empty() { Cow::Borrowed(rules) } else { Cow::Owned([rules, &asked].concat()) }
    }
}
