//! Formats of secrets. The examples are built at run time, so that secret scanners do not report this file.

use checkrein::payload::ToolCall;
use checkrein::{Event, EventKind, RawJson};

use crate::common::Bench;

const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const MIXED: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// A text of this length with these characters, in a fixed order without a pattern.
fn tail(characters: &str, length: usize) -> String {
    let characters = characters.as_bytes();
    let mut state = 7_usize;
    let mut next = || {
        state = (state * 75 + 74) % 65537;
        char::from(characters[state % characters.len()])
    };
    (0..length).map(|_| next()).collect()
}

/// The name of the format and a secret. `{h32}` is 32 hexadecimal digits, `{u..}` upper case, `{m..}` letters and digits.
const EXAMPLES: &[(&str, &str)] = &[
    ("aws_access_key", "AKIA{u16}"),
    ("aws_access_key", "ASIA{u16}"),
    ("github_token", "ghp_{m36}"),
    ("github_token", "gho_{m36}"),
    ("github_token", "ghu_{m36}"),
    ("github_token", "ghs_{m36}"),
    ("github_token", "ghr_{m76}"),
    ("github_token", "github_pat_{m22}_{m59}"),
    ("gitlab_token", "glpat-{m20}"),
    ("gitlab_token", "gldt-{m20}"),
    ("gitlab_token", "glrt-{m20}"),
    ("gitlab_token", "glrtr-{m20}"),
    ("gitlab_token", "glptt-{h40}"),
    ("gitlab_token", "glcbt-{m20}"),
    ("gitlab_token", "GR1348941{m20}"),
    ("slack_token", "xoxb-{m12}-{m24}"),
    ("slack_token", "xoxp-{m12}-{m24}"),
    ("slack_token", "xapp-1-{u11}-{h64}"),
    ("stripe_key", "sk_live_{m24}"),
    ("stripe_key", "sk_test_{m99}"),
    ("stripe_key", "rk_live_{m24}"),
    ("stripe_key", "whsec_{m32}"),
    ("anthropic_key", "sk-ant-api03-{m93}AA"),
    ("anthropic_key", "sk-ant-oat01-{m80}"),
    ("openai_key", "sk-{m48}"),
    ("openai_key", "sk-proj-{m74}"),
    ("openai_key", "sk-svcacct-{m74}"),
    ("openai_key", "sk-or-v1-{h64}"),
    ("google_key", "AIza{m35}"),
    ("google_key", "ya29.{m60}"),
    ("google_key", "GOCSPX-{m28}"),
    ("google_key", "1//0{m60}"),
    ("npm_token", "npm_{m36}"),
    ("pypi_token", "pypi-AgEIcHlwaS5vcmc{m80}"),
    ("huggingface_token", "hf_{m34}"),
    ("sendgrid_key", "SG.{m22}.{m43}"),
    ("docker_token", "dckr_pat_{m27}"),
    ("docker_token", "dckr_oat_{m32}"),
    ("digitalocean_token", "dop_v1_{h64}"),
    ("digitalocean_token", "doo_v1_{h64}"),
    ("digitalocean_token", "dor_v1_{h64}"),
    ("vault_token", "hvs.{m24}"),
    ("vault_token", "hvs.{m95}"),
    ("vault_token", "hvb.{m120}"),
    ("databricks_token", "dapi{h32}"),
    ("databricks_token", "dapi{h32}-2"),
    ("shopify_token", "shpat_{h32}"),
    ("shopify_token", "shpca_{h32}"),
    ("shopify_token", "shppa_{h32}"),
    ("shopify_token", "shpss_{h32}"),
    ("azure_secret", "{m3}8Q~{m34}"),
    ("telegram_token", "1234567890:AA{m33}"),
    ("telegram_token", "123456789:AA{m33}"),
    ("discord_token", "MTIz{m20}.{m6}.{m38}"),
    ("discord_token", "NDU2{m20}.{m6}.{m27}"),
    ("age_key", "AGE-SECRET-KEY-1{u58}"),
    ("linear_token", "lin_api_{m40}"),
    ("linear_token", "lin_oauth_{h64}"),
    ("grafana_token", "glsa_{m32}_{h8}"),
    ("grafana_token", "glc_{m60}"),
    ("sentry_token", "sntrys_eyJ{m80}"),
    ("sentry_token", "sntryu_{h64}"),
    ("terraform_token", "{m14}.atlasv1.{m67}"),
    ("doppler_token", "dp.pt.{m43}"),
    ("doppler_token", "dp.st.dev.{m43}"),
    ("doppler_token", "dp.ct.{m43}"),
    ("twilio_key", "SK{h32}"),
    ("mailgun_key", "key-{h32}"),
    ("mailchimp_key", "{h32}-us14"),
    ("brevo_key", "xkeysib-{h64}-{m16}"),
    ("postman_key", "PMAK-{h24}-{h34}"),
    ("new_relic_key", "NRAK-{u27}"),
    ("new_relic_key", "NRII-{m32}"),
    ("new_relic_key", "{h36}NRAL"),
    ("atlassian_token", "ATATT3xFfGF0{m180}"),
    ("bitbucket_token", "ATBB{m32}"),
    ("trello_token", "ATTA{h64}"),
    ("notion_token", "secret_{m43}"),
    ("notion_token", "ntn_{m46}"),
    ("figma_token", "figd_{m40}"),
    ("supabase_key", "sbp_{h40}"),
    ("supabase_key", "sb_secret_{m31}"),
    ("fly_token", "fo1_{m43}"),
    ("fly_token", "fm2_{m100}"),
    ("pulumi_token", "pul-{h40}"),
    ("heroku_key", "HRKU-{m60}"),
    ("netlify_token", "nfp_{m40}"),
    ("cloudflare_key", "v1.0-{h24}-{h146}"),
    ("cloudflare_key", "cfut_{m48}"),
    ("square_token", "EAAA{m60}"),
    ("square_token", "sq0atp-{m22}"),
    ("square_token", "sq0csp-{m43}"),
    ("planetscale_key", "pscale_tkn_{m43}"),
    ("planetscale_key", "pscale_pw_{m43}"),
    ("airtable_token", "pat{m14}.{h64}"),
    ("asana_token", "1/1200000000000000:{h32}"),
    ("asana_token", "2/1200000000000000/1200000000000001:{h32}"),
    ("sonar_token", "squ_{h40}"),
    ("sonar_token", "sqp_{h40}"),
    ("snyk_token", "snyk_uat.{h8}.{m60}"),
    ("perplexity_key", "pplx-{m48}"),
    ("groq_key", "gsk_{m52}"),
    ("xai_key", "xai-{m80}"),
    ("replicate_token", "r8_{m37}"),
    ("nvidia_key", "nvapi-{m64}"),
    ("langsmith_key", "lsv2_pt_{h32}_{h10}"),
    ("pinecone_key", "pcsk_{m6}_{m60}"),
    ("tavily_key", "tvly-dev-{m32}"),
    ("resend_key", "re_{m8}_{m24}"),
    ("rubygems_key", "rubygems_{h48}"),
    ("crates_token", "cio{m32}"),
    ("clojars_token", "CLOJARS_{h60}"),
    ("jfrog_key", "AKCp{m69}"),
    ("buildkite_token", "bkua_{h40}"),
    ("circleci_token", "CCIPAT_{m22}_{h40}"),
    ("vercel_token", "vcp_{m56}"),
    ("neon_key", "napi_{h64}"),
    ("render_key", "rnd_{m28}"),
    ("tailscale_key", "tskey-auth-{m12}-{m32}"),
    ("mapbox_token", "sk.eyJ{m80}.{m22}"),
    ("contentful_token", "CFPAT-{m43}"),
    ("dynatrace_token", "dt0c01.{u24}.{u64}"),
    ("duffel_token", "duffel_test_{m43}"),
    ("shippo_token", "shippo_live_{h40}"),
    ("prefect_key", "pnu_{m36}"),
    ("readme_key", "rdme_{h70}"),
    ("adafruit_key", "aio_{m28}"),
    ("alibaba_key", "LTAI{m20}"),
    ("onepassword_token", "ops_eyJ{m300}"),
    ("sourcegraph_token", "sgp_{h40}"),
    ("openshift_token", "sha256~{m43}"),
    ("razorpay_key", "rzp_live_{m14}"),
    ("hubspot_key", "pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}"),
    ("deno_token", "ddp_{m36}"),
];

fn filled(form: &str) -> String {
    let mut text = String::new();
    let mut rest = form;
    while let Some((before, behind)) = rest.split_once('{') {
        let (class, behind) = behind.split_once('}').unwrap();
        let characters = match &class[..1] {
            "h" => HEX,
            "u" => UPPER,
            _ => MIXED,
        };
        text += before;
        text += &tail(characters, class[1..].parse().unwrap());
        rest = behind;
    }
    text + rest
}

fn redacted(bench: &Bench, text: &str) -> String {
    let input = RawJson::string(text);
    let verdict = bench.engine.fire_blocking(Event::pre_tool_use(ToolCall::new("Bash", input.clone())));
    verdict.effective_input().unwrap_or(&input).as_text().unwrap().into_owned()
}

#[test]
fn formats_with_a_published_prefix_are_redacted() {
    let bench = Bench::new(EventKind::PreToolUse, "redact_secrets", &[]);
    let mut wrong = Vec::new();
    for (name, form) in EXAMPLES {
        let secret = filled(form);
        for text in
            [secret.clone(), format!("x \"{secret}\", y"), format!("run --with {secret}\n"), format!("K={secret}")]
        {
            let expected = text.replace(&secret, &format!("[redacted:{name}]"));
            let found = redacted(&bench, &text);
            if found != expected {
                wrong.push(format!("{form}: {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn secrets_inside_of_urls_and_connection_strings_are_redacted() {
    let bench = Bench::new(EventKind::PreToolUse, "redact_secrets", &[]);
    for (before, secret, behind) in [
        ("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", "{m86}==", ";EndpointSuffix=core.windows.net"),
        ("Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=", "{m43}=", ""),
        ("https://x.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig=", "{m43}%3D", "&se=2030"),
        ("https://discord.com/api/webhooks/123456789012345678/", "{m68}", ""),
        ("Authorization: SSWS ", "00{m40}", ""),
    ] {
        let secret = filled(secret);
        let found = redacted(&bench, &format!("{before}{secret}{behind}"));
        assert!(found.starts_with(&format!("{before}[redacted:")), "{found}");
        assert!(found.ends_with(behind) && !found.contains(&secret), "{found}");
    }
}

/// Ordinary texts in the work of developers. None of them is a secret.
const ORDINARY: &[&str] = &[
    "{h32}",
    "{h40}",
    "{h64}",
    "{h128}",
    "{h7}",
    "commit {h40}",
    "sha256:{h64}",
    "sha512-{m86}==",
    "sha384-{m64}",
    "\"integrity\": \"sha512-{m86}==\"",
    "checksum = \"{h64}\"",
    "{h8}-{h4}-4{h3}-8{h3}-{h12}",
    "urn:uuid:{h8}-{h4}-4{h3}-8{h3}-{h12}",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{m120}",
    "data:font/woff2;base64,d09GMgABAAAA{m80}",
    "arn:aws:iam::123456789012:role/deploy-production",
    "arn:aws:lambda:eu-central-1:123456789012:function:resize:42",
    "123456789012.dkr.ecr.eu-west-1.amazonaws.com/app@sha256:{h64}",
    "ghcr.io/acme/app@sha256:{h64}",
    "docker.io/library/nginx:1.27.3-alpine",
    "https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz",
    "https://files.pythonhosted.org/packages/ab/cd/{h60}/requests-2.32.3.tar.gz",
    "registry+https://github.com/rust-lang/crates.io-index",
    "git+https://github.com/acme/tool.git#{h40}",
    "From {h40} Mon Sep 17 00:00:00 2001",
    "index {h7}..{h7} 100644",
    "const skeleton = skip_blanks(\"sk-learn\");",
    "function a(b,c){return b.d(c,0x1f)}var e=[{h7}];",
    "!function(e,t){\"object\"==typeof exports&&t(exports)}(this,function(e){var n=1})",
    "export const re_exports = require('./re_exports_module_for_everything');",
    "fn key_from_parts(key: &str) -> Key",
    "test_that_tokens_are_parsed_when_the_input_is_long_enough_to_wrap",
    "live_reload_is_enabled_for_every_page_of_the_documentation_site",
    "secret_name_of_the_kubernetes_object",
    "secret-test-environment",
    "api-gateway-production-7d9f8b6c5-x2x4z",
    "sdk-platform-java/google-cloud-jar-parent",
    "pat.matches(&text) && pattern.is_some()",
    "path/to/pattern.rs:120:7",
    "11/12/2026 10:15:30",
    "1/1 [==============================] - 0s 12ms/step",
    "2/1 odds",
    "price: 12345678:AAPL",
    "aa:bb:cc:dd:ee:ff",
    "fe80::1ff:fe23:4567:890a",
    "v1.0-beta",
    "v1.0-rc.1+build.{h7}",
    "eu-central-1 us-east-1 ap-southeast-2",
    "{h32}-useful.txt",
    "key-value store, key-{h7}",
    "pul-request",
    "ico-arrow-left ico-arrow-right",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean",
    "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=",
    "SGVsbG8gd29ybGQhIFRoaXMgaXMgYSB0ZXN0IG9mIGJhc2U2NC4=",
    "eyJhbGciOiJIUzI1NiJ9",
    "-----BEGIN CERTIFICATE-----\n{m64}\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{m43} ann@host",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{m120}",
    "age1{h50}",
    "pk_live_{m24}",
    "AIzawa is a name",
    "0x{h40}",
    "0x{h64}",
    "bc1q{h38}",
    "Qm{m44}",
    "\"_id\": ObjectId(\"{h24}\")",
    "trace-id: 00-{h32}-{h16}-01",
    "etag: \"{h32}\"",
    "/nix/store/{h32}-hello-2.12.1",
    "target/debug/deps/checkrein-{h16}.rlib",
    "app.{h8}.js app.{h20}.css",
    "skipped: 12, skewed: 4",
    "fig. 3: figd is not a word",
    "r8_register_allocation",
    "hf_hub_download(repo_id=\"acme/model\")",
    "npm_config_registry=https://registry.npmjs.org/",
    "npm_lifecycle_event",
    "ops_per_second: 120000",
    "SG.Config.load()",
    "dp.start.dispatch()",
    "sl.unit.length",
    "x?size=40&signature=none",
    "squ_are and sqa_re",
    "cioppino",
    "EAAA is the start of nothing",
];

#[test]
fn ordinary_texts_are_not_redacted() {
    let bench = Bench::new(EventKind::PreToolUse, "redact_secrets", &[]);
    assert!(ORDINARY.len() >= 60);
    let mut wrong = Vec::new();
    for form in ORDINARY {
        let text = filled(&form.replace("{return", "<return").replace("{\"", "<\"").replace("{var", "<var"));
        let found = redacted(&bench, &text);
        if found != text {
            wrong.push(format!("{text}\n    is {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
