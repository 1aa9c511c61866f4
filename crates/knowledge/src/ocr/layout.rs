//! Lines of a page in the order of reading, and the blocks that they make.

use super::prepare::Place;
use super::{Line, Reading};
use steward_core::extracted::{Block, BlockKind};

/// Pieces of a line stand beside each other by more than this share of their heights.
const SAME_LINE: f32 = 0.5;
/// In heights of lines: width of a gap between columns.
const GUTTER: f32 = 0.9;
/// In heights of lines: space between paragraphs.
const PARAGRAPH: f32 = 0.75;

/// The blocks of a page from its lines, in any order.
pub(super) fn blocks(lines: Vec<Line>, place: &Place) -> Reading {
    let confidence = mean_confidence(&lines);
    let mut blocks = Vec::new();
    for column in columns(lines) {
        let mut paragraph: Vec<Line> = Vec::new();
        for line in rows(column) {
            let is_apart = paragraph
                .last()
                .is_some_and(|last| line.y0 - last.y1 > PARAGRAPH * (line.y1 - line.y0).min(last.y1 - last.y0));
            if is_apart {
                blocks.extend(block_of_lines(&paragraph, place));
                paragraph.clear();
            }
            paragraph.push(line);
        }
        blocks.extend(block_of_lines(&paragraph, place));
    }
    Reading { blocks, confidence }
}

/// Parts lines that stand in columns beside each other.
fn columns(lines: Vec<Line>) -> Vec<Vec<Line>> {
    let height = median_height(&lines);
    if let Some(at) = gutter(&lines, height) {
        let (left, right): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| middle(line) < at);
        let mut found = columns(left);
        found.extend(columns(right));
        return found;
    }
    // Above or below of what goes across there may be columns.
    let mut ends: Vec<f32> = lines.iter().map(|line| line.y1).collect();
    ends.sort_by(f32::total_cmp);
    for end in ends {
        let is_between =
            lines.iter().any(|line| line.y0 >= end) && !lines.iter().any(|line| line.y0 < end && line.y1 > end);
        if !is_between {
            continue;
        }
        let side = |upper: bool| lines.iter().filter(move |line| (line.y0 < end) == upper).cloned().collect::<Vec<_>>();
        if gutter(&side(true), height).is_some() || gutter(&side(false), height).is_some() {
            let mut found = columns(side(true));
            found.extend(columns(side(false)));
            return found;
        }
    }
    vec![lines]
}

fn middle(line: &Line) -> f32 {
    line.x0.midpoint(line.x1)
}

/// Where no line is, from the first to the last, though there are lines on both sides, beside each other.
fn gutter(lines: &[Line], height: f32) -> Option<f32> {
    const LEAST: usize = 3;
    let mut order: Vec<&Line> = lines.iter().collect();
    order.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    let mut right = order.first()?.x1;
    let mut widest: Option<(f32, f32)> = None;
    for (index, line) in order.iter().enumerate() {
        let gap = line.x0 - right;
        let beside = |one: &Line, other: &Line| one.y0 < other.y1 && other.y0 < one.y1;
        if gap > GUTTER * height && index >= LEAST && order.len() - index >= LEAST {
            let (before, after) = order.split_at(index);
            let pairs = before.iter().filter(|one| after.iter().any(|other| beside(one, other))).count();
            if pairs >= LEAST && widest.is_none_or(|(known, _)| gap > known) {
                widest = Some((gap, right + gap / 2.0));
            }
        }
        right = right.max(line.x1);
    }
    widest.map(|(_, at)| at)
}

fn median_height(lines: &[Line]) -> f32 {
    let mut heights: Vec<f32> = lines.iter().map(|line| line.y1 - line.y0).collect();
    heights.sort_by(f32::total_cmp);
    heights.get(heights.len() / 2).copied().unwrap_or(0.0)
}

/// From above to below; what stands beside each other becomes one line.
fn rows(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by(|a, b| (a.y0 + a.y1).total_cmp(&(b.y0 + b.y1)));
    let mut rows: Vec<Vec<Line>> = Vec::new();
    for line in lines {
        let shares = |other: &Line| {
            let both = line.y1.min(other.y1) - line.y0.max(other.y0);
            both > SAME_LINE * (line.y1 - line.y0).min(other.y1 - other.y0)
        };
        match rows.last_mut().filter(|row| row.iter().any(shares)) {
            Some(row) => row.push(line),
            None => rows.push(vec![line]),
        }
    }
    let joined = rows.into_iter().map(|mut row| {
        row.sort_by(|a, b| a.x0.total_cmp(&b.x0));
        let confidence = mean_confidence(&row);
        let text = row.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" ");
        let least = |pick: fn(&Line) -> f32| row.iter().map(pick).fold(f32::MAX, f32::min);
        let most = |pick: fn(&Line) -> f32| row.iter().map(pick).fold(f32::MIN, f32::max);
        let (x0, y0, x1, y1) = (least(|l| l.x0), least(|l| l.y0), most(|l| l.x1), most(|l| l.y1));
        Line { text, confidence, x0, y0, x1, y1 }
    });
    joined.collect()
}

/// Of all letters alike.
pub(super) fn mean_confidence<'a>(lines: impl IntoIterator<Item = &'a Line>) -> f32 {
    let (mut sum, mut letters) = (0.0, 0.0);
    for line in lines {
        let count = line.text.chars().filter(|letter| !letter.is_whitespace()).count() as f32;
        sum += line.confidence * count;
        letters += count;
    }
    if letters > 0.0 { sum / letters } else { 0.0 }
}

/// A paragraph of these lines; words that were parted at their ends are whole again.
pub(super) fn block_of_lines(lines: &[Line], place: &Place) -> Option<Block> {
    let mut text = String::new();
    for line in lines {
        let next = line.text.trim();
        let begins_small = next.chars().next().is_some_and(char::is_lowercase);
        let mut ending = text.chars().rev();
        let is_parted = ending.next() == Some('-') && ending.next().is_some_and(char::is_lowercase);
        if is_parted && begins_small {
            text.pop();
        } else if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(next);
    }
    let least = |pick: fn(&Line) -> f32| lines.iter().map(pick).fold(f32::MAX, f32::min);
    let most = |pick: fn(&Line) -> f32| lines.iter().map(pick).fold(f32::MIN, f32::max);
    let area = place.area(least(|l| l.x0), least(|l| l.y0), most(|l| l.x1), most(|l| l.y1));
    (!text.is_empty()).then_some(Block { kind: BlockKind::Paragraph, text, area })
}

/// What a model that sees wrote of a page: it doesn't say where.
pub fn page_of_text(text: &str, confidence: f32) -> Reading {
    let paragraphs = text.split("\n\n").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let block = |text: String| Block { kind: BlockKind::Paragraph, text, area: None };
    Reading { blocks: paragraphs.filter(|text| !text.is_empty()).map(block).collect(), confidence }
}

#[cfg(test)]
mod tests {
    use super::blocks;
    use crate::ocr::{Line, Place};

    fn line(text: &str, x0: f32, y0: f32, x1: f32) -> Line {
        Line { text: text.to_owned(), confidence: 0.9, x0, y0, x1, y1: y0 + 10.0 }
    }

    fn texts(lines: Vec<Line>) -> Vec<String> {
        blocks(lines, &Place::new(1000, 1000)).blocks.into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn columns_are_read_one_after_the_other() {
        let mut lines = vec![line("A title across both", 0.0, 0.0, 300.0)];
        for row in 0..4u8 {
            let y = 30.0 + 13.0 * f32::from(row);
            lines.push(line(&format!("left{row}"), 0.0, y, 140.0));
            lines.push(line(&format!("right{row}"), 160.0, y, 300.0));
        }
        assert_eq!(texts(lines), ["A title across both", "left0 left1 left2 left3", "right0 right1 right2 right3"]);
    }

    #[test]
    fn pieces_of_a_line_are_joined_and_paragraphs_parted() {
        let lines = vec![
            line("the end", 120.0, 1.0, 190.0),
            line("This is", 0.0, 0.0, 70.0),
            line("of a para-", 0.0, 14.0, 100.0),
            line("graph of two.", 0.0, 28.0, 130.0),
            line("Another one.", 0.0, 60.0, 130.0),
        ];
        assert_eq!(texts(lines), ["This is the end of a paragraph of two.", "Another one."]);
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(texts(Vec::new()).is_empty());
    }
}
