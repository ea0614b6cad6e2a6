//! Random choices that a seed repeats.

/// `SplitMix64`: small, and the same everywhere.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Choices of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end - 1`; 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.draw() % end).unwrap_or(0)
    }

    /// One of them.
    ///
    /// # Panics
    /// Where there is none.
    pub fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices.get(self.below(choices.len())).cloned().expect("something to choose from")
    }

    /// True that often of a hundred times.
    pub fn percent(&mut self, often: usize) -> bool {
        self.below(100) < often
    }
}

/// Runs a property for many seeds and says which one failed. `DTMCP_SEEDS` sets how many, `DTMCP_SEED` one alone.
///
/// # Panics
/// Where the property does not hold.
#[expect(clippy::panic, reason = "a property that fails stops its test")]
pub fn seeds(property: impl Fn(u64)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let range = number("DTMCP_SEED").map_or(0..number("DTMCP_SEEDS").unwrap_or(300), |seed| seed..seed + 1);
    for seed in range {
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| property(seed)));
        if let Err(what) = failed {
            let message = what.downcast_ref::<String>().cloned();
            let message = message.or_else(|| what.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            panic!("DTMCP_SEED={seed}: {}", message.unwrap_or_default());
        }
    }
}
