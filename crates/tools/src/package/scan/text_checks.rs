use super::rules::{Invisible, InvisibleException, Pattern, Rules, TextKind, fold_text, is_mixed_script};
use super::{Findings, excerpt, is_declared};
use crate::package::permissions::allows_host;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use regex::Regex;
use std::sync::OnceLock;
use steward_core::package::{Permissions, Severity};
use url::{Host, Url};

/// How far back `unless_before` looks.
const BEFORE_CHARS: usize = 40;

/// Line starts of a text, computed once since a text may have very many hits.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn at(&self, at: usize) -> u32 {
        let before = self.0.partition_point(|end| *end < at);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

pub(super) fn phrases(path: &str, text: &str, place: TextKind, rules: &Rules, found: &mut Findings) {
    folded_phrases(path, text, 1, place, rules, found);
}

fn folded_phrases(path: &str, text: &str, first: u32, place: TextKind, rules: &Rules, found: &mut Findings) {
    let folded = fold_text(text, first, &rules.lookalike);
    for rule in &rules.phrases {
        if rule.places.is_empty() && place == TextKind::Comment {
            // Already searched for in the whole file.
            continue;
        }
        if !rule.places.is_empty() && !rule.places.contains(&place) {
            continue;
        }
        for hit in rule.all.iter().flat_map(|regex| regex.find_iter(&folded.text)) {
            if is_excused(rule, &folded.text, hit.start()) {
                continue;
            }
            let message = format!("{}: {}", rule.message, excerpt(hit.as_str()));
            found.add(rule.severity, path, folded.line(hit.start()), &rule.rule, message);
        }
    }
}

fn is_excused(rule: &Pattern, text: &str, at: usize) -> bool {
    let Some(unless) = &rule.unless_before else {
        return false;
    };
    let begin = text[..at].char_indices().rev().take(BEFORE_CHARS).last().map_or(at, |(index, _)| index);
    unless.is_match(&text[begin..at])
}

fn comment_regex() -> Option<&'static Regex> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    // HTML comments, closed or not, and the two forms of comments in Markdown.
    REGEX
        .get_or_init(|| {
            Regex::new(r#"(?s)<!--(.*?)(?:-->|\z)|(?m)^\s{0,3}\[(?://|comment|#|_)\]:\s*#?\s*<?[("']?([^\n]*)"#).ok()
        })
        .as_ref()
}

pub(super) fn comments(path: &str, text: &str, place: TextKind, rules: &Rules, found: &mut Findings) {
    let lines = Lines::of(text);
    if place == TextKind::Script {
        return;
    }
    for hit in comment_regex().into_iter().flat_map(|regex| regex.captures_iter(text)) {
        let Some(inside) = hit.get(1).or_else(|| hit.get(2)) else {
            continue;
        };
        let first = lines.at(inside.start());
        let folded = fold_text(inside.as_str(), first, &rules.lookalike);
        for rule in rules.phrases.iter().filter(|rule| rule.places.contains(&TextKind::Comment)) {
            if rule.places.contains(&place) {
                continue;
            }
            if let Some(said) = rule.all.iter().find_map(|regex| regex.find(&folded.text)) {
                let what = if rule.severity == Severity::Info { excerpt(&folded.text) } else { excerpt(said.as_str()) };
                found.add(rule.severity, path, first, &rule.rule, format!("{}: {what}", rule.message));
            }
        }
    }
}

/// Finds keys and passwords. Their values are never in a message.
pub(super) fn secrets(path: &str, text: &str, rules: &Rules, found: &mut Findings) {
    let lines = Lines::of(text);
    for rule in &rules.secrets {
        for hit in rule.all.iter().flat_map(|regex| regex.captures_iter(text)) {
            let value = hit.name("value");
            if value.is_some_and(|value| rules.placeholder.is_match(value.as_str())) {
                continue;
            }
            let at = hit.get(0).map_or(0, |all| all.start());
            found.add(rule.severity, path, lines.at(at), &rule.rule, rule.message.clone());
        }
    }
}

pub(super) fn script(path: &str, text: &str, permissions: &Permissions, rules: &Rules, found: &mut Findings) {
    let lines = Lines::of(text);
    for rule in &rules.scripts {
        let known = rule.needs.is_some_and(|needs| is_declared(needs, permissions));
        let severity = if known { Severity::Info } else { rule.severity };
        for hit in rule.all.iter().flat_map(|regex| regex.find_iter(text)) {
            let message = if known {
                format!("as declared: {}", excerpt(hit.as_str()))
            } else {
                format!("{}: {}", rule.message, excerpt(hit.as_str()))
            };
            found.add(severity, path, lines.at(hit.start()), &rule.rule, message);
        }
    }
}

/// Finds long runs of encoded text; the decoded text is scanned too.
pub(super) fn blobs(path: &str, text: &str, rules: &Rules, found: &mut Findings) {
    let (mut run, mut first) = (String::new(), 0_usize);
    for (index, line) in text.lines().chain(std::iter::once("")).enumerate() {
        let line = line.trim();
        let longest = line.split(|c: char| !is_base64_char(c)).max_by_key(|part| part.len()).unwrap_or("");
        let whole = longest.len() == line.len();
        if longest.len() >= 40 && (whole || run.is_empty()) {
            if run.is_empty() {
                first = index;
            }
            run.push_str(longest);
            if whole {
                continue;
            }
        } else if whole && !line.is_empty() && !run.is_empty() {
            run.push_str(longest);
        }
        check_blob(path, &run, first, rules, found);
        run.clear();
    }
    check_escapes(path, text, rules, found);
}

fn is_base64_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_')
}

fn check_blob(path: &str, run: &str, first: usize, rules: &Rules, found: &mut Findings) {
    let mixed = run.bytes().any(|b| b.is_ascii_lowercase())
        && run.bytes().any(|b| b.is_ascii_uppercase())
        && run.bytes().any(|b| b.is_ascii_digit());
    if run.len() < rules.blob.characters || !mixed {
        return;
    }
    let line = u32::try_from(first + 1).unwrap_or(u32::MAX);
    let decoded = decode(run).filter(|bytes| !bytes.contains(&0));
    if let Some(text) = decoded.and_then(|bytes| String::from_utf8(bytes).ok()) {
        let shown = excerpt(&text);
        found.add(
            Severity::Danger,
            path,
            line,
            "encoded_text",
            format!("text in base64, which says {shown}; write it out"),
        );
        folded_phrases(path, &text, line, TextKind::Prompt, rules, found);
    } else {
        let message =
            format!("{} characters of encoded data; leave it out, or put it into a file of its own kind", run.len());
        found.add(Severity::Warning, path, line, "encoded_data", message);
    }
}

/// Decodes base64 of either alphabet, padded or not, even if cut.
fn decode(text: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone);
    let mut standard = text.replace('=', "").replace('-', "+").replace('_', "/");
    if standard.len() % 4 == 1 {
        standard.pop();
    }
    GeneralPurpose::new(&STANDARD, config).decode(standard).ok()
}

fn check_escapes(path: &str, text: &str, rules: &Rules, found: &mut Findings) {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    let lines = Lines::of(text);
    let most = rules.blob.escapes;
    let regex = REGEX
        .get_or_init(|| Regex::new(&format!(r"(?:(?:\\x|%|\\u00|0x|&#x?)[0-9A-Fa-f]{{2,3}}[;,]?\s?){{{most},}}")).ok());
    for hit in regex.iter().flat_map(|regex| regex.find_iter(text)) {
        let line = lines.at(hit.start());
        found.add(Severity::Warning, path, line, "encoded_data", "text written as codes; write it out");
    }
}

fn address_regex() -> Option<&'static Regex> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    REGEX.get_or_init(|| Regex::new(r#"(?i)\b(?:https?|ftp|wss?)://[^\s<>"'`\]\)}]+"#).ok()).as_ref()
}

pub(super) fn urls(
    path: &str,
    text: &str,
    place: TextKind,
    permissions: &Permissions,
    rules: &Rules,
    found: &mut Findings,
) {
    for (index, line) in text.lines().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        for hit in address_regex().into_iter().flat_map(|regex| regex.find_iter(line)) {
            let Some((severity, rule, why)) = judge_address(hit.as_str(), place, permissions, rules) else {
                continue;
            };
            found.add(severity, path, number, rule, format!("{why}: {}", excerpt(hit.as_str())));
        }
    }
}

fn judge_address(
    text: &str,
    place: TextKind,
    permissions: &Permissions,
    rules: &Rules,
) -> Option<(Severity, &'static str, &'static str)> {
    let url = Url::parse(text.trim_end_matches(['.', ',', ';', ':', '!', '?'])).ok()?;
    let host = url.host()?;
    let name = url.host_str()?.to_lowercase();
    if allows_host(permissions, &name) {
        return None;
    }
    if !matches!(host, Host::Domain(_)) {
        return Some((Severity::Warning, "address", "an address by number instead of by name"));
    }
    if !url.username().is_empty() {
        return Some((
            Severity::Warning,
            "address",
            "an address with a user name before the host, which misleads readers",
        ));
    }
    if name.split('.').any(|part| part.starts_with("xn--")) {
        return Some((
            Severity::Warning,
            "address",
            "a host with letters of other scripts, which may look like another host",
        ));
    }
    // Reserved names that nobody can own (RFC 2606 and 6761).
    let reserved = [".example", ".test", ".invalid", ".localhost", ".internal"];
    let known = rules
        .hosts
        .iter()
        .any(|known| name == *known || name.strip_suffix(known.as_str()).is_some_and(|left| left.ends_with('.')));
    if known || reserved.iter().any(|ending| name.ends_with(ending)) {
        return None;
    }
    let severity = match place {
        TextKind::Reference | TextKind::Comment => Severity::Info,
        TextKind::Prompt | TextKind::Script => Severity::Warning,
    };
    Some((severity, "unknown_host", "a host that the package doesn't declare (`permissions.network`)"))
}

pub(super) fn invisible_characters(path: &str, text: &str, rules: &Rules, found: &mut Findings) {
    if text.is_ascii() && !text.bytes().any(|b| b < 32 && !b"\t\r\n".contains(&b) || b == 127) {
        return;
    }
    for (index, line) in text.split('\n').enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let line = line.strip_suffix('\r').unwrap_or(line);
        for rule in &rules.invisible {
            characters(path, number, line, index == 0, rule, found);
        }
        if let Some(word) =
            line.split(|c: char| !c.is_alphabetic()).find(|word| is_mixed_script(word, &rules.lookalike))
        {
            found.add(
                Severity::Warning,
                path,
                number,
                "mixed_script",
                format!("the word “{word}” mixes Latin letters with look-alikes of another script; write it in one"),
            );
        }
    }
}

fn characters(path: &str, number: u32, line: &str, first: bool, rule: &Invisible, found: &mut Findings) {
    let all: Vec<char> = line.chars().collect();
    let hits: Vec<u32> = all
        .iter()
        .enumerate()
        .filter(|(at, c)| {
            let code = u32::from(**c);
            rule.ranges.iter().any(|(from, to)| (*from..=*to).contains(&code))
                && !rule.unless.is_some_and(|unless| is_harmless(unless, &all, *at, first))
        })
        .map(|(_, c)| u32::from(*c))
        .collect();
    if hits.is_empty() {
        return;
    }
    let codes: Vec<String> = hits.iter().take(4).map(|code| format!("U+{code:04X}")).collect();
    let text = tag_text(&hits);
    let says = if text.is_empty() { String::new() } else { format!("; they say “{text}”") };
    found.add(
        rule.severity,
        path,
        number,
        &rule.rule,
        format!("{} ({} of them, {}){says}; take them out", rule.name, hits.len(), codes.join(" ")),
    );
}

/// Text encoded in Unicode tag characters.
fn tag_text(codes: &[u32]) -> String {
    codes
        .iter()
        .filter(|code| (0xE0020..=0xE007E).contains(*code))
        .filter_map(|code| char::from_u32(code - 0xE0000))
        .take(120)
        .collect()
}

fn is_harmless(unless: InvisibleException, line: &[char], at: usize, first: bool) -> bool {
    let before = at.checked_sub(1).and_then(|at| line.get(at)).copied();
    let after = line.get(at + 1).copied();
    match unless {
        InvisibleException::Start => first && at == 0,
        // They join Persian, Arabic and Indic letters, and emoji.
        InvisibleException::Joining => {
            let beside = |c: Option<char>| c.is_some_and(|c| u32::from(c) >= 0x0600);
            beside(before) && beside(after)
        }
        InvisibleException::Rtl => line.iter().any(|c| matches!(u32::from(*c), 0x0590..=0x08FF | 0xFB1D..=0xFEFC)),
        InvisibleException::Emoji => before.is_some_and(|c| {
            let code = u32::from(c);
            matches!(code, 0x23 | 0x2A | 0x30..=0x39 | 0xA9 | 0xAE | 0x2010..=0x32FF | 0x1F000..=0x1FAFF)
        }),
    }
}
