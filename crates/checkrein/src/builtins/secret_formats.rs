//! Table of the formats of secrets. [`secrets`](super::secrets) searches texts for them.
//!
//! Most rows are keys with a prefix that their issuer has published. A row must not match ordinary text: hashes, UUIDs,
//! identifiers and encoded data.

use super::secrets::is_generated;

pub(super) struct Shape {
    /// Name in a note: `[redacted:name]`.
    pub(super) name: &'static str,
    /// Name in messages, singular.
    pub(super) label: &'static str,
    /// Literals, one of which every matching text contains in any case. Most texts contain none, so that no pattern is
    /// compiled.
    pub(super) needles: &'static [&'static str],
    /// Pattern whose group 1 is the secret. Without a group, the whole match is.
    pub(super) pattern: &'static str,
    /// Additional condition on the secret and the text after it.
    pub(super) holds: fn(&str, &str) -> bool,
    /// Conditions that every match meets.
    pub(super) outline: Outline,
}

/// Conditions that every match of a pattern meets. They need no compiled pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outline {
    /// `true` if a match begins with a needle, at the start of a word.
    pub(super) is_at_word_start: bool,
    /// `true` if the first letter of a match is in upper case.
    pub(super) is_upper: bool,
    /// Minimum length in bytes. 0 if a match may contain white space.
    pub(super) length: usize,
}

impl Outline {
    /// Reads the conditions from a pattern. In doubt, there is none.
    const fn of(pattern: &str) -> Self {
        let text = pattern.as_bytes();
        let ignores_case = starts_with(text, 0, b"(?i)");
        let mut at = if ignores_case { 4 } else { 0 };
        let (mut is_at_word_start, mut is_upper, mut has_space) = (true, !ignores_case, false);
        let (mut shortest, mut length) = (usize::MAX, 0);
        // Depth of groups, and `true` in a group at the start of an alternative.
        let (mut depth, mut is_head, mut is_in_head) = (0, true, false);
        while at < text.len() {
            if is_head {
                is_head = false;
                if starts_with(text, at, b"\\b") {
                    at += 2;
                    if starts_with(text, at, b"(?:") {
                        at += 3;
                        (depth, is_in_head) = (1, true);
                    }
                    is_at_word_start &= at < text.len() && text[at].is_ascii_alphabetic();
                    is_upper &= at < text.len() && text[at].is_ascii_uppercase();
                } else {
                    (is_at_word_start, is_upper) = (false, false);
                }
                continue;
            }
            match text[at] {
                b'\\' => {
                    has_space |= starts_with(text, at, b"\\s");
                    at += 1;
                }
                b'[' => {
                    while at + 1 < text.len() && text[at] != b']' {
                        has_space |= text[at] == b' ';
                        at += if text[at] == b'\\' { 2 } else { 1 };
                    }
                }
                b' ' => has_space = true,
                // A group that captures is no alternative.
                b'(' if depth > 0 || starts_with(text, at, b"(?") => depth += 1,
                b')' if depth > 0 => {
                    depth -= 1;
                    if depth == 0 && is_in_head {
                        is_in_head = false;
                        let is_optional = at + 1 < text.len() && matches!(text[at + 1], b'?' | b'*' | b'{');
                        (is_at_word_start, is_upper) = (is_at_word_start && !is_optional, is_upper && !is_optional);
                    }
                }
                b'{' if depth == 0 && text[at - 1] != b')' => {
                    let mut count = 0;
                    while at + 1 < text.len() && text[at + 1].is_ascii_digit() {
                        count = count * 10 + (text[at + 1] - b'0') as usize;
                        at += 1;
                    }
                    length += count;
                }
                b'|' if depth == 0 => {
                    shortest = if length < shortest { length } else { shortest };
                    (length, is_head) = (0, true);
                }
                b'|' if depth == 1 && is_in_head => {
                    is_at_word_start &= at + 1 < text.len() && text[at + 1].is_ascii_alphabetic();
                    is_upper &= at + 1 < text.len() && text[at + 1].is_ascii_uppercase();
                }
                _ => {}
            }
            at += 1;
        }
        shortest = if length < shortest { length } else { shortest };
        Self { is_at_word_start, is_upper, length: if has_space { 0 } else { shortest } }
    }
}

const fn starts_with(text: &[u8], at: usize, part: &[u8]) -> bool {
    let mut index = 0;
    while index < part.len() {
        if at + index >= text.len() || text[at + index] != part[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Parts of names that denote secrets.
pub(super) const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "access-key",
    "token",
    "credential",
];

/// First three letters of Discord tokens, in lower case: the base64 form of a user's number.
const DISCORD_STARTS: &[&str] = &[
    "mta", "mte", "mti", "mtm", "mtq", "mtu", "mty", "mtc", "mtg", "mtk", "mja", "mje", "mji", "mjm", "mjq", "mju",
    "mjy", "mjc", "mjg", "mjk", "mza", "mze", "mzi", "mzm", "mzq", "mzu", "mzy", "mzc", "mzg", "mzk", "nda", "nde",
    "ndi", "ndm", "ndq", "ndu", "ndy", "ndc", "ndg", "ndk", "nta", "nte", "nti", "ntm", "ntq", "ntu", "nty", "ntc",
    "ntg", "ntk", "nja", "nje", "nji", "njm", "njq", "nju", "njy", "njc", "njg", "njk", "nza", "nze", "nzi", "nzm",
    "nzq", "nzu", "nzy", "nzc", "nzg", "nzk", "oda", "ode", "odi", "odm", "odq", "odu", "ody", "odc", "odg", "odk",
    "ota", "ote", "oti", "otm", "otq", "otu", "oty", "otc", "otg", "otk",
];

/// First three letters of Twilio keys, in lower case.
const TWILIO_STARTS: &[&str] =
    &["sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd", "ske", "skf"];

/// All formats, the more specific ones first.
pub(super) const SHAPES: &[Shape] = &[
    shape(
        "private_key",
        "private key",
        &["private key"],
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n\\]*(?:\s|\\[nr])+)*[A-Za-z0-9+/=\s\\]{40,}(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    shape(
        "aws_access_key",
        "AWS access key",
        &["akia", "asia", "abia", "acca"],
        r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b",
    ),
    shape(
        "aws_secret_key",
        "AWS secret key",
        &["aws"],
        r#"(?i)aws_?(?:secret|session)\w{0,20}["']?\s*[:=]\s*["']?([A-Za-z0-9/+]{40,}={0,2})"#,
    ),
    shape(
        "github_token",
        "GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
    ),
    shape(
        "gitlab_token",
        "GitLab token",
        &[
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glptt-",
            "glft-",
            "glsoat-",
            "glcbt-",
            "glagent-",
            "glimt-",
            "gloas-",
            "glffct-",
            "glwt-",
            "gr1348941",
        ],
        r"\bgl(?:pat|dt|rtr?|ptt|ft|soat|cbt|agent|imt|oas|ffct|wt)-[A-Za-z0-9_.-]{20,}|\bGR1348941[A-Za-z0-9_-]{20,}",
    ),
    shape(
        "slack_token",
        "Slack token",
        &["xox", "xapp-"],
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{10,}",
    ),
    shape(
        "slack_webhook",
        "Slack webhook",
        &["hooks.slack.com"],
        r"https://hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,})",
    ),
    shape(
        "stripe_key",
        "Stripe key",
        &["sk_live_", "sk_test_", "sk_org_", "rk_live_", "rk_test_", "rk_org_", "whsec_"],
        r"\b(?:[sr]k_(?:org_)?(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    ),
    shape("anthropic_key", "Anthropic key", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    shape(
        "openai_key",
        "OpenAI key",
        &["sk-"],
        r"\bsk-(?:(?:proj|svcacct|service|admin|None|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})",
    ),
    shape(
        "google_key",
        "Google key",
        &["aiza", "ya29.", "gocspx-", "1//0"],
        r"\bAIza[0-9A-Za-z_-]{35}|\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}|\b1//0[0-9A-Za-z_-]{40,}",
    ),
    shape("npm_token", "npm token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36,}"),
    shape("pypi_token", "PyPI token", &["pypi-"], r"\bpypi-[A-Za-z0-9_-]{50,}"),
    shape("huggingface_token", "Hugging Face token", &["hf_", "api_org_"], r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    shape("sendgrid_key", "SendGrid key", &["sg."], r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    shape("docker_token", "Docker token", &["dckr_"], r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    shape(
        "digitalocean_token",
        "DigitalOcean token",
        &["doo_v1_", "dop_v1_", "dor_v1_"],
        r"\bdo[opr]_v1_[a-f0-9]{40,}",
    ),
    shape("vault_token", "Vault token", &["hvs.", "hvb.", "hvr."], r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
    shape("databricks_token", "Databricks token", &["dapi"], r"\bdapi[a-f0-9]{32}(?:-\d)?\b"),
    shape(
        "shopify_token",
        "Shopify token",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"],
        r"\bshp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{32,}",
    ),
    shape(
        "azure_key",
        "Azure key",
        &["accountkey=", "sharedaccesskey="],
        r"(?i)\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})",
    ),
    shape("azure_signature", "Azure signature", &["sig="], r"[?&;]sig=([A-Za-z0-9%+/]{40,}(?:%3D|=){0,2})"),
    shape("azure_secret", "Azure client secret", &["q~"], r"\b[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    shape("telegram_token", "Telegram token", &[":aa"], r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    shape(
        "discord_token",
        "Discord token",
        DISCORD_STARTS,
        r"\b(?:M[Tjz]|N[DTjz]|O[DT])[AEIMQUYcgk][wxyz0-5][A-Za-z0-9_-]{18,24}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
    ),
    shape(
        "discord_webhook",
        "Discord webhook",
        &["api/webhooks/"],
        r"\bdiscord(?:app)?\.com/api/webhooks/[0-9]{10,}/([A-Za-z0-9_-]{40,})",
    ),
    shape(
        "teams_webhook",
        "Teams webhook",
        &["webhook.office.com/"],
        r"\bwebhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})",
    ),
    shape("age_key", "age key", &["age-secret-key-"], r"\bAGE-SECRET-KEY-[0-9A-Z-]{50,}"),
    shape(
        "linear_token",
        "Linear token",
        &["lin_api_", "lin_oauth_", "lin_wh_"],
        r"\blin_(?:api|oauth|wh)_[A-Za-z0-9]{32,}",
    ),
    shape(
        "grafana_token",
        "Grafana token",
        &["glc_", "glsa_"],
        r"\bglc_[A-Za-z0-9+/]{32,}={0,2}|\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}",
    ),
    shape("sentry_token", "Sentry token", &["sntrys_", "sntryu_", "sntrya_"], r"\bsntry[sua]_[A-Za-z0-9+/=_-]{40,}"),
    shape("terraform_token", "Terraform token", &[".atlasv1."], r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
    shape(
        "doppler_token",
        "Doppler token",
        &["dp."],
        r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[A-Za-z0-9_-]{1,40}\.)?[A-Za-z0-9]{40,}",
    ),
    shape("twilio_key", "Twilio key", TWILIO_STARTS, r"\bSK[0-9a-f]{32}\b"),
    shape("mailgun_key", "Mailgun key", &["key-", "pubkey-"], r"\bkey-[0-9a-f]{32}\b|\bpubkey-[0-9a-f]{32}\b"),
    shape("mailchimp_key", "Mailchimp key", &["-us"], r"\b[0-9a-f]{32}-us[0-9]{1,2}\b"),
    shape("brevo_key", "Brevo key", &["xkeysib-", "xsmtpsib-"], r"\bx(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    shape("postman_key", "Postman key", &["pmak-"], r"\bPMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}"),
    shape(
        "new_relic_key",
        "New Relic key",
        &["nrak-", "nrii-", "nrjs-", "nrra-", "nriq-", "nrsp-", "nral"],
        r"\bNR(?:AK|II|RA|IQ|SP)-[A-Za-z0-9_-]{25,}|\bNRJS-[A-Fa-f0-9]{19}|\b[a-f0-9]{36}NRAL\b",
    ),
    shape(
        "atlassian_token",
        "Atlassian token",
        &["atatt3", "atctt3", "atsta"],
        r"\bAT(?:ATT3|CTT3|STA)[A-Za-z0-9_=-]{60,}",
    ),
    shape(
        "bitbucket_token",
        "Bitbucket token",
        &["atbb", "bbdc-"],
        r"\bATBB[A-Za-z0-9]{24,}|\bBBDC-[A-Za-z0-9+/@_-]{40,50}",
    ),
    shape("trello_token", "Trello token", &["atta"], r"\bATTA[a-f0-9]{64}"),
    shape("notion_token", "Notion token", &["secret_", "ntn_"], r"\bsecret_[A-Za-z0-9]{43}\b|\bntn_[A-Za-z0-9]{40,}"),
    shape("figma_token", "Figma token", &["figd_", "figo_", "figu_"], r"\bfig[dou]_[A-Za-z0-9_-]{36,}"),
    shape(
        "supabase_key",
        "Supabase key",
        &["sbp_", "sb_secret_"],
        r"\bsbp_(?:v[0-9]_)?[a-f0-9]{40}|\bsb_secret_[A-Za-z0-9_-]{20,}",
    ),
    shape(
        "fly_token",
        "Fly.io token",
        &["fo1_", "fm1a_", "fm1r_", "fm2_"],
        r"\b(?:fo1|fm1[ar]|fm2)_[A-Za-z0-9+/=_-]{40,}",
    ),
    shape("pulumi_token", "Pulumi token", &["pul-"], r"\bpul-[a-f0-9]{40}\b"),
    shape("heroku_key", "Heroku key", &["hrku-"], r"\bHRKU-[A-Za-z0-9_-]{36,}"),
    shape("netlify_token", "Netlify token", &["nfp_", "nfo_", "nfc_", "nfu_", "nfb_"], r"\bnf[pocub]_[A-Za-z0-9]{36,}"),
    shape(
        "cloudflare_key",
        "Cloudflare key",
        &["v1.0-", "cfk_", "cfut_", "cfat_"],
        r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{140,}|\bcf(?:k|ut|at)_[A-Za-z0-9]{40,}",
    ),
    shape("okta_token", "Okta token", &["ssws"], r"(?i)\bSSWS\s+(00[A-Za-z0-9_-]{40})"),
    shape(
        "square_token",
        "Square token",
        &["eaaa", "sq0"],
        r"\bEAAA[A-Za-z0-9_-]{60}\b|\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}",
    ),
    shape("facebook_token", "Facebook token", &["eaa"], r"\bEAA[A-Za-z0-9]{90,}"),
    shape("planetscale_key", "PlanetScale key", &["pscale_"], r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,}"),
    shape("airtable_token", "Airtable token", &["pat"], r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b"),
    shape(
        "asana_token",
        "Asana token",
        &["0/1", "1/1", "2/1"],
        r"\b[0-2]/1[0-9]{12,15}(?:/1[0-9]{12,15})?:[a-f0-9]{32}\b",
    ),
    shape("sonar_token", "Sonar token", &["squ_", "sqp_", "sqa_"], r"\bsq[upa]_[a-f0-9]{40}\b"),
    shape("snyk_token", "Snyk token", &["snyk_"], r"\bsnyk_(?:uat|sat)\.[A-Za-z0-9]{8}\.[A-Za-z0-9_.-]{30,}"),
    shape("perplexity_key", "Perplexity key", &["pplx-"], r"\bpplx-[A-Za-z0-9]{40,}"),
    shape("groq_key", "Groq key", &["gsk_"], r"\bgsk_[A-Za-z0-9]{40,}"),
    shape("xai_key", "xAI key", &["xai-"], r"\bxai-[A-Za-z0-9_-]{40,}"),
    shape("replicate_token", "Replicate token", &["r8_"], r"\br8_[A-Za-z0-9]{37,}"),
    shape("nvidia_key", "NVIDIA key", &["nvapi-"], r"\bnvapi-[A-Za-z0-9_-]{40,}"),
    shape("langsmith_key", "LangSmith key", &["lsv2_"], r"\blsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    shape("langfuse_key", "Langfuse key", &["sk-lf-"], r"\bsk-lf-[a-f0-9-]{36}"),
    shape("pinecone_key", "Pinecone key", &["pcsk_"], r"\bpcsk_[A-Za-z0-9_]{40,}"),
    shape("tavily_key", "Tavily key", &["tvly-"], r"\btvly-[A-Za-z0-9-]{30,}"),
    shape("resend_key", "Resend key", &["re_"], r"\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    shape("elevenlabs_key", "ElevenLabs key", &["sk_"], r"\bsk_[a-f0-9]{48}\b"),
    shape("rubygems_key", "RubyGems key", &["rubygems_"], r"\brubygems_[a-f0-9]{48}"),
    shape("crates_token", "crates.io token", &["cio"], r"\bcio[A-Za-z0-9]{32}\b"),
    shape("nuget_key", "NuGet key", &["oy2"], r"\boy2[a-z0-9]{43}\b"),
    shape("clojars_token", "Clojars token", &["clojars_"], r"\bCLOJARS_[a-f0-9]{60}"),
    shape("jfrog_key", "JFrog key", &["akcp", "cmvmdgtu"], r"\bAKCp[A-Za-z0-9]{60,}|\bcmVmdGtu[A-Za-z0-9]{50,}"),
    shape("buildkite_token", "Buildkite token", &["bkua_", "bkaj_", "bkct_"], r"\bbk(?:ua|aj|ct)_[A-Za-z0-9]{40,}"),
    shape("circleci_token", "CircleCI token", &["ccipat_", "cciprj_"], r"\bCCI(?:PAT|PRJ)_[A-Za-z0-9_]{40,}"),
    shape(
        "vercel_token",
        "Vercel token",
        &["vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"],
        r"\bvc[piark]_[A-Za-z0-9]{40,}|\bvercel_blob_rw_[A-Za-z0-9_]{30,}",
    ),
    shape("neon_key", "Neon key", &["napi_"], r"\bnapi_[a-z0-9]{48,}"),
    shape("render_key", "Render key", &["rnd_"], r"\brnd_[A-Za-z0-9]{28,}"),
    shape("tailscale_key", "Tailscale key", &["tskey-"], r"\btskey-[a-z]{3,10}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    shape("dropbox_token", "Dropbox token", &["sl."], r"\bsl\.(?:u\.)?[A-Za-z0-9_-]{120,}"),
    shape("mapbox_token", "Mapbox token", &["sk.eyj"], r"\bsk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}"),
    shape(
        "launchdarkly_key",
        "LaunchDarkly key",
        &["sdk-", "api-"],
        r"\b(?:sdk|api)-[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}\b",
    ),
    shape("contentful_token", "Contentful token", &["cfpat-"], r"\bCFPAT-[A-Za-z0-9_-]{40,}"),
    shape(
        "dynatrace_token",
        "Dynatrace token",
        &["dt0c01.", "dt0s"],
        r"\bdt0(?:c01|s0[0-9])\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}",
    ),
    shape("easypost_key", "EasyPost key", &["ezak", "eztk"], r"\bEZ[AT]K[A-Za-z0-9]{54}\b"),
    shape("duffel_token", "Duffel token", &["duffel_"], r"\bduffel_(?:test|live)_[A-Za-z0-9_=-]{40,}"),
    shape("shippo_token", "Shippo token", &["shippo_"], r"\bshippo_(?:test|live)_[a-f0-9]{40}"),
    shape("prefect_key", "Prefect key", &["pnu_", "pnb_"], r"\bpn[ub]_[A-Za-z0-9]{36}\b"),
    shape("readme_key", "ReadMe key", &["rdme_"], r"\brdme_[a-z0-9]{60,}"),
    shape("typeform_token", "Typeform token", &["tfp_"], r"\btfp_[A-Za-z0-9_.=-]{40,}"),
    shape("adafruit_key", "Adafruit key", &["aio_"], r"\baio_[A-Za-z0-9]{28}\b"),
    shape("alibaba_key", "Alibaba key", &["ltai"], r"\bLTAI[A-Za-z0-9]{16,24}\b"),
    shape("onepassword_token", "1Password token", &["ops_eyj"], r"\bops_eyJ[A-Za-z0-9+/]{100,}={0,3}"),
    shape("sourcegraph_token", "Sourcegraph token", &["sgp_"], r"\bsgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}\b"),
    shape("openshift_token", "OpenShift token", &["sha256~"], r"\bsha256~[A-Za-z0-9_-]{43}"),
    shape("posthog_key", "PostHog key", &["phx_"], r"\bphx_[A-Za-z0-9_]{40,}"),
    shape("infracost_key", "Infracost key", &["ico-"], r"\bico-[A-Za-z0-9]{32}\b"),
    shape("lob_key", "Lob key", &["test_", "live_"], r"\b(?:test|live)_(?:pub_)?[a-f0-9]{35}\b"),
    shape("flutterwave_key", "Flutterwave key", &["flwseck"], r"\bFLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}-X\b"),
    shape("razorpay_key", "Razorpay key", &["rzp_"], r"\brzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    shape(
        "plaid_token",
        "Plaid token",
        &["access-sandbox-", "access-development-", "access-production-"],
        r"\baccess-(?:sandbox|development|production)-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
    ),
    shape(
        "hubspot_key",
        "HubSpot key",
        &["pat-na", "pat-eu"],
        r"\bpat-(?:na|eu)[0-9]-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
    ),
    shape("intercom_token", "Intercom token", &["dg9rom"], r"\bdG9rOm[A-Za-z0-9+/]{40,}={0,2}"),
    shape("segment_token", "Segment token", &["sgp_"], r"\bsgp_[A-Za-z0-9]{60,}"),
    shape("zuplo_key", "Zuplo key", &["zpka_"], r"\bzpka_[A-Za-z0-9]{30,}_[a-f0-9]{8}"),
    shape("hashicorp_key", "HCP key", &["hcp."], r"\bhcp\.[A-Za-z0-9_-]{60,}"),
    shape("elastic_key", "Elastic key", &["essu_"], r"\bessu_[A-Za-z0-9+/=_-]{40,}"),
    shape("deno_token", "Deno token", &["ddp_", "ddo_"], r"\bdd[po]_[A-Za-z0-9]{36,}"),
    shape("harness_token", "Harness token", &["pat."], r"\bpat\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}\b"),
    shape(
        "stytch_secret",
        "Stytch secret",
        &["secret-test-", "secret-live-"],
        r"\bsecret-(?:test|live)-[A-Za-z0-9_=-]{36}",
    ),
    shape("jwt", "JSON web token", &["eyj"], r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    guess("bearer_token", "bearer token", &["bearer"], r"(?i)\bbearer\s+([A-Za-z0-9._~+/-]{20,}=*)", is_generated),
    shape(
        "basic_auth",
        "basic auth credential",
        &["authorization"],
        r"(?i)\bauthorization\b\W{1,4}basic\s+([A-Za-z0-9+/]{8,}={0,2})",
    ),
    shape(
        "url_password",
        "URL password",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>\[\]]*:([^\s/@"'<>\[\]${}*]{3,})@"#,
    ),
    guess(
        "password",
        "credential",
        NAMES,
        r#"(?i)(?:password|passwd|passphrase|secret|api[_-]?key|secret[_-]?key|access[_-]?key|token|credential)s?["']?\s{0,4}(?::=|=>|[:=])\s{0,4}["']?([A-Za-z0-9_./+=~!@#%^&*-]{8,})"#,
        is_generated,
    ),
    guess(
        "password",
        "credential",
        &["--password", "--passwd", "--secret", "--api-key", "--token", "--access-token"],
        r#"--(?:password|passwd|secret|api-key|token|access-token)\s+["']?([A-Za-z0-9_./+=~!@#%^&*-]{8,})"#,
        is_generated,
    ),
    // Options of programs that are always followed by a password.
    guess("password", "credential", &["--passphrase"], r#"--passphrase[ =]["']?([^\s"']+)"#, is_literal),
    guess("password", "credential", &["sshpass"], r#"\bsshpass (?:-\w+ ){0,4}-p ?["']?([^\s"']+)"#, is_literal),
    guess(
        "password",
        "credential",
        &["openssl"],
        r#"\bopenssl\b[^|;&\n]{0,200}? -(?:[kK] |pass(?:in|out)? ["']?pass:)["']?([^\s"']+)"#,
        is_literal,
    ),
    guess(
        "password",
        "credential",
        &["curl"],
        r#"\bcurl\b[^|;&\n]{0,200}? -(?:u|U|-user|-proxy-user)[ =]?["']?[^\s"':]+:([^\s"':]+)"#,
        is_literal,
    ),
];

const fn shape(
    name: &'static str,
    label: &'static str,
    needles: &'static [&'static str],
    pattern: &'static str,
) -> Shape {
    guess(name, label, needles, pattern, |_, _| true)
}

const fn guess(
    name: &'static str,
    label: &'static str,
    needles: &'static [&'static str],
    pattern: &'static str,
    holds: fn(&str, &str) -> bool,
) -> Shape {
    Shape { name, label, needles, pattern, holds, outline: Outline::of(pattern) }
}

/// Returns `true` for a value that is no variable, command, placeholder or note.
fn is_literal(value: &str, _: &str) -> bool {
    !value.starts_with(['$', '`', '<', '[', '%', '{', '/'])
}
