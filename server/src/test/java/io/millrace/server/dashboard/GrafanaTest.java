package io.millrace.server.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The dashboard and the alert rules in docs/grafana ask for metrics and labels that there are. */
final class GrafanaTest {
  private static final Path FOLDER = Path.of("../docs/grafana");
  private static final Pattern ROW =
      Pattern.compile(
          "^\\| `(millrace_[a-z_]+)(?:\\{([a-z, ]+)})?` \\| ([a-z]+) \\|", Pattern.MULTILINE);
  private static final Pattern SELECTED =
      Pattern.compile("\\b((?:millrace|jvm|process|system)_[a-z_]+)(?:\\{([^}]*)})?");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+) *(?:=|!=)");

  /** Those that Prometheus adds. */
  private static final Set<String> ADDED = Set.of("instance", "job");

  @TempDir private Path folder;

  /** The labels of each metric, by the names that it has for Prometheus. */
  private static Map<String, Set<String>> documented() throws IOException {
    Map<String, Set<String>> found = new HashMap<>();
    String page = Files.readString(Path.of("../docs/metrics.md"));
    Matcher rows = ROW.matcher(page);
    while (rows.find()) {
      Set<String> labels = rows.group(2) == null ? Set.of() : Set.of(rows.group(2).split(", ", -1));
      List<String> endings =
          rows.group(3).equals("histogram")
              ? List.of("_bucket", "_count", "_sum", "_max")
              : List.of("");
      endings.forEach(ending -> found.put(rows.group(1) + ending, labels));
    }
    assertThat(found).hasSizeGreaterThan(50);
    // Only a server with a certificate has it, so it is in no table.
    String certificate = "millrace_http_certificate_expires_seconds";
    assertThat(page).contains(certificate);
    found.put(certificate, Set.of());
    return found;
  }

  private static List<String> dashboard() throws IOException {
    JsonNode dashboard =
        new JsonMapper().readTree(Files.readString(FOLDER.resolve("millrace.json")));
    List<String> expressions = new ArrayList<>();
    Set<Integer> ids = new HashSet<>();
    dashboard
        .path("panels")
        .forEach(panel -> {
          assertThat(ids.add(panel.path("id").asInt())).as("a new id of a panel").isTrue();
          panel.path("targets").forEach(target -> expressions.add(target.path("expr").asString()));
        });
    dashboard
        .path("templating")
        .path("list")
        .forEach(variable -> {
          if (variable.path("type").asString().equals("query")) {
            expressions.add(variable.path("definition").asString());
          }
        });
    assertThat(expressions).hasSizeGreaterThan(30);
    return expressions;
  }

  private static List<String> alerts() throws IOException {
    Object rules =
        new Load(LoadSettings.builder().build())
            .loadFromString(Files.readString(FOLDER.resolve("alerts.yml")));
    List<String> expressions = new ArrayList<>();
    JsonNode tree = new JsonMapper().valueToTree(rules);
    tree.path("groups")
        .forEach(group ->
            group
                .path("rules")
                .forEach(rule -> {
                  assertThat(rule.path("alert").asString()).startsWith("Millrace");
                  assertThat(rule.path("labels").path("severity").asString())
                      .isIn("critical", "warning");
                  assertThat(rule.path("annotations").path("summary").asString()).isNotEmpty();
                  expressions.add(rule.path("expr").asString());
                }));
    assertThat(expressions).hasSizeGreaterThan(10);
    return expressions;
  }

  @Test
  void every_metric_and_label_in_them_exists() throws Exception {
    Map<String, Set<String>> documented = documented();
    List<String> expressions = new ArrayList<>(dashboard());
    expressions.addAll(alerts());
    try (TestServer server = TestServer.in(folder)) {
      String shown = server.get("/metrics").body();
      for (String expression : expressions) {
        Matcher selected = SELECTED.matcher(expression);
        while (selected.find()) {
          String name = selected.group(1);
          Set<String> labels = new HashSet<>(ADDED);
          if (name.startsWith("millrace_")) {
            assertThat(documented).as(expression).containsKey(name);
            labels.addAll(documented.getOrDefault(name, Set.of()));
          } else {
            assertThat(shown).as(expression).containsPattern("(?m)^" + name + "[{ ]");
            labels.add("area");
          }
          Matcher used = LABEL.matcher(selected.group(2) == null ? "" : selected.group(2));
          while (used.find()) {
            assertThat(labels).as(expression).contains(used.group(1));
          }
        }
      }
    }
  }
}
