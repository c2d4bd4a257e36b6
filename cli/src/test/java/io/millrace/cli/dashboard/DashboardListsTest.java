package io.millrace.cli.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import io.millrace.cli.queues.Program;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What lists of the dashboard find, filter, order and change. */
final class DashboardListsTest extends DashboardServer {

  /** How long a page takes at most until something is seen, and a request for a list. */
  private static final Duration FIRST_PAINT = Duration.ofSeconds(1);

  private static final Duration LIST = Duration.ofMillis(200);

  /** How many times as long these may take on a busy machine, at a server that has just started. */
  private static final int LENIENCE = 8;

  @Test
  void a_type_that_has_no_worker_for_its_jobs_needs_attention_and_its_jobs_are_found()
      throws Exception {
    up("--set", "jobs.types.letter.description=l", "--set", "jobs.types.parcel.description=p");
    String[] worker = {"worker", "--server", address, "--type", "letter", "--", "cat"};
    programs.add(Program.start(root.resolve("worker.log"), List.of(worker)));
    Path payload = Files.writeString(root.resolve("payload"), "x");
    run("jobs", "submit", payload.toString(), "--type", "parcel", "--description", "for Anna");
    Page page = open("");
    assertThat(page.locator(".attention li")).hasCount(1);
    assertThat(page.locator(".attention")).containsText("no worker for jobs of type parcel");

    page.getByLabel("Search").fill("for an");
    page.getByLabel("Search").press("Enter");
    link(page, "for Anna").click();
    assertThat(heading(page, "for Anna")).isVisible();
    browser.checkProblems();
  }

  @Test
  void a_list_that_is_read_whole_is_filtered_and_ordered() throws Exception {
    up();
    for (String name : List.of("mail", "print", "plot")) {
      run("limits", "set", name, "--running", Integer.toString(name.length()));
    }
    Page page = open("#/limits");
    Locator names = page.locator("tbody tr td:first-child");
    assertThat(names).hasText(new String[] {"mail", "plot", "print"});
    page.getByLabel("Order").selectOption("largest");
    assertThat(names).hasText(new String[] {"print", "mail", "plot"});
    page.getByLabel("Text").fill("P");
    page.getByLabel("Text").press("Enter");
    assertThat(names).hasText(new String[] {"print", "plot"});
    page.navigate(address + "/#/limits?text=absent");
    assertThat(page.locator("main")).containsText("None of them has that");
    browser.checkProblems();
  }

  @Test
  void the_tasks_of_a_group_of_the_store_are_shown_page_by_page() throws Exception {
    up();
    post(
        "/store/update",
        IntStream.range(0, 130)
            .mapToObj("{\"group\":\"letters\",\"data\":\"letter %03d\"}"::formatted)
            .collect(Collectors.joining(",", "{\"clientid\":7,\"adds\":[", "]}")));
    Page page = open("#/store");
    page.getByLabel("Text").fill("LETT");
    page.getByLabel("Text").press("Enter");
    assertThat(page.locator("tbody tr")).hasCount(1);
    link(page, "letters").click();
    Locator rows = page.locator("tbody tr");
    assertThat(rows).hasCount(100);
    link(page, "Next page").click();
    assertThat(rows).hasCount(30);
    assertThat(rows.first()).containsText("letter 100");
    assertThat(page.locator(".command code")).containsText("--after ");
    link(page, "First page").click();
    assertThat(rows.first()).containsText("letter 000");
    browser.checkProblems();
  }

  @Test
  void the_search_finds_things_of_each_kind() throws Exception {
    up();
    run("limits", "set", "mail-server", "--running", "4");
    run("queues", "create", "mail", "--plugin", "shell", "--threads", "0");
    run("graph", "add", "--name", "fetch", "--", "echo", "to Mailboxes");
    run("store", "add", "mail/outgoing", "x");
    Path payload = Files.writeString(root.resolve("payload"), "x");
    run("jobs", "submit", payload.toString());
    run("schedules", "create", "nightly", "--every", "1h", "--queue", "mail", "command=date");
    lead();
    Page page = open("");
    page.getByLabel("Search").fill("MAIL");
    page.getByLabel("Search").press("Enter");
    Locator kinds = page.locator("tbody tr td:first-child");
    assertThat(kinds.filter(new Locator.FilterOptions().setHasText("graph node"))).hasCount(1);
    for (String kind :
        List.of("limit", "queue", "group of the store", "schedule", "lock", "partition")) {
      assertThat(kinds.filter(new Locator.FilterOptions().setHasText(kind)).first()).isVisible();
    }
    link(page, "lock/mail").click();
    assertThat(page.getByLabel("Text of locks")).hasValue("lock/mail");
    assertThat(kinds.filter(new Locator.FilterOptions().setHasText("lock/"))).hasCount(1);
    page.getByLabel("Text of locks").fill("");
    page.getByLabel("Text of locks").press("Enter");
    assertThat(kinds.filter(new Locator.FilterOptions().setHasText("lock/"))).hasCount(2);
    page.getByLabel("State of partitions").selectOption("done");
    assertThat(kinds.filter(new Locator.FilterOptions().setHasText("7-"))).hasCount(1);
    page.navigate(address + "/#/search?text=1");
    assertThat(kinds.filter(new Locator.FilterOptions().setHasText("batch"))).hasCount(1);
    browser.checkProblems();
  }

  @Test
  void queues_are_filtered_and_ordered_and_paused_on_their_own_pages() throws Exception {
    up();
    for (String name : List.of("mail", "print")) {
      run("queues", "create", name, "--plugin", "shell", "--threads", "2");
    }
    Page page = open("#/queues?order=most%20threads");
    Locator names = page.locator("tbody tr td:first-child");
    assertThat(names).hasText(new String[] {"mail", "print"});
    link(page, "print").click();
    button(page, "Pause").click();
    assertThat(page.locator(".page-head .status")).hasText("paused");
    page.navigate(address + "/#/queues?order=most%20threads");
    assertThat(names).hasText(new String[] {"mail", "print"});
    page.getByLabel("State").selectOption("paused");
    assertThat(names).hasText(new String[] {"print"});
    link(page, "print").click();
    button(page, "Resume").click();
    page.getByRole(AriaRole.DIALOG).getByLabel("Threads").fill("3");
    submit(page, "Resume");
    assertThat(page.locator(".page-head .status")).hasText("ok");
    assertThat(page.locator(".facts")).containsText("3");
    browser.checkProblems();
  }

  @Test
  void batches_and_schedules_are_filtered_and_ordered_by_the_server() throws Exception {
    up("--set", "jobs.batch-size=1");
    Path payload = Files.writeString(root.resolve("payload"), "x");
    for (int i = 0; i < 3; i++) {
      run("jobs", "submit", payload.toString());
    }
    run("queues", "create", "mail", "--plugin", "shell", "--threads", "0");
    run("schedules", "create", "a-year", "--every", "365d", "--queue", "mail", "command=date");
    run("schedules", "create", "b-hour", "--every", "1h", "--queue", "mail", "command=uptime");
    Page page = open("#/batches");
    Locator names = page.locator("tbody tr td:first-child");
    assertThat(names).hasText(new String[] {"3", "2", "1"});
    page.getByLabel("Order").selectOption("oldest");
    assertThat(names).hasText(new String[] {"1", "2", "3"});
    page.getByLabel("State").selectOption("false");
    assertThat(page.locator("main")).containsText("None of them has that");

    page.navigate(address + "/#/schedules");
    assertThat(names).hasText(new String[] {"a-year", "b-hour"});
    page.getByLabel("Order").selectOption("due");
    assertThat(names).hasText(new String[] {"b-hour", "a-year"});
    page.getByLabel("Text").fill("DATE");
    page.getByLabel("Text").press("Enter");
    assertThat(names).hasText(new String[] {"a-year"});
    browser.checkProblems();
  }

  @Test
  void archived_work_of_each_kind_is_listed_and_opened() throws Exception {
    up("--set", "jobs.keep-finished=0s", "--set", "graph.keep-finished=0s");
    String[] worker = {"worker", "--server", address, "--", "cat"};
    programs.add(Program.start(root.resolve("worker.log"), List.of(worker)));
    Path payload = Files.writeString(root.resolve("payload"), "x");
    run("jobs", "submit", payload.toString(), "--description", "a letter");
    run("graph", "add", "--name", "fetch", "--", "echo", "fetched");
    Page page = open("#/archive?kind=jobs&status=1");
    page.locator("tbody a").click();
    assertThat(heading(page, "a letter")).isVisible();
    assertThat(page.locator(".page-head .status")).hasText("done");

    page.navigate(address + "/#/archive");
    link(page, "Graphs").click();
    link(page, "fetch").click();
    assertThat(page.locator(".page-head .status")).hasText("finished");
    assertThat(page.locator("code").last()).containsText("archive show graphs 1");
    browser.checkProblems();
  }

  @Test
  void all_that_a_list_chooses_is_changed_at_once_and_the_change_is_undone() throws Exception {
    up();
    run("queues", "create", "mail", "--plugin", "shell", "--threads", "0");
    for (int i = 0; i < 3; i++) {
      run("tasks", "submit", "mail", "command=echo " + i);
    }
    Page page = open("#/queues/mail");
    button(page, "Change all of these").click();
    page.getByLabel("Action").selectOption("block");
    assertThat(page.getByText("block would change 3 tasks")).isVisible();
    button(page, "block 3").click();
    submit(page, "block");
    assertThat(page.locator(".page-head .status")).hasText("done");
    assertThat(page.locator(".facts").first()).containsText("3");

    button(page, "Undo").click();
    assertThat(page.getByText("requeue would change 3 tasks")).isVisible();
    button(page, "requeue 3").click();
    submit(page, "requeue");
    assertThat(page.locator(".page-head .status")).hasText("done");

    page.navigate(address + "/#/queues/mail");
    page.getByLabel("Choose all rows shown").check();
    button(page, "Cancel").click();
    assertThat(page.locator("tbody tr").first()).containsText("cancelled");
    button(page, "Undo").click();
    assertThat(page.locator("tbody tr").first()).containsText("queued");
    browser.checkProblems();
  }

  /**
   * How long the longest search for tasks took since this was last asked, in milliseconds. Other
   * tests take the processors at times, so only the fastest of some tells how long it needs.
   */
  private static double longestSearch(Page page) {
    return number(
        page,
        """
        (() => {
          const searches = performance.getEntriesByType('resource')
            .filter(one => one.name.endsWith('/dci/tasks/search'));
          performance.clearResourceTimings();
          return Math.max(...searches.map(one => one.duration));
        })()\
        """);
  }

  @Test
  void a_million_tasks_are_listed_and_found_without_waiting() throws Exception {
    start(List.of("-Xmx2g"));
    run("queues", "create", "big", "--plugin", "demo", "--threads", "0");
    int part = 20_000;
    for (int first = 0; first < 1_000_000; first += part) {
      post(
          "/dci/tasks/big",
          IntStream.range(first, first + part)
              .mapToObj("{\"commands\":\"%d\"}"::formatted)
              .collect(Collectors.joining(",", "[", "]")));
    }
    Page page = open("#/queues");
    assertThat(page.locator("tbody tr")).containsText("1,000,000");
    assertThat(number(page, "performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        .isBetween(1.0, FIRST_PAINT.toMillis() * (double) LENIENCE);

    link(page, "big").click();
    Locator rows = page.locator("tbody tr");
    assertThat(rows).hasCount(50);
    assertThat(rows.first()).containsText("999999");
    double listed = longestSearch(page);
    link(page, "Next page").click();
    assertThat(rows.first()).containsText("999949");
    listed = Math.min(listed, longestSearch(page));
    double found = Double.MAX_VALUE;
    for (String text : List.of("654321", "345678", "876543", "210987")) {
      page.navigate(address + "/#/search?text=" + text);
      // A task of the store may have this number, too.
      assertThat(rows.filter(new Locator.FilterOptions().setHasText("commands=" + text)))
          .hasCount(1);
      found = Math.min(found, longestSearch(page));
    }
    assertThat(List.of(listed, found))
        .as("milliseconds for the fastest list and the fastest search")
        .allSatisfy(
            millis -> assertThat(millis).isBetween(1.0, LIST.toMillis() * (double) LENIENCE));
    browser.checkProblems();
  }
}
