use steward_core::agent::Agent;
use steward_core::hash;

/// Longest name that models take.
const LONGEST: usize = 64;
/// Characters of a hash that tell two names apart.
const MARK: usize = 8;

fn plain(prefix: &str, name: &str) -> String {
    let mut text = prefix.to_owned();
    for part in name.chars() {
        let part = part.to_ascii_lowercase();
        if part.is_ascii_lowercase() || part.is_ascii_digit() {
            text.push(part);
        } else if !text.ends_with('_') {
            text.push('_');
        }
    }
    text.trim_end_matches('_').to_owned()
}

/// `agents` with the unique name of each one's tool, in `[a-z0-9_]{1,64}`; one that clashes or is cut ends in a hash.
pub(super) fn named<'a>(prefix: &str, agents: &'a [Agent]) -> Vec<(String, &'a Agent)> {
    let all: Vec<String> = agents.iter().map(|one| plain(prefix, &one.name)).collect();
    let fit = |(agent, name): (&'a Agent, &String)| {
        let several = all.iter().filter(|other| *other == name).count() > 1;
        let bare = name.len() <= prefix.trim_end_matches('_').len();
        if name.len() <= LONGEST && !several && !bare {
            return (name.clone(), agent);
        }
        let mark: String = hash::sha256(agent.name.as_bytes()).chars().take(MARK).collect();
        let kept: String = name.chars().take(LONGEST - MARK - 1).collect();
        (format!("{}_{mark}", kept.trim_end_matches('_')), agent)
    };
    agents.iter().zip(&all).map(fit).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod tests {
    use super::named;
    use serde_json::json;
    use steward_core::agent::Agent;

    #[test]
    fn names_fit_and_differ() {
        let long = "x".repeat(90);
        let names = ["Ops", "help desk", "help-desk", "Größe", "日本", long.as_str()];
        let agents: Vec<Agent> = names
            .iter()
            .map(|name| {
                let one = json!({"id": "00000000-0000-7000-8000-000000000001", "name": name, "instructions": ""});
                serde_json::from_value(one).unwrap()
            })
            .collect();
        let found = named("ask_", &agents);
        assert_eq!(found[0].0, "ask_ops");
        assert_eq!(found[3].0, "ask_gr_e");
        assert!(found[1].0.starts_with("ask_help_desk_") && found[1].0 != found[2].0);
        for (name, _) in &found {
            assert!(name.len() <= 64 && name.len() > "ask_".len(), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
        }
    }
}
