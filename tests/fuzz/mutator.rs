//! Makes inputs of others: bytes, fragments and lines are removed, repeated, exchanged and inserted. The sequence
//! depends on the seed only.

/// Inputs are cut to this size.
const LARGEST: usize = 64 << 10;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bytes and characters that readers treat specially.
const SPECIAL: &[&str] = &[
    "\0",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{feff}",
    "\u{202e}",
    "\u{1f680}",
    "é",
    "，",
    "\x1b[31m",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "-1",
    "0",
    "1e999",
    "18446744073709551616",
    "null",
    "true",
    "\\ud800",
    "\u{2028}",
];

pub struct Mutator<'a> {
    corpus: &'a [Vec<u8>],
    words: &'a [Vec<u8>],
    state: u64,
}

impl<'a> Mutator<'a> {
    pub fn new(corpus: &'a [Vec<u8>], words: &'a [Vec<u8>]) -> Self {
        Self { corpus, words, state: SEED }
    }

    /// One of the inputs with one to eight changes.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.any_input().to_vec();
        for _ in 0..=self.below(7) {
            self.change(&mut input);
            input.truncate(LARGEST);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let (from, to) = self.range(input.len());
        match self.below(9) {
            0 => drop(input.drain(from..to)),
            1 => {
                let piece = input.get(from..to).unwrap_or_default().to_vec();
                let times = 1 + self.below(20);
                insert(input, to, &piece.repeat(times));
            }
            2 => {
                if let Some(byte) = input.get_mut(from) {
                    *byte ^= 1 << self.below(8);
                }
            }
            3 => {
                let piece = self.any_piece();
                insert(input, from, &piece);
            }
            4 => {
                let piece = self.any_piece();
                input.splice(from..to, piece);
            }
            5 => {
                let other = self.any_input();
                let (from_other, to_other) = self.range(other.len());
                let piece = other.get(from_other..to_other).unwrap_or_default().to_vec();
                input.splice(from..to, piece);
            }
            6 => input.truncate(from),
            7 => self.exchange_lines(input),
            _ => {
                let piece = self.any_piece();
                let times = 1 + self.below(300);
                insert(input, from, &piece.repeat(times));
            }
        }
    }

    fn exchange_lines(&mut self, input: &mut Vec<u8>) {
        let mut lines: Vec<&[u8]> = input.split_inclusive(|it| *it == b'\n').collect();
        if lines.len() > 1 {
            let (one, other) = (self.below(lines.len()), self.below(lines.len()));
            lines.swap(one, other);
            *input = lines.concat();
        }
    }

    fn any_piece(&mut self) -> Vec<u8> {
        let index = self.below(self.words.len() + SPECIAL.len());
        match self.words.get(index) {
            Some(word) => word.clone(),
            None => SPECIAL.get(index - self.words.len()).map_or_else(Vec::new, |it| it.as_bytes().to_vec()),
        }
    }

    fn any_input(&mut self) -> &'a [u8] {
        let index = self.below(self.corpus.len());
        self.corpus.get(index).map_or(&[], Vec::as_slice)
    }

    /// Mostly a short one.
    fn range(&mut self, len: usize) -> (usize, usize) {
        let from = self.below(len + 1);
        let most = if self.below(4) == 0 { len - from } else { (len - from).min(16) };
        (from, from + self.below(most + 1))
    }

    /// Below `end`, which is at least 1.
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.state = self.state.wrapping_add(SEED);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    let room = LARGEST.saturating_sub(input.len()).min(piece.len());
    input.splice(at..at, piece.iter().take(room).copied());
}
