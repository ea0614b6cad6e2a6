//! GCC, Clang and what else reports errors as they do, and linkers.

use super::rule::{Recogniser, Rule};

/// Behind an error: the line of source that GCC shows with its number, or Clang without, then one with a caret.
const SOURCE: u8 = 1;
const CARET: u8 = 2;
/// Behind the assembler's heading.
const ASSEMBLER: u8 = 3;

// An error's own line may stand in any text, as in what grep shows of an old log; the lines that a compiler
// writes around it make it sure.
pub(super) static COMPILER: Recogniser = Recogniser::new(
    "cc",
    "^[^\\s:]+(:[0-9]+:[0-9]+)?: (fatal )?error: |being treated as errors|^[^\\s:]+:[0-9]+: Error: | generated\\.$",
    &[
        Rule::nothing("^(\\S+-)?clang(\\+\\+)?(-[0-9]+)?: error: linker command failed"),
        Rule::problem("^[^\\s:]+:[0-9]+:[0-9]+: (fatal )?error: ").leaves(SOURCE),
        Rule::problem("^(\\S+-)?(gcc|g\\+\\+|clang|clang\\+\\+|cc|c\\+\\+|cc1|cc1plus)(-[0-9]+)?: ((fatal )?error: |all warnings being treated as errors|some warnings being treated as errors)").sure(),
        Rule::sign("^ +[0-9]+ \\|").when(SOURCE),
        Rule::nothing("").when(SOURCE).leaves(CARET),
        Rule::sign("^\\s*[~^][~^ ]*$").when(CARET),
        Rule::sign("^compilation terminated\\.$"),
        // The only sign of GCC where it was asked not to show the source.
        Rule::sign("^[A-Za-z0-9./_][^\\s:]*: (In ([a-z]+ )*(function|constructor|destructor|instantiation|substitution|lambda)( of)? [‘'`\"]|At (top level|global scope):$)"),
        Rule::sign("^[A-Za-z0-9./_][^\\s:]*: Assembler messages:$").leaves(ASSEMBLER),
        Rule::nothing("^[^\\s:]+:[0-9]+: Warning: ").when(ASSEMBLER).leaves(ASSEMBLER),
        Rule::problem("^[^\\s:]+:[0-9]+: Error: ").when(ASSEMBLER).leaves(ASSEMBLER),
        Rule::fine("^[0-9]+ warnings? generated\\.$").sure(),
        Rule::result("^([0-9]+ warnings? and )?[0-9]+ errors? generated\\.$").sure(),
    ],
)
.begins(b"c0123456789")
.then(b"ocl+ 0123456789")
.ends(b":")
.says_error();

// GNU Fortran puts an error's words below the source, and its place above.
pub(super) static FORTRAN: Recogniser = Recogniser::new(
    "gfortran",
    "^(Fatal )?Error: ",
    &[
        Rule::title("^[A-Za-z0-9./_][^\\s:]*\\.[fF]([0-9]{2}|or|pp)?:[0-9]+:[0-9]+:$").sure(),
        Rule::nothing("^Warning: "),
        Rule::problem("^(Fatal )?Error: \\S"),
    ],
)
.begins(b"EFW")
.then(b"ra")
.ends(b":");

/// Behind the line that names the function.
const FUNCTION: u8 = 2;
/// Behind what LLVM's linker reports, which says next who needs it.
const NEEDED: u8 = 1;

pub(super) static LINKER: Recogniser = Recogniser::new(
    "linker",
    "undefined (reference|symbol)|^collect2: |linker command failed|ld(\\.[a-z0-9]+)?: (error: |cannot (find|open) )|multiple definition of",
    &[
        Rule::problem("^([^\\s:+]*/)?([A-Za-z0-9_.]+-)*(ld|ld\\.[a-z0-9]+|lld|ld64\\.lld|wasm-ld|mold): .*(undefined reference to |undefined symbol|cannot (find|open output file) |multiple definition of |error: )").sure().leaves(NEEDED),
        // The next line says what is wrong there, without a name of the linker's.
        Rule::nothing("^\\S*ld[^\\s:]*: \\S+: [Ii]n function `").leaves(FUNCTION),
        Rule::problem("^[^\\s:]+:(\\([^)]*\\)|[0-9]+): (undefined reference to |multiple definition of )"),
        Rule::problem("^[^\\s:]+:([^\\s:]+:)?(\\([^)]*\\)|function .+): error: undefined reference to "),
        Rule::detail("^>>> referenced by ").when(NEEDED),
        Rule::result("^collect2: (fatal )?error: ").sure(),
        Rule::result("^(\\S+-)?clang(\\+\\+)?(-[0-9]+)?: error: linker command failed").sure(),
    ],
)
.begins(b"/lcmwxar")
.ends(b"'");
