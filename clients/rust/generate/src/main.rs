//! Writes the generated half of the client, `../src/generated`, from the repository's proto files. It compiles them itself, so no
//! `protoc` is needed; and what it writes is committed, so users of the client need neither.

use std::error::Error;
use std::path::Path;

const PACKAGE: &str = "elbowroom.v1";

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../../..");
    let mut files = protox::Compiler::new([root.join("proto"), root.join("third_party/protovalidate")])?
        .include_imports(true)
        .include_source_info(true)
        .open_files(["elbowroom/v1/context_service.proto", "elbowroom/v1/summarizer.proto"])?
        .file_descriptor_set();
    // The rules of buf.validate are the server's to check: their Rust form would be compiled by everyone and used by no one.
    files.file.retain(|file| file.package() == PACKAGE);

    tonic_prost_build::configure()
        .out_dir(here.join("../src/generated"))
        .emit_rerun_if_changed(false)
        .server_mod_attribute(PACKAGE, "#[cfg(feature = \"server\")]")
        .compile_fds(files)?;
    Ok(())
}
