//! All tools behind one door: validate, check what was approved, run within time, survive panics.

use crate::catalogue;
use crate::error::ToolsError;
use crate::handler::{Context, DynHandler, ToolHandler, Typed};
use async_trait::async_trait;
use futures::FutureExt as _;
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::time::Duration;
use steward_core::ports::{Authorized, ToolScope, Tools};
use steward_core::tool::{
    EffectClass, Preview, Suggestion, ToolCall, ToolError, ToolOutput, ToolSpec, Undo,
};
use steward_core::{hash, schema};

/// How often the stop flag is looked at while a tool works.
const POLL: Duration = Duration::from_millis(50);
/// How long a tool that changes something may take to end by itself once it is told to.
const GRACE: Duration = Duration::from_millis(500);
/// Longest search for argument proposals.
const SUGGEST: Duration = Duration::from_secs(2);
/// Longest look at what a call would change.
const PREVIEW: Duration = Duration::from_secs(10);

struct Registered {
    spec: ToolSpec,
    handler: Box<dyn DynHandler>,
}

/// Collects handlers.
#[derive(Default)]
pub struct DispatcherBuilder {
    tools: Vec<Registered>,
}

impl DispatcherBuilder {
    /// Adds a tool.
    #[must_use]
    pub fn with<H: ToolHandler>(mut self, handler: H) -> Self {
        self.tools.push(Registered {
            spec: handler.spec(),
            handler: Box::new(Typed(handler)),
        });
        self
    }

    /// Checks names and data.
    pub fn build(self) -> Result<Dispatcher, ToolsError> {
        let mut index = BTreeMap::new();
        for (at, tool) in self.tools.iter().enumerate() {
            if index.insert(tool.spec.name.clone(), at).is_some() {
                return Err(ToolsError::Duplicate(tool.spec.name.clone()));
            }
            if tool.spec.description.is_empty() {
                catalogue::check(&[&tool.spec.name])?;
            }
        }
        Ok(Dispatcher {
            tools: self.tools,
            index,
        })
    }
}

/// The tools of an installation, in the order in which they were added.
pub struct Dispatcher {
    tools: Vec<Registered>,
    index: BTreeMap<String, usize>,
}

impl Dispatcher {
    /// Begins an empty one.
    pub fn builder() -> DispatcherBuilder {
        DispatcherBuilder::default()
    }

    fn find(&self, name: &str) -> Result<&Registered, ToolsError> {
        self.index
            .get(name)
            .and_then(|at| self.tools.get(*at))
            .ok_or_else(|| ToolsError::Unknown {
                name: name.to_owned(),
                known: self.index.keys().cloned().collect::<Vec<_>>().join(", "),
            })
    }

    async fn guarded(
        tool: &Registered,
        arguments: serde_json::Value,
        context: Context,
    ) -> Result<ToolOutput, ToolError> {
        let name = &tool.spec.name;
        let timeout = Duration::from_millis(context.scope.timeout_ms);
        let work = AssertUnwindSafe(tool.handler.run(arguments, &context)).catch_unwind();
        tokio::pin!(work);
        let cause = tokio::select! {
            done = &mut work => return settle(name, done),
            () = tokio::time::sleep(timeout) => ToolsError::Deadline {
                tool: name.clone(),
                ms: context.scope.timeout_ms,
            },
            () = stopped(&context.scope) => ToolsError::Stopped(name.clone()),
        };
        context.cancelled.store(true, Ordering::Relaxed);
        if tool.spec.effect == EffectClass::Read {
            return Err(cause.into());
        }
        // Dropping a tool in the middle of a change would leave its outcome unknown.
        match tokio::time::timeout(GRACE, work).await {
            Ok(done) => settle(name, done),
            Err(_) => Err(ToolsError::Unsettled {
                tool: name.clone(),
                why: cause.to_string(),
            }
            .into()),
        }
    }
}

async fn stopped(scope: &ToolScope) {
    while !scope.stopped() {
        tokio::time::sleep(POLL).await;
    }
}

fn settle(
    tool: &str,
    done: Result<Result<ToolOutput, ToolError>, Box<dyn Any + Send>>,
) -> Result<ToolOutput, ToolError> {
    done.unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        tracing::error!(tool, message, "tool panicked");
        Err(ToolsError::Panicked {
            tool: tool.to_owned(),
            message,
        }
        .into())
    })
}

#[async_trait]
impl Tools for Dispatcher {
    fn catalogue(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec.clone()).collect()
    }

    async fn suggest(&self, tool: &str, request: &str, scope: &ToolScope) -> Vec<Suggestion> {
        let Ok(found) = self.find(tool) else {
            return Vec::new();
        };
        let work = AssertUnwindSafe(found.handler.suggest(request, scope)).catch_unwind();
        let mut proposals = match tokio::time::timeout(SUGGEST, work).await {
            Ok(Ok(proposals)) => proposals,
            Ok(Err(_)) => {
                tracing::error!(tool, "the search for arguments panicked");
                Vec::new()
            }
            Err(_) => {
                tracing::warn!(tool, "the search for arguments took too long");
                Vec::new()
            }
        };
        proposals.retain(|one| schema::validate(&found.spec.parameters, &one.arguments).is_ok());
        proposals.sort_by(|a, b| b.score.total_cmp(&a.score));
        proposals
    }

    async fn preview(&self, call: &ToolCall, scope: &ToolScope) -> Preview {
        let refused = |error: ToolError| Preview {
            summary: format!("would fail: {error}"),
            ..Preview::default()
        };
        let tool = match self.find(&call.name) {
            Ok(tool) => tool,
            Err(error) => return refused(error.into()),
        };
        if let Err(problem) = schema::validate(&tool.spec.parameters, &call.arguments) {
            return refused(ToolError::RespondToModel(problem));
        }
        let work = tool.handler.preview(call.arguments.clone(), scope);
        match tokio::time::timeout(PREVIEW, AssertUnwindSafe(work).catch_unwind()).await {
            Ok(Ok(Ok(preview))) => preview,
            Ok(Ok(Err(error))) => refused(error),
            Ok(Err(_)) | Err(_) => Preview {
                summary: format!("what `{}` would change can't be told", call.name),
                ..Preview::default()
            },
        }
    }

    async fn run(&self, call: Authorized, scope: &ToolScope) -> Result<ToolOutput, ToolError> {
        let Authorized {
            call,
            idempotency_key,
            args_hash,
        } = call;
        let tool = self.find(&call.name)?;
        if hash::of_json(&call.arguments) != args_hash {
            return Err(ToolsError::Changed(call.name).into());
        }
        schema::validate(&tool.spec.parameters, &call.arguments).map_err(|problem| {
            ToolsError::Arguments {
                tool: call.name.clone(),
                problem,
            }
        })?;
        if scope.stopped() {
            return Err(ToolsError::Stopped(call.name).into());
        }
        let limit = Duration::from_millis(scope.timeout_ms);
        let context = Context::new(scope.clone(), idempotency_key, limit);
        Self::guarded(tool, call.arguments, context).await
    }

    async fn undo(&self, undo: &Undo, scope: &ToolScope) -> Result<String, ToolError> {
        match undo {
            Undo::Impossible { reason } => Err(ToolsError::NoUndo(reason.clone()).into()),
            Undo::Snapshot { tool, snapshot } => {
                self.find(tool)?.handler.undo(snapshot, scope).await
            }
        }
    }
}
