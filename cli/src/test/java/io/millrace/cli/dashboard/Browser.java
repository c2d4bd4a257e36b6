package io.millrace.cli.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** The Chromium of this machine. Tests are skipped, and say why, if there is none. */
final class Browser implements AutoCloseable {
  private final Playwright playwright;
  private final com.microsoft.playwright.Browser browser;
  private final List<String> problems = new ArrayList<>();

  private Browser(Path program) {
    // The machine may be busy with other tests.
    PlaywrightAssertions.setDefaultAssertionTimeout(60_000);
    playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setExecutablePath(program)
                    // Chromium refuses its sandbox to root, as whom builds often run.
                    .setChromiumSandbox(false));
  }

  /** Starts it. */
  static Browser open() {
    Optional<Path> program =
        Stream.of(System.getenv("PATH").split(":"))
            .flatMap(folder ->
                Stream.of("chromium", "chromium-browser", "google-chrome")
                    .map(name -> Path.of(folder, name)))
            .filter(Files::isExecutable)
            .findFirst();
    Assumptions.assumeTrue(
        program.isPresent(), "no browser for the tests of the dashboard: install chromium");
    return new Browser(program.orElseThrow());
  }

  /** A page of its own, without cookies and storage of others. */
  Page page(int width, int height, ColorScheme scheme) {
    BrowserContext context =
        browser.newContext(
            new com.microsoft.playwright.Browser.NewContextOptions()
                .setViewportSize(width, height)
                .setColorScheme(scheme)
                .setTimezoneId("Europe/Berlin")
                .setLocale("en-GB"));
    context.setDefaultTimeout(60_000);
    Page page = context.newPage();
    page.onPageError(problems::add);
    page.onConsoleMessage(message -> {
      // The browser itself reports answers that are errors, which some tests are about.
      if (message.type().matches("error|warning") && !message.text().startsWith("Failed to load")) {
        problems.add(message.text() + " at " + message.location());
      }
    });
    page.onDialog(dialog -> problems.add("a dialog of the browser: " + dialog.message()));
    return page;
  }

  /** The same on a desktop, in light colours. */
  Page page() {
    return page(1440, 1000, ColorScheme.LIGHT);
  }

  /** Fails if scripts failed or the browser has complained, since the last call. */
  void checkProblems() {
    List<String> found = List.copyOf(problems);
    problems.clear();
    assertThat(found).as("errors and warnings in the browser").isEmpty();
  }

  /** Closes all pages. */
  void closePages() {
    List.copyOf(browser.contexts()).forEach(BrowserContext::close);
    problems.clear();
  }

  @Override
  public void close() {
    browser.close();
    playwright.close();
  }
}
