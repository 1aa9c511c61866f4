//! Characters that are not seen, and letters that look like others.

use super::Found;
use super::fold::mixed;
use super::rules::{Invisible, Rules, Unless};
use steward_core::package::Severity;

pub(super) fn look(path: &str, text: &str, rules: &Rules, found: &mut Found) {
    if text.is_ascii() && !text.bytes().any(|b| b < 32 && !b"\t\r\n".contains(&b) || b == 127) {
        return;
    }
    for (index, line) in text.split('\n').enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let line = line.strip_suffix('\r').unwrap_or(line);
        for rule in &rules.invisible {
            characters(path, number, line, index == 0, rule, found);
        }
        if let Some(word) = line.split(|c: char| !c.is_alphabetic()).find(|word| mixed(word, &rules.lookalike)) {
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

fn characters(path: &str, number: u32, line: &str, first: bool, rule: &Invisible, found: &mut Found) {
    let all: Vec<char> = line.chars().collect();
    let hits: Vec<u32> = all
        .iter()
        .enumerate()
        .filter(|(at, c)| {
            let code = u32::from(**c);
            rule.ranges.iter().any(|(from, to)| (*from..=*to).contains(&code))
                && !rule.unless.is_some_and(|unless| in_order(unless, &all, *at, first))
        })
        .map(|(_, c)| u32::from(*c))
        .collect();
    if hits.is_empty() {
        return;
    }
    let codes: Vec<String> = hits.iter().take(4).map(|code| format!("U+{code:04X}")).collect();
    let text = tags(&hits);
    let says = if text.is_empty() { String::new() } else { format!("; they say “{text}”") };
    found.add(
        rule.severity,
        path,
        number,
        &rule.rule,
        format!("{} ({} of them, {}){says}; take them out", rule.name, hits.len(), codes.join(" ")),
    );
}

/// Text carried by tag characters.
fn tags(codes: &[u32]) -> String {
    codes
        .iter()
        .filter(|code| (0xE0020..=0xE007E).contains(*code))
        .filter_map(|code| char::from_u32(code - 0xE0000))
        .take(120)
        .collect()
}

fn in_order(unless: Unless, line: &[char], at: usize, first: bool) -> bool {
    let before = at.checked_sub(1).and_then(|at| line.get(at)).copied();
    let after = line.get(at + 1).copied();
    match unless {
        Unless::Start => first && at == 0,
        // Persian, Arabic and Indic letters join by them, and so do emoji.
        Unless::Joining => {
            let beside = |c: Option<char>| c.is_some_and(|c| u32::from(c) >= 0x0600);
            beside(before) && beside(after)
        }
        Unless::Rtl => line.iter().any(|c| matches!(u32::from(*c), 0x0590..=0x08FF | 0xFB1D..=0xFEFC)),
        Unless::Emoji => before.is_some_and(|c| {
            let code = u32::from(c);
            matches!(code, 0x23 | 0x2A | 0x30..=0x39 | 0xA9 | 0xAE | 0x2010..=0x32FF | 0x1F000..=0x1FAFF)
        }),
    }
}
