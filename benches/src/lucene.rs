//! The versions of Lucene and the JDKs that run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The measured versions of Lucene: the last without jump tables, the first with them, and the current ones, of which
/// 10.6.0 can keep updates as overlays. Each has its source folder, the Java release that it is compiled for, and the
/// newest JDK that it runs on. Those with [`LISTS`] write fields as lists of one value.
const VERSIONS: [Version; 8] = [
    Version { number: "10.6.0", api: "lucene10", release: 21, jdks: (21, u32::MAX) },
    Version { number: "10.6.0-lists", api: "lucene10", release: 21, jdks: (21, u32::MAX) },
    Version { number: "10.5.0", api: "lucene10", release: 21, jdks: (21, u32::MAX) },
    Version { number: "10.5.0-lists", api: "lucene10", release: 21, jdks: (21, u32::MAX) },
    Version { number: "10.3.1", api: "lucene9", release: 21, jdks: (21, u32::MAX) },
    Version { number: "9.12.3", api: "lucene9", release: 21, jdks: (21, u32::MAX) },
    Version { number: "8.0.0", api: "lucene7", release: 11, jdks: (11, 20) },
    Version { number: "7.7.3", api: "lucene7", release: 11, jdks: (11, 20) },
];

/// The versions for columns.
pub const FOR_COLUMNS: [&str; 4] = ["10.5.0", "9.12.3", "8.0.0", "7.7.3"];

/// The versions for workloads of engines: the current one, and the last one without jump tables, which only exports.
pub const FOR_WORKS: [&str; 2] = ["10.5.0", "7.7.3"];

/// The versions whose indexes are also read in place.
pub const IN_PLACE: [&str; 4] = ["10.5.0", "10.6.0", "10.5.0-lists", "10.6.0-lists"];

/// The end of a version that writes lists of one value.
const LISTS: &str = "-lists";

struct Version {
    number: &'static str,
    api: &'static str,
    release: u32,
    jdks: (u32, u32),
}

/// A JDK, or a runtime of one.
#[derive(Clone, Debug)]
struct Jdk {
    home: PathBuf,
    major: u32,
    /// The name and version that it prints.
    name: String,
    has_compiler: bool,
    has_vectors: bool,
}

/// A compiled version of Lucene.
pub struct Lucene {
    /// The version number.
    pub version: &'static str,
    /// The JVM that runs it.
    pub jvm: String,
    java: PathBuf,
    options: &'static [&'static str],
    classes: String,
}

impl Lucene {
    /// A command for it, without the arguments of a measurement.
    pub fn command(&self) -> Command {
        self.command_of("Main")
    }

    /// A command for another main class.
    pub fn command_of(&self, class: &str) -> Command {
        let mut command = Command::new(&self.java);
        // One thread is measured, and collectors with other threads would hide their share.
        command.args(["-Xms1g", "-Xmx6g", "-XX:+UseSerialGC"]).args(self.options);
        command.args(["-cp", &self.classes, class, self.version]);
        command
    }
}

impl Lucene {
    /// Runs the measurements of another main class over `docs` documents in `parts` segments, whose index is kept in
    /// `target/parts`. Returns the nanoseconds of CPU time of each.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn measure(
        &self,
        class: &str,
        column: &str,
        docs: u32,
        parts: u32,
        millis: u32,
    ) -> BTreeMap<String, f64> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/parts");
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut command = self.command_of(class);
        command.args([column, &docs.to_string()]).arg(&folder).args([millis, parts].map(|n| n.to_string()));
        let output = command.output().expect("a JVM");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let value = |line: &str, key: &str| {
            let rest = line.split_once(&format!("\"{key}\":"))?.1;
            Some(rest.split([',', '}']).next()?.trim_matches('"').to_owned())
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines()
            .filter_map(|line| Some((value(line, "work")?, value(line, "ns_cpu")?.parse().ok()?)))
            .collect()
    }
}

/// Lucene 10.5.0, compiled, if there is a JDK for it.
pub fn newest() -> Option<Lucene> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = here.join("../target/lucene");
    find(&here.join("peers/lucene"), &target, |version| version == "10.5.0").pop()
}

/// Compiles every version that has a JDK, and reports the others.
pub fn find(folder: &Path, target: &Path, wanted: impl Fn(&str) -> bool) -> Vec<Lucene> {
    find_on(None, folder, target, wanted)
}

/// As [`find`], to run on the JDK of this major version. The newest one still compiles.
pub fn find_on(
    major: Option<u32>,
    folder: &Path,
    target: &Path,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Lucene> {
    let jdks = jdks();
    let mut found = Vec::new();
    for version in VERSIONS.iter().filter(|version| wanted(version.number)) {
        let (oldest, newest) = version.jdks;
        let fit = || jdks.iter().filter(|jdk| (oldest..=newest).contains(&jdk.major));
        let compiler = fit().filter(|jdk| jdk.has_compiler).max_by_key(|jdk| jdk.major);
        let runtime = major.map_or(compiler, |major| fit().find(|jdk| jdk.major == major));
        let (Some(compiler), Some(runtime)) = (compiler, runtime) else {
            let upto = if newest == u32::MAX { "or newer".to_owned() } else { format!("to {newest}") };
            let one = major.map(|major| format!(" with major version {major}")).unwrap_or_default();
            eprintln!(
                "Lucene {}: left out, found no JDK {oldest} {upto}{one} in JAVA_HOME or /usr/lib/jvm",
                version.number
            );
            continue;
        };
        let output = target.join(format!("lucene-{}", version.number));
        match compile(folder, version, compiler, &output) {
            Ok(()) => found.push(Lucene {
                version: version.number,
                jvm: runtime.name.clone(),
                java: runtime.home.join("bin/java"),
                options: options(version, runtime),
                classes: format!("{0}/classes:{0}/lib/*", output.display()),
            }),
            Err(message) => eprintln!("Lucene {}: left out, {message}", version.number),
        }
    }
    found
}

fn options(version: &Version, runtime: &Jdk) -> &'static [&'static str] {
    match (version.release >= 21, runtime.has_vectors) {
        (true, true) => &["--enable-native-access=ALL-UNNAMED", "--add-modules", "jdk.incubator.vector"],
        (true, false) => &["--enable-native-access=ALL-UNNAMED"],
        (false, _) => &[],
    }
}

fn compile(folder: &Path, version: &Version, jdk: &Jdk, output: &Path) -> Result<(), String> {
    eprintln!("Lucene {}: compiling for {}", version.number, jdk.name);
    let mut maven = Command::new("mvn");
    maven.current_dir(folder).env("JAVA_HOME", &jdk.home).args(["-q", "-B", "compile"]);
    maven.args([
        format!("-Dlucene.version={}", version.number.trim_end_matches(LISTS)),
        format!("-Dlucene.api={}", version.api),
        format!("-Djava.release={}", version.release),
        format!("-Doutput={}", output.display()),
    ]);
    let made = maven.output().map_err(|e| format!("`mvn` cannot be started ({e})"))?;
    if made.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&made.stdout);
    let output = output.lines().find(|line| line.contains("ERROR")).unwrap_or("no reason given").to_owned();
    Err(format!("`mvn` failed ({output})"))
}

/// The JDKs of `JAVA_HOME` and `/usr/lib/jvm`.
fn jdks() -> Vec<Jdk> {
    let installed =
        std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let homes = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().chain(installed);
    homes.filter_map(jdk).collect()
}

fn jdk(home: PathBuf) -> Option<Jdk> {
    let output = Command::new(home.join("bin/java")).arg("-version").output().ok()?;
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    let number = output.split('"').nth(1)?;
    let major = number.split(['.', '-']).next()?.parse().ok()?;
    let vendor = output.lines().nth(1).unwrap_or_default().split(" Runtime").next().unwrap_or_default();
    let mut name = format!("{vendor} {number}");
    let modules = std::fs::read_to_string(home.join("release")).unwrap_or_default();
    let has_vectors = modules.contains("jdk.incubator.vector");
    if major >= 21 && !has_vectors {
        name.push_str(" without jdk.incubator.vector");
    }
    Some(Jdk { major, name, has_compiler: home.join("bin/javac").exists(), has_vectors, home })
}
