//! What the tests stand on: the real server, the recorded conversations, and what to do where they are absent.

#![allow(dead_code)] // each test program uses its own part

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use elbowroom::v1::Format;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A server to test against. It stops with this value.
pub struct Server {
    pub address: String,
    child: Option<Child>,
}

impl Server {
    /// The running one of ELBOWROOM_ADDR, or a new one of ELBOWROOM_BIN. None: there is neither, which the caller says.
    pub fn get() -> Option<Self> {
        if let Ok(address) = std::env::var("ELBOWROOM_ADDR") {
            return Some(Self { address, child: None });
        }
        Self::start(&[])
    }

    /// A new server of ELBOWROOM_BIN with more flags. None: it is not set, which the caller says.
    pub fn start(flags: &[&str]) -> Option<Self> {
        let Ok(binary) = std::env::var("ELBOWROOM_BIN") else {
            return absent("set ELBOWROOM_BIN (or, for most tests, ELBOWROOM_ADDR) to test against a server");
        };
        let mut child = Command::new(&binary)
            .args(["serve", "--grpc-addr", "127.0.0.1:0", "--http-addr", "", "--admin-addr", ""])
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{binary}: {e}"));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.trim().strip_prefix("gRPC: ").map(str::to_owned))
            .unwrap_or_else(|| panic!("{binary} does not say where it listens"));
        // Nobody must be kept from writing.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { address, child: Some(child) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // SIGTERM by the shell's own word for it: the standard library knows only SIGKILL.
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let _ = child.wait();
        }
    }
}

/// Says what is skipped and why; in CI nothing may be.
pub fn absent<T>(why: &str) -> Option<T> {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
    eprintln!("skipped: {why}");
    None
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A recorded conversation, as the text of a request body with its messages byte for byte.
pub struct Recorded {
    pub name: String,
    pub format: Format,
    pub messages: Vec<String>,
    system: Option<String>,
}

impl Recorded {
    /// The request body with the first n messages.
    pub fn body(&self, model: &str, n: usize) -> String {
        let system = self.system.as_ref().map_or_else(String::new, |s| format!("\"system\":{s},"));
        format!("{{\"model\":\"{model}\",{system}\"messages\":[{}]}}", self.messages[..n].join(","))
    }
}

#[derive(Deserialize)]
struct File<'a> {
    format: &'a str,
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

/// The recorded conversations beside the repository. None: they are absent, which the caller says.
pub fn recorded() -> Option<Vec<Recorded>> {
    let folder = repository().join("../shared/data/conversations");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return absent("no recorded conversations beside the repository");
    };
    let mut paths: Vec<_> =
        entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let file: File<'_> = serde_json::from_str(&text).unwrap();
        Recorded {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            format: if file.format == "anthropic" { Format::AnthropicMessages } else { Format::OpenaiChat },
            messages: file.messages.iter().map(|m| m.get().to_owned()).collect(),
            system: file.system.map(|s| s.get().to_owned()),
        }
    };
    Some(paths.iter().map(read).collect())
}
