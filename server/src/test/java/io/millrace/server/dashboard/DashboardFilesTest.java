package io.millrace.server.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.server.config.Configuration;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files of the dashboard belong together: everything that one of them names is there. */
final class DashboardFilesTest {
  private static final DashboardFiles FILES = DashboardFiles.all();
  private static final Pattern IMPORT =
      Pattern.compile("(?:[}*] ?from|import \\w+ from|import) ?\\(?[\"']([^\"']+)[\"']");

  @Test
  void every_file_of_the_folder_is_served() throws IOException, URISyntaxException {
    URL page = Objects.requireNonNull(DashboardFiles.class.getResource("index.html"));
    try (Stream<Path> files = Files.list(Path.of(page.toURI()).getParent())) {
      List<String> names =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> !name.endsWith(".class") && !name.equals("index.html"))
              .sorted()
              .toList();
      assertThat(DashboardFiles.OWN).isEqualTo(names);
    }
    assertThat(DashboardFiles.OWN).allSatisfy(name -> assertThat(text(name)).isNotEmpty());
  }

  @Test
  void every_module_that_another_one_imports_is_there() {
    List<List<String>> open = new ArrayList<>();
    DashboardFiles.OWN.stream()
        .filter(name -> name.endsWith(".js"))
        .forEach(name -> open.add(List.of(name)));
    List<List<String>> seen = new ArrayList<>();
    while (!open.isEmpty()) {
      List<String> path = open.removeLast();
      if (seen.contains(path)) {
        continue;
      }
      seen.add(path);
      DashboardFiles.File file = Objects.requireNonNull(FILES.find(path), () -> "no file " + path);
      String code = new String(file.bytes, StandardCharsets.UTF_8);
      imports(code).forEach(name -> open.add(resolved(path, name)));
    }
    assertThat(seen)
        .contains(
            List.of("lit", "index.js"),
            List.of("cytoscape", "dist", "cytoscape.esm.min.mjs"),
            List.of("chart.js", "dist", "chunks", "helpers.dataset.js"))
        .hasSizeGreaterThan(30);
  }

  @Test
  void the_page_has_no_scripts_and_styles_within_it() {
    String page = page("secret");
    assertThat(page)
        .contains("content=\"secret\"")
        .doesNotContain(
            "@ASSETS@", "@IMPORTS@", "@HIDDEN@", "<style", " style=", "javascript:", "http://")
        .doesNotContainPattern(" on[a-z]+=");
    assertThat(matches(page, "<script[^>]*>"))
        .containsExactlyInAnyOrder(
            "<script type=\"importmap\">",
            "<script type=\"module\" src=\"dashboard/" + FILES.fingerprint() + "/app.js\">");
    assertThat(FILES.contentSecurityPolicy()).doesNotContain("unsafe", "*");
  }

  private static String page(String hiddenFields) {
    return new String(
        FILES.page(new DashboardSettings(hiddenFields)).bytes, StandardCharsets.UTF_8);
  }

  @Test
  void the_names_of_hidden_fields_are_configured_and_no_markup() {
    assertThat(page("a\"><script>|b&c")).contains("content=\"a&quot;&gt;&lt;script&gt;|b&amp;c\"");
    Map<String, String> broken = Map.of("dashboard.hidden-fields", "(");
    assertThatThrownBy(() -> Configuration.read(List.of(DashboardSettings.SECTION), null, broken))
        .hasMessageContaining("dashboard.hidden-fields")
        .hasMessageContaining("regular expression");
  }

  @Test
  void the_modules_bring_no_markup_as_text() {
    assertThat(DashboardFiles.OWN)
        .allSatisfy(name ->
            assertThat(text(name))
                .doesNotContain(
                    "innerHTML", "outerHTML", "insertAdjacentHTML", "unsafeHTML", "eval("));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "index.html",
        "DashboardFiles.class",
        "nothing.js",
        "../MillraceServer.class",
        "lit/package.json",
        "lit/../../../../../io/millrace/server/dashboard/app.js",
        "lit/./index.js",
        "other/index.js",
        "lit/.js",
        ".js"
      })
  void nothing_else_of_the_class_path_is_served(String path) {
    assertThat(FILES.find(List.of(path.split("/")))).isNull();
    assertThat(FILES.find(List.of(path))).isNull();
  }

  private static String text(String name) {
    return new String(
        Objects.requireNonNull(FILES.find(List.of(name))).bytes, StandardCharsets.UTF_8);
  }

  private static List<String> imports(String code) {
    return IMPORT.matcher(code).results().map(result -> result.group(1)).toList();
  }

  private static List<String> matches(String text, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    return matcher.results().map(MatchResult::group).toList();
  }

  /** What an import in a module of this path means, as the import map says. */
  private static List<String> resolved(List<String> importer, String name) {
    if (name.startsWith(".")) {
      Path folder = Path.of(String.join("/", importer)).resolveSibling(name).normalize();
      return List.of(folder.toString().split("/"));
    }
    String page = page("");
    String prefix = "./dashboard/" + FILES.fingerprint() + "/lib/";
    return matches(page, "\"[^\"]+\":\"" + Pattern.quote(prefix) + "[^\"]+\"").stream()
        .map(entry -> entry.replace("\"", "").split(":", 2))
        .filter(
            entry -> entry[0].equals(name) || (entry[0].endsWith("/") && name.startsWith(entry[0])))
        .map(entry -> entry[1].substring(prefix.length()) + name.substring(entry[0].length()))
        .map(path -> List.of(path.split("/")))
        .findFirst()
        .orElseThrow(() -> new AssertionError(importer + " imports " + name));
  }
}
