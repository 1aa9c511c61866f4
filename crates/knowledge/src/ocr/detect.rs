//! Finds lines of text on a map of how likely each pixel belongs to one (differentiable binarisation).

/// Pixels above it belong to a line.
const LIKELY: f32 = 0.2;
/// Least mean of a line.
const LIKELY_LINE: f32 = 0.4;
/// The map shows lines thinner than they are: area times this by perimeter is what is missing on each side.
const THINNED: f32 = 1.4;
/// Least side of a line on the map, in pixels.
const LEAST: usize = 3;
const MOST_LINES: usize = 3_000;

/// A line, in pixels of the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub x0: f32,
    pub y0: f32,
    pub x1: f32,
    pub y1: f32,
}

struct Spot {
    x0: usize,
    y0: usize,
    x1: usize,
    y1: usize,
    pixels: usize,
    sum: f32,
}

/// The lines of a page that stands upright, from a map row by row.
pub(super) fn lines(map: &[f32], width: usize) -> Vec<Found> {
    if width == 0 {
        return Vec::new();
    }
    let height = map.len() / width;
    let mut seen = vec![false; map.len()];
    let mut found = Vec::new();
    for start in 0..width * height {
        if seen[start] || map[start] <= LIKELY {
            continue;
        }
        let spot = spread(map, (width, height), start, &mut seen);
        found.extend(line_of(&spot, (width, height)));
        if found.len() >= MOST_LINES {
            break;
        }
    }
    found
}

fn spread(map: &[f32], (width, height): (usize, usize), start: usize, seen: &mut [bool]) -> Spot {
    let mut spot = Spot { x0: usize::MAX, y0: usize::MAX, x1: 0, y1: 0, pixels: 0, sum: 0.0 };
    let mut open = vec![start];
    seen[start] = true;
    while let Some(at) = open.pop() {
        let (x, y) = (at % width, at / width);
        (spot.x0, spot.y0) = (spot.x0.min(x), spot.y0.min(y));
        (spot.x1, spot.y1) = (spot.x1.max(x), spot.y1.max(y));
        spot.pixels += 1;
        spot.sum += map[at];
        let mut visit = |next: usize| {
            if !seen[next] && map[next] > LIKELY {
                seen[next] = true;
                open.push(next);
            }
        };
        if x > 0 {
            visit(at - 1);
        }
        if x + 1 < width {
            visit(at + 1);
        }
        if y > 0 {
            visit(at - width);
        }
        if y + 1 < height {
            visit(at + width);
        }
    }
    spot
}

fn line_of(spot: &Spot, (width, height): (usize, usize)) -> Option<Found> {
    let (across, down) = (spot.x1 + 1 - spot.x0, spot.y1 + 1 - spot.y0);
    if across.min(down) < LEAST || spot.sum / (spot.pixels as f32) < LIKELY_LINE {
        return None;
    }
    let (across, down) = (across as f32, down as f32);
    let missing = across * down * THINNED / (2.0 * (across + down));
    Some(Found {
        x0: (spot.x0 as f32 - missing).max(0.0),
        y0: (spot.y0 as f32 - missing).max(0.0),
        x1: (spot.x1 as f32 + 1.0 + missing).min(width as f32),
        y1: (spot.y1 as f32 + 1.0 + missing).min(height as f32),
    })
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn spots_become_lines_as_high_as_they_were() {
        let (width, height) = (100, 40);
        let mut map = vec![0.0; width * height];
        for y in 10..14 {
            for x in 20..80 {
                map[y * width + x] = 0.9;
            }
        }
        // Too faint, and too small.
        for x in 0..50 {
            map[30 * width + x] = 0.25;
            map[31 * width + x] = 0.25;
            map[32 * width + x] = 0.25;
        }
        map[38 * width + 90] = 1.0;
        let found = lines(&map, width);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].y0 < 8.0 && found[0].y1 > 16.0 && found[0].x0 < 18.0 && found[0].x1 > 82.0, "{found:?}");
        assert!(lines(&[], 0).is_empty() && lines(&[], 5).is_empty());
    }
}
