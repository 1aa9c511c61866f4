/// Names kept.
const KEPT: usize = 3;

/// The names most like `wanted`, best first: equal but for case, then few edits, then containing one another.
pub fn near_matches<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let allowed = (wanted.chars().count() / 3).max(1);
    let mut scored: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let edits = distance(&wanted, &lower);
            let stem = lower.split('.').next().unwrap_or(&lower);
            let wanted_stem = wanted.split('.').next().unwrap_or(&wanted);
            let contains =
                stem.len() >= 3 && wanted_stem.len() >= 3 && (lower.contains(wanted_stem) || wanted.contains(stem));
            match (edits <= allowed, contains) {
                (true, _) => Some((edits, name)),
                (false, true) => Some((allowed + edits, name)),
                (false, false) => None,
            }
        })
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored.into_iter().take(KEPT).map(|(_, name)| name.to_owned()).collect()
}

/// Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, cb) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(ca != *cb)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typos_case_and_parts() {
        let names = ["invoices.csv", "README.md", "orders.db", "customers.csv"];
        assert_eq!(near_matches("invoice.csv", names), ["invoices.csv"]);
        assert_eq!(near_matches("readme.md", names), ["README.md"]);
        assert_eq!(near_matches("orders", names), ["orders.db"]);
        assert!(near_matches("zzzzzz", names).is_empty());
    }
}
