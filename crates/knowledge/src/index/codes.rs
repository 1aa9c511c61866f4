//! Vectors in one bit a number, to find candidates, and in half precision, to compare these.

/// A vector as the signs of its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    /// Bit `i % 8` of byte `i / 8` is set if number `i` is above zero.
    pub bits: Vec<u8>,
    /// What the sum over the signs is multiplied by, so that it estimates the cosine without bias: one through the sum of
    /// the vector's magnitudes.
    pub factor: f32,
}

/// Bytes of a code.
pub fn code_len(dimension: usize) -> usize {
    dimension.div_ceil(8)
}

/// Of length 1; `None` if it has no length or a number that is none.
pub fn normalise(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "at most 1")]
    (length.is_finite() && length > 0.0).then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

pub fn encode(unit: &[f32]) -> Code {
    let mut bits = vec![0_u8; code_len(unit.len())];
    for (at, x) in unit.iter().enumerate() {
        bits[at / 8] |= u8::from(*x > 0.0) << (at % 8);
    }
    let magnitude: f32 = unit.iter().map(|x| x.abs()).sum();
    Code { bits, factor: if magnitude > 0.0 { magnitude.recip() } else { 0.0 } }
}

/// A query, prepared for comparing it with many codes: for each byte of a code the sum of the query's numbers whose bits
/// are set, as integers.
pub struct QueryTable {
    sums: Vec<[i16; 256]>,
    /// Sum of all numbers of the query.
    total: i32,
    /// One of these integers.
    unit: f32,
}

impl QueryTable {
    pub fn new(query: &[f32]) -> Self {
        let widest = query.chunks(8).map(|eight| eight.iter().map(|x| x.abs()).sum::<f32>()).fold(0.0, f32::max);
        let scale = if widest > 0.0 { 32_700.0 / widest } else { 0.0 };
        let mut total = 0;
        let sums = query
            .chunks(8)
            .map(|eight| {
                #[expect(clippy::cast_possible_truncation, reason = "scaled to its range")]
                let whole: Vec<i16> = eight.iter().map(|x| (x * scale).round() as i16).collect();
                total += whole.iter().map(|x| i32::from(*x)).sum::<i32>();
                let mut table = [0_i16; 256];
                for byte in 1..256_usize {
                    let bit = byte.trailing_zeros() as usize;
                    table[byte] = table[byte & (byte - 1)] + whole.get(bit).copied().unwrap_or(0);
                }
                table
            })
            .collect();
        Self { sums, total, unit: if scale > 0.0 { scale.recip() } else { 0.0 } }
    }

    /// Estimates the cosine of the query and the vector of `bits` and `factor`.
    #[inline]
    pub fn estimate(&self, bits: &[u8], factor: f32) -> f32 {
        let mut sum = 0_i32;
        for (table, byte) in self.sums.iter().zip(bits) {
            sum += i32::from(table[usize::from(*byte)]);
        }
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let signed = (2 * sum - self.total) as f32;
        signed * self.unit * factor
    }
}

/// A number in 16 bits, rounded to the nearest; magnitudes up to 1 are what this is for, larger ones than 65,504 become
/// infinite.
#[expect(clippy::cast_possible_truncation, reason = "bits are cut out")]
pub fn to_half(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude >= 0x4780_0000 {
        return sign | if magnitude > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
    }
    if magnitude < 0x3880_0000 {
        // Below 2^-14 the steps are of 2^-24: adding a half moves them to the end of the number.
        let steps = (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5_f32.to_bits();
        return sign | steps as u16;
    }
    let even = (magnitude >> 13) & 1;
    sign | ((magnitude - 0x3800_0000 + 0xfff + even) >> 13) as u16
}

#[inline]
pub fn from_half(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff);
    // Moving the exponent by a multiplication also gets the smallest numbers right.
    let wide = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
    let bits = if magnitude >= 0x7c00 { 0x7f80_0000 | (magnitude << 13) } else { wide.to_bits() };
    f32::from_bits(sign | bits)
}

/// Little-endian half-precision numbers.
pub fn to_bytes(unit: &[f32], out: &mut Vec<u8>) {
    for x in unit {
        out.extend_from_slice(&to_half(*x).to_le_bytes());
    }
}

/// Dot product of a query with a row as [`to_bytes`] makes it.
pub fn dot(query: &[f32], row: &[u8]) -> f32 {
    const LANES: usize = 8;
    let (pairs, _) = row.as_chunks::<2>();
    let mut sums = [0.0_f32; LANES];
    for (queries, halves) in query.chunks(LANES).zip(pairs.chunks(LANES)) {
        for ((sum, x), half) in sums.iter_mut().zip(queries).zip(halves) {
            *sum += x * from_half(u16::from_le_bytes(*half));
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::{QueryTable, dot, encode, from_half, normalise, to_bytes, to_half};

    #[test]
    fn every_half_comes_back() {
        for half in 0..=u16::MAX {
            let wide = from_half(half);
            if wide.is_nan() {
                assert!(from_half(to_half(wide)).is_nan());
            } else {
                assert_eq!(to_half(wide), half, "{wide}");
            }
        }
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_half() {
        for (wide, near) in [(1.0, 1.0), (0.333_333_34, 0.333_251_95), (1e-8, 0.0), (7e-8, 5.960_464_5e-8)] {
            assert!((from_half(to_half(wide)) - near).abs() < 1e-12, "{wide}");
        }
        assert!(from_half(to_half(70_000.0)).is_infinite());
        assert!(from_half(to_half(f32::NAN)).is_nan());
    }

    #[test]
    fn estimates_are_what_signs_say() {
        let unit = normalise(&(0..19_u8).map(|at| f32::from(at % 7) - 3.2).collect::<Vec<f32>>()).unwrap();
        let query: Vec<f32> = (0..19_u8).map(|at| f32::from(at % 5) * 0.1 - 0.17).collect();
        let code = encode(&unit);
        assert_eq!(code.bits.len(), 3);
        let signed: f32 = unit.iter().zip(&query).map(|(x, q)| q.copysign(if *x > 0.0 { *q } else { -*q })).sum();
        assert!((QueryTable::new(&query).estimate(&code.bits, code.factor) - signed * code.factor).abs() < 1e-3);
        assert!((QueryTable::new(&unit).estimate(&code.bits, code.factor) - 1.0).abs() < 1e-3);
        assert!(QueryTable::new(&[0.0; 8]).estimate(&[255], 1.0).abs() < 1e-9);
    }

    #[test]
    fn rows_are_compared_in_half_precision() {
        let unit = normalise(&[3.0, -4.0, 0.0, 12.0, 1.0, 1.0, 2.0, 2.0, 5.0]).unwrap();
        let mut row = Vec::new();
        to_bytes(&unit, &mut row);
        assert!((dot(&unit, &row) - 1.0).abs() < 1e-3);
        assert!(normalise(&[0.0, 0.0]).is_none() && normalise(&[f32::NAN]).is_none());
    }
}
