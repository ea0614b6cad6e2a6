//! The arrows between the crates, and what the core may stand on.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use super::none;
use super::tree::top;

/// Every arrow there is. A new crate comes here together with what it may know.
const ARROWS: &[(&str, &[&str])] = &[
    ("dtmcp-core", &[]),
    ("dtmcp-linux-proc", &["dtmcp-core"]),
    ("dtmcp-ptrace-fds", &["dtmcp-core"]),
    ("dtmcp", &["dtmcp-core", "dtmcp-linux-proc", "dtmcp-ptrace-fds"]),
    ("dtmcp-tests", &["dtmcp", "dtmcp-core", "dtmcp-linux-proc", "dtmcp-ptrace-fds"]),
];

/// What the core may depend on, each a pure computation.
const CORE: &[&str] = &["vte", "unicode-width", "memchr", "regex", "fancy-regex", "serde", "serde_json"];

/// Crates through which a program reaches its operating system or a runtime.
const SYSTEM: &[&str] = &[
    "libc",
    "nix",
    "rustix",
    "linux-raw-sys",
    "errno",
    "getrandom",
    "mio",
    "tokio",
    "tracing",
    "wasi",
    "js-sys",
    "wasm-bindgen",
    "windows-sys",
    "windows-link",
];

fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command.manifest_path(top().join("Cargo.toml")).other_options(["--locked".to_owned()]);
    command.exec().unwrap()
}

fn named<'a>(metadata: &'a Metadata, name: &str) -> &'a Package {
    let found = metadata.packages.iter().find(|package| package.name.as_str() == name);
    found.unwrap_or_else(|| panic!("no package {name}"))
}

#[test]
fn arrows_are_the_ones_that_were_drawn() {
    let metadata = metadata();
    let members: BTreeSet<&str> = metadata.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    assert_eq!(members, ARROWS.iter().map(|(name, _)| *name).collect());
    for (name, allowed) in ARROWS {
        let dependencies = named(&metadata, name).dependencies.iter().map(|dependency| dependency.name.as_str());
        let ours: BTreeSet<&str> = dependencies.filter(|name| members.contains(name)).collect();
        let allowed = allowed.iter().copied().collect();
        assert!(ours.is_subset(&allowed), "{name} depends on {ours:?}, and may on {allowed:?}");
    }
}

#[test]
fn the_core_stands_on_little() {
    let metadata = metadata();
    let normal = |dependency: &&cargo_metadata::Dependency| dependency.kind == DependencyKind::Normal;
    let dependencies = named(&metadata, "dtmcp-core").dependencies.iter().filter(normal);
    let more = dependencies.map(|dependency| dependency.name.clone()).filter(|name| !CORE.contains(&name.as_str()));
    none("the core may not depend on", &more.collect::<Vec<_>>());
}

/// The core builds where there is no operating system, as far as its dependencies go.
#[test]
fn nothing_under_the_core_reaches_the_system() {
    let metadata = metadata();
    let names: BTreeMap<_, _> = metadata.packages.iter().map(|package| (&package.id, package.name.as_str())).collect();
    let nodes: BTreeMap<_, _> = metadata.resolve.as_ref().unwrap().nodes.iter().map(|node| (&node.id, node)).collect();
    let mut seen = BTreeSet::new();
    let mut next = vec![&named(&metadata, "dtmcp-core").id];
    while let Some(id) = next.pop() {
        if !seen.insert(id) {
            continue;
        }
        let normal = |dependency: &&cargo_metadata::NodeDep| {
            dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal && kind.target.is_none())
        };
        next.extend(nodes[id].deps.iter().filter(normal).map(|dependency| &dependency.pkg));
    }
    let below: Vec<String> = seen.iter().map(|id| names[id].to_owned()).collect();
    assert!(below.len() > 5, "{below:?}");
    let system: Vec<String> = below.into_iter().filter(|name| SYSTEM.contains(&name.as_str())).collect();
    none("under the core", &system);
}

/// A program that is built twice from one lock file is the same program, from sources that everyone has.
#[test]
fn every_crate_comes_from_the_public_registry() {
    let lock = super::tree::text("Cargo.lock");
    let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let other = lock.lines().filter(|line| line.starts_with("source = ") && *line != public);
    none("other sources", &other.map(str::to_owned).collect::<Vec<_>>());
}
