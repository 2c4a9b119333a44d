//! Sources of the facts about each agent: runs, code and documents, with version and date.
//!
//! The row of an event says only how it is known. Its source is the first one of that kind here. Tools, files, answers and places of
//! entries have their own sources in `*_FACTS`; without that constant, their source is the first one. Update the version and the
//! date when you check an agent again.

use crate::table::{Evidence, FactGroup, FactSources};

/// Facts of an agent that was run: payloads were observed, and `scenarios` used its entries, decisions and failures. The rest is from a
/// document.
const fn run(observed: Evidence, scenarios: Evidence, document: Evidence) -> FactSources {
    FactSources::all(document)
        .with(FactGroup::Fields, observed)
        .with(FactGroup::Verdicts, scenarios)
        .with(FactGroup::Failures, observed)
        .with(FactGroup::Install, scenarios)
}

pub(super) const CLAW: &[Evidence] =
    &[Evidence::documented("claw-code-go, packages `internal/hooks` and `hooks`", "unversioned", "2026-06-30")];

pub(super) const DOCKER_AGENT: &[Evidence] =
    &[Evidence::documented("docker-agent, package `pkg/hooks`", "fourth generation", "2026-09")];

pub(super) const DOCKER_AGENT_G2: &[Evidence] =
    &[Evidence::documented("docker-agent, package `pkg/hooks`", "v1.52", "2026-04")];

pub(super) const EVVA: &[Evidence] = &[Evidence::documented("evva, package `pkg/hooks`", "v1.8.3", "2026-06-25")];

pub(super) const CLAUDE: &[Evidence] = &[
    Evidence::observed("2.1.325", "2026-11-15"),
    Evidence::documented(
        "Claude Code documentation, and the package `@anthropic-ai/claude-code`",
        "2.1.326",
        "2026-11-16",
    ),
];

pub(super) const CLAUDE_FACTS: FactSources = run(CLAUDE[0], Evidence::scenarios("2.1.325", "2026-11-17"), CLAUDE[1]);

pub(super) const CLAUDE_SENDER: &[Evidence] =
    &[Evidence::documented("testagent, packages `internal/hooks` and `hookresult`", "after v0.6.2", "2026-05-19")];

pub(super) const UB: &[Evidence] =
    &[Evidence::documented("ub, package `internal/hook`", "v0.3.8 to v0.5.1", "2026-11")];

pub(super) const CODEX: &[Evidence] = &[
    Evidence::observed("0.166.0", "2026-11-15"),
    Evidence::documented("schemas in the program of `@openai/codex`", "0.169.0", "2026-11-13"),
    Evidence::uncertain("names in the program of `@openai/codex`", "0.169.0", "2026-11-13"),
];

/// The schemas describe payloads and answers, not tools and files.
pub(super) const CODEX_FACTS: FactSources = run(
    CODEX[0],
    Evidence::scenarios("0.166.0", "2026-11-17"),
    Evidence::documented("openai/codex 343074d4", "2026-08-22", "2026-08-22"),
)
.with(FactGroup::Answers, CODEX[1]);

pub(super) const GEMINI: &[Evidence] = &[
    Evidence::observed("0.61.0", "2026-11-15"),
    Evidence::documented("google-gemini/gemini-cli 5411f113", "0.56.0-nightly.20260806", "2026-08-21"),
];

pub(super) const GEMINI_FACTS: FactSources = run(GEMINI[0], Evidence::scenarios("0.61.0", "2026-11-17"), GEMINI[1]);

pub(super) const GROK: &[Evidence] = &[
    Evidence::documented(
        "xai-org/grok-build 19d42e35, and documentation in the program of `@xai-official/grok`",
        "1.0.41",
        "2026-11-18",
    ),
    Evidence::uncertain(
        "xai-org/grok-build 19d42e35 and `@xai-official/grok` 1.0.41, which differ",
        "1.0.41",
        "2026-11-18",
    ),
];

pub(super) const ANTIGRAVITY: &[Evidence] = &[Evidence::uncertain(
    "reports of third parties (safe-chains, i-9-ai, antigravity-cli#640)",
    "1.4.3",
    "2026-11-17",
)];

pub(super) const COPILOT: &[Evidence] = &[
    Evidence::observed("1.0.102", "2026-11-15"),
    Evidence::documented("github/docs 60321755, hooks reference", "1.0.78", "2026-08-07"),
    Evidence::uncertain("github/copilot-cli, changelog and issues", "1.0.78", "2026-08-07"),
];

pub(super) const COPILOT_FACTS: FactSources = run(COPILOT[0], Evidence::scenarios("1.0.102", "2026-11-17"), COPILOT[1]);

pub(super) const VSCODE: &[Evidence] = &[Evidence::documented(
    "VS Code documentation, and microsoft/vscode-copilot-chat 31acd00a",
    "code of 2026-03-29",
    "2026-10-14",
)];

pub(super) const CURSOR: &[Evidence] = &[
    Evidence::documented("copies of the Cursor documentation, and cursor/plugins 195d935", "2026.10.08", "2026-10"),
    Evidence::uncertain("copies of the Cursor documentation that differ", "2026.10.08", "2026-10"),
];

pub(super) const WINDSURF: &[Evidence] =
    &[Evidence::documented("Windsurf documentation (Cascade hooks)", "unversioned", "2026-10")];

pub(super) const QWEN: &[Evidence] = &[
    Evidence::observed("0.24.4", "2026-11-15"),
    Evidence::documented("QwenLM/qwen-code db051956", "2026-08-22", "2026-08-22"),
    Evidence::uncertain("QwenLM/qwen-code db051956, never observed", "2026-08-22", "2026-08-22"),
];

pub(super) const QWEN_FACTS: FactSources = run(QWEN[0], Evidence::scenarios("0.24.4", "2026-11-17"), QWEN[1]);

pub(super) const CLINE: &[Evidence] = &[
    Evidence::observed("CLI 3.0.65", "2026-11-15"),
    Evidence::documented("cline/cline 21cb8d25", "2026-08-22", "2026-08-22"),
    Evidence::uncertain("cline/cline 21cb8d25, never observed", "2026-08-22", "2026-08-22"),
];

pub(super) const CLINE_FACTS: FactSources = run(CLINE[0], Evidence::scenarios("CLI 3.0.65", "2026-11-17"), CLINE[1]);

pub(super) const CLINE_EXTENSION: &[Evidence] = &[
    Evidence::documented("cline/cline 21cb8d25, `apps/vscode`", "2026-08-22", "2026-08-22"),
    Evidence::uncertain("cline/cline 21cb8d25, never observed", "2026-08-22", "2026-08-22"),
];

pub(super) const KIRO: &[Evidence] = &[
    Evidence::documented("Kiro documentation", "IDE 1.x, CLI 3", "2026-08"),
    Evidence::uncertain("converters of third parties (rulesync, symposium)", "IDE 1.x, CLI 3", "2026-08"),
];

pub(super) const AMAZON_Q: &[Evidence] = &[
    Evidence::documented("aws/amazon-q-developer-cli 15cc8f3c", "2026-04-23", "2026-04-23"),
    Evidence::uncertain("aws/amazon-q-developer-cli 15cc8f3c, never observed", "2026-04-23", "2026-04-23"),
];

pub(super) const GOOSE: &[Evidence] = &[
    Evidence::observed("1.50.0", "2026-11-15"),
    Evidence::documented("aaif-goose/goose ca26f01d", "2026-05-21", "2026-05-21"),
    Evidence::uncertain("converters of third parties", "1.50.0", "2026-08"),
];

pub(super) const GOOSE_FACTS: FactSources = run(GOOSE[0], Evidence::scenarios("1.50.0", "2026-11-17"), GOOSE[1]);

pub(super) const CRUSH: &[Evidence] =
    &[Evidence::documented("charmbracelet/crush 37f36e93", "2026-08-21", "2026-08-21")];

pub(super) const OPENCODE: &[Evidence] = &[
    Evidence::observed("1.18.33", "2026-11-18"),
    Evidence::documented("types in the package `@opencode-ai/plugin`", "1.18.33", "2026-11-18"),
    Evidence::uncertain("types in the package `@opencode-ai/plugin`, never observed", "1.18.33", "2026-11-18"),
];

/// The plugin was run with the real program.
pub(super) const OPENCODE_FACTS: FactSources =
    run(OPENCODE[0], OPENCODE[0], Evidence::documented("anomalyco/opencode d545d8fb", "2026-08-19", "2026-08-19"))
        .with(FactGroup::Answers, OPENCODE[1]);

pub(super) const DEVIN: &[Evidence] = &[
    Evidence::documented("Devin documentation", "unversioned", "2026-10"),
    Evidence::uncertain("Devin documentation, older and newer", "unversioned", "2026-10"),
];

pub(super) const LETTA: &[Evidence] = &[
    Evidence::observed("0.32.18", "2026-11-15"),
    Evidence::documented("letta-ai/letta-code 1f4d3e3e", "2026-08-22", "2026-08-22"),
    Evidence::uncertain("letta-ai/letta-code 1f4d3e3e, never observed", "2026-08-22", "2026-08-22"),
];

pub(super) const LETTA_FACTS: FactSources = run(LETTA[0], Evidence::scenarios("0.32.18", "2026-11-17"), LETTA[1]);

pub(super) const FACTORY: &[Evidence] =
    &[Evidence::documented("Factory-AI/factory a80aa7c5, hooks reference", "2026-07-24", "2026-07-24")];

pub(super) const AMP: &[Evidence] =
    &[Evidence::documented("type declarations of `@ampcode/plugin`", "unversioned", "2026-08")];

pub(super) const AUGMENT: &[Evidence] = &[
    Evidence::documented("Augment documentation, and augmentcode/auggie", "0.31.0", "2026-06-25"),
    Evidence::uncertain("converters of third parties", "0.31.0", "2026-06-25"),
];
