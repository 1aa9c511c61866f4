use super::{Client, Refused};
use serde_json::{Value, json};
use steward_core::ApprovalId;
use steward_core::approval::{Answer, Approval};

const MOST: usize = 1000;

impl Client {
    /// Open approvals, oldest first.
    pub async fn open_approvals(&self) -> anyhow::Result<Vec<Approval>> {
        Ok(self.list("/api/approvals", MOST).await?.0)
    }

    /// The first answer counts.
    pub async fn decide(&self, id: ApprovalId, answer: &Answer) -> anyhow::Result<()> {
        let standing = matches!(answer, Answer::Approve { until: Some(_), .. });
        let body = json!({"answer": answer, "standing": standing});
        self.post::<Value>(&format!("/api/approvals/{id}/decide"), &body).await?;
        Ok(())
    }
}

pub fn is_already_decided(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<Refused>()
        .and_then(|refused| refused.code.as_deref())
        .is_some_and(|code| matches!(code, "already_decided" | "withdrawn"))
}
