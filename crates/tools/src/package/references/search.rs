//! Passages by words: BM25 over sections.

use std::collections::{BTreeMap, BTreeSet};
use steward_core::text::stem;

const K1: f64 = 1.2;
const B: f64 = 0.75;
const HEADING: usize = 3;
/// Longest section; a longer one is split.
const SECTION_LINES: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub file: usize,
    /// First line, from 1.
    pub line: usize,
    /// Its heading and those above, joined by ` > `.
    pub title: String,
    pub text: String,
}

/// Splits Markdown at its headings, ignoring `#` within code blocks.
pub(super) fn sections(file: usize, text: &str) -> Vec<Section> {
    let (mut all, mut titles) = (Vec::new(), Vec::<(usize, String)>::new());
    let (mut from, mut part, mut code) = (1, Vec::new(), false);
    let close = |from: usize, part: &mut Vec<&str>, titles: &[(usize, String)], all: &mut Vec<Section>| {
        let text = part.join("\n").trim().to_owned();
        part.clear();
        if !text.is_empty() {
            let titles: Vec<&str> = titles.iter().map(|(_, title)| title.as_str()).collect();
            all.push(Section { file, line: from, title: titles.join(" > "), text });
        }
    };
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        let level = line.bytes().take_while(|b| *b == b'#').count();
        let is_heading = !code && (1..=6).contains(&level) && line[level..].starts_with(' ');
        if is_heading || (part.len() >= SECTION_LINES && line.trim().is_empty() && !code) {
            close(from, &mut part, &titles, &mut all);
            from = index + 1;
        }
        if is_heading {
            titles.retain(|(above, _)| *above < level);
            titles.push((level, line[level..].trim().to_owned()));
        }
        part.push(line);
    }
    close(from, &mut part, &titles, &mut all);
    all
}

/// Lower-case words of at least two letters or digits, without plural endings.
fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 1)
        .map(stem)
        .collect()
}

pub(super) fn best_sections<'a>(query: &str, sections: &'a [Section], most: usize) -> Vec<&'a Section> {
    let wanted: BTreeSet<String> = words(query).into_iter().collect();
    let counted: Vec<(BTreeMap<String, usize>, usize)> = sections.iter().map(word_counts).collect();
    let total = counted.len().max(1);
    #[expect(clippy::cast_precision_loss, reason = "counts of words, far below 2^52")]
    let of = |count: usize| count as f64;
    let average = of(counted.iter().map(|(_, length)| length).sum()) / of(total);
    let mut scored: Vec<(f64, usize, &Section)> = Vec::new();
    for (index, (words, length)) in counted.iter().enumerate() {
        let mut score = 0.0;
        for word in &wanted {
            let Some(times) = words.get(word).copied() else {
                continue;
            };
            let with = counted.iter().filter(|(words, _)| words.contains_key(word)).count();
            let rare = ((of(total) - of(with) + 0.5) / (of(with) + 0.5) + 1.0).ln();
            let norm = K1 * (1.0 - B + B * of(*length) / average.max(1.0));
            score += rare * of(times) * (K1 + 1.0) / (of(times) + norm);
        }
        if score > 0.0 {
            scored.push((score, index, &sections[index]));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().take(most).map(|(_, _, section)| section).collect()
}

fn word_counts(section: &Section) -> (BTreeMap<String, usize>, usize) {
    let mut counts = BTreeMap::new();
    let text = words(&section.text);
    let length = text.len();
    for word in text {
        *counts.entry(word).or_default() += 1;
    }
    for word in words(&section.title) {
        *counts.entry(word).or_default() += HEADING;
    }
    (counts, length)
}
