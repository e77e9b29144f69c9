//! Arguments of `completions` and `man`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  dv completions bash > ~/.local/share/bash-completion/completions/dv
  dv completions zsh > ~/.zfunc/_dv                       # a folder in $fpath
  dv completions fish > ~/.config/fish/completions/dv.fish";

/// Print a shell script that completes commands, options and columns
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell; only bash, fish and zsh complete columns
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,

    /// The words of a command line, to print the names of the columns of their files
    #[arg(last = true, hide = true)]
    pub(crate) words: Vec<OsString>,
}

const MAN_EXAMPLES: &str = "\
Examples:
  dv man build
  dv man store create
  dv man -o ~/.local/share/man/man1 && man dv-build";

/// Print a page of the manual, or write all of them to a folder
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// The command to describe; default: dv itself
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    pub(crate) command: Vec<String>,

    /// Write the pages of all commands to this folder, which is created if needed, or with `-` to standard output
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}
