//! `attune licences`, `manual` and `completions`: what comes with an installed program.

use clap::Command;
use clap_complete::Shell;

use super::fault::Fault;
use super::print;

/// The program's own licences, of which it is yours to choose.
const OWN: [&str; 2] = [include_str!("../../LICENSE-MIT"), include_str!("../../LICENSE-APACHE")];
const LIBRARIES: &str = include_str!("../../assets/licences.txt");
const FONTS: [(&str, &str); 4] = [
    ("Inter", include_str!("../../assets/fonts/LICENSE-Inter.txt")),
    ("JetBrains Mono", include_str!("../../assets/fonts/LICENSE-JetBrainsMono.txt")),
    ("DejaVu Sans", include_str!("../../assets/fonts/LICENSE-DejaVu.txt")),
    ("KaTeX's fonts", include_str!("../../assets/fonts/LICENSE-KaTeX.txt")),
];

/// Prints the licences of the program, its fonts and its libraries.
pub fn licences() -> Result<(), Fault> {
    print::with(|out| {
        writeln!(out, "attune may be used under either of two licences.\n")?;
        OWN.iter().try_for_each(|text| writeln!(out, "{}\n", text.trim_end()))?;
        FONTS.iter().try_for_each(|(font, text)| writeln!(out, "== {font}\n\n{}\n", text.trim_end()))?;
        write!(out, "== Libraries, each under its own licence\n\n{LIBRARIES}")
    })
}

/// Prints the manual page: the program's, then those of its commands.
pub fn manual(grammar: Command) -> Result<(), Fault> {
    let mut page = Vec::new();
    let commands: Vec<Command> = grammar.get_subcommands().cloned().collect();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(grammar).render(&mut page);
    for command in commands {
        let name = format!("attune {}", command.get_name());
        let of_command = clap_mangen::Man::new(command.bin_name(name.clone()).display_name(name));
        let _ = of_command.render_name_section(&mut page);
        let _ = of_command.render_synopsis_section(&mut page);
        let _ = of_command.render_description_section(&mut page);
        let _ = of_command.render_options_section(&mut page);
    }
    print::with(|out| out.write_all(&page))
}

/// Prints what a shell needs to complete the arguments.
pub fn completions(shell: Shell, mut grammar: Command) -> Result<(), Fault> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut grammar, "attune", &mut script);
    print::with(|out| out.write_all(&script))
}
