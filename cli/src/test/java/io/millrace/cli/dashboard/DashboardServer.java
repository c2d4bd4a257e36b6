package io.millrace.cli.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.millrace.cli.Shell;
import io.millrace.cli.queues.Program;
import io.millrace.client.HttpTaskStore;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.store.StoreDocuments;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server whose dashboard is opened in a real browser. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class DashboardServer {
  private static @Nullable Browser opened;

  @TempDir Path root;
  final List<Program> programs = new ArrayList<>();
  final Browser browser = Objects.requireNonNull(opened);
  String address = "";

  @BeforeAll
  static void openBrowser() {
    opened = Browser.open();
  }

  @AfterAll
  static void closeBrowser() {
    if (opened != null) {
      opened.close();
    }
  }

  @AfterEach
  void close() throws IOException {
    browser.closePages();
    programs.forEach(Program::kill);
    for (ProcessHandle process : Program.speakingOf(root)) {
      process.destroyForcibly();
      process.onExit().join();
    }
  }

  /** Starts the server, with further options. */
  final void up(String... options) throws IOException {
    start(List.of(), options);
  }

  /** Starts the server, with flags of its virtual machine and further options. */
  final void start(List<String> flags, String... options) throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of("up", "--port", "0", "--data", root.resolve("data").toString()));
    arguments.addAll(List.of(options));
    Program.Ready ready = Program.startReady(root.resolve("up.log"), flags, arguments);
    programs.add(ready.program());
    int from = ready.line().indexOf("http://");
    address = ready.line().substring(from, ready.line().indexOf(' ', from));
  }

  final String run(String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    int options = all.contains("--") ? all.indexOf("--") : all.size();
    all.addAll(options, List.of("--server", address));
    Shell.CommandResult ran = Shell.run(all.toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).isZero();
    return ran.out().strip();
  }

  final void awaitFailure(String task) {
    Shell.CommandResult ran =
        Shell.run("tasks", "wait", task, "--timeout", "1m", "--quiet", "--server", address);
    assertThat(ran.code()).as(ran.err()).isEqualTo(6);
  }

  /** A page at a place within the dashboard. */
  final Page open(String place) {
    Page page = browser.page();
    page.navigate(address + "/" + place);
    return page;
  }

  static Locator button(Page page, String name) {
    return page.getByRole(
        AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  static Locator link(Page page, String name) {
    return page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true))
        .first();
  }

  static Locator heading(Page page, String name) {
    return page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName(name));
  }

  static void submit(Page page, String name) {
    page.getByRole(AriaRole.DIALOG)
        .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(name))
        .click();
    assertThat(page.getByRole(AriaRole.DIALOG)).hasCount(0);
  }

  static double number(Page page, String script) {
    return ((Number) page.evaluate(script)).doubleValue();
  }

  /** Sends a document, which must be accepted. */
  final void post(String path, String json) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      assertThat(response.statusCode()).as(response.body()).isBetween(200, 299);
    }
  }

  /** Writes down the leader of a cluster, its members, and what they hold. */
  final void lead() {
    long later = 4_000_000_000_000L;
    Map<String, String> written =
        Map.of(
            "leader",
            "{'holder':'anna','expire':%d,'fence':7}".formatted(later),
            "members",
            "{'nodes':[{'token':'anna','workers':2},{'token':'mailer','workers':1}]}",
            "partition/7-1",
            "{'holder':'mailer','expire':%d,'fence':2001,'task':'YQ==','state':'outstanding'}"
                .formatted(later),
            "partition/7-2",
            "{'holder':'','expire':0,'fence':3000,'task':'YQ==','state':'done'}",
            "lock/mail",
            "{'holder':'anna','expire':%d,'fence':5001}".formatted(later),
            "lock/reindex",
            "{'holder':'','expire':0,'fence':5002}");
    try (VersionedDocuments documents =
        StoreDocuments.owning(HttpTaskStore.open(URI.create(address)))) {
      written.forEach((key, json) ->
          assertThat(documents.put(key, Version.NONE, json.replace('\'', '"'))).isPresent());
    }
  }
}
