//! Pages opened in headless Chromium, with nothing but a driving page and what the browser prints of it.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::folder::Folder;

/// Debian's name, and those of others.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
/// Marks of an error that a script has thrown, and of what a page's policy has stopped.
const FAULTS: [&str; 2] = ["Uncaught", "Content Security Policy"];
/// Milliseconds of the browser's own clock, which runs ahead while nothing is to be done.
const BUDGET_MS: &str = "600000";

/// Opens pages one after the other, each in a frame of its own, and asks each the same.
///
/// An address is a page's file name with what follows it; `ask` is the body of a function of the frame's `window` and
/// `document`, which may wait. Its answers, as JSON. `None`, loudly, where there is no browser.
pub fn ask(pages: &[(&str, &str)], addresses: &[String], ask: &str, (width, height): (u32, u32)) -> Option<Vec<Value>> {
    let browser = NAMES.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(browser) = browser else {
        assert!(std::env::var_os("ATTUNE_REQUIRE_BROWSER").is_none(), "no Chromium among {NAMES:?}");
        eprintln!("SKIPPED: no Chromium, so no page is opened; Debian's package is chromium");
        return None;
    };
    let folder = Folder::new("chromium");
    for (name, page) in pages {
        fs::write(folder.join(name), page).expect("a page");
    }
    let addresses = serde_json::to_string(addresses).expect("JSON");
    let driver = format!(
        r#"<!DOCTYPE html><meta charset="utf-8"><body><script>
        const ask = async (window, document) => {{ {ask} }};
        (async () => {{
            for (const address of {addresses}) {{
                const frame = document.createElement("iframe");
                [frame.width, frame.height] = [{width}, {height}];
                document.body.prepend(frame);
                // The page finds its width only in a frame that is laid out before.
                frame.getBoundingClientRect();
                frame.src = address;
                await new Promise((loaded) => (frame.onload = loaded));
                const answer = document.createElement("pre");
                try {{
                    answer.textContent = JSON.stringify(await ask(frame.contentWindow, frame.contentDocument));
                }} catch (fault) {{
                    answer.textContent = JSON.stringify({{ fault: String(fault) }});
                }}
                frame.remove();
                document.body.append(answer);
            }}
        }})();
        </script>"#
    );
    fs::write(folder.join("driver.html"), driver).expect("a page");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-web-security",
            "--allow-file-access-from-files",
            "--enable-logging=stderr",
        ])
        .args(["--dump-dom", &format!("--virtual-time-budget={BUDGET_MS}")])
        .arg(format!("--user-data-dir={}", folder.file("profile")))
        .arg(format!("file://{}", folder.file("driver.html")))
        .output()
        .expect("the browser runs");
    let logged = String::from_utf8_lossy(&output.stderr);
    let is_fault = |line: &&str| line.contains(":CONSOLE") && FAULTS.iter().any(|fault| line.contains(fault));
    assert_eq!(logged.lines().filter(is_fault).collect::<Vec<_>>(), [""; 0], "faults in the console");
    let page = String::from_utf8_lossy(&output.stdout);
    let answers = page.split("<pre>").skip(1).filter_map(|rest| rest.split_once("</pre>"));
    let unescaped = |text: &str| text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Some(answers.map(|(text, _)| serde_json::from_str(&unescaped(text)).expect("JSON")).collect())
}
