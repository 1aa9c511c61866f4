//! Which connections a run asks: one list for all, or one for its plans and another for the rest.

use crate::deps::Deps;
use crate::error::EngineError;
use crate::service::request::StartRun;
use steward_core::ConnectionId;
use steward_core::event::{Mode, Planner};
use steward_core::model::Connection;
use steward_core::ports::{Assigned, RouteRequest};
use steward_core::routing::{Role, RouteTaken, Task};

pub(crate) struct ChosenModels {
    /// The first of `route`, in full.
    pub connection: Connection,
    pub route: RouteTaken,
    /// Where others plan, with the first of them in full.
    pub planner: Option<(Planner, Connection)>,
}

pub(crate) async fn choose_models(deps: &Deps, request: &StartRun) -> Result<ChosenModels, EngineError> {
    let settings = deps.config.get();
    let routing = &request.agent.routing;
    let planner = assigned(request, Role::Planner, request.planner, routing.planner, settings.planner.as_deref());
    let executor = assigned(request, Role::Executor, request.executor, routing.executor, settings.executor.as_deref());
    let apart = planner.is_some() || executor.is_some() || request.planner.or(request.executor).is_some();
    let plans = matches!(request.mode, Mode::Plan | Mode::PlanOnly | Mode::DryRun);
    let task = (plans && !apart).then_some(Task::Planning);
    let (connection, route) = choose_route(deps, request, request.executor, executor, task).await?;
    if !apart {
        return Ok(ChosenModels { connection, route, planner: None });
    }
    let (first, of_plans) = choose_route(deps, request, request.planner, planner, Some(Task::Planning)).await?;
    let planner = (of_plans.targets != route.targets).then(|| {
        let planner = Planner {
            connection: first.id,
            named: request.planner.or(request.connection).is_some(),
            model: first.model.clone(),
            capabilities: first.capabilities.clone().in_force(),
            route: of_plans,
        };
        (planner, first)
    });
    Ok(ChosenModels { connection, route, planner })
}

/// What the agent or the installation names, unless the request does: one connection for the whole run means its plans too.
fn assigned<'a>(
    request: &StartRun,
    role: Role,
    own: Option<ConnectionId>,
    by_agent: Option<ConnectionId>,
    by_setting: Option<&'a str>,
) -> Option<Assigned<'a>> {
    if own.or(request.connection).is_some() {
        return None;
    }
    by_agent.map(|id| Assigned::ByAgent(role, id)).or_else(|| by_setting.map(|name| Assigned::BySetting(role, name)))
}

async fn choose_route(
    deps: &Deps,
    request: &StartRun,
    own: Option<ConnectionId>,
    assigned: Option<Assigned<'_>>,
    task: Option<Task>,
) -> Result<(Connection, RouteTaken), EngineError> {
    let wanted = own.or(request.connection);
    let agent = &request.agent;
    let route = deps
        .models
        .route(RouteRequest {
            wanted,
            assigned,
            primary: agent.connection,
            routing: &agent.routing,
            message: &request.input,
            task,
        })
        .await?;
    let targets = route.targets.iter().map(|target| target.id).collect();
    let first = match route.targets.into_iter().next() {
        Some(first) => first,
        None => deps.models.select(wanted.or(agent.connection)).await?,
    };
    Ok((first, RouteTaken { task: route.task, targets, reason: route.reason }))
}
