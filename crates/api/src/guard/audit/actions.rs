use axum::http::Method;

/// Whether a request becomes an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    Never,
    Always,
    /// Only if it is refused.
    Refused,
    /// Only if its handler has something to say.
    Noted,
}

/// What is in the entries of its run, writes its entry itself, or changes nothing.
const ELSEWHERE: [(&str, &str); 31] = [
    ("POST", "/api/chat/{agent_id}"),
    ("POST", "/api/admin/restart-hint"),
    ("POST", "/api/runs/{id}/stop"),
    ("POST", "/api/runs/{id}/steer"),
    ("POST", "/api/runs/{id}/resume"),
    ("POST", "/api/runs/{id}/fork"),
    ("POST", "/api/runs/{id}/replay"),
    ("POST", "/api/runs/{id}/undo"),
    ("POST", "/api/kept/run"),
    ("POST", "/api/approvals/{id}/decide"),
    ("POST", "/api/agents/preview"),
    ("POST", "/api/routing/preview"),
    ("POST", "/api/schedules/preview"),
    ("POST", "/api/hooks/{id}/preview"),
    ("POST", "/api/audit/verify"),
    ("POST", "/api/backups"),
    ("POST", "/api/documents/search"),
    ("POST", "/api/domains/query"),
    ("POST", "/api/domains/search"),
    ("POST", "/api/domains/check"),
    ("POST", "/api/domains/complete"),
    ("POST", "/api/domains/hover"),
    ("POST", "/api/domains/rename"),
    ("POST", "/api/domains/format"),
    ("POST", "/api/graphql"),
    ("POST", "/api/data-governance/check"),
    ("POST", "/api/data-governance/mask"),
    ("POST", "/api/data-governance/unmask"),
    ("POST", "/api/data-governance/retention/preview"),
    ("PUT", "/api/audit/retention"),
    ("GET", "/api/audit/export"),
];

/// It happens every quarter of an hour in each browser; only a theft is worth an entry.
const REFRESH: (&str, &str) = ("POST", "/api/auth/refresh");

/// Reads that change something: the browser comes back from another server with the answer of a login.
const CALLBACKS: [(&str, &str); 2] = [("GET", "/api/mcp/callback"), ("GET", "/api/auth/oidc/{name}/callback")];

/// Reads that take content out of the house.
const DOWNLOADS: [(&str, &str); 2] = [("GET", "/api/documents/{id}/content"), ("GET", "/api/files")];

/// `path`: as it is written in the OpenAPI document.
pub(super) fn recorded(method: &Method, path: &str) -> Recorded {
    let operation = (method.as_str(), path);
    if ELSEWHERE.contains(&operation) || path.ends_with("/.search") {
        return Recorded::Refused;
    }
    if operation == REFRESH {
        return Recorded::Noted;
    }
    if CALLBACKS.contains(&operation) || DOWNLOADS.contains(&operation) {
        return Recorded::Always;
    }
    // What is not there has no name but this.
    let ours = path.starts_with("/scim/v2/") || path.starts_with("/api/") && path.len() > "/api/".len();
    let known = ours && !path.contains("{*");
    if known && !method.is_safe() { Recorded::Always } else { Recorded::Never }
}

/// Words at the end of a path that are things, though not in the plural: POST makes one.
const THINGS: [&str; 2] = ["api_key", "sample"];

/// The name of an operation: `POST /api/agents` is `agents.create`, `POST /api/agents/{id}/restore` is `agents.restore`.
pub(super) fn action_of(method: &Method, path: &str) -> String {
    let path = path.trim_start_matches("/api/").replace("/scim/v2/", "scim.").to_lowercase();
    let path = path.replace("universal-agents", "agents").replace([':', '/'], ".");
    let words =
        path.split('.').filter(|word| !word.is_empty() && !word.starts_with('{')).map(|word| word.replace('-', "_"));
    let mut words: Vec<String> = words.filter(|word| word != "content").collect();
    let last = words.last().map(String::as_str).unwrap_or_default();
    let verb = match *method {
        Method::DELETE => Some("delete"),
        Method::PUT | Method::PATCH => Some("change"),
        Method::GET if !path.ends_with("callback") => Some("download"),
        Method::POST if last.ends_with('s') || THINGS.contains(&last) => Some("create"),
        _ => None,
    };
    words.extend(verb.map(str::to_owned));
    words.join(".")
}

#[cfg(test)]
mod tests {
    use super::{ELSEWHERE, Recorded, action_of, recorded};
    use axum::http::Method;
    use std::collections::BTreeMap;

    #[test]
    fn operations_have_the_names_that_people_look_for() {
        for (line, action) in [
            ("POST /api/auth/login", "auth.login"),
            ("POST /api/auth/setup", "auth.setup"),
            ("POST /api/auth/password", "auth.password"),
            ("POST /api/auth/api-key", "auth.api_key.create"),
            ("DELETE /api/auth/api-key", "auth.api_key.delete"),
            ("DELETE /api/auth/sessions/{id}", "auth.sessions.delete"),
            ("POST /api/agents", "agents.create"),
            ("PUT /api/agents/{id}", "agents.change"),
            ("PATCH /api/universal-agents/{id}", "agents.change"),
            ("DELETE /api/agents/{id}", "agents.delete"),
            ("POST /api/agents/{id}/restore", "agents.restore"),
            ("PUT /api/agents/{id}/skills/{skill}", "agents.skills.change"),
            ("DELETE /api/agents/{id}/skills/{skill}", "agents.skills.delete"),
            ("POST /api/universal-agents/{id}/skills:create_and_attach", "agents.skills.create_and_attach"),
            ("POST /api/connections/{id}/default", "connections.default"),
            ("POST /api/skills/hosts", "skills.hosts.create"),
            ("POST /api/skills/import-package", "skills.import_package"),
            ("POST /api/credentials/rotate", "credentials.rotate"),
            ("POST /api/mcp/servers/{id}/accept", "mcp.servers.accept"),
            ("POST /api/mcp/servers/{id}/withdraw", "mcp.servers.withdraw"),
            ("GET /api/mcp/callback", "mcp.callback"),
            ("GET /api/auth/oidc/{name}/callback", "auth.oidc.callback"),
            ("POST /api/auth/login/ad", "auth.login.ad"),
            ("POST /api/auth/second-factor", "auth.second_factor"),
            ("PUT /api/identity/providers/{name}", "identity.providers.change"),
            ("POST /scim/v2/Users", "scim.users.create"),
            ("PATCH /scim/v2/Groups/{id}", "scim.groups.change"),
            ("DELETE /scim/v2/Users/{id}", "scim.users.delete"),
            ("POST /scim/v2/Groups/.search", "scim.groups.search"),
            ("POST /scim/v2/.search", "scim.search"),
            ("POST /api/sample", "sample.create"),
            ("POST /api/files", "files.create"),
            ("GET /api/files", "files.download"),
            ("GET /api/documents/{id}/content", "documents.download"),
        ] {
            let (method, path) = line.split_once(' ').unwrap();
            assert_eq!(action_of(&method.parse().unwrap(), path), action, "{line}");
        }
    }

    #[test]
    fn every_write_of_the_document_is_recorded_under_a_name_of_its_own() {
        let document = serde_json::to_value(crate::document()).unwrap();
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut elsewhere = 0;
        for (path, operations) in document["paths"].as_object().unwrap() {
            for method in operations.as_object().unwrap().keys() {
                let method: Method = method.to_uppercase().parse().unwrap();
                let found = recorded(&method, path);
                elsewhere += usize::from(found == Recorded::Refused);
                if method.is_safe() {
                    continue;
                }
                assert_ne!(found, Recorded::Never, "{method} {path}");
                let action = action_of(&method, path);
                let fits = action.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '.');
                assert!(fits && !action.contains(".."), "{method} {path}: {action}");
                let same = names.insert(action.clone(), format!("{method} {path}"));
                // Two addresses of one operation.
                assert!(same.is_none() || action == "agents.change", "{method} {path}: {action} is {same:?}");
            }
        }
        assert_eq!(elsewhere, ELSEWHERE.len(), "each is in the document");
        for (method, path) in [
            (Method::GET, "/api/agents"),
            (Method::GET, "/scim/v2/Users"),
            (Method::POST, "/scim/v2/{*rest}"),
            (Method::POST, "/api/{*rest}"),
            (Method::POST, "/v1/chat/completions"),
            (Method::POST, ""),
        ] {
            assert_eq!(recorded(&method, path), Recorded::Never, "{method} {path}");
        }
    }
}
