use super::rules::{Invisible, InvisibleException, Pattern, Permission, Rules, TextKind, fold_text, is_mixed_script};
use super::{Findings, excerpt};
use crate::package::permissions::allows_host;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use regex::Regex;
use std::sync::{LazyLock, OnceLock};
use steward_core::package::{Permissions, Severity};
use url::{Host, Url};

/// How far back `unless_before` looks.
const BEFORE_CHARS: usize = 40;

/// HTML comments, closed or not, and the two forms of comments in Markdown.
static COMMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?s)<!--(.*?)(?:-->|\z)|(?m)^\s{0,3}\[(?://|comment|#|_)\]:\s*#?\s*<?[("']?([^\n]*)"#).ok()
});
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\b(?:https?|ftp|wss?)://[^\s<>"'`\]\)}]+"#).ok());

/// Line starts of a text, computed once since a text may have very many hits.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn at(&self, at: usize) -> u32 {
        line_number(self.0.partition_point(|end| *end < at))
    }
}

/// The number of the line with this index.
fn line_number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// One text of a package, while it is scanned.
pub(super) struct TextScan<'a> {
    pub path: &'a str,
    pub text: &'a str,
    pub place: TextKind,
    pub permissions: &'a Permissions,
    pub rules: &'a Rules,
    pub lines: Lines,
    pub found: &'a mut Findings,
}

impl TextScan<'_> {
    pub fn scan(mut self) {
        self.invisible_characters();
        self.phrases(self.text, 1, self.place);
        if self.place != TextKind::Script {
            self.comments();
        }
        self.secrets();
        self.blobs();
        if self.place == TextKind::Script {
            self.script();
        }
        self.urls();
    }

    fn add(&mut self, severity: Severity, line: u32, rule: &str, message: impl Into<String>) {
        self.found.add(severity, self.path, line, rule, message);
    }

    /// `first`: the number of the text's first line.
    fn phrases(&mut self, text: &str, first: u32, place: TextKind) {
        let folded = fold_text(text, first, &self.rules.lookalike);
        for rule in &self.rules.phrases {
            // What holds everywhere was already searched for in the whole file.
            let applies =
                if rule.places.is_empty() { place != TextKind::Comment } else { rule.places.contains(&place) };
            if !applies {
                continue;
            }
            for hit in rule.all.iter().flat_map(|regex| regex.find_iter(&folded.text)) {
                if !is_excused(rule, &folded.text, hit.start()) {
                    let message = format!("{}: {}", rule.message, excerpt(hit.as_str()));
                    self.add(rule.severity, folded.line(hit.start()), &rule.rule, message);
                }
            }
        }
    }

    fn comments(&mut self) {
        let text = self.text;
        for hit in COMMENT.iter().flat_map(|regex| regex.captures_iter(text)) {
            let Some(inside) = hit.get(1).or_else(|| hit.get(2)) else {
                continue;
            };
            let first = self.lines.at(inside.start());
            let folded = fold_text(inside.as_str(), first, &self.rules.lookalike);
            for rule in &self.rules.phrases {
                if !rule.places.contains(&TextKind::Comment) || rule.places.contains(&self.place) {
                    continue;
                }
                if let Some(said) = rule.all.iter().find_map(|regex| regex.find(&folded.text)) {
                    let said = if rule.severity == Severity::Info { &folded.text } else { said.as_str() };
                    self.add(rule.severity, first, &rule.rule, format!("{}: {}", rule.message, excerpt(said)));
                }
            }
        }
    }

    /// Finds keys and passwords. Their values are never in a message.
    fn secrets(&mut self) {
        let text = self.text;
        for rule in &self.rules.secrets {
            for hit in rule.all.iter().flat_map(|regex| regex.captures_iter(text)) {
                let value = hit.name("value");
                if value.is_some_and(|value| self.rules.placeholder.is_match(value.as_str())) {
                    continue;
                }
                let line = self.lines.at(hit.get(0).map_or(0, |all| all.start()));
                self.add(rule.severity, line, &rule.rule, rule.message.as_str());
            }
        }
    }

    fn script(&mut self) {
        let text = self.text;
        for rule in &self.rules.scripts {
            let known = rule.needs.is_some_and(|needs| is_declared(needs, self.permissions));
            let (severity, message) =
                if known { (Severity::Info, "as declared") } else { (rule.severity, rule.message.as_str()) };
            for hit in rule.all.iter().flat_map(|regex| regex.find_iter(text)) {
                let line = self.lines.at(hit.start());
                self.add(severity, line, &rule.rule, format!("{message}: {}", excerpt(hit.as_str())));
            }
        }
    }

    /// Finds long runs of encoded text; the decoded text is scanned too.
    fn blobs(&mut self) {
        let (mut run, mut first) = (String::new(), 0_usize);
        for (index, line) in self.text.lines().chain(std::iter::once("")).enumerate() {
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
            self.check_blob(&run, line_number(first));
            run.clear();
        }
        self.check_escapes();
    }

    fn check_blob(&mut self, run: &str, line: u32) {
        let mixed = run.bytes().any(|b| b.is_ascii_lowercase())
            && run.bytes().any(|b| b.is_ascii_uppercase())
            && run.bytes().any(|b| b.is_ascii_digit());
        if run.len() < self.rules.blob.characters || !mixed {
            return;
        }
        let decoded = decode(run).filter(|bytes| !bytes.contains(&0));
        if let Some(text) = decoded.and_then(|bytes| String::from_utf8(bytes).ok()) {
            let message = format!("text in base64, which says {}; write it out", excerpt(&text));
            self.add(Severity::Danger, line, "encoded_text", message);
            self.phrases(&text, line, TextKind::Prompt);
        } else {
            let size = run.len();
            let message =
                format!("{size} characters of encoded data; leave it out, or put it into a file of its own kind");
            self.add(Severity::Warning, line, "encoded_data", message);
        }
    }

    fn check_escapes(&mut self) {
        static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
        let text = self.text;
        let most = self.rules.blob.escapes;
        let regex = REGEX.get_or_init(|| {
            Regex::new(&format!(r"(?:(?:\\x|%|\\u00|0x|&#x?)[0-9A-Fa-f]{{2,3}}[;,]?\s?){{{most},}}")).ok()
        });
        for hit in regex.iter().flat_map(|regex| regex.find_iter(text)) {
            let line = self.lines.at(hit.start());
            self.add(Severity::Warning, line, "encoded_data", "text written as codes; write it out");
        }
    }

    fn urls(&mut self) {
        let text = self.text;
        for hit in ADDRESS.iter().flat_map(|regex| regex.find_iter(text)) {
            if let Some((severity, rule, why)) = self.judge_address(hit.as_str()) {
                let line = self.lines.at(hit.start());
                self.add(severity, line, rule, format!("{why}: {}", excerpt(hit.as_str())));
            }
        }
    }

    fn judge_address(&self, text: &str) -> Option<(Severity, &'static str, &'static str)> {
        let url = Url::parse(text.trim_end_matches(['.', ',', ';', ':', '!', '?'])).ok()?;
        let host = url.host()?;
        let name = url.host_str()?.to_lowercase();
        if allows_host(self.permissions, &name) {
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
        let is = |known: &String| {
            name == *known || name.strip_suffix(known.as_str()).is_some_and(|left| left.ends_with('.'))
        };
        let known = self.rules.hosts.iter().any(is);
        if known || reserved.iter().any(|ending| name.ends_with(ending)) {
            return None;
        }
        let severity = match self.place {
            TextKind::Reference | TextKind::Comment => Severity::Info,
            TextKind::Prompt | TextKind::Script => Severity::Warning,
        };
        Some((severity, "unknown_host", "a host that the package doesn't declare (`permissions.network`)"))
    }

    fn invisible_characters(&mut self) {
        let text = self.text;
        if text.is_ascii() && !text.bytes().any(|b| b < 32 && !b"\t\r\n".contains(&b) || b == 127) {
            return;
        }
        for (index, line) in text.split('\n').enumerate() {
            let line = line.strip_suffix('\r').unwrap_or(line);
            for rule in &self.rules.invisible {
                self.characters(line, index, rule);
            }
            let mut words = line.split(|c: char| !c.is_alphabetic());
            if let Some(word) = words.find(|word| is_mixed_script(word, &self.rules.lookalike)) {
                let message = format!(
                    "the word “{word}” mixes Latin letters with look-alikes of another script; write it in one"
                );
                self.add(Severity::Warning, line_number(index), "mixed_script", message);
            }
        }
    }

    fn characters(&mut self, line: &str, index: usize, rule: &Invisible) {
        let all: Vec<char> = line.chars().collect();
        let is_hit = |at: usize, code: u32| {
            rule.ranges.iter().any(|(from, to)| (*from..=*to).contains(&code))
                && !rule.unless.is_some_and(|unless| is_harmless(unless, &all, at, index == 0))
        };
        let codes = all.iter().map(|c| u32::from(*c)).enumerate();
        let hits: Vec<u32> = codes.filter(|(at, code)| is_hit(*at, *code)).map(|(_, code)| code).collect();
        if hits.is_empty() {
            return;
        }
        let codes: Vec<String> = hits.iter().take(4).map(|code| format!("U+{code:04X}")).collect();
        let text = tag_text(&hits);
        let says = if text.is_empty() { String::new() } else { format!("; they say “{text}”") };
        let message = format!("{} ({} of them, {}){says}; take them out", rule.name, hits.len(), codes.join(" "));
        self.add(rule.severity, line_number(index), &rule.rule, message);
    }
}

fn is_excused(rule: &Pattern, text: &str, at: usize) -> bool {
    let begin = text[..at].char_indices().rev().take(BEFORE_CHARS).last().map_or(at, |(index, _)| index);
    rule.excuse.as_ref().is_some_and(|excuse| excuse.is_match(&text[begin..at]))
}

fn is_declared(needs: Permission, permissions: &Permissions) -> bool {
    match needs {
        Permission::Network => !permissions.network.is_empty(),
        Permission::Credentials => !permissions.credentials.is_empty(),
        Permission::Scripts => permissions.scripts,
    }
}

fn is_base64_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_')
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
