//! What the detectors cost on a megabyte of each word and sign of their own data, alone and repeated at random: as much as
//! on other texts, since whoever may send a text could stop the others with it.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, iter};

use steward_access::governance::Detector;

/// Bytes of a text: without optimisation a byte costs some seventeen times as much, and longer ones would take too long.
const LENGTH: usize = if cfg!(debug_assertions) { 30_000 } else { 1_000_000 };
/// Milliseconds of CPU that it may cost.
const LIMIT_MS: u64 = 300;
const LONGEST_PERIOD: usize = 64;
const SIGNS: &str = "@:+(/=-_.,;'\"`<>|#$%&*!?~[]{}\\ \t\n0129aAzZéÄß’“„»—\u{a0}\u{202f}";

/// All words in the quotes of the data files, and signs; names once in a hundred, as one is read like another.
fn pieces() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/governance");
    let mut pieces: BTreeSet<String> = SIGNS.chars().map(String::from).collect();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let one_in = if path.ends_with("words.toml") || path.ends_with("secrets.toml") { 1 } else { 100 };
        let words = text.split([',', '"', '\'', '\n']).map(str::trim).filter(|word| !word.is_empty());
        pieces.extend(words.filter(|word| word.len() <= LONGEST_PERIOD).step_by(one_in).map(str::to_owned));
    }
    for more in
        ["://", "http://", "a@b.co", "-----BEGIN PRIVATE KEY-----", " -u ", "O'", "d'", "J. ", "::", "12 ", "(pw!"]
    {
        pieces.insert(more.to_owned());
    }
    pieces.into_iter().collect()
}

/// Milliseconds on a CPU so far; it advances by some four at once.
fn cpu_ms() -> u64 {
    let spent = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    spent.split(' ').next().unwrap().parse::<u64>().unwrap() / 1_000_000
}

fn cost_ms(period: &str) -> u64 {
    let text = period.repeat(LENGTH / period.len());
    let before = cpu_ms();
    std::hint::black_box(Detector::shared().unwrap().find(&text));
    cpu_ms() - before
}

fn check(periods: impl Iterator<Item = String>) {
    let dear: Vec<(u64, String)> =
        periods.map(|period| (cost_ms(&period), period)).filter(|(ms, _)| *ms > LIMIT_MS).collect();
    assert!(dear.is_empty(), "milliseconds and what was repeated: {dear:?}");
}

/// Numbers that look random and are the same each time.
fn draws() -> impl FnMut(usize) -> usize {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below).unwrap()).unwrap()
    }
}

#[test]
fn prove_each_word_and_sign_costs_its_length() {
    check(pieces().into_iter());
}

#[test]
fn prove_each_period_costs_its_length() {
    let (pieces, mut draw) = (pieces(), draws());
    let mut period = |length: usize| {
        let mut text = pieces[draw(pieces.len())].clone();
        while text.len() < length {
            text.push_str(&pieces[draw(pieces.len())]);
        }
        text.truncate(text.floor_char_boundary(length));
        if text.is_empty() { "a".to_owned() } else { text }
    };
    let periods: Vec<String> =
        (1..=LONGEST_PERIOD).flat_map(|length| iter::repeat_n(length, 8)).map(&mut period).collect();
    check(periods.into_iter());
}

#[test]
fn prove_random_repetitions_cost_their_length() {
    let (pieces, mut draw) = (pieces(), draws());
    let signs: Vec<String> = SIGNS.chars().map(String::from).collect();
    let texts = (0..500).map(|_| {
        let some: Vec<&String> = (0..=draw(4)).map(|_| &pieces[draw(pieces.len())]).collect();
        let length = 1 + draw(LONGEST_PERIOD);
        let mut text = String::new();
        while text.len() < length {
            text.push_str(if draw(3) == 0 { &signs[draw(signs.len())] } else { some[draw(some.len())] });
        }
        text
    });
    check(texts.collect::<Vec<_>>().into_iter());
}
