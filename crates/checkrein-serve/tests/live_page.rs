//! The live page in a real browser: headless Chromium, driven by chromedriver.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axum::http::Method;
use checkrein_serve::web::Web;
use common::{Machine, skip};
use fantoccini::key::Key;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

/// Longest wait for the page. Only a broken page waits that long.
const PATIENCE: Duration = Duration::from_secs(30);

/// chromedriver and its directory. Ends both on drop.
struct Driver {
    child: Child,
    port: u16,
    profile: tempfile::TempDir,
}

impl Driver {
    fn start() -> Option<Self> {
        let child = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                skip("chromium", format!("cannot start chromedriver: {error}"));
                return None;
            }
        };
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        let Some(port) = port else {
            let _ = child.kill();
            skip("chromium", "chromedriver does not start");
            return None;
        };
        // The pipe must be read, or chromedriver blocks.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { child, port, profile: tempfile::tempdir().unwrap() })
    }

    async fn browser(&self, name: &str) -> Option<Client> {
        let profile = self.profile.path().join(name);
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--force-color-profile=srgb",
            &format!("--user-data-dir={}", profile.display()),
        ];
        let capabilities = json!({ "goog:chromeOptions": { "args": arguments } });
        let Value::Object(capabilities) = capabilities else { unreachable!() };
        let address = format!("http://127.0.0.1:{}", self.port);
        match ClientBuilder::new(HttpConnector::new()).capabilities(capabilities).connect(&address).await {
            Ok(client) => Some(client),
            Err(error) => {
                skip("chromium", format!("cannot start Chromium: {error}"));
                None
            }
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a script returns `true`.
async fn until(browser: &Client, script: &str) {
    let start = Instant::now();
    let mut last = Value::Null;
    while start.elapsed() < PATIENCE {
        match browser.execute(&format!("return ({script})"), vec![]).await {
            Ok(Value::Bool(true)) => return,
            Ok(other) => last = other,
            Err(error) => last = json!(error.to_string()),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let text = browser.execute("return document.body.innerText", vec![]).await.unwrap_or_default();
    panic!("{script}: {last}\n{}", text.as_str().unwrap_or_default());
}

async fn get(browser: &Client, script: &str) -> Value {
    browser.execute(&format!("return ({script})"), vec![]).await.unwrap()
}

async fn press(browser: &Client, keys: &str) {
    for _ in 0..100 {
        let element = browser.active_element().await.unwrap();
        if element.send_keys(keys).await.is_ok() {
            return;
        }
        // The element with the focus is in a view that was hidden in the meantime.
        browser.execute("document.activeElement.blur()", vec![]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no element takes the keys `{keys}`");
}

async fn resize(browser: &Client, width: u32, height: u32) {
    browser.set_window_size(width, height).await.unwrap();
    // Headless Chromium has window borders, and no window below 500 pixels. The device metrics decide instead.
    let parameters = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
    command(browser, "Emulation.setDeviceMetricsOverride", parameters).await;
}

/// Runs a command of the DevTools protocol.
async fn command(browser: &Client, name: &str, parameters: Value) {
    browser.issue_cmd(DevTools { name: name.to_owned(), parameters }).await.unwrap();
}

#[derive(Debug)]
struct DevTools {
    name: String,
    parameters: Value,
}

impl fantoccini::wd::WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({ "cmd": self.name, "params": self.parameters }).to_string()))
    }
}

async fn log_in(browser: &Client, web: &Web) {
    browser.goto(&web.login().unwrap().url).await.unwrap();
    until(browser, "document.getElementById('connection').dataset.state === 'on'").await;
}

const NO_OVERFLOW: &str = "document.documentElement.scrollWidth <= window.innerWidth";

/// Text of the card of a question.
fn card(id: &str) -> String {
    format!("document.querySelector('[data-id=\"{id}\"]')")
}

/// Clicks a button of a question.
async fn answer(browser: &Client, id: &str, name: &str) {
    // Clicks right after a change of the list are ignored.
    until(browser, &format!("{}?.classList.contains('moving') === false", card(id))).await;
    let button = format!("[data-id=\"{id}\"] [data-answer={name}]");
    browser.find(Locator::Css(&button)).await.unwrap().click().await.unwrap();
}

/// Presses a key and holds it for some repetitions.
async fn hold(browser: &Client, key: &str) {
    for number in 0..12 {
        let parameters = json!({ "type": "keyDown", "key": key, "text": key, "autoRepeat": number > 0 });
        command(browser, "Input.dispatchKeyEvent", parameters).await;
    }
    command(browser, "Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key })).await;
}

async fn point(browser: &Client, x: u32, y: u32) {
    command(browser, "Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_are_answered_and_events_appear() {
    let Some(driver) = Driver::start() else { return };
    let Some(browser) = driver.browser("one").await else { return };
    let machine = Machine::new();
    let web = machine.web().await;

    // A wrong code is refused. The code of the terminal logs in, at the bare address.
    let login = web.login().unwrap();
    browser.goto(&login.address).await.unwrap();
    until(&browser, "!document.getElementById('login').hidden").await;
    let code = browser.find(Locator::Id("code")).await.unwrap();
    code.send_keys("AAAA-BBBB").await.unwrap();
    code.send_keys(&char::from(Key::Enter).to_string()).await.unwrap();
    until(&browser, "document.getElementById('login-error').textContent.includes('wrong')").await;
    code.clear().await.unwrap();
    code.send_keys(&login.code.to_lowercase()).await.unwrap();
    code.send_keys(&char::from(Key::Enter).to_string()).await.unwrap();
    until(&browser, "document.getElementById('connection').dataset.state === 'on'").await;

    // The token of an address leaves the address, and works once.
    let url = web.login().unwrap().url;
    browser.goto("about:blank").await.unwrap();
    browser.goto(&url).await.unwrap();
    until(&browser, "document.getElementById('connection').dataset.state === 'on' && location.hash === ''").await;

    // A denial appears live. Text of the agent is no markup.
    machine.deny("rm -rf / <img src=x onerror=document.title='bad'>", "guard says no");
    until(&browser, "[...document.querySelectorAll('.row')].some((row) => row.dataset.answer === 'deny')").await;
    until(&browser, "document.querySelector('.row .input').textContent.includes('<img src=x')").await;
    assert_eq!(get(&browser, "document.querySelectorAll('img:not([alt=\"\"])').length").await, json!(0));
    browser.execute("document.querySelector('.row').click()", vec![]).await.unwrap();
    until(&browser, "document.getElementById('detail').innerText.includes('guard says no')").await;
    press(&browser, &char::from(Key::Escape).to_string()).await;
    until(&browser, "!document.getElementById('detail').open").await;

    // An approval by click. The second tab reports it.
    let first_tab = browser.window().await.unwrap();
    let second_tab = browser.new_window(true).await.unwrap().handle;
    browser.switch_to_window(second_tab.clone()).await.unwrap();
    browser.goto(&login.address).await.unwrap();
    until(&browser, "document.getElementById('connection').dataset.state === 'on'").await;
    let id = machine.ask("git push origin main", "push to main?");
    until(&browser, &format!("{} !== null", card(&id))).await;
    browser.switch_to_window(first_tab.clone()).await.unwrap();
    until(&browser, &format!("{}.innerText.includes('push to main?')", card(&id))).await;
    assert_eq!(
        get(&browser, "document.getElementById('announce').textContent.includes('git push')").await,
        json!(true)
    );
    answer(&browser, &id, "approve").await;
    until(&browser, &format!("{}.dataset.state === 'approved'", card(&id))).await;
    assert_eq!(machine.state(&id), "approved");
    // No agent waits for this answer.
    until(&browser, &format!("{}.innerText.includes('tell it to repeat the call')", card(&id))).await;
    browser.switch_to_window(second_tab.clone()).await.unwrap();
    until(&browser, &format!("{}?.dataset.state === 'approved'", card(&id))).await;
    assert_eq!(get(&browser, &format!("{}.querySelectorAll('[data-answer]').length", card(&id))).await, json!(0));

    // By key: the question needs the focus first.
    let id = machine.ask("cargo publish", "publish?");
    until(&browser, &format!("{} !== null", card(&id))).await;
    press(&browser, "a").await;
    assert_eq!(machine.state(&id), "pending");
    press(&browser, "g").await;
    press(&browser, "s").await;
    press(&browser, "a").await;
    until(&browser, &format!("{}?.dataset.state === 'approved'", card(&id))).await;
    assert_eq!((machine.state(&id).as_str(), machine.scope(&id).as_str()), ("approved", "session"));
    let id = machine.ask("cargo yank", "yank?");
    until(&browser, &format!("{} !== null", card(&id))).await;
    press(&browser, "g").await;
    press(&browser, "d").await;
    until(&browser, &format!("{}?.dataset.state === 'denied'", card(&id))).await;
    assert_eq!(machine.answer(&id)["reason"], Value::Null);
    let id = machine.ask("cargo owner --add", "owner?");
    until(&browser, &format!("{} !== null", card(&id))).await;
    press(&browser, "g").await;
    press(&browser, "r").await;
    press(&browser, "use the team account").await;
    press(&browser, &char::from(Key::Enter).to_string()).await;
    until(&browser, &format!("{}?.dataset.state === 'denied'", card(&id))).await;
    assert_eq!(machine.answer(&id)["reason"], "use the team account");

    // An edited input is a new call.
    let id = machine.ask("git push --force", "force?");
    until(&browser, &format!("{} !== null", card(&id))).await;
    press(&browser, "g").await;
    press(&browser, "e").await;
    until(&browser, &format!("{}.querySelector('textarea') !== null", card(&id))).await;
    let text = browser.find(Locator::Css(&format!("[data-id=\"{id}\"] textarea"))).await.unwrap();
    text.clear().await.unwrap();
    text.send_keys("{\"command\": \"git push\"}").await.unwrap();
    answer(&browser, &id, "approve-edited").await;
    until(&browser, &format!("{}?.dataset.state === 'approved'", card(&id))).await;
    assert!(machine.answer(&id)["edited_input"].is_object(), "{}", machine.answer(&id));

    // A stale card: the answer came from elsewhere, and the page does not know it yet.
    let id = machine.ask("npm publish", "npm?");
    until(&browser, &format!("{} !== null", card(&id))).await;
    browser.execute("window.fetched = window.fetch; window.fetch = (...all) => new Promise((done) => setTimeout(() => done(window.fetched(...all)), 1500))", vec![]).await.unwrap();
    answer(&browser, &id, "approve").await;
    machine.deny_elsewhere(&id);
    until(&browser, &format!("{}?.dataset.state === 'denied'", card(&id))).await;
    assert_eq!(machine.state(&id), "denied");
    until(&browser, &format!("{}?.querySelectorAll('[data-answer]').length === 0", card(&id))).await;

    // An answer that does not arrive is an error, and can be given again.
    let id = machine.ask("npm unpublish", "unpublish?");
    until(&browser, &format!("{} !== null", card(&id))).await;
    browser.execute("window.fetch = () => Promise.reject(new TypeError('failed'))", vec![]).await.unwrap();
    answer(&browser, &id, "approve").await;
    until(&browser, &format!("{}.querySelector('.problem').textContent.includes('was not accepted')", card(&id))).await;
    browser.execute("window.fetch = window.fetched", vec![]).await.unwrap();
    answer(&browser, &id, "approve").await;
    until(&browser, &format!("{}?.dataset.state === 'approved'", card(&id))).await;

    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn question_of_a_waiting_agent_is_first_and_has_its_own_time() {
    let Some(driver) = Driver::start() else { return };
    let Some(browser) = driver.browser("one").await else { return };
    let machine = Machine::new();
    let web = machine.web().await;
    log_in(&browser, &web).await;
    let gone = machine.ask("git push 1", "push?");
    until(&browser, &format!("{} !== null", card(&gone))).await;
    let held = machine.ask_waiting("git push 2", 300);
    until(&browser, &format!("{}?.innerText.includes('agent waits 4:')", card(&held))).await;
    let short = machine.ask_waiting("git push 3", 1);
    until(&browser, &format!("{}?.innerText.includes('agent no longer waits')", card(&short))).await;
    let shown = "[...document.querySelectorAll('.card')].map((card) => card.dataset.id)";
    assert_eq!(get(&browser, shown).await, json!([held, short, gone]));
    assert_eq!(get(&browser, &format!("{}.innerText.includes('waits')", card(&gone))).await, json!(false));
    // A page that opens later has the same order for agents that wait.
    browser.refresh().await.unwrap();
    until(&browser, &format!("{}?.innerText.includes('agent waits')", card(&held))).await;
    assert_eq!(get(&browser, shown).await, json!([held, gone, short]));
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_key_answers_one_question() {
    let Some(driver) = Driver::start() else { return };
    let Some(browser) = driver.browser("one").await else { return };
    let machine = Machine::new();
    let web = machine.web().await;
    log_in(&browser, &web).await;
    for (key, state) in [("a", "approved"), ("d", "denied")] {
        let ids: Vec<_> = (0..4).map(|number| machine.ask(&format!("git push {key} {number}"), "push?")).collect();
        for id in &ids {
            until(&browser, &format!("{} !== null", card(id))).await;
        }
        // Questions of one millisecond have any order.
        let shown = "[...document.querySelectorAll('.card:not([data-state])')].map((card) => card.dataset.id)";
        let ids: Vec<String> = serde_json::from_value(get(&browser, shown).await).unwrap();
        assert_eq!(ids.len(), 4);
        press(&browser, "g").await;
        hold(&browser, key).await;
        until(&browser, &format!("{}?.dataset.state === '{state}'", card(&ids[0]))).await;
        // The key again, after the answer: the focus is still at the answered question.
        hold(&browser, key).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let states: Vec<_> = ids.iter().map(|id| machine.state(id)).collect();
        assert_eq!(states, [state, "pending", "pending", "pending"]);
        // A held key has no effect at a question that gets the focus meanwhile.
        press(&browser, "n").await;
        let parameters = json!({ "type": "keyDown", "key": key, "text": key, "autoRepeat": true });
        command(&browser, "Input.dispatchKeyEvent", parameters).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(machine.state(&ids[1]), "pending");
        press(&browser, key).await;
        until(&browser, &format!("{}?.dataset.state === '{state}'", card(&ids[1]))).await;
        for id in &ids[2..] {
            machine.deny_elsewhere(id);
            until(&browser, &format!("{}?.dataset.state === 'denied'", card(id))).await;
        }
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buttons_keep_their_places_under_the_pointer() {
    let Some(driver) = Driver::start() else { return };
    let Some(browser) = driver.browser("one").await else { return };
    let machine = Machine::new();
    let web = machine.web().await;
    resize(&browser, 700, 1000).await;
    log_in(&browser, &web).await;
    let first = machine.ask("git push origin one", "one?");
    until(&browser, &format!("{} !== null", card(&first))).await;
    let second = machine.ask("git push origin two", "two?");
    let place = format!("{}?.querySelector('[data-answer=approve]')?.getBoundingClientRect().top", card(&second));
    until(&browser, &format!("{place} > 0")).await;
    // Cards appear with a short animation.
    until(&browser, "document.querySelector('.card.moving') === null").await;
    let before = get(&browser, &place).await;
    answer(&browser, &first, "approve").await;
    until(&browser, &format!("{}.dataset.state === 'approved'", card(&first))).await;
    // An answered question is removed after 15 seconds, but not while the pointer is over the list.
    let later = "const real = performance.now.bind(performance); performance.now = () => real() + 20000";
    browser.execute(later, vec![]).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(get(&browser, &place).await, before);
    // A click at the moment of the move was meant for another question.
    let click = format!(
        "new MutationObserver(() => {{ {}.querySelector('[data-answer=approve]').dispatchEvent(new MouseEvent('click', {{ detail: 1, bubbles: true }}));          window.clicked = true }}).observe(document.getElementById('cards'), {{ childList: true }})",
        card(&second)
    );
    browser.execute(&click, vec![]).await.unwrap();
    point(&browser, 5, 5).await;
    until(&browser, &format!("{} === null && window.clicked === true", card(&first))).await;
    assert_ne!(get(&browser, &place).await, before);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(machine.state(&second), "pending");
    answer(&browser, &second, "approve").await;
    until(&browser, &format!("{}.dataset.state === 'approved'", card(&second))).await;
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tabs_share_one_stream() {
    let Some(driver) = Driver::start() else { return };
    let Some(browser) = driver.browser("one").await else { return };
    let machine = Machine::new();
    let web = machine.web().await;
    log_in(&browser, &web).await;
    let mut tabs = vec![browser.window().await.unwrap()];
    for _ in 0..7 {
        let tab = browser.new_window(true).await.unwrap().handle;
        browser.switch_to_window(tab.clone()).await.unwrap();
        browser.goto(&format!("http://{}/", web.address())).await.unwrap();
        until(&browser, "document.getElementById('connection').dataset.state === 'on'").await;
        tabs.push(tab);
    }
    let id = machine.ask("git push", "push?");
    answer(&browser, &id, "approve").await;
    until(&browser, &format!("{}.dataset.state === 'approved'", card(&id))).await;
    // The tab that reads the stream is closed: another one reads it.
    let last = tabs.pop().unwrap();
    for tab in tabs {
        browser.switch_to_window(tab).await.unwrap();
        until(&browser, &format!("{}?.dataset.state === 'approved'", card(&id))).await;
        browser.close_window().await.unwrap();
    }
    browser.switch_to_window(last).await.unwrap();
    machine.deny("rm -rf /", "no");
    until(&browser, "document.querySelector('.row[data-answer=deny]') !== null").await;
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn selection_and_filters_are_visible() {
    let Some(driver) = Driver::start() else { return };
    let Some(browser) = driver.browser("one").await else { return };
    let machine = Machine::new();
    machine.day();
    let web = machine.web().await;
    resize(&browser, 1600, 1000).await;
    log_in(&browser, &web).await;
    until(&browser, "document.querySelectorAll('.row').length > 5").await;
    let end = char::from(Key::End).to_string();
    browser.execute("document.getElementById('rows').focus()", vec![]).await.unwrap();
    press(&browser, &end).await;
    let selected = "document.querySelector('.row[aria-selected=true] .input')?.textContent";
    until(&browser, &format!("{selected} === 'npm run build'")).await;
    // The selection stays at its event when another one arrives. Hidden characters are visible.
    machine.deny("echo \u{202e}hidden", "no");
    until(&browser, "document.getElementById('filter-note').textContent === '22 events'").await;
    until(&browser, &format!("{selected} === 'npm run build'")).await;
    browser.execute("document.getElementById('rows').scrollTop = 0", vec![]).await.unwrap();
    until(&browser, "document.querySelector('.row .input').textContent.startsWith('echo <U+202E>hidden')").await;
    let wrong = "document.querySelectorAll('[aria-selected=\"\"], [aria-pressed=\"\"], [data-zero=\"\"]').length === 0";
    until(&browser, wrong).await;

    // The lanes of a session.
    browser.execute("document.querySelector('#sessions [data-session^=claude]').click()", vec![]).await.unwrap();
    until(&browser, "document.querySelectorAll('#lanes .chip').length === 3").await;
    browser.execute("document.querySelectorAll('#lanes .chip')[1].click()", vec![]).await.unwrap();
    let pressed =
        "[...document.querySelectorAll('#lanes .chip')].map((chip) => chip.getAttribute('aria-pressed')).join()";
    until(&browser, &format!("{pressed} === 'false,true,false'")).await;

    // The filter that the hooks set.
    browser.execute("document.getElementById('tab-hooks').click()", vec![]).await.unwrap();
    until(&browser, "document.querySelector('#view-hooks button.link') !== null").await;
    browser.execute("document.querySelector('#view-hooks button.link').click()", vec![]).await.unwrap();
    let chip = "document.getElementById('filter-hook')";
    until(&browser, &format!("!{chip}.hidden && {chip}.textContent.startsWith('hook: ')")).await;
    browser.execute(&format!("{chip}.click()"), vec![]).await.unwrap();
    until(&browser, &format!("{chip}.hidden && document.getElementById('filter-note').textContent === '22 events'"))
        .await;
    browser.execute("document.getElementById('tab-coverage').click()", vec![]).await.unwrap();
    until(&browser, "document.querySelectorAll('.tile[data-zero=true]').length === 6").await;
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_survives_a_restart_of_the_process() {
    let Some(driver) = Driver::start() else { return };
    let Some(browser) = driver.browser("one").await else { return };
    let machine = Machine::new();
    let web = machine.web().await;
    let address = web.address();
    log_in(&browser, &web).await;
    machine.deny("before", "one");
    until(&browser, "document.querySelectorAll('.row').length === 1").await;
    drop(web);
    machine.drop_connections().await;
    until(&browser, "document.getElementById('connection').dataset.state === 'off'").await;
    machine.deny("meanwhile", "two");
    let web = machine.web().await;
    assert_eq!(web.address(), address);
    until(&browser, "document.getElementById('connection').dataset.state === 'on'").await;
    until(&browser, "document.querySelectorAll('.row').length === 2").await;
    let id = machine.ask("git push", "push?");
    until(&browser, &format!("{} !== null", card(&id))).await;
    press(&browser, "g").await;
    press(&browser, "a").await;
    until(&browser, &format!("{}?.dataset.state === 'approved'", card(&id))).await;
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn views_fit_narrow_and_wide_windows() {
    let Some(driver) = Driver::start() else { return };
    let Some(browser) = driver.browser("one").await else { return };
    let machine = Machine::new();
    machine.day();
    let web = machine.web().await;
    resize(&browser, 1600, 1000).await;
    log_in(&browser, &web).await;
    let ask = machine.ask(
        "git push --force origin main && curl -fsS https://example.test/notify | sh",
        "force pushes need a person",
    );
    machine.ask_edit();
    until(&browser, &format!("{} !== null && document.querySelectorAll('.card').length === 2", card(&ask))).await;
    until(&browser, &format!("{}.querySelector('.fields pre').textContent.startsWith('git push --force')", card(&ask)))
        .await;
    until(&browser, "document.querySelectorAll('.row').length > 5").await;
    for (width, height) in [(1600, 1000), (360, 740), (800, 900)] {
        resize(&browser, width, height).await;
        for view in 1..=5 {
            browser.execute("document.getElementById('rows').focus()", vec![]).await.unwrap();
            press(&browser, &view.to_string()).await;
            until(&browser, "document.querySelector('.view:not([hidden])') !== null").await;
            until(&browser, NO_OVERFLOW).await;
            until(&browser, "!document.body.innerText.includes('[object')").await;
        }
        // All views can be seen without scrolling.
        until(&browser, "document.querySelector('.tabs').scrollWidth <= document.querySelector('.tabs').clientWidth")
            .await;
        press(&browser, "1").await;
        // The last answer of a session is whole, however many events it has.
        let is_whole = "(() => { const line = [...document.querySelectorAll('#sessions .line-two')].find((line) => line.querySelector('.denials')); \
                        const parts = [...line.children]; const before = parts.map((part) => part.textContent); \
                        ['waiting', '123,456 events', '12,345 denied'].forEach((text, at) => { parts[at].textContent = text; }); \
                        const answer = parts.at(-1); const end = answer.getBoundingClientRect().right; \
                        const isWhole = end <= line.getBoundingClientRect().right + 1 && answer.scrollWidth <= answer.clientWidth; \
                        parts.forEach((part, at) => { part.textContent = before[at]; }); return isWhole; })()";
        until(&browser, is_whole).await;
        // Rows are drawn again at a change of the size, so the script clicks.
        until(&browser, "document.querySelector('.row[data-answer=deny]') !== null").await;
        browser.execute("document.querySelector('.row[data-answer=deny]').click()", vec![]).await.unwrap();
        until(&browser, "document.getElementById('detail').innerText.includes('Hooks')").await;
        until(&browser, "!document.getElementById('detail').innerText.includes('[object')").await;
        until(&browser, NO_OVERFLOW).await;
        press(&browser, &char::from(Key::Escape).to_string()).await;
    }
    until(&browser, "(document.querySelector('#tab-what-if').click(), true)").await;
    browser.find(Locator::Css("#rules-form button")).await.unwrap().click().await.unwrap();
    until(&browser, "document.getElementById('rules-result').innerText.includes('evaluated calls change')").await;
    let result = get(&browser, "document.getElementById('rules-result').innerText").await;
    assert!(result.as_str().unwrap().contains("could not be evaluated"), "{result}");
    // The example finds the push that no hook asked about.
    assert!(result.as_str().unwrap().contains("git push --dry-run origin checkout-fix"), "{result}");

    if std::env::var_os("UPDATE_DOCS").is_some() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images");
        std::fs::create_dir_all(&docs).unwrap();
        for (name, width, height, theme) in [("live.png", 1280, 860, "light"), ("live-narrow.png", 360, 740, "dark")] {
            resize(&browser, width, height).await;
            browser
                .execute(&format!("document.documentElement.dataset.theme = '{theme}'; document.querySelector('#tab-timeline').click(); document.getElementById('rows').scrollTop = 0; window.scrollTo(0, 0); document.activeElement.blur()"), vec![])
                .await
                .unwrap();
            until(&browser, "document.querySelector('.card.moving') === null").await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            std::fs::write(docs.join(name), browser.screenshot().await.unwrap()).unwrap();
        }
    }
    browser.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_of_100_000_events_has_few_elements() {
    let Some(driver) = Driver::start() else { return };
    let Some(browser) = driver.browser("one").await else { return };
    let machine = Machine::new();
    machine.many(100_000);
    let web = machine.web().await;
    log_in(&browser, &web).await;
    until(&browser, "document.getElementById('filter-note').textContent.startsWith('100,000')").await;
    for part in ["0.5", "0.99", "0.1", "1"] {
        browser
            .execute(
                &format!("const rows = document.getElementById('rows'); rows.scrollTop = rows.scrollHeight * {part}"),
                vec![],
            )
            .await
            .unwrap();
        until(
            &browser,
            "document.querySelectorAll('.row').length > 5 && document.querySelectorAll('.row.waiting').length === 0",
        )
        .await;
        let count = get(&browser, "document.querySelectorAll('.row').length").await;
        assert!(count.as_u64().unwrap() < 120, "{count}");
    }
    until(&browser, "[...document.querySelectorAll('.row .input')].at(-1).textContent.startsWith('run 0')").await;
    browser.close().await.unwrap();
}
