package io.millrace.cli.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.args.AxeRunOptions;
import com.deque.html.axecore.playwright.AxeBuilder;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.ColorScheme;
import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The dashboard of a real server in a real browser, as people use it. */
final class DashboardPagesTest extends DashboardServer {

  /** Whether a page has to be scrolled sideways, once charts have taken the size of the window. */
  private static final String WIDER_THAN_ITS_WINDOW =
      """
      async () => {
        const wider = () => document.documentElement.scrollWidth > innerWidth;
        for (let frame = 0; frame < 300 && wider(); frame++) {
          await new Promise(requestAnimationFrame);
        }
        return wider();
      }\
      """;

  /** The rules of axe that ask how things are coloured. */
  private static final List<String> RULES_ABOUT_COLOURS =
      List.of("color-contrast", "link-in-text-block");

  private static final String TOKEN = "a-token-that-is-long-enough";

  @Test
  void a_first_visit_says_how_to_begin_and_leads_to_a_task_that_ran() throws Exception {
    up();
    Page page = open("");
    assertThat(heading(page, "Begin here")).isVisible();
    assertThat(page.getByText("Nothing needs attention.")).isVisible();

    link(page, "Queues").click();
    assertThat(page.getByText("No queues yet")).isVisible();
    button(page, "New queue").click();
    page.getByLabel("Name").fill("mail");
    page.getByLabel("Plugin").selectOption("shell");
    page.getByLabel("Threads").fill("2");
    submit(page, "Create");
    link(page, "mail").click();

    button(page, "New task").click();
    page.getByLabel("Params (JSON)").fill("{\"command\": \"echo hello from a task\"}");
    submit(page, "Submit");
    page.locator("tbody a").first().click();
    assertThat(page.locator(".page-head .status")).hasText("succeeded");
    assertThat(page.locator("pre")).containsText("hello from a task");
    browser.checkProblems();
  }

  @Test
  void a_failure_is_found_read_and_run_again() throws Exception {
    up();
    run("queues", "create", "reports", "--plugin", "shell", "--threads", "1");
    Path gate = root.resolve("gate");
    String task =
        run(
            "tasks",
            "submit",
            "reports",
            "command=test -e " + gate + " || { echo no gate >&2; exit 3; }");
    awaitFailure(task);
    Page page = open("#/tasks?status=failed");
    page.locator("tbody a").first().click();
    assertThat(page.locator(".page-head")).containsText("exit code 3");
    button(page, "stderr 8 B").click();
    assertThat(page.getByLabel("Output stderr")).hasText("no gate\n");

    Files.createFile(gate);
    button(page, "Run again").click();
    assertThat(page.locator(".page-head .status")).hasText("succeeded");
    Locator attempt = page.locator(".timeline li");
    assertThat(attempt).containsText("failed");
    assertThat(attempt).containsText("exit code 3");
    attempt.getByText("Log").click();
    assertThat(attempt.locator("pre")).hasText("no gate");
    browser.checkProblems();
  }

  @Test
  void what_waits_says_why_and_goes_on_when_the_cause_is_gone() throws Exception {
    up();
    run("queues", "create", "nightly", "--plugin", "shell", "--threads", "0");
    String task = run("tasks", "submit", "nightly", "command=echo night");
    Page page = open("");
    assertThat(page.locator(".attention")).containsText("runs nothing");
    page.navigate(address + "/#/tasks/" + task);
    assertThat(page.locator(".why")).containsText("threads is 0");

    page.navigate(address + "/#/queues");
    page.getByLabel("Threads of nightly").fill("1");
    page.getByLabel("Threads of nightly").press("Enter");
    assertThat(page.locator("tbody tr")).containsText("ok");
    page.navigate(address + "/#/tasks/" + task);
    assertThat(page.locator(".page-head .status")).hasText("succeeded");
    browser.checkProblems();
  }

  @Test
  void the_progress_of_a_worker_is_shown_while_it_works() throws Exception {
    up();
    Path gate = root.resolve("gate");
    programs.add(
        Program.start(
            root.resolve("worker.log"),
            List.of(
                "worker",
                "--server",
                address,
                "--name",
                "press",
                "--",
                "sh",
                "-c",
                "echo 'progress: 40 half printed' >&2; until test -e "
                    + gate
                    + "; do sleep 0.05; done; echo printed")));
    Path payload =
        Files.writeString(
            root.resolve("payload"), "{\"pages\": [1, 9007199254740993123], \"password\": \"x\"}");
    run("jobs", "submit", payload.toString(), "--description", "a letter");
    Page page = open("#/jobs");
    link(page, "a letter").click();
    assertThat(page.locator(".page-head")).containsText("40 %");
    assertThat(page.locator(".page-head")).containsText("half printed");
    assertThat(page.locator(".json").first()).containsText("9007199254740993123");
    assertThat(page.getByText("password: hidden")).isVisible();

    Files.createFile(gate);
    assertThat(page.locator(".page-head .status")).hasText("done");
    assertThat(page.locator("pre").last()).hasText("printed\n");
    button(page, "Edit and submit").click();
    assertThat(page.getByLabel("Payload")).hasValue(Files.readString(payload));
    page.getByLabel("Payload").fill("{\"pages\": [2]}");
    page.getByLabel("Description").fill("another letter");
    submit(page, "Submit");
    assertThat(heading(page, "another letter")).isVisible();
    assertThat(page.locator(".page-head .status")).hasText("done");
    link(page, "press").click();
    assertThat(heading(page, "press")).isVisible();
    browser.checkProblems();
  }

  @Test
  void a_schedule_is_made_and_run_at_once() throws Exception {
    up();
    run("queues", "create", "clocks", "--plugin", "shell", "--threads", "1");
    Page page = open("#/schedules");
    button(page, "New schedule").click();
    page.getByLabel("Name", new Page.GetByLabelOptions().setExact(true)).fill("yearly");
    page.getByLabel("Schedule (JSON)")
        .fill(
            """
            {"times": [{"cron": "0 0 1 1 *"}], "zone": "Europe/Berlin",
             "target": {"queue": "clocks", "params": {"command": "echo cuckoo"}}}\
            """);
    submit(page, "Save");
    assertThat(heading(page, "yearly")).isVisible();
    assertThat(page.locator(".times li")).hasCount(10);
    button(page, "Run now").click();
    assertThat(page.locator("tbody tr").first()).containsText("succeeded");
    page.locator("tbody a").first().click();
    assertThat(page.locator("pre")).hasText("cuckoo\n");
    browser.checkProblems();
  }

  @Test
  void users_sign_in_and_see_what_their_role_allows() throws Exception {
    Path token = Files.writeString(root.resolve("token"), TOKEN);
    up(
        "--token-file",
        token.toString(),
        "--set",
        "access.oidc.issuer=https://login.example.com",
        "--set",
        "access.oidc.client-id=millrace",
        "--set",
        "access.oidc.label=Example");
    Path viewer = root.resolve("viewer.key");
    run(
        "access",
        "create",
        "vera",
        "--role",
        "viewer",
        "--key-file",
        viewer.toString(),
        "--token-file",
        token.toString());
    run(
        "queues",
        "create",
        "mail",
        "--plugin",
        "shell",
        "--threads",
        "1",
        "--token-file",
        token.toString());

    Page page = open("#/queues");
    assertThat(button(page, "Sign in with Example"))
        .hasAttribute("href", "access/sign-in?return=%2F%23%2Fqueues");
    Locator secret = page.getByLabel("Password, API key or token");
    secret.fill("wrong");
    button(page, "Sign in").click();
    assertThat(page.locator(".banner.bad")).isVisible();

    secret.fill(Files.readString(viewer).strip());
    button(page, "Sign in").click();
    assertThat(link(page, "mail")).isVisible();
    assertThat(page.locator(".who")).hasText("vera");
    assertThat(page.evaluate("sessionStorage.length")).isEqualTo(0);
    page.reload();
    assertThat(page.locator(".who")).hasText("vera");
    assertThat(button(page, "New queue")).hasCount(0);
    assertThat(link(page, "Access")).hasCount(0);

    button(page, "Sign out").click();
    secret.fill(TOKEN);
    button(page, "Sign in").click();
    assertThat(button(page, "New queue")).isVisible();
    link(page, "Access").click();
    assertThat(link(page, "vera")).isVisible();
    browser.checkProblems();
  }

  @Test
  void each_role_sees_the_buttons_that_it_may_use() throws Exception {
    Path token = Files.writeString(root.resolve("token"), TOKEN);
    String[] asAdmin = {"--token-file", token.toString()};
    up(asAdmin);
    run("queues", "create", "mail", "--plugin", "shell", "--threads", "0", asAdmin[0], asAdmin[1]);
    List<String> roles = List.of("viewer", "submitter", "operator", "admin");
    for (String role : roles) {
      Path key = root.resolve(role + ".key");
      run(
          "access",
          "create",
          role,
          "--role",
          role,
          "--key-file",
          key.toString(),
          asAdmin[0],
          asAdmin[1]);
      Page page = open("#/queues/mail");
      page.getByLabel("Password, API key or token").fill(Files.readString(key).strip());
      button(page, "Sign in").click();
      assertThat(heading(page, "mail")).isVisible();
      int rank = roles.indexOf(role);
      assertThat(page.locator(".who")).hasText(role);
      assertThat(button(page, "New task")).hasCount(rank >= 1 ? 1 : 0);
      assertThat(button(page, "Settings")).hasCount(rank >= 2 ? 1 : 0);
      assertThat(link(page, "Audit log")).hasCount(rank >= 2 ? 1 : 0);
      assertThat(link(page, "Access")).hasCount(rank >= 3 ? 1 : 0);
      page.close();
    }
    browser.checkProblems();
  }

  @Test
  void a_page_that_was_left_before_it_was_loaded_does_not_come_back() throws Exception {
    up();
    Page page = browser.page();
    List<Route> held = new ArrayList<>();
    page.route("**/overview.js", held::add);
    page.navigate(address + "/");
    page.waitForCondition(() -> !held.isEmpty());
    page.evaluate("() => { location.hash = '#/limits'; }");
    assertThat(heading(page, "Shared limits")).isVisible();
    held.forEach(Route::resume);
    page.evaluate(
        "() => import(document.querySelector('script[type=module]').src.replace('app.js',"
            + " 'overview.js')).then(() => {})");
    assertThat(page.locator("millrace-overview")).hasCount(0);
    assertThat(heading(page, "Shared limits")).isVisible();
    browser.checkProblems();
  }

  @Test
  void all_of_it_works_below_a_path_of_a_proxy() throws Exception {
    try (PrefixProxy proxy = PrefixProxy.start("/tools/millrace")) {
      up("--set", "server.origins=" + proxy.origin());
      proxy.passTo(address);
      run("queues", "create", "mail", "--plugin", "shell", "--threads", "2");
      run("graph", "add", "--name", "fetch", "--", "echo", "fetched");
      Page page = browser.page();
      page.navigate(proxy.origin() + "/tools/millrace/#/graph");
      Locator rows = page.locator("tbody tr");
      assertThat(rows).hasCount(1);
      assertThat(page.locator(".drawing canvas").first()).isVisible();
      run("graph", "add", "--name", "parse", "--parent", "1", "--", "echo", "parsed");
      assertThat(rows.nth(1)).containsText("parse");

      link(page, "Queues").click();
      button(page, "Pause").click();
      assertThat(rows).containsText("paused");
      assertThat(run("queues", "show", "mail", "--json")).contains("\"threads\":0");
      page.reload();
      assertThat(rows).containsText("paused");
    }
    browser.checkProblems();
  }

  @Test
  void hostile_names_params_and_output_are_only_text() throws Exception {
    up();
    String hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`${alert(3)}";
    run("queues", "create", hostile, "--plugin", "shell", "--threads", "1");
    String task = run("tasks", "submit", hostile, "command=cat <<'E'\n" + hostile + "\nE\nexit 1");
    awaitFailure(task);
    Path payload = Files.writeString(root.resolve("payload"), hostile);
    String[] worker = {"worker", "--server", address, "--", "sh", "-c", "cat >&2; exit 1"};
    programs.add(Program.start(root.resolve("worker.log"), List.of(worker)));
    String job =
        run("jobs", "submit", payload.toString(), "--description", hostile, "--key", hostile);
    run("graph", "add", "--name", hostile, "--", "echo", hostile);
    // One page, which loads each place anew from its cache.
    Page page = browser.page();
    for (String place :
        List.of(
            "",
            "#/queues",
            "#/tasks",
            "#/tasks/" + task,
            "#/jobs",
            "#/jobs/" + URLEncoder.encode(job, StandardCharsets.UTF_8).replace("+", "%20"),
            "#/graph",
            "#/graph/1",
            "#/audit",
            "#/search?text=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
            "#/%3Cimg%20src%3Dx%3E")) {
      page.navigate("about:blank");
      page.navigate(address + "/" + place);
      assertThat(page.locator("main h1")).isVisible();
      assertThat(page.locator("main script, main img")).hasCount(0);
      if (place.startsWith("#/jobs/")) {
        assertThat(page.locator(".timeline")).containsText(hostile);
      } else if (place.startsWith("#/tasks/")) {
        assertThat(page.getByLabel("Output stdout")).hasText(hostile + "\n");
        assertThat(page.locator(".timeline pre")).hasText(hostile);
        assertThat(page.locator("main")).containsText(hostile);
      }
    }
    browser.checkProblems();
  }

  @Test
  void every_page_suits_screen_readers_and_keyboards_in_light_and_dark() throws Exception {
    up();
    Map<String, String> places = fill();
    Path pictures = Files.createDirectories(Path.of("target", "dashboard"));
    List<String> violations = new ArrayList<>();
    for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
      // One page, which loads each place anew from its cache.
      Page page = browser.page(1440, 1000, scheme);
      for (Map.Entry<String, String> place : places.entrySet()) {
        page.setViewportSize(1440, 1000);
        page.navigate("about:blank");
        page.navigate(address + "/" + place.getValue());
        settle(page);
        violations.addAll(violations(page, place.getKey(), scheme));
        picture(
            page,
            pictures.resolve(
                place.getKey() + "-" + scheme.name().toLowerCase(Locale.ROOT) + ".png"));
        page.setViewportSize(390, 844);
        assertThat(page.evaluate(WIDER_THAN_ITS_WINDOW)).as(place.getKey()).isEqualTo(false);
        String phone = scheme == ColorScheme.LIGHT ? "-phone.png" : "-phone-dark.png";
        picture(page, pictures.resolve(place.getKey() + phone));
        if (scheme == ColorScheme.LIGHT) {
          violations.addAll(violations(page, place.getKey() + " on a phone", scheme));
        }
      }
      page.close();
    }
    assertThat(violations).isEmpty();
    browser.checkProblems();
  }

  /** A server with something of each kind; the places of its pages by name. */
  private Map<String, String> fill() throws Exception {
    run("limits", "set", "gateway", "--running", "3");
    run("queues", "create", "mail", "--plugin", "shell", "--threads", "2", "--limits", "gateway");
    run("queues", "create", "nightly", "--plugin", "shell", "--threads", "0");
    run("tasks", "submit", "nightly", "command=true");
    String task = run("tasks", "submit", "mail", "command=seq 1 20; echo oops >&2; exit 3");
    awaitFailure(task);
    Path payload = Files.writeString(root.resolve("payload"), "{\"pages\": [1, 2]}");
    String job = run("jobs", "submit", payload.toString(), "--description", "a letter");
    run("graph", "add", "--name", "fetch", "--", "echo", "fetched");
    run("graph", "wait", "1", "--timeout", "1m");
    run("schedules", "create", "heartbeat", "--every", "1h", "--queue", "mail", "command=date");
    run("access", "create", "vera", "--role", "viewer");
    run("graph", "add", "--name", "parse", "--parent", "1", "-s", "echo parsed; exit 4");
    run("graph", "add", "--name", "report", "--parent", "2", "--", "echo", "report");
    Shell.CommandResult blocked =
        Shell.run("graph", "wait", "3", "--settled", "--timeout", "1m", "--server", address);
    assertThat(blocked.code()).as(blocked.err()).isEqualTo(6);
    lead();
    Map<String, String> places = new TreeMap<>();
    for (String name :
        List.of(
            "queues",
            "jobs",
            "batches",
            "types",
            "graph",
            "schedules",
            "limits",
            "bulk",
            "new-bulk",
            "archive",
            "nodes",
            "workers",
            "cluster",
            "store",
            "audit",
            "access")) {
      places.put(name, "#/" + name);
    }
    places.put("overview", "");
    places.put("queue", "#/queues/mail");
    places.put("task", "#/tasks/" + task);
    places.put("job", "#/jobs/" + job);
    places.put("node", "#/graph/1");
    places.put("batch", "#/batches/1");
    places.put("group", "#/store/queues%2Fdefinitions");
    places.put("schedule", "#/schedules/heartbeat");
    places.put("principal", "#/access/vera");
    places.put("search", "#/search?text=mail");
    return places;
  }

  private static void settle(Page page) {
    assertThat(page.locator("main h1")).isVisible();
    assertThat(page.locator("[aria-busy=true]")).hasCount(0);
  }

  private static void picture(Page page, Path file) {
    // Until all of it is painted.
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    page.screenshot(new Page.ScreenshotOptions().setPath(file).setFullPage(true));
  }

  /** What axe finds; in dark colours it looks only for what colours change. */
  private static List<String> violations(Page page, String name, ColorScheme scheme) {
    AxeRunOptions options = new AxeRunOptions();
    // Of the others, it describes one element for each rule instead of all.
    options.setResultTypes(List.of("violations"));
    AxeBuilder axe = new AxeBuilder(page).setLegacyMode(true).options(options);
    if (scheme == ColorScheme.DARK) {
      axe = axe.withRules(RULES_ABOUT_COLOURS);
    }
    return axe.analyze().getViolations().stream()
        .map(rule -> name + ": " + rule.getId() + " " + rule.getNodes().getFirst().getHtml())
        .toList();
  }
}
