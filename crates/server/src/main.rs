//! The binary `adk-stream`: exit code 0 when all went well, 2 and one line on stderr when not; 1 where
//! `check` found something.

use std::io::Write;
use std::process::ExitCode;

use adk_stream::Environment;

/// A stream is many small allocations, made in one thread and freed in another: the allocator of the C
/// library took a third of the time for them (docs/adr/0012). Without huge pages: what is idle would
/// keep two megabytes for the sake of a few bytes.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match adk_stream::run(std::env::args_os(), &Environment::of_process()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // `eprintln!` panics where stderr is closed; the exit code must come all the same.
            let _ = writeln!(std::io::stderr(), "{}", error.line());
            ExitCode::from(error.code())
        }
    }
}
