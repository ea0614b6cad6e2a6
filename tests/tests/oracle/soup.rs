//! Random streams over a bounded grammar.

use dtmcp_core::cooked::Size;

/// What a stream is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text with line breaks, tabs and progress bars.
    Text,
    /// Narrow text and everything that moves the cursor, erases, inserts and scrolls.
    Edits,
    /// As `Edits`, also going home, so that only the screen can be compared.
    Screen,
    /// Wide, combining and joined characters.
    Wide,
    /// `Edits` on the alternate screen and back.
    Alternate,
    /// Text with size changes in between.
    Resize,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Text, Self::Edits, Self::Screen, Self::Wide, Self::Alternate, Self::Resize];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Edits => "edits",
            Self::Screen => "screen",
            Self::Wide => "wide",
            Self::Alternate => "alternate",
            Self::Resize => "resize",
        }
    }

    /// Whether the lines are to agree, not only the screen.
    pub(crate) fn has_lines(self) -> bool {
        !matches!(self, Self::Screen | Self::Alternate)
    }
}

/// A stream and the sizes of its pane.
pub(crate) struct Soup {
    pub(crate) seed: u64,
    pub(crate) size: Size,
    pub(crate) bytes: Vec<u8>,
    /// Where the pane takes on another size.
    resizes: Vec<(usize, Size)>,
    /// Where its tokens end.
    pub(crate) ends: Vec<usize>,
}

impl Soup {
    pub(crate) fn new(kind: Kind, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let size = if kind == Kind::Resize { random.usual_size() } else { random.size() };
        let mut soup = Self { seed, size, bytes: Vec::new(), resizes: Vec::new(), ends: Vec::new() };
        let tokens = 5 + random.below(120);
        for _ in 0..tokens {
            soup.token(kind, &mut random);
            soup.ends.push(soup.bytes.len());
        }
        soup
    }

    /// Its beginning, up to a token's end.
    pub(crate) fn up_to(&self, end: usize) -> Self {
        Self {
            seed: self.seed,
            size: self.size,
            bytes: self.bytes[..end].to_vec(),
            resizes: self.resizes.iter().copied().filter(|(at, _)| *at < end).collect(),
            ends: self.ends.iter().copied().filter(|at| *at <= end).collect(),
        }
    }

    /// The ends of its pieces, each with the size that the pane takes on there.
    pub(crate) fn pieces(&self) -> Vec<(usize, Option<Size>)> {
        let mut pieces: Vec<_> = self.resizes.iter().map(|(at, size)| (*at, Some(*size))).collect();
        pieces.push((self.bytes.len(), None));
        pieces
    }

    /// The stream, readable, to be tried by hand.
    pub(crate) fn describe(&self) -> String {
        format!("{:?} {:?}\n{}", self.size, self.resizes, self.bytes.escape_ascii())
    }

    fn put(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn token(&mut self, kind: Kind, random: &mut Random) {
        match kind {
            Kind::Text => self.text(random),
            Kind::Wide => self.wide(random),
            Kind::Edits => self.edit(random),
            Kind::Screen if random.below(12) == 0 => {
                self.put(["\x1b[H", "\x1b[H", "\x1b[3J", "\x1b[?7l"][random.below(4)]);
            }
            Kind::Alternate if random.below(15) == 0 => {
                let mode = [47, 1047, 1049][random.below(3)];
                let set = if random.below(2) == 0 { 'h' } else { 'l' };
                self.put(&format!("\x1b[?{mode}{set}"));
            }
            Kind::Screen | Kind::Alternate => self.edit(random),
            Kind::Resize if random.below(25) == 0 && self.resizes.len() < 4 => {
                let at = self.bytes.len();
                if at > 0 && self.resizes.last().is_none_or(|(last, _)| *last < at) {
                    self.resizes.push((at, random.usual_size()));
                }
            }
            Kind::Resize => self.text(random),
        }
    }

    fn word(&mut self, random: &mut Random) {
        for _ in 0..1 + random.below(12) {
            let letter = b'a' + u8::try_from(random.below(26)).unwrap();
            self.bytes.push(letter);
        }
    }

    fn text(&mut self, random: &mut Random) {
        match random.below(16) {
            0..=5 => self.word(random),
            6 => self.put(" "),
            7..=9 => self.put("\r\n"),
            10 => self.put("\r"),
            11 => self.put("\x08"),
            12 => self.put("\t"),
            13 => self.put("\x1b[31m"),
            14 => self.put(["\x1b[K", "\n", "\x1b[2K", "\x07", "\x0b", "\x1b]0;t\x07"][random.below(6)]),
            _ => {
                let blanks = " ".repeat(random.below(30));
                self.put(&blanks);
            }
        }
    }

    fn wide(&mut self, random: &mut Random) {
        match random.below(12) {
            0..=2 => self.word(random),
            3 => self.put("漢字"),
            4 => self.put("가나다라마바사아자차카타파하"),
            5 => self.put("e\u{301}o\u{302}\u{304}"),
            6 => self.put("🚀"),
            7 => self.put("\r\n"),
            8 => self.put("👨\u{200d}👩"),
            9 => self.put("\x1b[K"),
            10 => self.put("日本"),
            _ => self.put(["a\u{ad}b", "กำ", "\t", "é", "─┐", "\r\nx"][random.below(6)]),
        }
    }

    fn edit(&mut self, random: &mut Random) {
        if random.below(2) == 0 {
            return self.text(random);
        }
        let count = match random.below(12) {
            0 => String::new(),
            1 => "65535".to_owned(),
            2 => "0".to_owned(),
            _ => (1 + random.below(9)).to_string(),
        };
        match random.below(24) {
            0..=6 => {
                let action = ["A", "B", "C", "D", "E", "F", "G"][random.below(7)];
                self.put(&format!("\x1b[{count}{action}"));
            }
            7..=11 => {
                let action = ["@", "P", "X", "L", "M", "S", "T", "Z", "d", "`"][random.below(10)];
                self.put(&format!("\x1b[{count}{action}"));
            }
            12 | 13 => {
                // Never home, which could begin a painting.
                let (row, column) = (2 + random.below(20), 1 + random.below(60));
                self.put(&format!("\x1b[{row};{column}H"));
            }
            14 => {
                let part = random.below(3);
                self.put(&format!("\x1b[{part}J"));
            }
            15 | 16 => {
                let part = random.below(3);
                self.put(&format!("\x1b[{part}K"));
            }
            17 => {
                let top = 1 + random.below(6);
                let bottom = top + random.below(12);
                self.put(&format!("\x1b[{top};{bottom}r\x1b[2B"));
            }
            18 => self.put(["\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1bE", "\x1bH", "\x1b[r\x1b[3B"][random.below(7)]),
            19 => self.put(["\x1b[?7h", "\x1b[4h", "\x1b[4l"][random.below(3)]),
            20 => self.put(&format!("y\x1b[{count}b")),
            21 => self.put(["\x1b[g", "\x1b[3g", "\x1bM", "\x1bM", "\x1bD"][random.below(5)]),
            22 => self.put(["\x1b[?6h\x1b[2;2H", "\x1b[?6l\x1b[2;2H", "\x1b[s", "\x1b[u"][random.below(4)]),
            _ => self.put(["\x1bc", "\x1b[!p", "\x1b[?12l", "\x1bP1$q\x1b\\", "\x1b[4:3m"][random.below(5)]),
        }
    }
}

/// xorshift64*: the same everywhere.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % limit
    }

    fn size(&mut self) -> Size {
        Size { cols: [20, 33, 40, 80, 7][self.below(5)], rows: [5, 8, 12, 24, 3][self.below(5)] }
    }

    /// Sizes between which a line keeps most of its rows: what a much narrower pane drops from the screen is settled,
    /// and painting over it later makes new lines, as it should, where tmux goes on with the old one.
    fn usual_size(&mut self) -> Size {
        Size { cols: [33, 40, 60, 80, 100][self.below(5)], rows: [8, 12, 20, 24, 30][self.below(5)] }
    }
}
