//! Proposals for `sql`: readings of the request over each database of the workspace.

use super::databases::databases;
use super::link::{link, tokens};
use super::read::read;
use super::source::Database;
use super::words::words;
use super::{Ask, lower};
use crate::suggest::View;
use crate::suggest::extract::text::{any_phrase, plain};
use serde_json::json;
use steward_core::ports::ToolScope;
use steward_core::tool::Suggestion;
use steward_sandbox::sql::{Guard, Policy};

/// Databases looked into.
const DATABASES: usize = 4;
/// Proposals kept.
const KEPT: usize = 3;
/// Below this a reading is a guess that helps nobody.
const LEAST: f32 = 0.35;

/// Queries that the request may mean, best first.
pub fn suggest(request: &str, scope: &ToolScope, policy: &Policy) -> Vec<Suggestion> {
    let view = View::look(scope);
    let mut paths = databases(&view);
    if paths.is_empty() {
        return Vec::new();
    }
    let named = view.named(request);
    let chosen = named
        .iter()
        .find(|found| found.score >= 0.5 && paths.contains(&found.path));
    if let Some(chosen) = chosen {
        paths.retain(|path| *path == chosen.path);
    }
    let other_file = named
        .iter()
        .any(|found| !found.folder && found.score >= 0.8 && !paths.contains(&found.path));
    let text = plain(request);
    let spoken = any_phrase(&text, &words().database).is_some();
    let apart: Vec<(usize, usize)> = chosen.map(|found| found.span).into_iter().collect();
    let mut found = Vec::new();
    for path in paths.iter().take(DATABASES) {
        found.extend(of_database(request, path, &apart, &view, policy));
    }
    for suggestion in &mut found {
        if chosen.is_some_and(|chosen| chosen.score >= 0.9) {
            suggestion.score += 0.14;
        } else if spoken || chosen.is_some() {
            suggestion.score += 0.1;
        }
        if other_file {
            suggestion.score *= 0.4;
        }
        suggestion.score = suggestion.score.clamp(0.0, 0.98);
    }
    found.retain(|suggestion| suggestion.score >= LEAST);
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.dedup_by(|a, b| a.arguments == b.arguments);
    found.truncate(KEPT);
    found
}

fn of_database(
    request: &str,
    path: &str,
    apart: &[(usize, usize)],
    view: &View,
    policy: &Policy,
) -> Vec<Suggestion> {
    let database = super::databases::resolve(&view.workspace, path).ok();
    let Some(database) = database
        .and_then(|real| Guard::open(real, policy.clone()).ok())
        .and_then(Database::new)
    else {
        return Vec::new();
    };
    let links = link(tokens(request, apart), &database);
    read(&links, &database)
        .into_iter()
        .filter(|reading| match &reading.ask {
            Ask::Query(query) => {
                lower::lower(query, super::source::Source::schema(&database)).is_ok()
            }
            _ => true,
        })
        .map(|reading| Suggestion {
            arguments: json!({"database": path, "query": reading.ask}),
            score: reading.score,
            why: reading.why,
        })
        .collect()
}
