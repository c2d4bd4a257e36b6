package io.millrace.cli.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Mouse;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.MouseButton;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Graphs on their page of the dashboard. */
final class DashboardGraphTest extends DashboardServer {

  @Test
  void a_graph_is_drawn_and_follows_its_changes() throws Exception {
    up();
    Path gate = root.resolve("gate");
    Path file = root.resolve("graph.yaml");
    Files.writeString(
        file,
        """
        nodes:
          fetch: {shell: "until test -e %s; do sleep 0.05; done"}
          parse: {shell: "echo parsed; exit 4", parents: fetch}
          report: {shell: "echo report", parents: parse}
        """
            .formatted(gate));
    run("graph", "run", "--detach", file.toString());
    Page page = open("#/graph");
    assertThat(page.locator(".drawing canvas").first()).isVisible();
    Locator rows = page.locator("tbody tr");
    assertThat(rows).hasCount(3);
    assertThat(rows.nth(0)).containsText("running");
    assertThat(rows.nth(1)).containsText("incipient");

    Files.createFile(gate);
    assertThat(rows.nth(0)).containsText("finished");
    assertThat(rows.nth(1)).containsText("failed");
    assertThat(rows.nth(2)).containsText("blocked");
    link(page, "report").click();
    assertThat(page.locator(".why")).containsText("have to be retried");
    link(page, "Graph").click();
    link(page, "parse").click();
    assertThat(page.getByLabel("stdout")).containsText("parsed");
    browser.checkProblems();
  }

  @Test
  void a_graph_is_folded_by_mouse_touch_and_keyboard() throws Exception {
    up();
    post(
        "/v1/nodes",
        """
        [{"metadata": {"type": "shell command", "name": "top", "local": "t"}, "data": {"command": "true"}},
         {"metadata": {"type": "shell command", "name": "left", "parents": ["local:t"]}, "data": {"command": "true"}},
         {"metadata": {"type": "shell command", "name": "right", "parents": ["local:t"]}, "data": {"command": "true"}}]\
        """);
    Page page = open("#/graph");
    assertThat(page.locator("tbody tr")).hasCount(3);
    Locator fold = button(page, "Fold what is below top");
    assertThat(fold).hasCount(1);
    fold.focus();
    page.keyboard().press("Enter");
    Locator unfold = button(page, "Unfold what is below top");
    assertThat(unfold).hasAttribute("aria-expanded", "false");
    assertThat(drawnNodes(page)).isEqualTo(1);
    page.keyboard().press("Space");
    assertThat(fold).hasAttribute("aria-expanded", "true");
    assertThat(drawnNodes(page)).isEqualTo(3);

    page.mouse().move(x(page), y(page));
    page.mouse().down();
    assertThat(unfold).isVisible();
    assertThat(drawnNodes(page)).isEqualTo(1);
    page.mouse().up();
    button(page, "Unfold all").click();
    assertThat(fold).isVisible();

    touch(page, "touchstart");
    assertThat(unfold).isVisible();
    touch(page, "touchend");
    button(page, "Unfold all").click();
    assertThat(fold).isVisible();

    page.mouse().click(x(page), y(page), new Mouse.ClickOptions().setButton(MouseButton.RIGHT));
    assertThat(unfold).isVisible();

    page.getByLabel("Order").selectOption("name");
    assertThat(page.locator("tbody tr").first()).containsText("left");
    assertThat(page).hasURL(Pattern.compile("#/graph\\?order=name$"));
    browser.checkProblems();
  }

  private static int drawnNodes(Page page) {
    return (int) number(page, "document.querySelector('millrace-drawing').picture.nodes().length");
  }

  /** Where the first node is on the screen, from the left. */
  private static double x(Page page) {
    return place(page, "x");
  }

  /** Where the first node is on the screen, from above. */
  private static double y(Page page) {
    return place(page, "y");
  }

  private static double place(Page page, String axis) {
    return number(
        page,
        "() => { const box = document.querySelector('.drawing-area').getBoundingClientRect();"
            + " return box.%1$s + document.querySelector('millrace-drawing').picture.getElementById('1').renderedPosition().%1$s; }"
                .formatted(axis));
  }

  /** Begins or ends a touch of the first node. */
  private static void touch(Page page, String type) {
    page.evaluate(
        """
        ([type, clientX, clientY]) => {
          const target = document.elementFromPoint(clientX, clientY);
          const touches = [new Touch({ identifier: 1, target, clientX, clientY })];
          target.dispatchEvent(new TouchEvent(type, {
            bubbles: true, cancelable: true, changedTouches: touches,
            touches: type === 'touchend' ? [] : touches, targetTouches: type === 'touchend' ? [] : touches,
          }));
        }\
        """,
        List.of(type, x(page), y(page)));
  }

  @Test
  void a_node_is_edited_and_submitted_again() throws Exception {
    up();
    run("graph", "add", "--name", "fetch", "--retries", "1", "--", "echo", "fetched");
    Page page = open("#/graph/1");
    assertThat(page.locator(".page-head .status")).hasText("finished");
    button(page, "Edit and submit").click();
    Locator data = page.getByLabel("Data (JSON)");
    assertThat(data).hasValue(Pattern.compile("\"attempts\": \"?2"));
    data.fill(data.inputValue().replace("fetched", "fetched again"));
    page.getByLabel("Name").fill("again");
    submit(page, "Submit");
    assertThat(heading(page, "again")).isVisible();
    assertThat(page.getByLabel("stdout")).containsText("fetched again");
    browser.checkProblems();
  }

  @Test
  void an_edge_of_a_graph_does_not_run_through_nodes() throws Exception {
    up();
    Page page = open("");
    assertThat(
            page.evaluate(
                """
                async () => {
                  const script = document.querySelector('script[type=module]').src;
                  const { layered } = await import(script.replace('app.js', 'layout.js'));
                  const { positions, bends } = layered(
                    [[1, []], [2, [1]], [3, [1, 2]]].map(([id, parents]) => ({ id, parents })));
                  const [place] = bends.get('1-3');
                  return [place.x === positions.get(2).x, Math.abs(place.y - positions.get(2).y)];
                }\
                """))
        .isEqualTo(List.of(true, 48));
    browser.checkProblems();
  }

  @Test
  void a_page_with_ten_thousand_nodes_answers_while_it_is_drawn() throws Exception {
    up();
    post(
        "/v1/nodes",
        IntStream.range(0, 10_000)
            .mapToObj(number ->
                "{\"metadata\":{\"type\":\"shell command\",\"name\":\"step %d\",\"local\":\"n%d\",\"parents\":[%s]},\"data\":{\"command\":\"sleep 600\"}}"
                    .formatted(
                        number,
                        number,
                        number == 0 ? "" : "\"local:n" + Math.max(0, number - 100) + "\""))
            .collect(Collectors.joining(",", "[", "]")));
    Page page = browser.page();
    page.addInitScript(
        """
        window.longest = 0;
        new PerformanceObserver(list => {
          for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration);
        }).observe({ type: 'longtask', buffered: true });\
        """);
    page.navigate(address + "/#/graph");
    assertThat(page.locator(".drawing canvas").first()).isVisible();
    button(page, "Fit").click();
    link(page, "step 1").click();
    assertThat(heading(page, "step 1")).isVisible();
    assertThat(((Number) page.evaluate("window.longest")).doubleValue())
        .as("milliseconds for which the page did not answer")
        .isLessThan(5_000);
    browser.checkProblems();
  }
}
