//! Texts from a grammar. The same texts in every run, on every machine.

use crate::differential::Text;

/// Deterministic random generator.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn one<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

struct Generator<'a> {
    random: &'a mut Random,
    only_bash: bool,
    has_function: bool,
}

/// Returns one text.
pub fn generate(random: &mut Random) -> Text {
    let bash = random.below(3) == 0;
    let mut generator = Generator { random, only_bash: bash, has_function: false };
    let count = 1 + generator.random.below(4);
    // Most texts set all variables, so that few programs are unknown.
    let start = ["", "A=m1 B='x y' C=m2\n", "A='m3 k'; B=m4; C=\n", "A=x; B='m5'; C='m6 c'\n"];
    let is_set = generator.random.below(12) > 0;
    let mut text = start[if is_set { 1 + generator.random.below(3) } else { 0 }].to_owned();
    for _ in 0..count {
        text.push_str(&generator.statement(2));
        text.push_str(generator.random.one(&["\n", "\n", "; ", ";\n", " # c ; m8\n"]));
    }
    // The variables are used at the end, so that every way to set them matters.
    if generator.random.below(2) == 0 {
        let end = generator.random.one(&[
            "m0 $A",
            "$A",
            "m0 \"$B\" $C",
            "m1 $B x",
            "m0 \"${A:-d}\" \"$#\"",
            "m0 \"$@\"",
            "m2 $C $A",
        ]);
        text.push_str(end);
    }
    Text { text, only_bash: bash }
}

impl Generator<'_> {
    fn name(&mut self) -> &'static str {
        self.random.one(&["A", "B", "C"])
    }

    fn value(&mut self) -> String {
        let name = self.name();
        match self.random.below(16) {
            0 => "m1".to_owned(),
            1 => "'m2 x'".to_owned(),
            2 => "\"m3 $U2\"".to_owned(),
            3 => format!("\"${name} y\""),
            4 => "x".to_owned(),
            5 => String::new(),
            6 => "'a  b'".to_owned(),
            7 => format!("${name}"),
            8 => format!("${{{name}:-m4}}"),
            9 if self.random.below(3) == 0 => "\"$(m5)\"".to_owned(),
            10 => "m8".to_owned(),
            11 => "a\\ b".to_owned(),
            12 => "~/x".to_owned(),
            13 => "$((1+1))".to_owned(),
            14 => format!("${{{name}:=m6}}"),
            _ => format!("pre${name}"),
        }
    }

    fn word(&mut self) -> String {
        let name = self.name();
        let count = if self.only_bash { 30 } else { 22 };
        match self.random.below(count) {
            0..=4 => self.random.one(&["a", "b", "-x", "x=y", "a:b", "1", "%", "é"]).to_owned(),
            5 => "'q q'".to_owned(),
            6 => format!("\"${name}\""),
            7 => format!("${name}"),
            8 => format!("\"p ${{{name}}} s\""),
            9 => format!("${{{name}-d}}"),
            10 => format!("\"${{{name}:-'d e'}}\""),
            11 => format!("${{{name}+set}}"),
            12 => format!("\"$(m7 ${name})\""),
            13 => "`m7 b`".to_owned(),
            14 => "\\$A\\;".to_owned(),
            15 => format!("${{{name}#m}}"),
            16 => "~".to_owned(),
            17 => "\"$@\"".to_owned(),
            18 => "$1".to_owned(),
            19 => "$(( $(m6) + 1 ))".to_owned(),
            20 => "*".to_owned(),
            21 => "\"a\\\"b\\`c\"".to_owned(),
            22 => "{p,q}".to_owned(),
            23 => "$'t\\tn'".to_owned(),
            24 => "{1..3}".to_owned(),
            25 => format!("\"${{{name}[@]}}\""),
            26 => "<(m5 p)".to_owned(),
            27 => "a{b,$A}".to_owned(),
            28 => "$\"tr\"".to_owned(),
            _ => format!("\"${{{name}/m/n}}\""),
        }
    }

    fn program(&mut self) -> String {
        let name = self.name();
        match self.random.below(24) {
            0..=13 => self.random.one(&["m1", "m2", "m3", "m4"]).to_owned(),
            14 => format!("${name}"),
            15 => "m5".to_owned(),
            16 => format!("${{{name}:-m5}}"),
            17 => "bin/m6".to_owned(),
            18 => "\"m\"'7'".to_owned(),
            19 => "\\m8".to_owned(),
            20 => "no".to_owned(),
            21 => "m0".to_owned(),
            22 if self.has_function => "f".to_owned(),
            _ => "m9".to_owned(),
        }
    }

    fn call(&mut self) -> String {
        let before = match self.random.below(14) {
            0 => format!("{}={} ", self.name(), self.value()),
            1 => "command ".to_owned(),
            2 => "env X=1 ".to_owned(),
            3 => "nohup ".to_owned(),
            4 => ">o ".to_owned(),
            5 => "! ".to_owned(),
            6 => self
                .random
                .one(&["nice -n 5 ", "timeout -k 3 20 ", "env -u Q -- ", "command -p ", "eval ", "exec ", "time -p "])
                .to_owned(),
            _ => String::new(),
        };
        let mut text = format!("{before}{}", self.program());
        for _ in 0..self.random.below(4) {
            text.push(' ');
            text.push_str(&self.word());
        }
        text.push_str(self.random.one(&[
            "",
            "",
            "",
            "",
            "",
            " >o",
            " 2>&1",
            " </dev/null",
            " 3>&-",
            " >>o 2>/dev/null",
        ]));
        text
    }

    fn quoted(&mut self, depth: usize) -> String {
        self.statement(depth).replace('\'', "'\\''")
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(3) {
                0 => format!("{}={}", self.name(), self.value()),
                _ => self.call(),
            };
        }
        let count = if self.only_bash { 47 } else { 36 };
        let name = self.name();
        let value = self.value();
        match self.random.below(count) {
            0..=6 => self.call(),
            7..=10 => format!("{name}={value}"),
            11 => format!("{} && {}", self.statement(depth - 1), self.statement(depth - 1)),
            12 => format!("{} || {}", self.statement(depth - 1), self.statement(depth - 1)),
            13 => format!("no && {} || {}", self.statement(0), self.statement(0)),
            14 => format!("{} | {}", self.call(), self.statement(0)),
            15 => format!("( {}\n)", self.statement(depth - 1)),
            16 => format!("{{ {}\n}}", self.statement(depth - 1)),
            17 => {
                format!("if {}\nthen {}\nelse {}\nfi", self.statement(0), self.statement(depth - 1), self.statement(0))
            }
            18 => format!("if no; then {}\nfi", self.statement(depth - 1)),
            19 => format!("for {name} in {} m2 {}; do {}\ndone", self.word(), self.word(), self.statement(depth - 1)),
            20 => format!("while :; do {}\nbreak\n{}\ndone", self.statement(depth - 1), self.statement(0)),
            21 => format!("for i in 1 2; do {}\n{}\ndone", self.statement(0), self.statement(0)),
            22 => format!("case ${name} in m*) {}\n;; *) {}\n;; esac", self.statement(0), self.statement(depth - 1)),
            23 => {
                self.has_function = true;
                let args = self.word();
                format!("f() {{ {}\n{}\n}}\nf {args} b", self.statement(0), self.statement(0))
            }
            24 => format!("eval '{}'", self.quoted(depth - 1)),
            25 => {
                let shell = if self.only_bash { "bash" } else { "sh" };
                format!("{shell} -c '{}' n1 '{}'", self.quoted(depth - 1), self.random.one(&["a", "m1", "b c"]))
            }
            26 => format!("set -- {} {}", self.word(), self.word()),
            27 => format!("export {name}={}", self.random.one(&["m1", "x", "'m2 y'"])),
            28 => format!("unset {name}; {name}={}", self.random.one(&["m1", "x"])),
            29 => format!(": ${{{name}:={}}}", self.random.one(&["m1", "x y"])),
            30 => format!("trap '{}' EXIT", self.quoted(0)),
            31 => format!("cat <<E | {}\n$({})\nE\n", self.call(), self.call()),
            32 => format!("{} &\nwait", self.statement(0)),
            33 => "shift".to_owned(),
            34 => {
                let script = self.random.one(&["m1 a", "'m2; m3'", "$A", "\"m4 $U2\""]);
                let shells = ["sh", "sh", "tee o | sh", "cat | sh", "head -1 | sh", "sh -c 'cat | sh'", "{ :; sh; }"];
                format!("echo {script} | {}", self.random.one(&shells))
            }
            35 => format!(
                "echo {} | xargs {}",
                self.random.one(&["a b", "x", "\"$A\""]),
                self.call().trim_start_matches(['!', ' '])
            ),
            36 => format!("{name}=({} {})", self.word(), self.word()),
            37 => format!("{name}+={}", self.random.one(&["x", "' y'"])),
            38 => format!("[[ -n {} && $({}) ]]", self.random.one(&["$A", "a"]), self.call()),
            39 => format!("((x = $(m6) + 1)); {}", self.statement(0)),
            40 => format!("for ((i=0; i<2; i++)) do {}\ndone", self.statement(0)),
            41 => format!("read {name} <<< {}", self.random.one(&["m1", "'m2 x'"])),
            42 => format!("printf -v {name} %s {}", self.random.one(&["m1", "x"])),
            43 => format!("g() {{ local {name}={}\n{}\n}}; g", self.random.one(&["m1", "x"]), self.statement(0)),
            44 => format!("{} |& {}", self.call(), self.call()),
            45 => {
                let script = self.random.one(&["m1 a", "'m2; m3'", "A=m4", "\"m4 $U2\""]);
                let forms =
                    [". <(echo X)", "bash <(echo X)", "source /dev/stdin <<< X", "bash < <(echo X)", "bash <<< X"];
                self.random.one(&forms).replace('X', script)
            }
            _ => format!("declare {name}={}", self.random.one(&["m1", "'m2 x'", "$B"])),
        }
    }
}
