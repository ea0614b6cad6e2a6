//! Whether a pipeline's statuses belong to the command that has just ended.
//!
//! bash sets PIPESTATUS for pipelines only: a function definition, a `case`, a job put in the background leave the
//! former one standing. The shell tells what it has, and the judgement is made here, where the command line is known.

/// The statuses to believe: `stages` as the shell told them, or none.
///
/// They must fit the exit status (as it is, under `pipefail`, or negated by a `!` in `label`), and they must be new
/// compared with `before`, unless the command line holds a `|`.
#[must_use]
pub fn believed(stages: Vec<i32>, before: &[i32], exit: Option<i32>, label: &str) -> Vec<i32> {
    let (Some(&last), Some(exit)) = (stages.last(), exit) else { return Vec::new() };
    let failing = stages.iter().rev().copied().find(|&status| status != 0).unwrap_or(0);
    let negated = |status: i32| label.contains('!') && exit == i32::from(status == 0);
    let fits = [last, failing].into_iter().any(|status| status == exit || negated(status));
    let fresh = stages != before || label.contains('|');
    if stages.len() > 1 && fits && fresh { stages } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::believed;

    #[test]
    fn believes_only_what_fits() {
        const OLD: &[i32] = &[1, 0, 3];
        type Case = (&'static [i32], &'static [i32], i32, &'static str, bool);
        let cases: [Case; 11] = [
            (&[1, 0, 3], &[], 3, "false|true|(exit 3)", true),
            (&[1, 0, 3], OLD, 3, "false|true|(exit 3)", true),
            (&[1, 0, 3], OLD, 0, "f() { :; }", false),
            (&[1, 0, 3], OLD, 0, "case x in y) ;; esac", false),
            (&[1, 0, 3], OLD, 0, "case x in a|b) ;; esac", false),
            (&[1, 0], &[], 1, "! false | true", true),
            (&[1, 0], &[], 1, "set -o pipefail; false|true", true),
            (&[0, 0], &[], 0, "deploy", true),
            (&[0, 0], &[0, 0], 0, "sleep 1 &", false),
            (&[0], &[], 0, "true | x", false),
            (&[1, 0], &[], 148, "sleep 60", false),
        ];
        for (stages, before, exit, label, right) in cases {
            assert_eq!(!believed(stages.to_vec(), before, Some(exit), label).is_empty(), right, "{label} {stages:?}");
        }
    }
}
