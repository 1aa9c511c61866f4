//! The order in which a page is read: columns from left to right, where there are some.

use super::lines::{Fragment, Row, fragments, rows};
use super::spans::{Span, Spans, Turn};

/// Width of the strips in which a gap between columns is looked for, in points.
const STRIP: f32 = 2.0;
/// Least width of a gap, in sizes of the text.
const GAP: f32 = 0.8;
/// Least lines of a column, and least share of its width that most of its lines fill. Cells of tables fill less.
const LINES: usize = 4;
const FILLED: f32 = 0.6;
/// Of many lines that fill as little, such as those of an index, tables are rare.
const MANY_LINES: usize = 15;
const FILLED_BY_MANY: f32 = 0.35;
/// Least width of a column, as a share of all; of one with lines that fill little.
const WIDTH: f32 = 0.2;
const WIDTH_OF_MANY: f32 = 0.35;
/// Most share of the lines that may go across a gap: titles, and pictures' texts.
const ACROSS: f32 = 0.25;
const DEPTH: usize = 3;

/// The columns of a page in the order of reading, each with its rows. Text that is turned comes after what is not.
pub(super) fn in_order(page: &Spans) -> Vec<Vec<Row>> {
    let turns = [Turn::None, Turn::Quarter, Turn::Half, Turn::ThreeQuarters];
    let of = |turn: Turn| page.all.iter().filter(move |span| span.turn == turn);
    let mut turns: Vec<(usize, Turn)> =
        turns.iter().map(|turn| (of(*turn).map(|span| span.text.len()).sum(), *turn)).collect();
    turns.sort_by_key(|(letters, _)| std::cmp::Reverse(*letters));
    let mut all = Vec::new();
    for (letters, turn) in turns {
        if letters > 0 {
            let spans: Vec<&Span> = of(turn).collect();
            split(fragments(&spans), 0, &mut all);
        }
    }
    all
}

fn split(fragments: Vec<Fragment>, depth: usize, all: &mut Vec<Vec<Row>>) {
    let gap = if depth < DEPTH && fragments.len() >= 2 * LINES { gap(&fragments) } else { None };
    let Some(gap) = gap else {
        all.push(rows(fragments));
        return;
    };
    // What goes across parts the page into bands, and is read before what is below it.
    let (mut left, mut right, mut across) = (Vec::new(), Vec::new(), Vec::new());
    let mut sorted = fragments;
    sorted.sort_by(|one, other| one.y.total_cmp(&other.y));
    for fragment in sorted {
        let goes_across = fragment.x0 < gap && fragment.x1 > gap;
        if goes_across {
            band(&mut left, &mut right, depth, all);
            across.push(fragment);
            continue;
        }
        if !across.is_empty() {
            all.push(rows(std::mem::take(&mut across)));
        }
        if fragment.x0 < gap { left.push(fragment) } else { right.push(fragment) }
    }
    if !across.is_empty() {
        all.push(rows(across));
    }
    band(&mut left, &mut right, depth, all);
}

fn band(left: &mut Vec<Fragment>, right: &mut Vec<Fragment>, depth: usize, all: &mut Vec<Vec<Row>>) {
    for side in [left, right] {
        if !side.is_empty() {
            split(std::mem::take(side), depth + 1, all);
        }
    }
}

/// The middle of the best gap between two columns.
fn gap(fragments: &[Fragment]) -> Option<f32> {
    let low = fragments.iter().map(|one| one.x0).fold(f32::MAX, f32::min);
    let high = fragments.iter().map(|one| one.x1).fold(f32::MIN, f32::max);
    let mut sizes: Vec<f32> = fragments.iter().map(|one| one.size).collect();
    let size = median(&mut sizes);
    let strips = index((high - low) / STRIP).min(5000);
    let mut crossed = vec![0_usize; strips + 1];
    for one in fragments {
        let (from, to) = (index((one.x0 - low) / STRIP), index((one.x1 - low) / STRIP));
        for strip in crossed.iter_mut().take(to + 1).skip(from) {
            *strip += 1;
        }
    }
    let most = fragments.len() / 8;
    let needed = index(GAP * size / STRIP).max(2);
    let mut best: Option<(usize, usize, f32)> = None;
    let mut begin = 0;
    for at in 0..=crossed.len() {
        if crossed.get(at).is_some_and(|count| *count <= most) {
            continue;
        }
        let width = at - begin;
        if width >= needed && begin > 0 && at < crossed.len() {
            let middle = low + STRIP * (as_f32(begin) + as_f32(at)) / 2.0;
            let crossings = crossed[begin..at].iter().copied().min().unwrap_or(0);
            let is_better =
                best.is_none_or(|(fewest, widest, _)| (crossings, usize::MAX - width) < (fewest, usize::MAX - widest));
            if is_better && are_columns(fragments, middle, low, high) {
                best = Some((crossings, width, middle));
            }
        }
        begin = at + 1;
    }
    best.map(|(_, _, middle)| middle)
}

fn are_columns(fragments: &[Fragment], gap: f32, low: f32, high: f32) -> bool {
    let left: Vec<&Fragment> = fragments.iter().filter(|one| one.x1 <= gap).collect();
    let right: Vec<&Fragment> = fragments.iter().filter(|one| one.x0 >= gap).collect();
    let across = fragments.len() - left.len() - right.len();
    if as_f32(across) > ACROSS * as_f32(fragments.len()) {
        return false;
    }
    let is_column = |side: &[&Fragment]| {
        let from = side.iter().map(|one| one.x0).fold(f32::MAX, f32::min);
        let to = side.iter().map(|one| one.x1).fold(f32::MIN, f32::max);
        let mut widths: Vec<f32> = side.iter().map(|one| one.x1 - one.x0).collect();
        let (width, filled) = ((to - from) / (high - low), median(&mut widths) / (to - from));
        let many = side.len() >= MANY_LINES && width >= WIDTH_OF_MANY && filled >= FILLED_BY_MANY;
        many || side.len() >= LINES && width >= WIDTH && filled >= FILLED
    };
    let reach = |side: &[&Fragment]| {
        let ys = side.iter().map(|one| one.y);
        (ys.clone().fold(f32::MAX, f32::min), ys.fold(f32::MIN, f32::max))
    };
    let ((a, b), (c, d)) = (reach(&left), reach(&right));
    is_column(&left) && is_column(&right) && b.min(d) > a.max(c)
}

fn median(numbers: &mut [f32]) -> f32 {
    numbers.sort_by(f32::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below zero, and a page is small")]
fn index(number: f32) -> usize {
    number.max(0.0) as usize
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn as_f32(number: usize) -> f32 {
    number as f32
}
