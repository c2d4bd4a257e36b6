package io.millrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The links of the documents lead somewhere, and every page and every module can be found. */
final class DocumentedLinksTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern CODE =
      Pattern.compile("(?ms)^ *```.*?^ *```|`[^`\\n]+`(?!\\]|[^\\[\\n]*\\]\\()");
  private static final Pattern LINK = Pattern.compile("]\\(([^()\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+)$");
  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
  private static final Pattern ANCHOR = Pattern.compile("<a (?:id|name)=\"([^\"]+)\"");

  private final Map<Path, Set<String>> anchors = new HashMap<>();

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    for (String folder : List.of(".", "docs", "docs/decisions", "python")) {
      try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
        files
            .filter(file -> file.toString().endsWith(".md"))
            .map(Path::normalize)
            .sorted()
            .forEach(pages::add);
      }
    }
    return pages;
  }

  private static List<String> links(Path page) throws IOException {
    return LINK.matcher(CODE.matcher(Files.readString(page)).replaceAll(""))
        .results()
        .map(link -> link.group(1))
        .filter(link -> !link.matches("[a-z]+:.*"))
        .toList();
  }

  @Test
  void every_link_leads_to_a_file_and_a_heading() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages()) {
      for (String link : links(page)) {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
        if (!Files.exists(target) || (parts.length > 1 && !anchors(target).contains(parts[1]))) {
          broken.add(ROOT.relativize(page) + ": " + link);
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  @Test
  void the_front_page_leads_to_every_guide() throws IOException {
    Path front = ROOT.resolve("docs/README.md");
    List<String> linked = links(front);
    try (Stream<Path> files = Files.list(front.resolveSibling("."))) {
      assertThat(
              files
                  .map(file -> file.getFileName().toString())
                  .filter(name -> name.endsWith(".md") && !name.equals("README.md")))
          .allMatch(linked::contains);
    }
  }

  @Test
  void the_readme_says_what_every_module_is() throws IOException {
    String modules = Files.readString(ROOT.resolve("README.md")).split("\n## Modules\n", 2)[1];
    List<String> unnamed =
        MODULE
            .matcher(Files.readString(ROOT.resolve("pom.xml")))
            .results()
            .map(module -> "`" + module.group(1) + "`")
            .filter(module -> !modules.contains(module))
            .toList();
    assertThat(unnamed).isEmpty();
  }

  /** The anchors of the headings of a page, as GitHub makes them. */
  private Set<String> anchors(Path page) throws IOException {
    Set<String> known = anchors.get(page);
    if (known == null) {
      known = new HashSet<>();
      String text = Files.readString(page).replaceAll("(?ms)^ *```.*?^ *```", "");
      for (MatchResult heading : HEADING.matcher(text).results().toList()) {
        String name =
            heading
                .group(1)
                .replaceAll("\\[([^\\]]*)]\\([^)]*\\)", "$1")
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                .replace(' ', '-');
        String anchor = name;
        for (int again = 1; !known.add(anchor); again++) {
          anchor = name + "-" + again;
        }
      }
      ANCHOR.matcher(text).results().map(anchor -> anchor.group(1)).forEach(known::add);
      anchors.put(page, known);
    }
    return known;
  }
}
